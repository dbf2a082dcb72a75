/**
 * `npm run bench:runtimes [-- postgres sqlite]`: compares the service on Node, Bun, Deno and workerd. Measures the time
 * from a cold start to the first answer, memory right after 100,000 requests and ten seconds later, and requests per
 * second. The runtimes take turns, so that noise of the machine affects all. Memory is measured only on Linux.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import install from "../test/runtime/install.ts";
import { rowgateCommand } from "../test/runtime/runtimes.ts";
import { hasWrangler } from "../test/runtime/workerd.ts";
import { askedEngines, bench, type EngineName } from "./contest.ts";
import { type Load, measure } from "./load.ts";
import { createTable, keyOf, rowsAtStart } from "./table.ts";
import { median } from "./turn.ts";

const starts = 3;
const turns = 3;
const turnMs = Number(process.env["BENCH_TURN_MS"] ?? 1500);
const requestsForMemory = 100_000;
/** The limit of sending `requestsForMemory`; a slow machine sends fewer. */
const memoryTurnMaxMs = 60_000;
/** The wait before memory is read again. */
const quietMs = 10_000;
const startMaxMs = 60_000;
const root = join(import.meta.dirname, "..");
const cli = join(root, "app/start/cli.ts");

interface Runtime {
  readonly name: string;
  readonly engines: readonly EngineName[];
  readonly command: readonly [program: string, ...args: string[]];
  /** The child processes whose memory counts, by name; absent: memory of the started process counts. */
  readonly worker?: string;
}

interface Running {
  readonly origin: string;
  readonly child: ChildProcess;
  readonly coldMs: number;
}

const path = (action: string): string => `/api/bench/items/${action}`;
const first: Load = {
  path: path("first"),
  body: (at) => JSON.stringify({ where: { key: "id", value: keyOf((at * 7919) % rowsAtStart) } }),
  expectedStatus: 200,
};
const read: Load = {
  path: path("read"),
  body: (at) =>
    JSON.stringify({ page: (at % 50) + 1, per_page: 20, sort_columns: [{ column: "id" }] }),
  expectedStatus: 200,
};
const endpoint = {
  tableName: "items",
  action: { read: true, first: true },
  fieldName: ["id", "name", "price", "stock", "active"],
};

await install();
const engines =
  process.argv.slice(2).length > 0 ? askedEngines() : (["postgres", "sqlite"] as const);
await bench(
  async ({ folder, database }) => {
    printHead();
    for (const [at, engine] of engines.entries()) {
      const url = await database(engine);
      await createTable(engine, url);
      const configDir = await configure(folder, engine === "sqlite" ? `sqlite:${url}` : url);
      await compare(engine, { configDir, withMemory: at === 0 });
    }
    console.log(
      `\nMemory after ${requestsForMemory} requests is read on ${engines[0]} only. workerd is what \`npm run dev:workers\` runs: it connects anew for each request.`,
    );
  },
  { engines },
);

async function configure(folder: string, url: string): Promise<string> {
  const configDir = join(folder, randomUUID());
  await mkdir(join(configDir, "bench"), { recursive: true });
  // Without caching, because the work itself is measured here.
  const project = { database: { url, pool: 10 }, cache: { enabled: false } };
  await writeFile(join(configDir, "bench/project.json"), JSON.stringify(project));
  await writeFile(join(configDir, "bench/items.json"), JSON.stringify(endpoint));
  return configDir;
}

function runtimesFor(port: number, env: NodeJS.ProcessEnv): readonly Runtime[] {
  const all = ["postgres", "mysql", "sqlite"] as const;
  const on = (runtime: "bun" | "deno"): Runtime => {
    const [program, ...args] = rowgateCommand(runtime, env)!;
    return { name: runtime, engines: all, command: [program, ...args, cli, "serve"] };
  };
  const wrangler = [join(root, "test/runtime/wrangler.ts"), "dev", "--port", String(port)];
  const workerd: Runtime = {
    name: "workerd",
    engines: ["postgres", "mysql"],
    command: [process.execPath, ...wrangler, "--ip", "127.0.0.1", "--inspector-port", "0"],
    worker: "workerd",
  };
  const node: Runtime = { name: "node", engines: all, command: [process.execPath, cli, "serve"] };
  return [node, on("bun"), on("deno"), ...(hasWrangler() ? [workerd] : [])];
}

/** Prints a line for each runtime. */
async function compare(
  engine: EngineName,
  { configDir, withMemory }: { configDir: string; withMemory: boolean },
): Promise<void> {
  const port = await freePort();
  const env = { ...process.env, CONFIG_DIR: configDir, LOG_LEVEL: "warn", PORT: String(port) };
  for (const runtime of runtimesFor(port, env).filter((one) => one.engines.includes(engine))) {
    const coldMs: number[] = [];
    for (let at = 1; at < starts; at++) {
      const short = await start(runtime, env);
      coldMs.push(short.coldMs);
      await stop(short);
    }
    const running = await start(runtime, env);
    try {
      coldMs.push(running.coldMs);
      await pause(1_000);
      const idle = memoryOf(runtime, running);
      const rates = { first: [] as number[], read: [] as number[] };
      await measure(running.origin, first, turnMs);
      for (let turn = 0; turn < turns; turn++) {
        rates.first.push(await measure(running.origin, first, turnMs));
        rates.read.push(await measure(running.origin, read, turnMs));
      }
      const cells = [
        engine,
        runtime.name,
        `${Math.round(median(coldMs))} ms`,
        idle,
        ...(withMemory ? await memoryAfterMany(runtime, running) : ["", ""]),
        Math.round(median(rates.first)),
        Math.round(median(rates.read)),
      ];
      console.log(`| ${cells.join(" | ")} |`);
    } finally {
      await stop(running);
    }
  }
}

function printHead(): void {
  const head = [
    "engine",
    "runtime",
    "cold start",
    "idle",
    "right after 100,000",
    "10 s later",
    "first per s",
    "read per s",
  ];
  console.log(`\n| ${head.join(" | ")} |\n|---|---|--:|--:|--:|--:|--:|--:|`);
}

/** Right after the requests, and after a while without any. */
async function memoryAfterMany(runtime: Runtime, running: Running): Promise<readonly string[]> {
  const endMs = performance.now() + memoryTurnMaxMs;
  let sent = 0;
  while (sent < requestsForMemory && performance.now() < endMs)
    sent += (await measure(running.origin, first, turnMs)) * (turnMs / 1000);
  const memory = memoryOf(runtime, running);
  await pause(quietMs);
  const isShort = sent < requestsForMemory;
  return [isShort ? `${memory} (after ${Math.round(sent)})` : memory, memoryOf(runtime, running)];
}

/** Resolves with the first answer of an action, and the time that it took from the start of the process. */
async function start(runtime: Runtime, env: NodeJS.ProcessEnv): Promise<Running> {
  const [program, ...args] = runtime.command;
  const startedMs = performance.now();
  const child = spawn(program, args, { cwd: root, env, stdio: ["ignore", "ignore", "inherit"] });
  const origin = `http://127.0.0.1:${env["PORT"]}`;
  const headers = { "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: first.body(0) };
  while (performance.now() - startedMs < startMaxMs && child.exitCode === null) {
    const answer = await fetch(origin + first.path, init).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return { origin, child, coldMs: performance.now() - startedMs };
    await pause(5);
  }
  child.kill("SIGKILL");
  throw new Error(`${runtime.name} did not answer`);
}

async function stop({ child, origin }: Running): Promise<void> {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exited;
  // Its port is the next one's.
  while (
    await fetch(`${origin}/health/live`).then(
      () => true,
      () => false,
    )
  )
    await pause(20);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Resident memory as Linux counts it; empty elsewhere. */
function memoryOf({ worker }: Runtime, { child }: Running): string {
  if (process.platform !== "linux") return "";
  const pids = worker === undefined ? [child.pid!] : below(child.pid!, worker);
  const kib = pids.map((pid) => Number(/^VmRSS:\s*(\d+)/m.exec(statusOf(pid))?.[1] ?? 0));
  return `${Math.round(kib.reduce((sum, one) => sum + one, 0) / 1024)} MiB`;
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

/** The processes of this name that a process started, itself or through others. */
function below(parent: number, name: string): number[] {
  const all = globSync("[0-9]*", { cwd: "/proc" }).map(Number);
  const parts = (pid: number) => statusOf(pid);
  const children = all.filter((pid) => parts(pid).includes(`\nPPid:\t${parent}\n`));
  return children.flatMap((pid) => [
    ...(parts(pid).startsWith(`Name:\t${name}\n`) ? [pid] : []),
    ...below(pid, name),
  ]);
}
