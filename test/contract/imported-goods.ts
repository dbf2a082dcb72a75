/** Goods with groups for tests of imports: the tables, the endpoints, and the service over them. */
import { beforeEach, expect } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { type Answer, openForTests } from "./harness.ts";
import { type Importer, importerOf } from "./imports.ts";
import { type JobFixture, type longTestPlaces, openJobFixture } from "./job-places.ts";
import type { FixtureTable } from "./tables.ts";

const tables: readonly FixtureTable[] = [
  {
    name: "groups",
    columns: { group_id: "key", name: { type: "text(40)", notNull: true }, code: "integer" },
  },
  {
    name: "goods",
    columns: {
      good_id: "key",
      sku: { type: "text(20)", notNull: true, unique: true },
      name: { type: "text(40)", notNull: true },
      price: { type: "decimal(10,2)", check: "price >= 0" },
      stock: { type: "integer", notNull: true, default: "7" },
      group_id: { type: "text(36)", references: { table: "groups", column: "group_id" } },
      made_in: "text(20)",
      secret: "text(20)",
      created_at: "timestamp",
      created_by: "text(40)",
      updated_at: "timestamp",
      updated_by: "text(40)",
    },
  },
  {
    name: "visits",
    columns: {
      visit_id: "identity",
      place: { type: "text(20)", notNull: true },
      day: { type: "date", notNull: true },
      guests: "integer",
    },
  },
  {
    name: "pairs",
    columns: {
      pair_id: "identity",
      left_code: { type: "text(10)", notNull: true },
      right_code: { type: "integer", notNull: true },
      note: "text(20)",
    },
    unique: [["left_code", "right_code"]],
  },
];

const action = { import: true, create: true, read: true, first: true, update: true };
const lookup = { targetTable: "groups", targetField: "group_id", lookupField: "name" };
const goods = {
  tableName: "goods",
  action,
  hiddenFields: ["secret"],
  readOnlyFields: ["secret"],
  fieldLabels: { sku: "SKU", name: "Product name", stock: "In stock" },
  fieldValidation: {
    sku: { type: "string", required: true, trim: true, uppercase: true },
    name: { type: "string", required: true, minLength: 2 },
    stock: { type: "integer", min: 0 },
  },
  importConfig: { upsertKeys: ["sku"], lookupFields: { group: lookup } },
};
const withConfig = (config: object) => ({
  ...goods,
  importConfig: { ...goods.importConfig, ...config },
});

const texts = {
  tableName: "goods",
  fieldName: ["sku", "name"],
  action: { ...action, export: true },
  importConfig: { upsertKeys: ["sku"] },
};

const endpoints = {
  goods,
  other: goods,
  off: { ...goods, action: { read: true } },
  "insert-only": withConfig({ upsertStrategy: "insert_only" }),
  "skip-existing": withConfig({ upsertStrategy: "skip_existing" }),
  optional: withConfig({ lookupFields: { group: { ...lookup, required: false } } }),
  "by-code": withConfig({ lookupFields: { group: { ...lookup, lookupField: "code" } } }),
  needing: withConfig({ requiredFields: ["made_in"] }),
  "by-key": withConfig({ upsertKeys: ["good_id"], lookupFields: {} }),
  plain: { tableName: "goods", action },
  texts: { ...texts, csvFormulas: "escape" },
  "texts-kept": { ...texts, csvFormulas: "keep" },
  names: { tableName: "names", action, importConfig: { upsertKeys: ["name"] } },
  visits: { tableName: "visits", action, importConfig: { upsertKeys: ["place", "day"] } },
  "visits-by-key": { tableName: "visits", action, importConfig: { upsertKeys: ["visit_id"] } },
  pairs: { tableName: "pairs", action, importConfig: { upsertKeys: ["left_code", "right_code"] } },
};

/** Columns that compare texts without case: not every engine has such a collation built in. */
const namesTable = {
  sqlite:
    "create table names (id integer primary key, name varchar(20) collate nocase unique, note varchar(20))",
  mysql:
    "create table names (id integer auto_increment primary key, name varchar(20) character set utf8mb4 collate utf8mb4_general_ci unique, note varchar(20))",
  postgres: "create table names (id serial primary key, name varchar(20) unique, note varchar(20))",
};

const setUp = (engine: EngineName) => [
  namesTable[engine],
  "insert into groups (group_id, name, code) values ('g1', 'Tools', 10)",
  "insert into groups (group_id, name, code) values ('g2', 'Garden', 20)",
  "insert into groups (group_id, name, code) values ('g3', 'Twice', 30)",
  "insert into groups (group_id, name, code) values ('g4', 'Twice', 40)",
];

export interface Goods {
  readonly shop: JobFixture;
  readonly imports: Importer;
  /** Every row of the goods. */
  stored(order?: string): Promise<Record<string, unknown>[]>;
  /** The workbook with the rows that a preview rejected. */
  errorsFile(endpoint: string, jobId: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Its cells. */
  rejectedRows(endpoint: string, jobId: string): Promise<unknown[][]>;
  /** The good of this sku, as the service answers it. */
  record(sku: string): Promise<Answer["body"]>;
}

/** To be called in a `describe`. Each test begins with one good, OLD-1. */
export function openGoods(place: (typeof longTestPlaces)[number]): Goods {
  const shop = openForTests(openJobFixture, place, { tables, setUp, endpoints });
  const imports = importerOf(shop);

  beforeEach(async () => {
    for (const table of ["goods", "visits", "pairs"]) await shop.sql(`delete from ${table}`);
    await shop.sql(
      "insert into goods (good_id, sku, name, price, stock, group_id, made_in, secret) values ('old', 'OLD-1', 'Old thing', 5, 3, 'g1', 'here', 'hush-1')",
    );
  });

  const errorsFile = async (endpoint: string, jobId: string): Promise<Uint8Array<ArrayBuffer>> => {
    const response = await shop.fetch(`/api/test/${endpoint}/import-errors?job_id=${jobId}`);
    expect(response.status).toBe(200);
    return new Uint8Array(await response.arrayBuffer());
  };

  return {
    shop,
    imports,
    errorsFile,
    rejectedRows: async (endpoint, jobId) => cellsOfWorkbook(await errorsFile(endpoint, jobId)),
    stored: (order = "sku") => shop.sql(`select * from goods order by ${order}`),
    record: async (sku) =>
      (await shop.post("goods/first", { where: [{ key: "sku", value: sku }] })).body.data,
  };
}

/** The cells of a workbook, headings first, as an import reads them. */
export async function cellsOfWorkbook(bytes: Uint8Array<ArrayBuffer>): Promise<unknown[][]> {
  const { fileOf, rowsOf } = await import("../workbook/files.ts");
  const { headings, rows } = await rowsOf(await fileOf(bytes));
  return [[...headings], ...rows.map(([, ...values]) => values)];
}
