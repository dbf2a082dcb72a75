/**
 * 100 reloads while 16 clients send requests: none fails, memory stays flat, and the database sees no more connections
 * than before. Each reload changes something, every tenth the database settings, so that connections are reopened.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { serveProcess, type ServeProcess } from "../running/serve-process.ts";
import { openSession, type PlainSession } from "../servers/session.ts";

const clients = 16;
const reloads = 100;
const poolMax = 6;
const reporter = join(import.meta.dirname, "report-memory.ts");
/** Pause of a client between two requests. */
const thinkMs = 40;
/** For the reloads. */
const timeMaxMs = 25_000;

let database: FreshDatabase;
let session: PlainSession;
let folder: string;
beforeAll(async () => {
  database = await freshDatabase("postgres");
  session = await openSession("postgres", database.url);
  await session.run(
    "create table things (id varchar(36) primary key, name varchar(40), stock integer)",
  );
  await session.run("insert into things values ('a', 'Anvil', 1), ('b', 'Bell', 2)");
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-reloads-"));
  await mkdir(join(folder, "configs/shop"), { recursive: true });
});
afterAll(async () => {
  await session?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

/** The configuration of one round: a file is complete or absent. */
async function save(turn: number): Promise<void> {
  const files = {
    "project.json": {
      database: {
        url: database.url,
        pool: Math.floor(turn / 10) % 2 === 0 ? poolMax : poolMax - 1,
      },
    },
    "things.json": {
      tableName: "things",
      action: { read: true, update: true },
      ...(turn % 2 === 0 ? {} : { hiddenFields: ["stock"] }),
    },
  };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, "next"), JSON.stringify(content));
    await rename(join(folder, "next"), join(folder, "configs/shop", name));
  }
}

const serve = (): Promise<ServeProcess> =>
  serveProcess({
    cwd: folder,
    nodeArgs: ["--expose-gc", "--import", reporter],
    env: { CONFIG_DIR: join(folder, "configs"), LOG_LEVEL: "error" },
    hasChannel: true,
  });

const loadsOf = async (url: string): Promise<number> => {
  const { config } = (await (await fetch(`${url}/health/ready`)).json()) as {
    config: { version: string; last_error: string | null };
  };
  expect(config.last_error).toBeNull();
  return Number(config.version.split("-")[0]);
};

async function connections(): Promise<number> {
  const text =
    "select count(*) as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
  return Number((await session.run(text))[0]!["n"]);
}

/** What the process holds on to, in megabytes: what is left once its garbage has been collected. */
async function memoryMb(child: ChildProcess): Promise<number> {
  const [[bytes]] = await Promise.all([once(child, "message"), child.send("memory")]);
  return Number(bytes) / 1024 ** 2;
}

test(
  "100 reloads under load fail no request, and leave neither memory nor connections behind",
  { timeout: 120_000 },
  async () => {
    await save(0);
    const { child, origin, said, stop } = await serve();
    let isOver = false;
    let isInTime = true;
    let asked = 0;
    const failures: string[] = [];
    const client = async (number: number) => {
      for (let turn = number; !isOver; turn++) {
        const isWrite = turn % 4 === 0;
        const body = isWrite
          ? { id: turn % 8 === 0 ? "a" : "b", name: `Name ${turn}` }
          : { page: 1, per_page: 2 };
        const response = await fetch(`${origin}/api/shop/things/${isWrite ? "update" : "read"}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        });
        const text = await response.text();
        asked++;
        // The reloads need some of the processor, too.
        await pause(thinkMs);
        if (response.status !== 200) failures.push(`${response.status} ${text}`);
      }
    };
    const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
    const memory: number[] = [];
    let connectionsMax = 0;
    try {
      const untilMs = performance.now() + timeMaxMs;
      for (let turn = 1; turn <= reloads && isInTime; turn++) {
        await save(turn);
        child.kill("SIGHUP");
        while ((await loadsOf(origin)) < turn + 1) await pause(5);
        connectionsMax = Math.max(connectionsMax, await connections());
        isInTime = turn === reloads || performance.now() < untilMs;
        if (turn % 10 === 0) memory.push(await memoryMb(child));
      }
    } finally {
      isOver = true;
      await running;
    }
    const loads = await loadsOf(origin);
    await pause(500);
    const left = await connections();
    await stop();
    expect(failures.slice(0, 3)).toEqual([]);
    // A busy machine can be too slow for all of them.
    expect(loads).toBeGreaterThan(isInTime ? reloads : reloads / 5);
    expect(asked).toBeGreaterThan(500);
    // An old pool and its successor, for a moment.
    expect(connectionsMax).toBeLessThanOrEqual(2 * poolMax);
    expect(left).toBeLessThanOrEqual(poolMax);
    // The first half warms up: code is compiled and pools of memory grow.
    const [before = 0, after = 0] = [
      Math.max(...memory.slice(0, memory.length / 2)),
      Math.min(...memory.slice(-3)),
    ];
    expect(after, `memory in MB: ${memory.map(Math.round).join(", ")}`).toBeLessThan(before + 2);
    expect(said()).not.toMatch(/"level":(?:50|60)/);
  },
);
