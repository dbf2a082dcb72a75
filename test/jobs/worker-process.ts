/** `rowgate worker` as a separate process, as in production, for tests that stop or kill it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface WorkerProcess {
  readonly process: ChildProcess;
  /** What it wrote to standard error so far. */
  errors(): string;
  /** What it wrote to standard output so far. */
  output(): string;
  /** Writes files of its configuration. */
  save(files: ReadonlyMap<string, string>): Promise<void>;
  /** Resolves with the exit code; null after a signal that it could not handle. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** SIGTERM, when it still runs, and its folder is removed. */
  stop(): Promise<void>;
}

export interface WorkerProcessOptions {
  /** The configuration, by path. */
  readonly files: ReadonlyMap<string, string>;
  readonly env: Readonly<Record<string, string>>;
  /** Instead of the command line: `test/jobs/hasty-worker.ts`, whose locks are short. */
  readonly program?: string;
}

/** Resolves when it takes jobs; rejects with its output if it ends before. */
export async function startWorkerProcess({
  files,
  env,
  program,
}: WorkerProcessOptions): Promise<WorkerProcess> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-worker-"));
  const save = async (written: ReadonlyMap<string, string>) => {
    for (const [path, text] of written) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  };
  await save(files);
  const root = join(import.meta.dirname, "../..");
  const command = program ? [join(root, program)] : [join(root, "app/start/cli.ts"), "worker"];
  const child = spawn(process.execPath, command, {
    env: { ...process.env, CONFIG_DIR: folder, LOG_LEVEL: "fatal", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const atExit = () => void child.kill("SIGKILL");
  process.once("exit", atExit);
  void exited.then(() => process.off("exit", atExit));

  const end = (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return exited;
  };
  const stop = async () => {
    await end("SIGTERM");
    await rm(folder, { recursive: true, force: true });
  };
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk) => String(chunk).includes("takes jobs") && resolve());
    void exited.then(async (code) => {
      await rm(folder, { recursive: true, force: true });
      reject(new Error(`The worker ended with ${code}: ${errors}`));
    });
  });
  return { process: child, errors: () => errors, output: () => output, save, end, stop };
}
