/** The service as a separate process, for tests that check whether it survives. */
import type { ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveProcess } from "../running/serve-process.ts";

export interface ServiceProcess {
  readonly origin: string;
  readonly process: ChildProcess;
  /** What it wrote so far. */
  said(): string;
  post(
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  stop(): Promise<void>;
}

export interface ServiceProcessOptions {
  /** Beside the environment of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  /** A command that runs the command line after it, in the same process. */
  readonly within?: readonly string[];
  /** What runs a .ts file; absent: this Node. */
  readonly program?: readonly string[];
}

/** Serves configuration files (path below the project `test` -> content) on a free port; resolves once it listens. */
export async function startService(
  files: Readonly<Record<string, object>>,
  { env = {}, ...rest }: ServiceProcessOptions = {},
): Promise<ServiceProcess> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-config-"));
  const kept = join(folder, ".kept");
  await mkdir(join(folder, "test"));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, "test", name), JSON.stringify(content));
  }
  const { child, origin, said, stop } = await serveProcess({
    env: { CONFIG_DIR: folder, STORAGE_URL: `file:${kept}`, LOG_LEVEL: "fatal", ...env },
    ...rest,
  });
  return {
    origin,
    process: child,
    said,
    async post(path, body, headers = {}) {
      const response = await fetch(`${origin}/api/test/${path}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    async stop() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
