/** Messages between processes over PostgreSQL itself: only while somebody listens, and again after a loss. */
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import type { Db } from "../../core/plans/db-port.ts";
import { openDb } from "../../db/open.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { openForTests } from "../contract/harness.ts";

const options = { connectionsMax: 2, statementTimeoutMs: 0, decimals: "number" } as const;

const opened: Db[] = [];
const database = openForTests(freshDatabase, "postgres");
const session = openForTests(() => openSession("postgres", database.url));
afterEach(() => Promise.all(opened.splice(0).map((db) => db.close())));

async function open(more: object = {}): Promise<Db> {
  const db = await openDb(database.url, { ...options, ...more });
  opened.push(db);
  return db;
}

const listening = "query ilike 'listen %' and datname = current_database()";
async function listeners(): Promise<number> {
  const [row] = await session.run(
    `select count(*)::int as n from pg_stat_activity where ${listening}`,
  );
  return Number(row!["n"]);
}

test("others hear what one tells, and it does not hear itself", async () => {
  const [one, other] = [await open(), await open()];
  const heard = { one: vi.fn(), other: vi.fn() };
  const ends = [one.nudge!.listen(heard.one), other.nudge!.listen(heard.other)];
  await vi.waitUntil(async () => (await listeners()) === 2);
  await vi.waitUntil(() => heard.one.mock.calls.length === 1);
  await vi.waitUntil(() => heard.other.mock.calls.length === 1);
  const toldMs = performance.now();
  for (let time = 0; time < 50; time++) one.nudge!.tell();
  await vi.waitUntil(() => heard.other.mock.calls.length > 1, { interval: 1 });
  expect(performance.now() - toldMs).toBeLessThan(1_000);
  await pause(200);
  expect(heard.other.mock.calls.length).toBeLessThanOrEqual(4);
  expect(heard.one).toHaveBeenCalledOnce();
  ends.forEach((end) => end());
});

test("one connection is open for all listeners, and none without them", async () => {
  const { nudge } = await open();
  const ends = [1, 2, 3].map(() => nudge!.listen(() => undefined));
  await vi.waitUntil(async () => (await listeners()) === 1);
  ends[0]!();
  ends[1]!();
  expect(await listeners()).toBe(1);
  ends[2]!();
  await vi.waitUntil(async () => (await listeners()) === 0);
});

test("a lost connection comes back, and the listeners look then", async () => {
  const [one, other] = [await open(), await open()];
  const heard = vi.fn();
  const end = one.nudge!.listen(heard);
  await vi.waitUntil(() => heard.mock.calls.length === 1);
  await session.run(`select pg_terminate_backend(pid) from pg_stat_activity where ${listening}`);
  await vi.waitUntil(() => heard.mock.calls.length === 2, { timeout: 5_000 });
  other.nudge!.tell();
  await vi.waitUntil(() => heard.mock.calls.length === 3);
  end();
});

test("there are no messages behind a pooler that gives each transaction another session", async () => {
  const { nudge } = await open({ preparedStatements: false });
  expect(nudge).toBeNull();
});
