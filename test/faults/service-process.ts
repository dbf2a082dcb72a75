/** The service as a process of its own, for tests that must see whether it lives through something. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ServiceProcess {
  readonly origin: string;
  readonly process: ChildProcess;
  /** What it wrote to standard error so far. */
  errors(): string;
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
}

/** Serves the configuration files (path below the project `test` -> content) on a free port; resolves when it listens. */
export async function startService(
  files: Readonly<Record<string, object>>,
  { env = {}, within = [] }: ServiceProcessOptions = {},
): Promise<ServiceProcess> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-config-"));
  const kept = join(folder, ".kept");
  await mkdir(join(folder, "test"));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, "test", name), JSON.stringify(content));
  }
  const cli = join(import.meta.dirname, "../../app/start/cli.ts");
  const own = {
    CONFIG_DIR: folder,
    STORAGE_URL: `file:${kept}`,
    PORT: "0",
    HOST: "127.0.0.1",
    LOG_LEVEL: "fatal",
  };
  const [program = "", ...args] = [...within, process.execPath, cli, "serve"];
  const child = spawn(program, args, {
    env: { ...process.env, ...own, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  const origin = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
      const url = /listens on (http:\S+)/.exec(said)?.[1];
      if (url) resolve(url);
    });
    child.once("exit", (code) => reject(new Error(`The service ended with ${code}: ${errors}`)));
  });
  return {
    origin,
    process: child,
    errors: () => errors,
    async post(path, body, headers = {}) {
      const response = await fetch(`${origin}/api/test/${path}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGTERM");
        await exited;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
