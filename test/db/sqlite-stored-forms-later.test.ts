/** Stored forms other than timestamps, and forms that other programs write while the service runs. */
import Database from "better-sqlite3";
import { afterEach, describe, expect, test } from "vitest";
import { createDialect } from "../../db/engines/sqlite/dialect.ts";
import { createStoredForms } from "../../db/engines/sqlite/forms/stored-forms.ts";
import { createCompiler } from "../../db/statements/compile.ts";
import { column, columnsOf } from "../values/column.ts";
import { type Fixture, openFixture } from "../contract/harness.ts";
import { importerOf, workbookOf } from "../contract/imports.ts";

let fixture: Fixture;
afterEach(() => fixture?.close());

const everything = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  aggregate: true,
};

async function open(setUp: readonly string[], endpoint: object = {}): Promise<void> {
  fixture = await openFixture({
    engine: "sqlite",
    tables: [],
    setUp: () => setUp,
    endpoints: { t: { tableName: "t", action: everything, ...endpoint } },
  });
}

const found = async (key: string, operator: string, value: unknown): Promise<string> => {
  const { body } = await fixture.post("t/read", {
    where: { conditions: [{ key, operator, value }] },
    sort_columns: [{ column: key, direction: "ASC" }],
  });
  return body.data.map(({ id }: { id: string }) => id).join("");
};

interface Sibling {
  readonly name: string;
  readonly type: string;
  /** SQL of the rows a, b and c, which sort so. */
  readonly stored: readonly [string, string, string];
  /** What answers show of them. */
  readonly shown: readonly unknown[];
  /** What is stored for what answers show of b. */
  readonly written: unknown;
}

const siblings: readonly Sibling[] = [
  {
    name: "dates with a time of midnight",
    type: "DATE",
    stored: ["'2026-01-01 00:00:00'", "'2026-01-02 00:00:00'", "'2026-01-03 00:00:00'"],
    shown: ["2026-01-01", "2026-01-02", "2026-01-03"],
    written: "2026-01-02 00:00:00",
  },
  {
    name: "dates as milliseconds",
    type: "DATE",
    stored: ["1767225600000", "1767312000000", "1767398400000"],
    shown: ["2026-01-01", "2026-01-02", "2026-01-03"],
    written: 1_767_312_000_000,
  },
  {
    name: "dates in several forms",
    type: "DATE",
    stored: ["1767225600000", "'2026-01-02T00:00:00.000Z'", "'2026-01-03'"],
    shown: ["2026-01-01", "2026-01-02", "2026-01-03"],
    written: "2026-01-02",
  },
  {
    name: "times with a fraction",
    type: "TIME",
    stored: ["'08:15:00.000000'", "'09:15:00.000000'", "'10:15:00.000000'"],
    shown: ["08:15:00", "09:15:00", "10:15:00"],
    written: "09:15:00.000000",
  },
  {
    name: "times without and with seconds",
    type: "TIME",
    stored: ["'08:15'", "'09:15:00'", "'10:15'"],
    shown: ["08:15:00", "09:15:00", "10:15:00"],
    written: "09:15:00",
  },
  {
    name: "times with one to six digits of a fraction",
    type: "TIME",
    stored: ["'08:15:00'", "'08:15:00.25'", "'08:15:00.250001'"],
    shown: ["08:15:00", "08:15:00.25", "08:15:00.250001"],
    written: "08:15:00.25",
  },
  {
    name: "times with always three digits",
    type: "TIME",
    stored: ["'08:15:00.000'", "'08:15:00.250'", "'08:15:00.255'"],
    shown: ["08:15:00", "08:15:00.25", "08:15:00.255"],
    written: "08:15:00.250",
  },
  {
    name: "timestamps with three to six digits",
    type: "DATETIME",
    stored: [
      "'2026-01-01 08:15:00.123'",
      "'2026-01-01 08:15:00.123456'",
      "'2026-01-01 08:15:00.1235'",
    ],
    shown: ["2026-01-01T08:15:00.123Z", "2026-01-01T08:15:00.123456Z", "2026-01-01T08:15:00.1235Z"],
    written: "2026-01-01 08:15:00.123456",
  },
  {
    name: "timestamps with always six digits",
    type: "DATETIME",
    stored: [
      "'2026-01-01 08:15:00.123000'",
      "'2026-01-01 08:15:00.123450'",
      "'2026-01-01 08:15:00.123457'",
    ],
    shown: [
      "2026-01-01T08:15:00.123Z",
      "2026-01-01T08:15:00.12345Z",
      "2026-01-01T08:15:00.123457Z",
    ],
    written: "2026-01-01 08:15:00.123450",
  },
  {
    name: "timestamps with microseconds in several forms",
    type: "DATETIME",
    stored: [
      "'2026-01-01T08:15:00.123Z'",
      "'2026-01-01 08:15:00.123456'",
      "'2026-01-01T10:15:00.123457+02:00'",
    ],
    shown: [
      "2026-01-01T08:15:00.123Z",
      "2026-01-01T08:15:00.123456Z",
      "2026-01-01T08:15:00.123457Z",
    ],
    written: "2026-01-01T08:15:00.123456Z",
  },
  {
    name: "booleans as words",
    type: "BOOLEAN",
    stored: ["'false'", "'true'", "'true'"],
    shown: [false, true, true],
    written: "true",
  },
  {
    name: "booleans as words and numbers",
    type: "BOOLEAN",
    stored: ["'f'", "1", "-1"],
    shown: [false, true, true],
    written: 1,
  },
  {
    name: "UUIDs in upper case",
    type: "UUID",
    stored: [
      "'AAAAAAAA-0000-4000-8000-000000000000'",
      "'BBBBBBBB-0000-4000-8000-000000000000'",
      "'CCCCCCCC-0000-4000-8000-000000000000'",
    ],
    shown: [
      "aaaaaaaa-0000-4000-8000-000000000000",
      "bbbbbbbb-0000-4000-8000-000000000000",
      "cccccccc-0000-4000-8000-000000000000",
    ],
    written: "BBBBBBBB-0000-4000-8000-000000000000",
  },
  {
    name: "UUIDs in either case",
    type: "UUID",
    stored: [
      "'aaaaaaaa-0000-4000-8000-000000000000'",
      "'BBBBBBBB-0000-4000-8000-000000000000'",
      "'cccccccc-0000-4000-8000-000000000000'",
    ],
    shown: [
      "aaaaaaaa-0000-4000-8000-000000000000",
      "bbbbbbbb-0000-4000-8000-000000000000",
      "cccccccc-0000-4000-8000-000000000000",
    ],
    written: "bbbbbbbb-0000-4000-8000-000000000000",
  },
];

test.each(siblings)("$name are compared, sorted, grouped and written by value", async (sibling) => {
  const { type, stored, shown, written } = sibling;
  const keys = ["a", "b", "c"];
  await open([
    `CREATE TABLE t (id TEXT PRIMARY KEY, v ${type})`,
    ...stored.map((value, at) => `INSERT INTO t VALUES ('${keys[at]}', ${value})`),
  ]);
  for (const [at, value] of shown.entries()) {
    const same = keys.filter((_, other) => shown[other] === value).join("");
    const upTo = keys.slice(0, shown.lastIndexOf(value) + 1).join("");
    expect([keys[at], await found("v", "=", value)]).toEqual([keys[at], same]);
    expect([keys[at], await found("v", "<=", value)]).toEqual([keys[at], upTo]);
    expect([keys[at], await found("v", "IN", [value])]).toEqual([keys[at], same]);
  }
  const grouped = await fixture.post("t/aggregate", {
    group_by: ["v"],
    sort_columns: [{ column: "v", direction: "ASC" }],
  });
  expect(grouped.body.data.map(({ v }: { v: unknown }) => v)).toEqual([...new Set(shown)]);
  const created = await fixture.post("t/create", { id: "n", v: shown[1] });
  expect(created.body.data.v).toBe(shown[1]);
  expect(await fixture.sql("SELECT v FROM t WHERE id = 'n'")).toEqual([{ v: written }]);
});

describe("a form that turns up while the service runs", () => {
  const early = "2026-01-01T00:00:00.000Z";
  const late = "2026-01-02T00:00:00.000Z";
  const table = "CREATE TABLE t (id TEXT PRIMARY KEY, at DATETIME)";
  const usual = "INSERT INTO t VALUES ('a', '2026-01-01 00:00:00')";

  test("in a table that was empty is found and written from then on", async () => {
    await open([table]);
    await fixture.sql(`INSERT INTO t VALUES ('a', ${Date.parse(early)})`);
    expect(await found("at", "<", late)).toBe("a");
    expect((await fixture.post("t/create", { id: "b", at: late })).status).toBe(201);
    expect(await fixture.sql("SELECT typeof(at) AS type FROM t WHERE id = 'b'")).toEqual([
      { type: "integer" },
    ]);
  });

  test("in the newest row is compared by value with the next request", async () => {
    await open([table, usual]);
    expect(await found("at", "<=", late)).toBe("a");
    await fixture.sql(`INSERT INTO t VALUES ('b', ${Date.parse(late)})`);
    expect(await found("at", "<", late)).toBe("a");
    expect(await found("at", "=", late)).toBe("b");
  });

  test("in an older row is noticed by the list that shows it, which is right already", async () => {
    await open([
      table,
      "INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT 'n' || i, '2025-01-01 00:00:00' FROM n",
      "UPDATE t SET id = 'a', at = '2026-01-01 00:00:00' WHERE id = 'n1500'",
    ]);
    expect(await found("at", ">", "2025-06-01")).toBe("a");
    await fixture.sql(`UPDATE t SET at = '2026-01-01T00:00:00.000Z' WHERE id = 'a'`);
    // As texts, a T comes after a blank.
    expect(await found("at", ">=", "2026-01-01T00:00:00.500Z")).toBe("");
    expect(await found("at", ">=", early)).toBe("a");
  });

  const soon = Math.trunc(Date.now() / 1_000) * 1_000 + 3_600_000;
  const inSaoPaulo = `${new Date(soon - 3 * 3_600_000).toISOString().slice(0, 19)}-03:00`;
  test.each([
    ["a number", soon],
    ["ISO 8601", `'${new Date(soon).toISOString()}'`],
    ["a text with an offset", `'${inSaoPaulo}'`],
    ["a text with an offset behind a blank", `'${inSaoPaulo.replace("T", " ")}'`],
    ["the usual form", `'${new Date(soon).toISOString().slice(0, 19).replace("T", " ")}'`],
  ])("as %s in the time of the last change is not gone below", async (_, stored) => {
    await open([
      "CREATE TABLE t (id TEXT PRIMARY KEY, name TEXT, created_at DATETIME, updated_at DATETIME)",
      "INSERT INTO t VALUES ('a', 'n', '2026-01-01 00:00:00', '2026-01-01 00:00:00')",
    ]);
    await fixture.sql(`UPDATE t SET updated_at = ${stored} WHERE id = 'a'`);
    const { body } = await fixture.post("t/update", { id: "a", name: "m" });
    expect(body.data.updated_at).toBe(new Date(soon + 1).toISOString());
  });

  test("from a default of the table is expected from the start", async () => {
    await open([
      "CREATE TABLE t (id TEXT PRIMARY KEY, at DATETIME DEFAULT CURRENT_TIMESTAMP)",
      "INSERT INTO t VALUES ('a', '2026-01-01T00:00:00.000Z')",
    ]);
    const created = await fixture.post("t/create", { id: "b" });
    expect(await found("at", "=", created.body.data.at)).toBe("b");
    expect(await found("at", "<=", created.body.data.at)).toBe("ab");
  });
});

test("columns of different forms are joined by what their values mean", async () => {
  fixture = await openFixture({
    engine: "sqlite",
    tables: [],
    setUp: () => [
      "CREATE TABLE days (id TEXT PRIMARY KEY, day DATE, label TEXT)",
      "INSERT INTO days VALUES ('d', '2026-01-01', 'New Year')",
      "CREATE TABLE t (id TEXT PRIMARY KEY, day DATE)",
      "INSERT INTO t VALUES ('a', 1767225600000)",
    ],
    endpoints: {
      t: { tableName: "t", action: { aggregate: true } },
      days: { tableName: "days", action: { read: true } },
    },
  });
  const { body } = await fixture.post("t/aggregate", {
    group_by: ["label"],
    joins: [{ tableName: "days", sourceField: "day", targetField: "day", fields: ["label"] }],
  });
  expect(body.data).toMatchObject([{ label: "New Year" }]);
});

test("an import finds its rows by dates in the form of the table", async () => {
  await open(
    [
      "CREATE TABLE t (id TEXT PRIMARY KEY, at DATETIME, n INTEGER)",
      "INSERT INTO t VALUES ('a', 1767225600000, 1), ('b', 1767312000000, 2)",
    ],
    { action: { import: true, read: true }, importConfig: { upsertKeys: ["at"] } },
  );
  const file = await workbookOf([
    ["at", "n"],
    ["2026-01-02T00:00:00Z", 5],
    ["2026-01-03T00:00:00Z", 6],
  ]);
  const { body } = await importerOf(fixture).committed("t", file);
  expect(body.result).toMatchObject({ inserted: 1, updated: 1 });
  expect(await fixture.sql("SELECT at, n FROM t ORDER BY at")).toEqual([
    { at: 1_767_225_600_000, n: 1 },
    { at: 1_767_312_000_000, n: 5 },
    { at: 1_767_398_400_000, n: 6 },
  ]);
});

test("a default scope compares by value", async () => {
  await open(
    [
      "CREATE TABLE t (id TEXT PRIMARY KEY, at DATETIME, gone BOOLEAN)",
      "INSERT INTO t VALUES ('a', 1767225600000, 'false'), ('b', 1767312000000, 'false'), ('c', 1767225600000, 'true')",
    ],
    { defaultScope: { at: { operator: "<=", value: "2026-01-01T12:00:00Z" }, gone: false } },
  );
  const { body } = await fixture.post("t/read", { limit: 10 });
  expect(body.data).toEqual([{ id: "a", at: "2026-01-01T00:00:00.000Z", gone: false }]);
});

test("a column of one form is compared and sorted by its index", () => {
  const database = new Database(":memory:");
  database.exec("CREATE TABLE t (id TEXT PRIMARY KEY, at DATETIME)");
  database.exec("CREATE INDEX t_at ON t (at)");
  database.exec("INSERT INTO t VALUES ('a', 1767225600000)");
  const forms = createStoredForms(() => database);
  const place = { schema: "main", table: "t", column: "at" };
  const { fractionDigits, ...stored } = forms.learn(database, {
    ...place,
    type: "timestamp",
    byDefault: null,
  });
  const at = column("timestamp", { name: "at", stored, fractionDigits });
  const { text, params } = createCompiler(createDialect("number", forms))({
    kind: "select",
    source: { kind: "table", schema: null, name: "t", columns: columnsOf(at) },
    columns: [at],
    where: { kind: "compare", column: at, operator: ">=", value: "2026-01-01T00:00:00.000Z" },
    sort: [{ column: at, direction: "asc" }],
    limit: null,
    offset: 0,
    lock: false,
  });
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(params);
  expect(plan.map((step) => (step as { detail: string }).detail)).toEqual([
    "SEARCH source USING COVERING INDEX t_at (at>?)",
  ]);
  database.close();
});

test.each([
  ["a line end", "two\nlines"],
  ["signs that no header takes", "日本"],
  ["a quotation mark", 'so "called"'],
])("a record whose time is a text with %s has a version all the same", async (_, text) => {
  await open([
    "create table t (id text primary key, name text, created_at timestamp, updated_at timestamp)",
    `insert into t values ('k', 'n', '2026-01-01 00:00:00', '${text}')`,
  ]);
  const { status, body, headers } = await fixture.post("t/first", {
    where: { key: "id", value: "k" },
  });
  expect([status, (body.data as { updated_at: string }).updated_at]).toEqual([200, text]);
  const version = headers.get("ETag");
  expect(version).toMatch(/^"\w+"$/);
  const change = (ifMatch: string) =>
    fixture.request("/api/test/t/update", {
      method: "POST",
      headers: { "Content-Type": "application/json", "If-Match": ifMatch },
      body: JSON.stringify({ id: "k", name: "m" }),
    });
  expect((await change('"else"')).status).toBe(412);
  expect((await change(version!)).status).toBe(200);
});
