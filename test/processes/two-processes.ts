/**
 * Replaces `app/start/servers/wire.ts` in `harness.ts`: a service of two processes under one parent. Each request comes
 * on a connection of its own, so that the processes answer in turn.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ServiceOptions } from "../../app/start/servers/wire.ts";
import { serveProcess } from "../running/serve-process.ts";

export async function openService({ files, env }: ServiceOptions) {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-processes-"));
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const { origin, stop } = await serveProcess({
    env: { ...(env as Record<string, string>), CONFIG_DIR: folder, LOG_LEVEL: "fatal" },
    cwd: folder,
    args: ["--processes", "2"],
  });
  return {
    ready: Promise.resolve(),
    fetch(request: Request): Promise<Response> {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.set("Connection", "close");
      const { method, body } = request;
      const init = { method, headers, body, redirect: "manual", duplex: "half" };
      return fetch(`${origin}${pathname}${search}`, init as RequestInit);
    },
    async close() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
