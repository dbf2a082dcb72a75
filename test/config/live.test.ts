/** Compilation against a real database: names, types and queries as SQLite itself reports them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileProject } from "../../core/config/compile-project.ts";
import { readConfig } from "../../core/config/reading/read-config.ts";
import type { Db } from "../../core/plans/db-port.ts";
import { actorsOf, timesOf } from "../../core/plans/audit-columns.ts";
import { openDb } from "../../db/open.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { filesOf, sentenceOf } from "./shop.ts";

let db: Db;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await freshDatabase("sqlite");
  const session = await openSession("sqlite", database.url);
  for (const text of [
    "create table items (item_id varchar(36) primary key, code varchar(20) not null unique, price decimal(12,2), length numeric, stock integer, made_on date, created_at datetime, updated_at datetime, created_by varchar(50), total decimal(12,2) generated always as (price * stock) stored)",
    "create table lines (line_id integer primary key, item_id varchar(36) references items, qty integer)",
    "create table pairs (a integer, b integer, note text, primary key (a, b))",
    "create view item_view as select item_id, code, price * 2 as doubled from items",
  ]) {
    await session.run(text);
  }
  await session.close();
  db = await openDb(database.url, { connectionsMax: 2, statementTimeoutMs: 0, decimals: "number" });
  drop = () => database.drop();
});

afterAll(async () => {
  await db?.close();
  await drop?.();
});

const compile = (payload: unknown, files: Record<string, unknown> = {}) => {
  const { projects, faults } = readConfig(filesOf({ "items.json": payload, ...files }), {});
  expect(faults).toEqual([]);
  return compileProject(projects[0]!, db.catalog);
};

const crud = { create: true, read: true, first: true, update: true, delete: true };

test("a table gives its columns, its key and its audit columns", async () => {
  const { entities, faults } = await compile({
    action: { ...crud, adjust: true },
    tableName: "items",
    fieldValidation: { length: { type: "decimal", precision: 8, scale: 3 } },
    adjustConfig: { fields: { stock: { min: 0 } } },
  });
  expect(faults).toEqual([]);
  const { read, write, adjust } = entities.get("items")!;
  expect(write!.key.map(({ name }) => name)).toEqual(["item_id"]);
  expect([...write!.writable.keys()]).toEqual(["code", "price", "length", "stock", "made_on"]);
  expect(timesOf(write!.audit, "create")).toMatchObject([{ name: "created_at" }]);
  expect(actorsOf(write!.audit, "update")).toEqual([]);
  expect(read!.columns.get("length")).toMatchObject({ type: "decimal", scale: 3 });
  expect(read!.columns.get("total")).toMatchObject({ generated: "computed" });
  expect(adjust!.fields.get("stock")!.min).toBe("0");
});

test.each([
  ["a view", { viewName: "item_view" }],
  [
    "a query",
    { viewQuery: "select item_id, code, price * 2 as doubled from items order by code; -- all" },
  ],
  ["a query in a file", { viewQuery: "file:query/open.sql" }],
])("%s gives all its columns", async (_, source) => {
  const { entities, faults } = await compile(
    { action: crud, tableName: "items", fieldName: ["code"], ...source },
    { "query/open.sql": "select item_id, code, price * 2 as doubled\nfrom items;" },
  );
  expect(faults).toEqual([]);
  expect([...entities.get("items")!.read!.columns.keys()]).toEqual(["item_id", "code", "doubled"]);
  expect(entities.get("items")!.write!.readBack).toBe(true);
});

describe("refused is", () => {
  test.each([
    ["an unknown table", { action: crud, tableName: "item" }, 'did you mean "items"?'],
    [
      "an unknown column",
      { action: crud, tableName: "items", fieldName: ["code", "prise"] },
      'did you mean "price"?',
    ],
    ["a lookup by two columns", { action: { lookup: true }, tableName: "pairs" }, "a, b"],
    ["writing to a view", { action: crud, tableName: "item_view" }, "the view item_view"],
    [
      "a query over nothing",
      { action: { read: true }, viewQuery: "select * from nowhere" },
      "nowhere",
    ],
    ["a query that is none", { action: { read: true }, viewQuery: "selekt 1" }, "database refuses"],
    [
      "a statement that is no query",
      { action: { read: true }, viewQuery: "delete from items" },
      "database refuses",
    ],
    [
      "an unknown hidden column",
      { action: { read: true }, tableName: "items", hiddenFields: ["cod"] },
      'did you mean "code"?',
    ],
  ])("%s", async (_, payload, word) => {
    const { faults, entities } = await compile(payload);
    expect(faults).toHaveLength(1);
    expect(sentenceOf(faults[0]!)).toContain(word);
    expect(entities.size).toBe(0);
  });
});
