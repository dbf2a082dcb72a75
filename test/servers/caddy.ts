/**
 * Caddy in front of a service, with `deploy/caddy/Caddyfile`. What differs from a deployment: another port, and nothing
 * listens on port 80. `test/run.ts` calls `findOrInstallCaddy` when the project `proxy` is asked for.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import { findOrInstall } from "./debian-program.ts";
import { freePort } from "./start.ts";

/** The path of the program; see `findOrInstall`. */
export const findOrInstallCaddy = (say: (line: string) => void): string =>
  findOrInstall(
    {
      title: "Caddy",
      command: "caddy",
      debianPackage: "caddy",
      versionArgument: "version",
      tests: "of proxies",
    },
    say,
  );

export interface Asked {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

export interface Told {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

export interface Proxy {
  /** `https://…`, without a slash at the end. */
  readonly origin: string;
  /** Over HTTP/2, in a new connection. */
  ask(path: string, asked?: Asked): Promise<Told>;
  close(): Promise<void>;
}

/** `upstream`: origin of the service. */
export async function openProxy(upstream: string): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), "rowgate-test-caddy-"));
  const origin = `https://localhost:${await freePort()}`;
  const env = {
    ...process.env,
    DOMAIN: new URL(origin).host,
    UPSTREAM: new URL(upstream).host,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  };
  const program = inject("caddy")!;
  const caddyfile = join(import.meta.dirname, "../../deploy/caddy/Caddyfile");
  const adapt = ["adapt", "--config", caddyfile, "--adapter", "caddyfile"];
  const settings = JSON.parse(
    execFileSync(program, adapt, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
  );
  for (const server of Object.values<Record<string, unknown>>(settings.apps.http.servers))
    server["automatic_https"] = { disable_redirects: true };
  const file = join(folder, "caddy.json");
  writeFileSync(file, JSON.stringify(settings));
  const child = spawn(program, ["run", "--config", file], { env, stdio: "ignore" });
  const root = join(folder, "caddy/pki/authorities/local/root.crt");

  function ask(path: string, { method = "GET", headers = {}, body }: Asked = {}): Promise<Told> {
    return new Promise((resolve, reject) => {
      const session = connect(origin, { ca: readFileSync(root) }).once("error", reject);
      const stream = session.request({ ":method": method, ":path": path, ...headers });
      const chunks: Buffer[] = [];
      let answer: Record<string, unknown> = {};
      stream.on("response", (fields) => (answer = fields));
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      // After an early answer, the rest of a body is no longer wanted.
      stream.on("error", (error) => (answer[":status"] === undefined ? reject(error) : undefined));
      stream.on("close", () => {
        session.close();
        resolve({
          status: Number(answer[":status"]),
          headers: answer,
          body: Buffer.concat(chunks),
        });
      });
      stream.end(body);
    });
  }

  async function close(): Promise<void> {
    if (child.exitCode === null) {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  }

  for (;;) {
    if (child.exitCode !== null) throw new Error(`Caddy ended with ${child.exitCode}`);
    const isUp = existsSync(root) && (await ask("/health/live").catch(() => null))?.status === 200;
    if (isUp) return { origin, ask, close };
    await sleep(100);
  }
}

declare module "vitest" {
  interface ProvidedContext {
    /** The program of Caddy; absent where no test of the run needs it, and without `test/run.ts`. */
    caddy: string | undefined;
  }
}
