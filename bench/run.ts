/**
 * `npm run bench [-- postgres mysql sqlite]`: Rowgate against a hand-written Hono handler with the same driver, on each engine.
 * Both servers run side by side and take turns under the same load, so that a noisy machine is noisy for both; what counts is the
 * ratio of each pair of turns. Gets its databases the way `npm test` does.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSession } from "../test/servers/session.ts";
import { startServers } from "../test/servers/start.ts";
import { type Load, measure } from "./load.ts";
import { createTable, keyOf, rowsAtStart } from "./table.ts";

type EngineName = Parameters<typeof createTable>[0];

const turnMs = Number(process.env["BENCH_TURN_MS"] ?? 1500);
const pairs = Number(process.env["BENCH_PAIRS"] ?? 5);

const anyKey = (at: number): string => keyOf((at * 7919) % rowsAtStart);
const path = (action: string): string => `/api/bench/items/${action}`;

const loads: Readonly<Record<string, Load>> = {
  first: {
    path: path("first"),
    body: (at) => JSON.stringify({ where: { key: "id", value: anyKey(at) } }),
    expectedStatus: 200,
  },
  "read 20 with total": {
    path: path("read"),
    body: (at) =>
      JSON.stringify({ page: (at % 50) + 1, per_page: 20, sort_columns: [{ column: "id" }] }),
    expectedStatus: 200,
  },
  create: {
    path: path("create"),
    body: (at) => JSON.stringify({ name: `New ${at}`, price: 12.5, stock: 3, active: true }),
    expectedStatus: 201,
  },
  update: {
    path: path("update"),
    body: (at) => JSON.stringify({ id: anyKey(at), name: `Changed ${at}`, price: 9.99 }),
    expectedStatus: 200,
  },
  adjust: {
    path: path("adjust"),
    body: (at) => JSON.stringify({ id: anyKey(at), adjustments: [{ field: "stock", value: -1 }] }),
    expectedStatus: 200,
  },
};

const endpoint = {
  tableName: "items",
  action: { create: true, read: true, first: true, update: true, adjust: true },
  fieldName: ["id", "name", "price", "stock", "active"],
  fieldValidation: [{ name: "name", type: "string", required: true }],
  adjustConfig: { fields: { stock: { type: "integer", min: 0 } } },
};

const asked = process.argv.slice(2);
const engines = (["sqlite", "postgres", "mysql"] as const).filter(
  (name) => asked.length === 0 || asked.includes(name),
);
const servers = await startServers(
  engines.filter((name) => name !== "sqlite"),
  (line) => console.log(line),
);
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-"));
try {
  console.log(
    `\n| engine | request | by hand, per s | Rowgate, per s | ratio (min – max) |\n|---|---|--:|--:|--:|`,
  );
  for (const engine of engines) await compare(engine);
} finally {
  await servers.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

async function compare(engine: EngineName): Promise<void> {
  const mine = await database(engine);
  const theirs = await database(engine);
  const here = import.meta.dirname;
  const byHand = await start([join(here, "by-hand.ts"), engine, theirs]);
  const rowgate = await start([join(here, "../app/cli.ts"), "serve"], {
    CONFIG_DIR: await configFolder(engine, mine),
    PORT: "0",
    LOG_LEVEL: "warn",
  });
  try {
    for (const [name, load] of Object.entries(loads))
      await race({ engine, name, load }, byHand.origin, rowgate.origin);
  } finally {
    byHand.process.kill("SIGKILL");
    rowgate.process.kill("SIGKILL");
  }
}

async function race(
  { engine, name, load }: { engine: string; name: string; load: Load },
  byHand: string,
  rowgate: string,
) {
  await measure(byHand, load, turnMs / 3);
  await measure(rowgate, load, turnMs / 3);
  const turns: { byHand: number; rowgate: number }[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    turns.push({
      byHand: await measure(byHand, load, turnMs),
      rowgate: await measure(rowgate, load, turnMs),
    });
  }
  const ratios = turns.map((turn) => turn.rowgate / turn.byHand).toSorted((a, b) => a - b);
  const show = (ratio: number | undefined) => (ratio ?? 0).toFixed(2);
  const each = [
    median(turns.map((turn) => turn.byHand)),
    median(turns.map((turn) => turn.rowgate)),
  ].map(Math.round);
  const spread = `${show(median(ratios))} (${show(ratios[0])} – ${show(ratios.at(-1))})`;
  console.log(`| ${engine} | ${name} | ${each.join(" | ")} | ${spread} |`);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

/** A new database with the bench's table in it: the URL, or for SQLite the path of the file. */
async function database(engine: EngineName): Promise<string> {
  const name = `rowgate_bench_${randomUUID().slice(0, 8)}`;
  let url = join(folder, `${name}.db`);
  if (engine !== "sqlite") {
    const server = servers.urls[engine]!;
    const session = await openSession(engine, server);
    await session.run(`CREATE DATABASE ${name}`);
    await session.close();
    const own = new URL(server);
    own.pathname = `/${name}`;
    url = own.href;
  }
  await createTable(engine, url);
  return url;
}

async function configFolder(engine: EngineName, url: string): Promise<string> {
  const project = join(folder, engine, "bench");
  await mkdir(project, { recursive: true });
  const database = { url: engine === "sqlite" ? `sqlite:${url}` : url, pool: 10 };
  await writeFile(join(project, "project.json"), JSON.stringify({ database }));
  await writeFile(join(project, "items.json"), JSON.stringify(endpoint));
  return join(folder, engine);
}

/** Starts a server as a process of its own, and waits for the line that says where it listens. */
async function start(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ origin: string; process: ChildProcess }> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
      const port = /listen\w* .*?(\d+)\n/.exec(said)?.[1];
      if (port) resolve({ origin: `http://127.0.0.1:${port}`, process: child });
    });
    child.once("exit", (code) =>
      reject(new Error(`${args[0]} ended with ${code} before it listened`)),
    );
  });
}
