/**
 * Runs one server for as long as its parent lives: `node keeper.ts <Kept as JSON>`, started by `start.ts`.
 * The parent holds the other end of stdin, which the system closes however the parent ends (even by SIGKILL);
 * then the server is stopped and its folder removed. A server that ends by itself ends the keeper, with its last words.
 */
import { spawn, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";

type CommandLine = readonly [program: string, ...args: string[]];

export interface Kept {
  /** Run to its end before the server starts: makes the data folder. */
  readonly fill: CommandLine | null;
  readonly serve: CommandLine;
  /** Run after the server stopped: removes a container. */
  readonly cleanUp: CommandLine | null;
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
  readonly stopSignal: NodeJS.Signals;
  /** Time for the server to stop before it is killed. */
  readonly graceMs: number;
  /** The server's own folder, and the working directory. */
  readonly folder: string;
}

const kept = JSON.parse(process.argv[2] ?? "") as Kept;
const { account, folder: cwd } = kept;
let lastWords = "";
let isStopping = false;

// The whole group may get these; the parent decides when the server stops.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

if (isFilled()) serve();
else leave();

function isFilled(): boolean {
  if (!kept.fill) return true;
  const [program, ...args] = kept.fill;
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    ...account,
    cwd,
    encoding: "utf8",
  });
  if (status !== 0) lastWords = error?.message ?? `${stdout}\n${stderr}`;
  return status === 0;
}

function serve(): void {
  const [program, ...args] = kept.serve;
  const server = spawn(program, args, { ...account, cwd, stdio: ["ignore", "pipe", "pipe"] });
  for (const output of [server.stdout, server.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => {
      lastWords = (lastWords + text).slice(-2000);
    });
  }
  server.once("error", (error) => {
    lastWords += error.message;
  });
  server.once("close", leave);

  process.stdin.resume().once("close", () => {
    isStopping = true;
    server.kill(kept.stopSignal);
    setTimeout(() => server.kill("SIGKILL"), kept.graceMs).unref();
  });
}

function leave(): void {
  if (kept.cleanUp) spawnSync(kept.cleanUp[0], kept.cleanUp.slice(1), { stdio: "ignore" });
  rmSync(kept.folder, { recursive: true, force: true });
  if (!isStopping) process.stderr.write(lastWords.slice(-2000));
  process.exit(isStopping ? 0 : 1);
}
