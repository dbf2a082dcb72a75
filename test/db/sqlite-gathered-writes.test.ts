/**
 * Writes to SQLite that arrive together become one transaction, and none of them notices: single statements, and those
 * of a table whose changes are recorded, which are transactions of a few.
 */
import { readFileSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { createTableWatch } from "../../db/engines/sqlite/table-watch.ts";
import { openDb } from "../../db/open.ts";
import { openFixture, openForTests } from "../contract/harness.ts";
import { bareSession } from "./bare-session.ts";
import { insert } from "./conformance.ts";

describe.each([false, true])("with a history: %s", (history) => {
  const service = openForTests(() =>
    openFixture({
      tables: [
        {
          name: "items",
          columns: {
            item_id: "key",
            code: { type: "text(20)", unique: true },
            stock: { type: "integer", check: "stock < 1000" },
          },
        },
      ],
      setUp: () => [
        "create table notes (note_id text primary key, item_id text references items deferrable initially deferred)",
        "create trigger no_ghosts before insert on items when new.code = 'ghost' begin select raise(rollback, 'no ghosts'); end",
        "create table slow (id text primary key)",
        ...["items when new.code like 'slow %'", "slow"].map(
          (when, at) =>
            `create trigger slow_${at} before insert on ${when} begin select (with recursive g (n) as (select 1 union all select n + 1 from g where n < 50000) select count(*) from g); end`,
        ),
        "insert into items values ('one', 'one', 0), ('two', 'two', 0)",
      ],
      endpoints: {
        items: {
          tableName: "items",
          action: { create: true, update: true, adjust: true, "bulk-create": true },
          history,
          adjustConfig: { fields: { stock: { type: "integer" } } },
        },
        notes: { tableName: "notes", action: { create: true }, history },
      },
      project: { cache: { enabled: false } },
    }),
  );

  const create = (code: string) => service.post("items/create", { item_id: code, code, stock: 1 });
  const adjust = (item_id: string, value = 1) =>
    service.post("items/adjust", { item_id, adjustments: [{ field: "stock", value }] });
  const note = (item_id: string) =>
    service.post("notes/create", { note_id: `about ${item_id}`, item_id });
  const statusesOf = async (requests: readonly Promise<{ status: number }>[]) =>
    (await Promise.all(requests)).map(({ status }) => status);
  const stored = async (codes: string) => {
    const rows = await service.sql(
      `select code from items where code like '${codes}' order by code`,
    );
    return rows.map(({ code }) => code);
  };
  const stockOf = async (item: string) =>
    (await service.sql(`select stock from items where item_id = '${item}'`))[0]!["stock"];

  /** Before and after each change. */
  const stocksKeptOf = async (item: string) =>
    (
      await service.sql(
        `select old_values ->> 'stock' as was, new_values ->> 'stock' as becomes from rowgate_changes where record_key like '%${item}%' order by change_id`,
      )
    ).map(({ was, becomes }) => [was, becomes]);

  async function fileOf(): Promise<string> {
    const [{ file }] = (await service.sql("pragma database_list")) as [{ file: string }];
    return file;
  }

  /** Frames of the log that end a transaction: https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
  async function commits(): Promise<number> {
    const log = readFileSync(`${await fileOf()}-wal`);
    if (log.length === 0) return 0;
    const frameBytes = 24 + log.readUInt32BE(8);
    let found = 0;
    for (let at = 32; at + frameBytes <= log.length; at += frameBytes)
      if (log.readUInt32BE(at + 4) > 0) found++;
    return found;
  }

  test("they are one transaction, or few", async () => {
    const before = await commits();
    const codes = Array.from({ length: 60 }, (_, at) => `many ${at}`);
    expect(await statusesOf(codes.map(create))).toEqual(codes.map(() => 201));
    expect((await commits()) - before).toBeLessThan(20);
    expect((await stored("many %")).toSorted()).toEqual(codes.toSorted());
  });

  test("slow ones let other requests go on between them", async () => {
    const codes = Array.from({ length: 30 }, (_, at) => `slow ${at}`);
    const startedMs = performance.now();
    let isOver = false;
    let longestMs = 0;
    let lastMs = startedMs;
    const watch = (): void => {
      longestMs = Math.max(longestMs, performance.now() - lastMs);
      lastMs = performance.now();
      if (!isOver) setImmediate(watch);
    };
    watch();
    expect(await statusesOf(codes.map(create))).toEqual(codes.map(() => 201));
    isOver = true;
    watch();
    expect(longestMs).toBeLessThan((performance.now() - startedMs) / 2);
    expect((await stored("slow %")).toSorted()).toEqual(codes.toSorted());
  });

  describe("deadlines", () => {
    /** Writes to a table by a connection that is open, each until its own deadline. */
    async function openWriter() {
      const options = { connectionsMax: 4, statementTimeoutMs: 0, decimals: "number" } as const;
      const db = await openDb(`sqlite:${await fileOf()}`, options);
      const slow = (await db.catalog.table("slow"))!;
      const write = (id: string, timeMs: number) => {
        const session = bareSession(db, performance.now() + timeMs);
        const statement = insert(slow, { id });
        return history
          ? session.tx((tx) => tx.insert(statement), { isQuick: true })
          : session.insert(statement);
      };
      const many = (ids: string) =>
        Promise.all(Array.from({ length: 20 }, (_, at) => write(`${ids} ${at}`, 10_000)));
      await write("opens the connection", 5000);
      return { write, many, close: () => db.close() };
    }

    const onlyLateIsMissing = async () => {
      const [row] = await service.sql("select count(*) as n, sum(id = 'late') as late from slow");
      await service.sql("delete from slow");
      expect(row).toEqual({ n: 41, late: 0 });
    };

    /** It may also have waited for its connection. */
    const isLate = (late: Promise<unknown>) =>
      expect(late).rejects.toMatchObject({ kind: "unavailable" });

    test("one that reaches its deadline before it runs ends none of the others", async () => {
      const { write, many, close } = await openWriter();
      const before = many("before");
      const late = write("late", 30);
      const behind = many("behind");
      await Promise.all([isLate(late), before, behind]);
      await onlyLateIsMissing();
      await close();
    });

    test("nor one that reaches it while another process writes", async () => {
      const { write, many, close } = await openWriter();
      await service.sql("begin immediate");
      const before = many("before");
      const late = write("late", 100);
      const behind = many("behind");
      await isLate(late).finally(() => service.sql("commit"));
      await Promise.all([before, behind]);
      await onlyLateIsMissing();
      await close();
    });
  });

  test("a refused write is undone alone", async () => {
    const before = Number(await stockOf("two"));
    expect(
      await statusesOf([adjust("two"), adjust("two", 5000), create("one"), adjust("two")]),
    ).toEqual([200, 400, 409, 200]);
    expect(await stockOf("two")).toBe(before + 2);
    const kept = history ? await stocksKeptOf("two") : [];
    const each = [1, 2].map((by) => [before + by - 1, before + by]);
    expect(kept.slice(-2)).toEqual(history ? each : []);
  });

  test("one whose trigger undoes the transaction undoes none of the others, and none happens twice", async () => {
    const before = Number(await stockOf("one"));
    const [ghost, ...others] = await Promise.all([
      create("ghost"),
      ...["a", "b"].flatMap((name) => [create(`with ghost ${name}`), adjust("one")]),
      create("ghost"),
      create("with ghost c"),
    ]);
    expect(ghost).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("no ghosts") },
    });
    expect(others.map(({ status }) => status)).toEqual([201, 200, 201, 200, 422, 201]);
    expect(await stored("with ghost %")).toEqual(["with ghost a", "with ghost b", "with ghost c"]);
    expect(await stockOf("one")).toBe(before + 2);
  });

  test("several whose trigger undoes the transaction are each told why", async () => {
    const codes = Array.from({ length: 10 }, (_, at) => `beside ghosts ${at}`);
    const answers = await statusesOf(codes.flatMap((code) => [create("ghost"), create(code)]));
    expect(answers).toEqual(codes.flatMap(() => [422, 201]));
    expect((await stored("beside ghosts %")).toSorted()).toEqual(codes);
  });

  test("one that is refused only at the end is told alone", async () => {
    const before = Number(await stockOf("one"));
    expect(await statusesOf([adjust("one"), note("nothing"), note("one"), adjust("one")])).toEqual([
      200, 400, 201, 200,
    ]);
    expect(await service.sql("select item_id from notes")).toEqual([{ item_id: "one" }]);
    expect(await stockOf("one")).toBe(before + 2);
  });

  test("all wait together while another process writes", async () => {
    const before = await commits();
    await service.sql("begin immediate");
    const codes = Array.from({ length: 20 }, (_, at) => `later ${at}`);
    let isOver = false;
    const writing = codes.map(async (code) => ({ ...(await create(code)), isOver }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    isOver = true;
    await service.sql("commit");
    for (const answer of await Promise.all(writing))
      expect(answer).toMatchObject({ status: 201, isOver: true });
    expect((await commits()) - before).toBeLessThan(10);
    expect((await stored("later %")).toSorted()).toEqual(codes.toSorted());
  });

  test("transactions of several statements wait for them, and they for those", async () => {
    const several = (...codes: string[]) =>
      service.post("items/bulk-create", {
        data: codes.map((code) => ({ item_id: code, code, stock: 1 })),
      });
    const answers = statusesOf([
      create("mixed a"),
      several("mixed b", "one"),
      create("mixed c"),
      several("mixed d", "mixed e"),
      create("two"),
      create("mixed f"),
    ]);
    expect(await answers).toEqual([201, 409, 201, 201, 409, 201]);
    expect(await stored("mixed %")).toEqual(["a", "c", "d", "e", "f"].map((one) => `mixed ${one}`));
  });
});

test("a look at the tables that fails comes too late for them, and the next one tells of the change", () => {
  const watch = createTableWatch();
  const databaseOf = (pragma: () => unknown) =>
    ({ inTransaction: false, pragma }) as unknown as Database;
  const broken = databaseOf(() => {
    throw new Error("disk I/O error");
  });
  watch.begin(databaseOf(() => 1));
  expect(watch.hasChanged(broken)).toBe(false);
  expect(watch.hasChanged(databaseOf(() => 2))).toBe(true);
});
