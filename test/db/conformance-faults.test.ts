/** How a database behaves when others fail: connections cut from outside, statements that never end. */
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { equals } from "../../core/query/statement.ts";
import { openDb } from "../../db/open.ts";
import { openSession, type PlainSession } from "../servers/session.ts";
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

/** Locks a table against all others until it is closed. */
async function holdTable(name: string): Promise<PlainSession> {
  const holder = await openSession(engine, bench.url);
  await holder.run(engine === "postgres" ? "begin" : "set autocommit = 0");
  await holder.run(
    engine === "postgres"
      ? `lock table ${name} in access exclusive mode`
      : `lock tables ${name} write`,
  );
  return holder;
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
    await wait(300);
    expect(await Promise.all(Array.from({ length: 20 }, count))).toHaveLength(20);
  });

  test("a transaction under way fails whole and is not run again", async () => {
    let runs = 0;
    const work = session(bench).tx(async (tx) => {
      runs++;
      await tx.insert(insert(bench.parents, { id: "cut", name: "x" }));
      await cutAll();
      await wait(300);
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

// Quick reads can share one connection at the same time.
describe.runIf(engine !== "sqlite")("quick reads behind one that cannot end", () => {
  const byName = (name: string, deadlineMs: number) =>
    session(bench, deadlineMs).all(
      select(bench.parents, ["id"], { where: equals(column(bench.parents, "name"), name) }),
    );

  test("are answered, whatever becomes of it", async () => {
    const db = await reopen(bench, { connectionsMax: 1 });
    const of = (deadlineMs: number) => bareSession(db, performance.now() + deadlineMs);
    const blocked = select(bench.parents, ["id"]);
    const free = select(bench.people, ["id"], { where: equals(column(bench.people, "code"), "x") });
    // Both are known to be quick.
    for (let run = 0; run < 3; run++)
      await Promise.all([of(2_000).all(blocked), of(2_000).all(free)]);
    const holder = await holdTable("parents");
    const late = errorOf(of(400).all(blocked));
    const others = Promise.all([free, free, free].map((one) => of(5_000).all(one)));
    expect((await late).kind).toBe("unavailable");
    expect(await others).toEqual([[], [], []]);
    await holder.close();
    expect(await of(2_000).all(blocked)).toEqual(await of(2_000).all(blocked));
    await db.close();
  });

  test("keep their own answers, and their own errors, among many", async () => {
    for (const id of ["one", "two", "three"])
      await session(bench).insert(insert(bench.parents, { id: `shared-${id}`, name: id }));
    const names = Array.from({ length: 200 }, (_, at) => ["one", "two", "three", "none"][at % 4]!);
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(names.map((name) => byName(name, 5_000)));
      expect(answers.map((rows) => rows.map(({ id }) => id))).toEqual(
        names.map((name) => (name === "none" ? [] : [`shared-${name}`])),
      );
    }
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
