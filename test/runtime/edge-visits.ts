/** A small shop, and one request to every action, in an order in which each finds its data: path, body, status. */
import type { FixtureTable } from "../contract/tables.ts";

const audit = {
  created_at: "timestamp",
  created_by: "text(60)",
  updated_at: "timestamp",
  updated_by: "text(60)",
} as const;

export const tables: readonly FixtureTable[] = [
  {
    name: "goods",
    columns: {
      id: "key",
      name: { type: "text(60)", notNull: true },
      price: "decimal(20,4)",
      stock: { type: "integer", notNull: true, default: "0" },
      big: "bigint",
      active: "boolean",
      day: "date",
      made: "timestamp",
      more: "json",
      raw: "bytes",
      ...audit,
    },
  },
  { name: "orders", columns: { id: "key", status: "text(20)", remarks: "text(200)", ...audit } },
  { name: "notes", columns: { id: "key", total: "decimal(14,2)", ...audit } },
  {
    name: "note_lines",
    columns: {
      id: "key",
      note_id: { type: "text(36)", notNull: true, references: "notes" },
      line_number: { type: "integer", notNull: true },
      qty: { type: "decimal(12,3)", notNull: true },
      price: { type: "decimal(12,2)", notNull: true },
      amount: "decimal(14,2)",
    },
  },
];

export const endpoints = {
  goods: {
    tableName: "goods",
    primaryKey: "id",
    action: {
      create: true,
      read: true,
      first: true,
      update: true,
      delete: true,
      adjust: true,
      datatables: true,
      lookup: true,
      aggregate: true,
    },
    adjustConfig: { fields: { stock: { type: "integer", min: 0 } } },
    fieldNameLookup: { id: "id", text: "name" },
  },
  orders: {
    tableName: "orders",
    primaryKey: "id",
    action: { create: true, first: true, "change-status": true },
    workflow: { transitions: { draft: ["posted"], posted: [] } },
  },
  notes: {
    tableName: "notes",
    primaryKey: "id",
    action: { "create-composite": true, "read-composite": true, "update-composite": true },
    masterDetail: {
      detailTable: "note_lines",
      foreignKey: "note_id",
      detailConfig: {
        primaryKey: "id",
        fieldName: ["id", "note_id", "line_number", "qty", "price", "amount"],
      },
    },
    calculation: { detail: { amount: "qty * price / 3" }, header: { total: "SUM(amount)" } },
  },
};

const note = (id: string, note_lines: object[]) => ({ notes: { id, note_lines } });
const line = (line_number: number, qty: number) => ({ line_number, qty, price: 9.99 });

const byName = { sort_columns: [{ column: "name", direction: "ASC" }] };
const exact = { big: "9007199254740993", price: "1234567890123456.7891", more: { a: [1.5, null] } };

export const visits: readonly (readonly [path: string, body: object, status: number])[] = [
  ["goods/create", { id: "a", name: "Zürich \u{1F4A1}", price: 12.5, stock: 3, active: true }, 201],
  ["goods/create", { id: "a", name: "again" }, 409],
  [
    "goods/create",
    { name: "b", day: "2026-02-28", made: "2026-02-28T12:30:00.250Z", raw: "AP8=", ...exact },
    201,
  ],
  ["goods/create", { id: "c", name: "c", day: "2026-02-30" }, 400],
  ["goods/read", byName, 200],
  [
    "goods/read",
    { page: 1, per_page: 1, where: { conditions: [{ key: "stock", operator: ">", value: 1 }] } },
    200,
  ],
  ["goods/read", { per_page: 1, cursor: true, ...byName }, 200],
  ["goods/first", { where: { key: "id", value: "a" } }, 200],
  ["goods/first", { where: { key: "nothing", value: 1 } }, 400],
  ["goods/update", { id: "a", name: "changed", made: "1999-02-28T12:30:00.250Z" }, 200],
  ["goods/adjust", { id: "a", adjustments: [{ field: "stock", value: -2 }] }, 200],
  ["goods/adjust", { id: "a", adjustments: [{ field: "stock", value: -2 }] }, 409],
  [
    "goods/datatables",
    { draw: 3, start: 0, length: 10, search: { value: "CHANG" }, columns: [{ data: "name" }] },
    200,
  ],
  ["goods/lookup", { search: "b" }, 200],
  [
    "goods/aggregate",
    {
      operations: [
        { function: "sum", field: "stock" },
        { function: "count", field: "*" },
      ],
    },
    200,
  ],
  ["goods/delete", { where: [{ key: "id", value: "a" }] }, 200],
  ["orders/create", { id: "o", status: "draft" }, 201],
  ["orders/next-statuses", { id: "o" }, 200],
  ["orders/change-status", { id: "o", status: "posted", remarks: "done" }, 200],
  ["orders/change-status", { id: "o", status: "draft" }, 422],
  ["notes/create-composite", note("n", [line(1, 2.5), line(2, 1)]), 201],
  ["notes/create-composite", note("m", [line(1, 2.5), { line_number: 2 }]), 400],
  ["notes/read-composite", { where: [{ key: "id", value: "n" }] }, 200],
  ["notes/update-composite", { notes: { id: "n", note_lines: { insert: [line(7, 3)] } } }, 200],
  ["notes/read-composite", { where: [{ key: "id", value: "m" }] }, 200],
  ["goods/nothing", {}, 404],
  ["nobody/read", {}, 404],
];
