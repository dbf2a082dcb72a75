/** What a database does while others misbehave: connections cut from outside, statements that never end. */
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { equals } from "../../core/query/statement.ts";
import { openDb } from "../../db/open.ts";
import {
  column,
  engine,
  errorOf,
  insert,
  reopen,
  select,
  session,
  useBench,
} from "./conformance.ts";
import { bareSession } from "./bare-session.ts";

const bench = useBench();

/** Ends every session with the test's database but our own. */
async function cutAll(): Promise<void> {
  if (engine === "postgres") {
    await bench.plain.run(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    return;
  }
  const sessions = await bench.plain.run(
    "select id from information_schema.processlist where db = database() and id <> connection_id()",
  );
  for (const { id } of sessions) await bench.plain.run(`kill ${String(id)}`).catch(() => {});
}

const count = () =>
  session(bench).count({
    kind: "count",
    source: { kind: "table", schema: null, name: "parents", columns: new Map() },
    where: null,
  });

// SQLite has no server whose connections could be cut.
describe.runIf(engine !== "sqlite")("when every connection is cut", () => {
  test("the next statements work again", async () => {
    await Promise.all(Array.from({ length: 20 }, count));
    await cutAll();
    await wait(50);
    expect(await Promise.all(Array.from({ length: 20 }, count))).toHaveLength(20);
  });

  test("a transaction under way fails whole and is not run again", async () => {
    let runs = 0;
    const work = session(bench).tx(async (tx) => {
      runs++;
      await tx.insert(insert(bench.parents, { id: "cut", name: "x" }));
      await cutAll();
      await wait(50);
      await tx.insert(insert(bench.parents, { id: "cut-2", name: "x" }));
    });
    expect((await errorOf(work)).kind).toBe("unavailable");
    expect(runs).toBe(1);
    expect(
      await session(bench).all(
        select(bench.parents, ["id"], { where: equals(column(bench.parents, "id"), "cut") }),
      ),
    ).toEqual([]);
  });
});

// SQLite runs on the calling thread: nothing can end its statement.
describe.runIf(engine !== "sqlite")("a statement that never ends", () => {
  const slow = engine === "postgres" ? "select pg_sleep(20) is null as a" : "select sleep(20) as a";
  const source = { kind: "query", text: slow, columns: new Map() } as const;

  test("is given up at the deadline, and the pool serves the next", async () => {
    const startedAtMs = performance.now();
    expect(
      (await errorOf(session(bench, 400).count({ kind: "count", source, where: null }))).kind,
    ).toBe("unavailable");
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    expect(await count()).toBe(0);
  });

  test("is stopped at the statement time-out", async () => {
    const db = await reopen(bench, { statementTimeoutMs: 300 });
    const startedAtMs = performance.now();
    const late = bareSession(db, startedAtMs + 10_000).count({
      kind: "count",
      source,
      where: null,
    });
    expect((await errorOf(late)).kind).toBe("unavailable");
    expect(performance.now() - startedAtMs).toBeLessThan(2_500);
    await db.close();
  });
});

// SQLite makes the file that is not there.
describe.runIf(engine !== "sqlite")("a server that is not there", () => {
  test("is no matter when the database is opened, and unavailable when it is asked", async () => {
    const url = new URL(bench.url);
    url.port = "1";
    const db = await openDb(url.href, {
      connectionsMax: 2,
      statementTimeoutMs: 0,
      decimals: "number",
    });
    expect((await errorOf(db.ping())).kind).toBe("unavailable");
    const late = bareSession(db, performance.now() + 1_000);
    expect((await errorOf(late.tx(async () => {}))).kind).toBe("unavailable");
    await expect(db.catalog.table("t")).rejects.toThrow("not reachable");
    await db.close();
  });
});
