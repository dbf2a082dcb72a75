/**
 * Specific to SQLite: decimals stored as text, columns with values of an undeclared type, in-memory databases, a file
 * that another process writes to, and its catalog.
 */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addDecimals, compareDecimals } from "../../core/values/decimal.ts";
import type { Column, Table } from "../../core/values/types/column.ts";
import { ExactNumber, type Json } from "../../core/values/json.ts";
import { limits } from "../../core/values/limits.ts";
import type { Db } from "../../core/plans/db-port.ts";
import { equals } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { openDb, type OpenOptions } from "../../db/open.ts";
import { decimalKey, matchesLike } from "../../db/engines/sqlite/functions.ts";
import { holdsPart } from "../../db/engines/sqlite/json-parts.ts";
import { typeFacts } from "../../db/engines/sqlite/types.ts";
import { column, errorOf, insert, insertAll, select, set, update } from "./conformance.ts";
import { bareSession } from "./bare-session.ts";

const options: OpenOptions = { connectionsMax: 4, statementTimeoutMs: 0, decimals: "number" };

let folder: string;
let path: string;
let plain: Database.Database;
let db: Db;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-sqlite-"));
  path = join(folder, "shop.db");
  await writeFile(path, "");
  db = await openDb(`sqlite:${path}`, options);
  await db.ping();
  plain = new Database(path);
});
afterEach(async () => {
  plain.close();
  await db.close();
  await rm(folder, { recursive: true, force: true });
});

const session = (of: Db = db) => bareSession(of, performance.now() + 5_000);

async function create(text: string, name: string): Promise<Table> {
  plain.exec(text);
  return (await db.catalog.table(name))!;
}

describe("a file", () => {
  test("is put into WAL mode, and the log says so once", async () => {
    const other = join(folder, "other.db");
    new Database(other).exec("create table t (id integer primary key)").close();
    const said: string[] = [];
    const info = (_fields: object, message: string) => void said.push(message);
    const log = { debug: () => {}, info, warn: info, error: info };
    for (let time = 1; time <= 2; time++) {
      const opened = await openDb(`sqlite:${other}`, { ...options, log });
      await opened.ping();
      await opened.close();
    }
    expect(said).toEqual([`The database ${other} was switched to WAL mode, and stays so`]);
    expect(plain.pragma("journal_mode", { simple: true })).toBe("wal");
  });

  test.each(["none.db", "no folder/none.db"])("is not made: %s", async (name) => {
    const before = await readdir(folder);
    const missing = await openDb(`sqlite:${join(folder, name)}`, options);
    expect((await errorOf(missing.ping())).kind).toBe("unavailable");
    await missing.close();
    expect(await readdir(folder)).toEqual(before);
  });

  test("that another process writes to is waited for, without holding up the thread", async () => {
    const table = await create("create table t (id integer primary key, n integer)", "t");
    plain.exec("begin immediate");
    let turns = 0;
    const counting = setInterval(() => turns++, 5);
    setTimeout(() => plain.exec("commit"), 300);
    await session().insert(insert(table, { n: 1n }));
    clearInterval(counting);
    expect(turns).toBeGreaterThan(10);
  });

  test("that stays busy ends in unavailable at the deadline, and works again later", async () => {
    const table = await create("create table t (id integer primary key, n integer)", "t");
    plain.exec("begin immediate");
    const startedAtMs = performance.now();
    const late = bareSession(db, startedAtMs + 200);
    expect((await errorOf(late.insert(insert(table, { n: 1n })))).kind).toBe("unavailable");
    expect((await errorOf(late.tx((tx) => tx.insert(insert(table, { n: 1n }))))).kind).toBe(
      "unavailable",
    );
    expect(performance.now() - startedAtMs).toBeLessThan(600);
    plain.exec("rollback");
    expect(await session().insert(insert(table, { n: 2n }, ["id", "n"]))).toEqual([
      { id: 1, n: 2 },
    ]);
  });

  test(
    "has one writer, which all others wait for as long as their deadline allows",
    { timeout: 20_000 },
    async () => {
      const table = await create("create table t (id integer primary key, n integer)", "t");
      const holding = bareSession(db, performance.now() + 15_000).tx(async (tx) => {
        await tx.insert(insert(table, { n: 1n }));
        await new Promise((resolve) => setTimeout(resolve, limits.acquireTimeoutMs + 500));
      });
      await new Promise((resolve) => setTimeout(resolve, 10));
      const short = errorOf(session().insert(insert(table, { n: 2n })));
      const long = bareSession(db, performance.now() + 15_000).insert(
        insert(table, { n: 3n }, ["n"]),
      );
      expect((await short).kind).toBe("unavailable");
      expect(await long).toEqual([{ n: 3 }]);
      await holding;
      expect(await session().all(select(table, ["n"]))).toEqual([{ n: 1 }, { n: 3 }]);
    },
  );

  test("cannot be written to by what is meant to read", async () => {
    await create("create table t (id integer primary key)", "t");
    await expect(db.catalog.query("insert into t values (1) returning id")).rejects.toThrow(
      "not a SELECT",
    );
    expect(plain.prepare("select count(*) as n from t").get()).toEqual({ n: 0 });
  });

  test("is read while a transaction writes, and shows nothing of it before its end", async () => {
    const table = await create("create table t (id integer primary key, n integer)", "t");
    await session().tx(async (tx) => {
      await tx.insert(insert(table, { n: 1n }));
      expect(await session().all(select(table, ["n"]))).toEqual([]);
    });
    expect(await session().all(select(table, ["n"]))).toEqual([{ n: 1 }]);
  });

  test("is not found where a folder stands", async () => {
    const other = await openDb(`sqlite:${folder}`, options);
    expect((await errorOf(other.ping())).kind).toBe("unavailable");
    await other.close();
  });
});

describe("a database in memory", () => {
  test("is one for readers, writers and transactions, and outlives its connections", async () => {
    const memory = await openDb("sqlite::memory:", options);
    await memory.ping();
    expect(await memory.catalog.names()).toEqual([]);
    const counts = await Promise.all(
      Array.from({ length: 20 }, () =>
        session(memory).tx(async (tx) =>
          tx.count({
            kind: "count",
            source: { kind: "query", text: "select 1 as a", columns: new Map() },
            where: null,
          }),
        ),
      ),
    );
    expect(new Set(counts)).toEqual(new Set([1]));
    await memory.close();
  });
});

describe("a decimal in a text column", () => {
  const exact = (table: Table): Column => ({
    ...column(table, "amount"),
    type: "decimal",
    lengthMax: null,
  });

  test("keeps all digits, compares and sorts as a number, and adds exactly", async () => {
    const table = await create("create table t (id integer primary key, amount text)", "t");
    const amount = exact(table);
    const amounts = ["9.5", "-10", "123456789012345678901234567890.12", "0.05", "-9.75"];
    const rows = amounts.map((value, at): Scalar[] => [BigInt(at), value]);
    await session().insert({
      kind: "insert",
      table,
      key: [column(table, "id")],
      columns: [column(table, "id"), amount],
      rows,
      returning: [],
    });
    const read = { ...select(table, ["id"]), columns: [amount] };
    const sorted = await session().all({ ...read, sort: [{ column: amount, direction: "asc" }] });
    expect(sorted.map((row) => row["amount"])).toEqual([
      -10,
      -9.75,
      0.05,
      9.5,
      "123456789012345678901234567890.12",
    ]);
    const where = { kind: "compare", column: amount, operator: ">", value: "-9.8" } as const;
    expect(await session().all({ ...read, where })).toHaveLength(4);
    expect(await session().all({ ...read, where: equals(amount, "9.50") })).toEqual([
      { amount: 9.5 },
    ]);
    const add = {
      ...update(table, 2n, [{ kind: "add", column: amount, delta: "0.88" }]),
      returning: [amount],
    };
    expect(await session().updateOne(add)).toEqual({ amount: "123456789012345678901234567891" });
  });

  test("sorts by its key as exact arithmetic does", () => {
    const digits = [
      "0",
      "1",
      "-1",
      "0.1",
      "-0.1",
      "0.12",
      "-0.12",
      "9",
      "10",
      "-9",
      "-10",
      "99.9",
      "100",
      "-99.9",
      "-100",
      "0.001",
      "1e30",
      "-1e30",
      "1000000000000000000.1",
    ];
    const normal = digits.map((text) =>
      addDecimals(
        text.replace(/e(\d+)/, (_all, power) => "0".repeat(Number(power))),
        "0",
      ),
    );
    for (const left of normal) {
      for (const right of normal) {
        const [a, b] = [decimalKey(left)!, decimalKey(right)!];
        expect([left, right, a < b ? -1 : a > b ? 1 : 0]).toEqual([
          left,
          right,
          Math.sign(compareDecimals(left, right)),
        ]);
      }
    }
    expect(decimalKey("ten")).toBeNull();
  });

  test("take no longer for a long row of zeros", () => {
    const startedAtMs = performance.now();
    for (let count = 0; count < 10; count++) decimalKey(`1${"0".repeat(19_990)}1`);
    expect(performance.now() - startedAtMs).toBeLessThan(500);
  });
});

describe("a row that others wrote", () => {
  test.each([
    ["timestamp", "'2024-01-02 03:04:05'", "2024-01-02T03:04:05.000Z"],
    ["timestamp", "'2024-01-02 03:04:05.5'", "2024-01-02T03:04:05.500Z"],
    ["timestamp", "'2024-01-02T03:04:05Z'", "2024-01-02T03:04:05.000Z"],
    ["timestamp", "'2024-01-02T03:04:05+02:00'", "2024-01-02T01:04:05.000Z"],
    ["datetime", "'soon'", "soon"],
    ["date", "'2024-01-02 03:04:05'", "2024-01-02"],
    ["boolean", "'true'", true],
    ["boolean", "0", false],
    ["integer", "'abc'", "abc"],
    ["integer", "9007199254740993", "9007199254740993"],
    ["decimal(10,2)", "0.1 + 0.2", 0.3],
    ["decimal(10,2)", "9007199254740993", "9007199254740993"],
    ["numeric", "0.1 + 0.2", 0.3],
    ["real", "9e999", null],
    ["json", "'{\"a\":1}'", { a: 1 }],
    ["json", "'{broken'", "{broken"],
    ["json", "17", 17],
    ["json", "9007199254740993", new ExactNumber("9007199254740993")],
    ["blob", "x'00ff'", "AP8="],
    ["text", "x'00ff'", "AP8="],
    ["integer", "x'00ff'", "AP8="],
    ["decimal(10,2)", "x'00ff'", "AP8="],
    ["json", "x'00ff'", "AP8="],
    ["uuid", "'ABCDEF00-0000-4000-8000-000000000000'", "abcdef00-0000-4000-8000-000000000000"],
    ["", "x'00ff'", "AP8="],
    ["", "1.5", "1.5"],
  ])("in a %s column as %s is shown as %j", async (type, stored, shown) => {
    const table = await create(
      `create table t (id integer primary key, v ${type}); insert into t values (1, ${stored})`,
      "t",
    );
    expect(await session().one(select(table, ["v"]))).toEqual({ v: shown });
  });

  test("in an expression without type is compared as what it is", async () => {
    plain.exec(
      "create table t (id integer primary key, a integer, b text); insert into t values (1, 9, '9'), (2, 10, '10'), (3, 11, 'x')",
    );
    const text = "select a + 0 as n, b || '' as s from t";
    const [n, s] = await db.catalog.query(text);
    expect([n!.type, s!.type]).toEqual(["integer", "text"]);
    const count = (of: Column, operator: "=" | ">", value: Scalar): Promise<number> =>
      session().count({
        kind: "count",
        source: { kind: "query", text, columns: new Map() },
        where: { kind: "compare", column: of, operator, value },
      });
    expect(await count(n!, ">", 9n)).toBe(2);
    expect(await count(n!, "=", 10n)).toBe(1);
    expect(await count(s!, "=", "10")).toBe(1);
    expect(await count(s!, "=", "10.0")).toBe(0);
  });
});

describe("the catalog", () => {
  test("tells identity, computed, unique and references", async () => {
    const table = await create(
      `create table p (id integer primary key);
       create table t (id int primary key, p integer references p, a varchar(5) unique, b text, c integer generated always as (p + 1) virtual, d text default 'x');
       create unique index named on t (b, a); create index plain on t (b);`,
      "t",
    );
    expect(table.columns.get("id")).toMatchObject({
      generated: "none",
      nullable: false,
      hasDefault: false,
    });
    expect((await db.catalog.table("p"))!.columns.get("id")).toMatchObject({
      generated: "identity",
      hasDefault: true,
    });
    expect(table.columns.get("c")).toMatchObject({ generated: "computed" });
    expect(table.columns.get("d")).toMatchObject({ hasDefault: true });
    expect(table.unique.map(({ columns }) => columns)).toEqual(
      expect.arrayContaining([["id"], ["a"], ["b", "a"]]),
    );
    expect(table.unique).toHaveLength(3);
    expect(table.foreignKeys).toMatchObject([{ columns: ["p"], referencedTable: "p" }]);
  });

  test("knows views, and names with and without their schema", async () => {
    plain.exec(
      "create table t (id integer primary key, n decimal(8,3)); create view v as select n, id + 1 as m from t",
    );
    const view = (await db.catalog.table("v"))!;
    expect(view.kind).toBe("view");
    expect(
      [...view.columns.values()].map(({ name, type, nullable }) => [name, type, nullable]),
    ).toEqual([
      ["n", "decimal", true],
      ["m", "integer", true],
    ]);
    expect((await db.catalog.table("main.t"))!.name).toBe("t");
    expect(await db.catalog.names()).toEqual(["t", "v"]);
  });

  test.each([
    ["INTEGER", { type: "integer", range: { min: -(2n ** 63n), max: 2n ** 63n - 1n } }],
    ["unsigned big int", { type: "integer" }],
    ["SMALLINT", { type: "integer", range: { min: -32_768n, max: 32_767n } }],
    ["TINYINT(1)", { type: "integer", range: { min: -128n, max: 127n } }],
    ["DECIMAL(20, 4)", { type: "decimal", precision: 20, scale: 4, digitsKept: 15 }],
    ["NUMERIC(5)", { type: "decimal", precision: 5, scale: 0 }],
    ["NUMERIC", { type: "decimal", precision: 15, scale: null }],
    ["DOUBLE PRECISION", { type: "float" }],
    ["VARCHAR(20)", { type: "text", lengthMax: 20 }],
    ["native character(70)", { type: "text", lengthMax: 70 }],
    ["CLOB", { type: "text", lengthMax: null }],
    ["DATETIME(0)", { type: "timestamp", fractionDigits: 0 }],
    ["timestamp", { type: "timestamp", fractionDigits: 6 }],
    ["bool", { type: "boolean" }],
    ["JSONB", { type: "json" }],
    ["blob", { type: "bytes" }],
    ["geometry", { type: "other" }],
    [null, { type: "other", native: "" }],
  ])("reads the declared type %s", (declared, facts) => {
    expect(typeFacts(declared)).toMatchObject(facts);
  });
});

describe("a failure", () => {
  test("of a unique index over an expression is a duplicate without fields", async () => {
    const table = await create(
      "create table t (id integer primary key, a text); create unique index low on t (lower(a))",
      "t",
    );
    await session().insert(insert(table, { a: "x" }));
    const error = await errorOf(session().insert(insert(table, { a: "X" })));
    expect([error.kind, error.errors ?? {}]).toEqual(["duplicateEntry", {}]);
  });

  test.each([
    ["is gone", "drop table t"],
    ["has lost a column", "alter table t drop column n"],
    ["has become a view", "drop table t; create view t as select 1 as id, 2 as n"],
  ])("of a table that %s says so", async (_, change) => {
    const table = await create("create table t (id integer primary key, n int)", "t");
    await session().insert(insert(table, { n: 1 }));
    plain.exec(change);
    const error = await errorOf(session().insert(insert(table, { n: 1 })));
    expect(error).toMatchObject({ kind: "internal", schemaDoubt: expect.stringMatching(/\bt\b/) });
  });

  test("of a view ends when it has become a table", async () => {
    const table = await create("create table t (id integer primary key, n int)", "t");
    await session().insert(insert(table, { n: 1 }));
    plain.exec("drop table t; create view t as select 1 as id, 2 as n");
    expect((await errorOf(session().insert(insert(table, { n: 1 })))).kind).toBe("internal");
    plain.exec("drop view t; create table t (id integer primary key, n int)");
    expect(await session().insert(insert(table, { n: 1 }))).toEqual([]);
  });

  test("of a strict table names the column", async () => {
    const table = await create("create table t (id integer primary key, n int) strict", "t");
    const wrong = {
      ...insert(table, { n: null }),
      columns: [{ ...column(table, "n"), type: "text" as const }],
      rows: [["x"]],
    };
    const error = await errorOf(session().insert(wrong));
    expect([error.kind, Object.keys(error.errors ?? {})]).toEqual(["validationFailed", ["n"]]);
  });

  test("of foreign keys names the fields of those without a row", async () => {
    const table = await create(
      "create table p (id integer primary key); create table t (id integer primary key, a integer references p, b integer references p); insert into p values (1)",
      "t",
    );
    const missing = ["does not exist"];
    for (const [a, errors] of [
      [5n, { a: missing, b: missing }],
      [1n, { b: missing }],
      [null, { b: missing }],
    ] as const) {
      const error = await errorOf(session().insert(insertAll(table, [{ a, b: 5n }])));
      expect([error.kind, error.errors]).toEqual(["foreignKeyMissing", errors]);
    }
    await session().insert(insert(table, { a: null, b: null }));
    expect(
      (await errorOf(session().updateOne(update(table, 1n, [set(table, "b", 5n)])))).errors,
    ).toEqual({ b: missing });
  });
});

describe("JSON that contains a part", () => {
  const parsed = (text: string): Json => JSON.parse(text) as Json;
  test.each([
    ['{"a": [1, "x", {"b": 2}]}', '{"a": ["x", 1.0]}', true],
    ['{"a": [1, "x", {"b": 2, "c": 3}]}', '{"a": [{"c": 3}]}', true],
    ['{"a": [1, "1", null]}', '{"a": [null, "1", 1]}', true],
    ['{"a": ["1"]}', '{"a": [1]}', false],
    ['{"a": [[1, 2], [3]]}', '{"a": [[3]]}', true],
    ['{"a": [[1], [3]]}', '{"a": [[1, 3]]}', false],
    ['{"a": [1]}', '{"a": []}', true],
    ['{"a": 1}', '{"a": [1]}', false],
  ])("%s contains %s: %s", (whole, part, expected) => {
    expect(holdsPart(parsed(whole), parsed(part))).toBe(expected);
  });

  test("is found quickly in a long list", () => {
    const startedAtMs = performance.now();
    const list = Array.from({ length: 20_000 }, (_, at) => at);
    expect(holdsPart({ a: list }, { a: list.toReversed() })).toBe(true);
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
  });
});

describe("matching beyond ASCII", () => {
  test.each([
    ["äöü", "ä%", true],
    ["äöü", "%ü", true],
    ["äöü", "_ö_", true],
    ["🎉x", "_x", true],
    ["äöü", "ä", false],
    ["ä%b", "ä\\%b", true],
    ["äxb", "ä\\%b", false],
    ["ä\\b", "ä\\\\b", true],
    ["", "%", true],
    ["", "_", false],
    ["äaab", "%a%ab", true],
    ["ab", "ab%b", false],
    ["abab", "ab%ab", true],
    ["äbcäbd", "%ä_d", true],
    ["äbcäbd", "%ä_c_b%", true],
    ["a🎉", "%_", true],
    ["🎉", "__", false],
    ["🎉a🎉", "🎉%_a%", false],
    ["ä\n", "ä_", true],
    ["", "", true],
    ["", "%%", true],
    ["ä_", "%\\_", true],
    ["äx", "%\\_", false],
  ])("%j like %j is %s", (text, pattern, expected) => {
    expect(matchesLike(text, pattern)).toBe(expected);
  });

  test.each([
    ["many beginnings", "ä".repeat(10_000), `${"%ä".repeat(4_999)}%x`],
    ["a long text behind the wrong letter", "a".repeat(200_000), `%ß${"a".repeat(2_000)}%`],
    ["a long text before the wrong letter", "a".repeat(200_000), `%${"a".repeat(2_000)}ß%`],
  ])("takes no longer for a hostile pattern: %s", (_, text, pattern) => {
    const startedAtMs = performance.now();
    expect(matchesLike(text, pattern)).toBe(false);
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
  });
});

describe("what begins with a text", () => {
  const values = [
    "'12'",
    "12",
    "'1a'",
    "'Ab'",
    "'aB '",
    "'ab🎉'",
    "x'6162'",
    "'b'",
    "'_ab'",
    "''",
    "null",
  ];
  const patterns = ["1%", "12%", "ab%", "AB%", "ab %", "a_%", "b%", "%", "_ab%", "x%"];

  test.each(["text", "varchar(10)", "enum"])(
    "is found by an index without case as without it, in a column of type %s",
    async (type) => {
      const rows = values.map((value, at) => `(${at}, ${value})`).join(", ");
      for (const name of ["bare", "indexed"])
        plain.exec(
          `create table ${name} (id integer primary key, label ${type}); insert into ${name} values ${rows}`,
        );
      plain.exec("create index labels on indexed (label collate nocase)");
      const found = async (name: string, pattern: string): Promise<unknown> => {
        const table = (await db.catalog.table(name))!;
        const label = table.columns.get("label")!;
        return session().all(
          select(table, ["id"], {
            where: { kind: "like", column: label, pattern, negated: false, ignoreCase: true },
            sort: [{ column: table.columns.get("id")!, direction: "asc" }],
          }),
        );
      };
      for (const pattern of patterns)
        expect([pattern, await found("indexed", pattern)]).toEqual([
          pattern,
          await found("bare", pattern),
        ]);
    },
  );
});

describe("a URL", () => {
  test.each([
    ["oracle://x", 'Unknown kind of database "oracle:"'],
    ["shop.db", "Unknown kind of database URL"],
    ["sqlite:", "has no file name"],
  ])("%s is refused", async (url, message) => {
    await expect(openDb(url, options)).rejects.toThrow(message);
  });
});
