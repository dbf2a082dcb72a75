/** `rowgate serve` as a separate process, from its start until it listens. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";

type ServeChild = ChildProcessByStdio<null, Readable, Readable>;

export interface ServeProcess {
  readonly child: ServeChild;
  /** Where it listens, without a slash at the end. */
  readonly origin: string;
  /** What it wrote so far, to both of its outputs. */
  said(): string;
  /** Ends it in order, if it has not ended yet. */
  stop(): Promise<void>;
}

export interface ServeProcessOptions {
  /** Beside the environment of the tests, a free port of this machine and LOG_LEVEL=warn. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly args?: readonly string[];
  /** What runs a .ts file; absent: this Node. */
  readonly program?: readonly string[];
  /** Of Node itself. */
  readonly nodeArgs?: readonly string[];
  /** A command that runs the command line after it, in the same process. */
  readonly within?: readonly string[];
  /** True: messages can be sent to it. */
  readonly hasChannel?: boolean;
}

const cli = join(import.meta.dirname, "../../app/start/cli.ts");

/** Resolves when it listens; rejects with its output if it ends before. */
export async function serveProcess(options: ServeProcessOptions): Promise<ServeProcess> {
  const { env, cwd, args = [], nodeArgs = [], within = [], hasChannel = false } = options;
  const program = options.program ?? [process.execPath, ...nodeArgs];
  const words = [...within, ...program, cli, "serve", ...args];
  const own = { PORT: "0", HOST: "127.0.0.1", LOG_LEVEL: "warn" };
  const child = spawn(words[0]!, words.slice(1), {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...own, ...env },
    stdio: ["ignore", "pipe", "pipe", ...(hasChannel ? ["ipc" as const] : [])],
  }) as ServeChild;
  let said = "";
  const origin = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += String(chunk);
      const found = /listens on (\S+)/.exec(said)?.[1];
      if (found) resolve(found);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", (code, signal) =>
      reject(new Error(`The service ended with ${signal ?? code}: ${said}`)),
    );
  });
  return {
    child,
    origin,
    said: () => said,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}
