/**
 * Compares two servers under the same load, in turns, so that noise of the machine affects both. The result is the
 * ratio of each pair of turns. Starts each server as a process over a new database.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSession } from "../test/servers/session.ts";
import { startServers } from "../test/servers/start.ts";
import { type Load, measure } from "./load.ts";
import { median } from "./turn.ts";

export type EngineName = "sqlite" | "postgres" | "mysql";

const turnMs = Number(process.env["BENCH_TURN_MS"] ?? 1500);
const pairs = Number(process.env["BENCH_PAIRS"] ?? 7);
/** Before the first turn of a contest: the runtimes' compilers are busy for some seconds, longer for more code. */
const warmUpMs = Number(process.env["BENCH_WARM_UP_MS"] ?? 4000);

export interface Bench {
  readonly engines: readonly EngineName[];
  /** Contains the SQLite databases, and is removed at the end. */
  readonly folder: string;
  /** Of the server that `needs` asked for. */
  readonly redisUrl: string | null;
  /** A new, empty database, dropped at the end: its URL, or for SQLite the path of its file. */
  database(engine: EngineName): Promise<string>;
  serve(engine: EngineName, options: RowgateOptions): Promise<Contender>;
  /** `rowgate worker`; its origin is empty. */
  work(engine: EngineName, options: RowgateOptions): Promise<Contender>;
  /** Runs after everything has been stopped, however the bench ends. */
  atEnd(last: () => Promise<void>): void;
  /** Starts a hand-written server: a program that gets the engine and the database. */
  serveByHand(program: string, engine: EngineName, database: string): Promise<Contender>;
}

/** Rowgate over one database; `project`: further members of project.json. */
export interface RowgateOptions {
  readonly database: string;
  readonly endpoint: object;
  /** Further endpoints, by name. */
  readonly others?: Readonly<Record<string, object>>;
  readonly project?: object;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Contender {
  readonly origin: string;
  readonly pid: number;
  stop(): void;
}

const engineNames = ["sqlite", "postgres", "mysql"] as const;

/** The engines that the command line names; all of them without any. */
export function askedEngines(): readonly EngineName[] {
  const asked = engineNames.filter((name) => process.argv.slice(2).includes(name));
  return asked.length === 0 ? engineNames : asked;
}

/** Runs `work` with the engines and, where it `needs` it, Redis, and ends the process. */
export async function bench(
  work: (bench: Bench) => Promise<void>,
  {
    engines = askedEngines(),
    needs = [],
  }: { engines?: readonly EngineName[]; needs?: readonly "redis"[] } = {},
): Promise<never> {
  const servers = await startServers(
    [...engines.filter((name) => name !== "sqlite"), ...needs],
    (line) => console.log(line),
  );
  const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-"));
  const running: Contender[] = [];
  const dropping: (() => Promise<void>)[] = [];
  const started = async (args: string[], env?: Record<string, string>): Promise<Contender> => {
    const contender = await start(args, join(folder, `${randomUUID()}.log`), env);
    running.push(contender);
    return contender;
  };
  const rowgate = async (command: string, engine: EngineName, options: RowgateOptions) => {
    const root = join(folder, randomUUID());
    await mkdir(join(root, "bench"), { recursive: true });
    const { database, endpoint, others = {}, project, env } = options;
    const url = engine === "sqlite" ? `sqlite:${database}` : database;
    const settings = { database: { url, pool: 10 }, ...project };
    await writeFile(join(root, "bench", "project.json"), JSON.stringify(settings));
    for (const [name, file] of Object.entries({ items: endpoint, ...others }))
      await writeFile(join(root, "bench", `${name}.json`), JSON.stringify(file));
    const program = join(import.meta.dirname, "../app/start/cli.ts");
    return started([program, command], { CONFIG_DIR: root, PORT: "0", LOG_LEVEL: "info", ...env });
  };
  const cleanUpOnce = async (): Promise<void> => {
    for (const { stop } of running) stop();
    // Servers that the environment provides are left as they were.
    for (const drop of dropping) await drop();
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  };
  let cleaning: Promise<void> | null = null;
  const cleanUp = (): Promise<void> => (cleaning ??= cleanUpOnce());
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
  try {
    await work({
      engines,
      folder,
      redisUrl: servers.urls.redis ?? null,
      async database(engine) {
        const name = `rowgate_bench_${randomUUID().slice(0, 8)}`;
        if (engine === "sqlite") return join(folder, `${name}.db`);
        const server = servers.urls[engine]!;
        const session = await openSession(engine, server);
        // The default of some servers is still latin1.
        const letters = engine === "mysql" ? " CHARACTER SET utf8mb4" : "";
        await session.run(`CREATE DATABASE ${name}${letters}`);
        // A process that was just killed can still count as connected.
        const force = engine === "postgres" ? " WITH (FORCE)" : "";
        dropping.push(async () => {
          await session.run(`DROP DATABASE ${name}${force}`);
          await session.close();
        });
        const own = new URL(server);
        own.pathname = `/${name}`;
        return own.href;
      },
      serve: (engine, options) => rowgate("serve", engine, options),
      work: (engine, options) => rowgate("worker", engine, options),
      atEnd: (last) => void dropping.push(last),
      serveByHand: (program, engine, database) =>
        started([join(import.meta.dirname, program), engine, database]),
    });
  } finally {
    await cleanUp();
  }
  process.exit(0);
}

/** One of the two sides of a contest. */
export interface Side {
  readonly origin: string;
  readonly load: Load;
  /** Of the server; absent: its processor time is not measured. */
  readonly pid?: number;
}

/**
 * Prints the head of the table. `withCpu`: a last column compares processor time per request, right to left. Ratios
 * have the 95 % confidence interval of their mean.
 */
export function printHead(left: string, right: string, { withCpu = false } = {}): void {
  const columns = [
    "engine",
    "request",
    `${left}, per s`,
    `${right}, per s`,
    "ratio (95 %)",
    ...(withCpu ? ["CPU (95 %)"] : []),
  ];
  const lines = columns.map((_, at) => (at < 2 ? "---" : "--:"));
  console.log(`\n| ${columns.join(" | ")} |\n| ${lines.join(" | ")} |`);
}

/**
 * Prints a line: both medians, and the mean ratio of right to left with its confidence interval. If both sides have a
 * `pid`, the ratio of processor time too.
 */
export async function contest(title: string, left: Side, right: Side): Promise<void> {
  await measure(left.origin, left.load, warmUpMs);
  await measure(right.origin, right.load, warmUpMs);
  const turns: { left: Taken; right: Taken }[] = [];
  for (let pair = 0; pair < pairs; pair++)
    turns.push({ left: await takeTurn(left), right: await takeTurn(right) });
  const each = [turns.map((turn) => turn.left), turns.map((turn) => turn.right)];
  const cells = [
    title,
    ...each.map((taken) => rounded(median(taken.map(({ perSecond }) => perSecond)))),
    ratioOf(turns.map((turn) => turn.right.perSecond / turn.left.perSecond)),
    ...(left.pid === undefined || right.pid === undefined
      ? []
      : [ratioOf(turns.map((turn) => turn.right.cpuMs / turn.left.cpuMs))]),
  ];
  console.log(`| ${cells.join(" | ")} |`);
}

interface Taken {
  readonly perSecond: number;
  /** Processor time of the server per answer. */
  readonly cpuMs: number;
}

async function takeTurn({ origin, load, pid }: Side): Promise<Taken> {
  const before = cpuMsOf(pid);
  const startedMs = performance.now();
  const perSecond = await measure(origin, load, turnMs);
  const answers = (perSecond * (performance.now() - startedMs)) / 1000;
  return { perSecond, cpuMs: (cpuMsOf(pid) - before) / answers };
}

/** Processor time of a process in milliseconds; NaN if it is unknown. */
export function cpuMsOf(pid: number | undefined): number {
  const path = `/proc/${pid}/stat`;
  if (pid === undefined || !existsSync(path)) return NaN;
  const fields = readFileSync(path, "utf8").split(") ").at(-1)!.split(" ");
  // User and system time, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Student's t for 95 %, by the number of pairs from 2 on. Above that, the normal distribution is close enough. */
const studentT = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2];

/** The geometric mean of ratios, for which 1/2 and 2 are equally far from 1, with its 95 % confidence interval. */
export function ratioOf(ratios: readonly number[]): string {
  const logs = ratios.map(Math.log);
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
  const margin = (studentT[logs.length - 2] ?? 1.96) * Math.sqrt(variance / logs.length);
  const [least, most] = [Math.exp(mean - margin), Math.exp(mean + margin)];
  return `${Math.exp(mean).toFixed(2)} (${least.toFixed(2)} – ${most.toFixed(2)})`;
}

const rounded = (perSecond: number): string => perSecond.toFixed(perSecond < 10 ? 1 : 0);

/** Starts a server or worker that writes to a file, and waits for the line in it that says that it is ready. */
async function start(
  args: string[],
  log: string,
  env: Record<string, string> = {},
): Promise<Contender> {
  const file = await open(log, "w");
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", file.fd, "inherit"],
  });
  await file.close();
  while (child.exitCode === null && child.signalCode === null) {
    const [ready, port] = /listen\w* .*?(\d+)\n|takes jobs/.exec(await readFile(log, "utf8")) ?? [];
    if (ready !== undefined) {
      const origin = port === undefined ? "" : `http://127.0.0.1:${port}`;
      return { origin, pid: child.pid!, stop: () => void child.kill("SIGKILL") };
    }
    await sleep(50);
  }
  throw new Error(
    `${args.join(" ")} ended with ${child.exitCode ?? child.signalCode} before it was ready`,
  );
}
