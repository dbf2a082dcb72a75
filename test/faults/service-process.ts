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
  post(path: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
  stop(): Promise<void>;
}

/** Serves the configuration files (path below the project `test` -> content) on a free port; resolves when it listens. */
export async function startService(
  files: Readonly<Record<string, object>>,
): Promise<ServiceProcess> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-config-"));
  await mkdir(join(folder, "test"));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, "test", name), JSON.stringify(content));
  }
  const cli = join(import.meta.dirname, "../../app/cli.ts");
  const child = spawn(process.execPath, [cli, "serve"], {
    env: { ...process.env, CONFIG_DIR: folder, PORT: "0", HOST: "127.0.0.1", LOG_LEVEL: "fatal" },
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
    async post(path, body) {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(`${origin}/api/test/${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    async stop() {
      if (child.exitCode === null) {
        const exited = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGTERM");
        await exited;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
