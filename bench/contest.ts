/**
 * Two servers side by side under the same load, taking turns, so that a noisy machine is noisy for both; what counts is the ratio of
 * each pair of turns. Starts the servers as processes of their own, over new databases. Called by `run.ts` and `lists.ts`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSession } from "../test/servers/session.ts";
import { startServers } from "../test/servers/start.ts";
import { type Load, measure } from "./load.ts";

export type EngineName = "sqlite" | "postgres" | "mysql";

const turnMs = Number(process.env["BENCH_TURN_MS"] ?? 1500);
const pairs = Number(process.env["BENCH_PAIRS"] ?? 5);

export interface Bench {
  readonly engines: readonly EngineName[];
  /** A new, empty database: its URL, or for SQLite the path of its file. */
  database(engine: EngineName): Promise<string>;
  /** Rowgate over the database; `project` is what project.json says beside its URL. */
  serve(
    engine: EngineName,
    options: { database: string; endpoint: object; project?: object },
  ): Promise<Contender>;
  /** A handler of our own: a program that gets the engine and the database. */
  serveByHand(program: string, engine: EngineName, database: string): Promise<Contender>;
}

export interface Contender {
  readonly origin: string;
  stop(): void;
}

/** Runs `work` with the engines that the command line names, all of them without any, and ends the process. */
export async function bench(work: (bench: Bench) => Promise<void>): Promise<never> {
  const asked = process.argv.slice(2);
  const engines = (["sqlite", "postgres", "mysql"] as const).filter(
    (name) => asked.length === 0 || asked.includes(name),
  );
  const servers = await startServers(
    engines.filter((name) => name !== "sqlite"),
    (line) => console.log(line),
  );
  const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-"));
  const running: Contender[] = [];
  const started = async (args: string[], env?: Record<string, string>): Promise<Contender> => {
    const contender = await start(args, env);
    running.push(contender);
    return contender;
  };
  try {
    await work({
      engines,
      async database(engine) {
        const name = `rowgate_bench_${randomUUID().slice(0, 8)}`;
        if (engine === "sqlite") return join(folder, `${name}.db`);
        const server = servers.urls[engine]!;
        const session = await openSession(engine, server);
        // Some servers still make latin1 otherwise.
        const letters = engine === "mysql" ? " CHARACTER SET utf8mb4" : "";
        await session.run(`CREATE DATABASE ${name}${letters}`);
        await session.close();
        const own = new URL(server);
        own.pathname = `/${name}`;
        return own.href;
      },
      async serve(engine, { database, endpoint, project }) {
        const root = join(folder, randomUUID());
        await mkdir(join(root, "bench"), { recursive: true });
        const url = engine === "sqlite" ? `sqlite:${database}` : database;
        const settings = { database: { url, pool: 10 }, ...project };
        await writeFile(join(root, "bench", "project.json"), JSON.stringify(settings));
        await writeFile(join(root, "bench", "items.json"), JSON.stringify(endpoint));
        const env = { CONFIG_DIR: root, PORT: "0", LOG_LEVEL: "warn" };
        return started([join(import.meta.dirname, "../app/cli.ts"), "serve"], env);
      },
      serveByHand: (program, engine, database) =>
        started([join(import.meta.dirname, program), engine, database]),
    });
  } finally {
    for (const { stop } of running) stop();
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
  process.exit(0);
}

/** One of the two sides of a contest. */
export interface Side {
  readonly origin: string;
  readonly load: Load;
}

export function printHead(left: string, right: string): void {
  console.log(
    `\n| engine | request | ${left}, per s | ${right}, per s | ratio (min – max) |\n|---|---|--:|--:|--:|`,
  );
}

/** Prints a line: both medians, and the median ratio of right to left with its spread. */
export async function contest(title: string, left: Side, right: Side): Promise<void> {
  await measure(left.origin, left.load, turnMs / 3);
  await measure(right.origin, right.load, turnMs / 3);
  const turns: { left: number; right: number }[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    turns.push({
      left: await measure(left.origin, left.load, turnMs),
      right: await measure(right.origin, right.load, turnMs),
    });
  }
  const ratios = turns.map((turn) => turn.right / turn.left).toSorted((a, b) => a - b);
  const show = (ratio: number | undefined) => (ratio ?? 0).toFixed(2);
  const each = [median(turns.map((turn) => turn.left)), median(turns.map((turn) => turn.right))];
  const spread = `${show(median(ratios))} (${show(ratios[0])} – ${show(ratios.at(-1))})`;
  console.log(`| ${title} | ${each.map(rounded).join(" | ")} | ${spread} |`);
}

const rounded = (perSecond: number): string => perSecond.toFixed(perSecond < 10 ? 1 : 0);

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

/** Starts a server, and waits for the line that says where it listens. */
async function start(args: string[], env: Record<string, string> = {}): Promise<Contender> {
  const child: ChildProcess = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout!.on("data", (chunk) => {
      said += chunk;
      const port = /listen\w* .*?(\d+)\n/.exec(said)?.[1];
      if (port) {
        resolve({ origin: `http://127.0.0.1:${port}`, stop: () => void child.kill("SIGKILL") });
      }
    });
    child.once("exit", (code) =>
      reject(new Error(`${args[0]} ended with ${code} before it listened`)),
    );
  });
}
