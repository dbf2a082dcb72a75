/** A project in which every action is switched on somewhere, over the tables of the shop. */
import { inject } from "vitest";
import { actions } from "../../core/actions.ts";
import type { Json } from "../../core/values/json.ts";
import { shopOptions } from "./fixture.ts";
import type { FixtureOptions } from "./harness.ts";

/** SQLite has no procedures. */
const procedures: Readonly<Record<string, readonly string[]>> = {
  postgres: [
    "create procedure measure(title text, out size integer) language plpgsql as $$ begin size := length(title); end $$",
  ],
  mysql: [
    "create procedure measure(title varchar(20), out size int) set size = char_length(title)",
  ],
};

const hasProcedures = Object.hasOwn(procedures, inject("engine"));

/** The actions that the database has. */
export const possibleActions = actions.filter(({ name }) => name !== "call" || hasProcedures);

const called = {
  action: { call: true },
  procedure: {
    name: "measure",
    params: {
      title: { required: true, constraints: { maxLength: 20 } },
      size: { type: "integer", out: true },
    },
  },
};

const { counters, orders, documents, folders, kinds } = shopOptions.endpoints as Record<
  string,
  { action: object; fieldName?: string[] }
>;

/** Each action is on in at least one endpoint. Lists have no other table to join; `aggregate.test.ts` tests joins. */
const endpoints = {
  kinds: {
    ...kinds,
    action: {
      ...kinds!.action,
      datatables: true,
      lookup: true,
      aggregate: true,
      lock: true,
      export: true,
      "bulk-create": true,
      "bulk-update": true,
      "bulk-delete": true,
      upsert: true,
    },
    fieldNameLookup: { id: "kind_id", text: "note" },
    // Each record is the only one that belongs to it.
    relations: {
      itself: { endpoint: "kinds", column: "kind_id" },
      same: { endpoint: "kinds", foreignColumn: "kind_id" },
    },
    fieldValidation: [
      { name: "short", type: "string", constraints: { minLength: 2, maxLength: 6 } },
      { name: "whole", type: "integer", constraints: { required: true, min: -50, max: 50 } },
      // SQLite's tables declare this with a check.
      { name: "unsigned", type: "integer", constraints: { min: 0 } },
      { name: "note", type: "string", constraints: { enum: ["a", "b", "some text"] } },
    ],
  },
  counters: { ...counters, action: { adjust: true } },
  reasoned: { ...shopOptions.endpoints["reasoned"] },
  orders: { ...orders, action: { "change-status": true } },
  documents: {
    ...documents,
    action: { "create-composite": true, "read-composite": true, "update-composite": true },
  },
  folders: { ...folders, action: { "create-composite": true, "update-composite": true } },
  /** Records, and lines of a document, whose keys have several columns. */
  places: {
    tableName: "places",
    action: {
      create: true,
      update: true,
      delete: true,
      adjust: true,
      lock: true,
      "bulk-update": true,
      "bulk-delete": true,
      upsert: true,
      "change-status": true,
      "next-statuses": true,
    },
    adjustConfig: { fields: { count: {} } },
    workflow: { transitions: { open: ["done", "open"], done: ["open"] } },
  },
  /** Records that delete marks. */
  bins: {
    tableName: "bins",
    action: { delete: true, restore: true, create: true },
    history: true,
    softDelete: { reusable: [{ field: "label", length: 8 }] },
  },
  binders: {
    tableName: "binders",
    action: { "create-composite": true, "read-composite": true, "update-composite": true },
    masterDetail: { detailTable: "binder_pages", foreignKey: "binder_id" },
  },
  slips: {
    tableName: "slips",
    action: { create: true, "next-number": true },
    numbers: { slip_no: { format: "{label}-{seq}", by: ["label"] } },
  },
  scans: { tableName: "scans", action: { delete: true }, files: { scan: {} } },
  parcels: {
    tableName: "items",
    primaryKey: "item_id",
    fieldName: ["item_id", "code", "name"],
    action: { import: true },
  },
  ...(hasProcedures && { called }),
};

const tables: typeof shopOptions.tables = [
  ...shopOptions.tables,
  {
    name: "places",
    columns: {
      row_no: "integer",
      shelf: "text(20)",
      note: "text(20)",
      count: "integer",
      status: "text(10)",
      updated_at: "timestamp",
    },
    primaryKey: ["shelf", "row_no"],
  },
  {
    name: "bins",
    columns: {
      bin_id: "key",
      label: { type: "text(20)", unique: true },
      is_deleted: "boolean",
      deleted_at: "timestamp",
      deleted_by: "text(20)",
    },
  },
  {
    name: "slips",
    columns: {
      slip_id: "key",
      label: { type: "text(20)", notNull: true },
      slip_no: { type: "text(60)", unique: true },
    },
  },
  { name: "scans", columns: { scan_id: "key", scan: "json" } },
  { name: "binders", columns: { binder_id: "key", title: "text(20)" } },
  {
    name: "binder_pages",
    columns: {
      binder_id: { type: "text(36)", references: { table: "binders", column: "binder_id" } },
      side: "text(10)",
      page_no: "integer",
      text: "text(20)",
    },
    primaryKey: ["binder_id", "page_no", "side"],
  },
];

const setUp: typeof shopOptions.setUp = (engine) => [
  ...(shopOptions.setUp?.(engine) ?? []),
  ...(procedures[engine] ?? []),
  "insert into places (shelf, row_no, count, status) values ('p', 1, 500, 'open'), ('p', 2, 500, 'open')",
  "insert into bins (bin_id, label, deleted_at) values ('n1', 'a', null), ('n2', 'b', null)",
  "update bins set is_deleted = true where bin_id = 'n2'",
  "insert into scans (scan_id) values ('s1')",
  "insert into binders (binder_id, title) values ('b1', 'one')",
  "insert into binder_pages (binder_id, page_no, side) values ('b1', 1, 'left'), ('b1', 2, 'left')",
  "insert into kinds (kind_id, whole, note) values ('k1', 1, 'a'), ('k2', 2, 'b')",
  "insert into counters (counter_id, stock, balance, big, free) values ('n1', 500, 500, 500, 500)",
  "insert into orders (order_id, status) values ('o1', 'draft'), ('o2', 'posted')",
  "insert into documents (document_id, number, total_items, total_amount) values ('d1', 'D-1', 0, 0)",
];

export const everyAction: FixtureOptions = {
  ...shopOptions,
  tables,
  setUp,
  endpoints,
  project: { cache: { enabled: false }, requests: { unknown: "refuse" } },
};

/** Keys of records that are there. */
export const storedKeys: Readonly<Record<string, Json[]>> = {
  kind_id: ["k1", "k2"],
  counter_id: ["n1"],
  order_id: ["o1", "o2"],
  id: ["o1", "o2"],
  document_id: ["d1"],
  shelf: ["p"],
  row_no: [1, 2],
  bin_id: ["n1", "n2"],
  binder_id: ["b1"],
  scan_id: ["s1"],
  page_no: [1, 2],
  side: ["left"],
};
