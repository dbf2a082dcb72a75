/**
 * Tables and endpoints of the composites in the shared fixture: documents with lines, and with notes whose keys the
 * database generates. `fixture.ts` adds them to the shop.
 */
import type { FixtureTable } from "./tables.ts";

const audit = {
  created_at: "timestamp",
  created_by: "text(60)",
  updated_at: "timestamp",
  updated_by: "text(60)",
} as const;

const document = { table: "documents", column: "document_id" };

/** After `categories`, which lines point at. */
export const documentTables: readonly FixtureTable[] = [
  {
    name: "documents",
    columns: {
      document_id: "key",
      number: { type: "text(20)", notNull: true, unique: true },
      title: { type: "text(60)", check: "title <> 'forbidden'" },
      total_items: { type: "integer", notNull: true },
      total_qty: { type: "decimal(14,3)" },
      total_amount: { type: "decimal(14,2)", notNull: true },
      average_price: "decimal(12,4)",
      top_price: "decimal(10,2)",
      first_day: "date",
      secret: "text(40)",
      ...audit,
    },
  },
  {
    name: "document_lines",
    columns: {
      line_id: "key",
      document_id: { type: "text(36)", notNull: true, references: document },
      line_number: { type: "integer", notNull: true },
      category_id: { type: "text(36)", references: { table: "categories", column: "category_id" } },
      qty: { type: "decimal(12,3)", notNull: true, check: "qty < 100000" },
      price: { type: "decimal(10,2)", default: "5" },
      parts: "integer",
      amount: { type: "decimal(14,2)", notNull: true },
      tax: "decimal(14,2)",
      per_part: "decimal(14,4)",
      whole: "integer",
      day: "date",
      secret: "text(40)",
      ...audit,
    },
    unique: [["document_id", "line_number"]],
  },
  {
    name: "document_notes",
    columns: {
      note_id: "identity",
      document_id: { type: "text(36)", notNull: true, references: document },
      text: { type: "text(40)", notNull: true },
      weight: "integer",
      doubled: "integer",
    },
  },
];

const action = {
  create: true,
  first: true,
  delete: true,
  "create-composite": true,
  "read-composite": true,
  "update-composite": true,
};

const lines = {
  detailTable: "document_lines",
  foreignKey: "document_id",
  cascadeDelete: true,
  detailConfig: {
    primaryKey: "line_id",
    requiredFields: ["line_number"],
    fieldValidation: [
      { name: "qty", type: "decimal", constraints: { required: true, min: 0 } },
      { name: "amount", type: "decimal", constraints: { required: true } },
    ],
  },
};

const calculation = {
  detail: {
    // Needs the result of a formula below it.
    tax: "amount * 19 / 100",
    amount: "qty * price",
    per_part: "amount / parts",
    whole: "-(qty + 0.5) * 2 / 3",
  },
  header: {
    total_items: "COUNT(*)",
    total_qty: "SUM(qty)",
    total_amount: "SUM(amount)",
    average_price: "AVG(price)",
    top_price: "MAX(price)",
    first_day: "MIN(day)",
  },
};

const notes = {
  detailTable: "document_notes",
  foreignKey: "document_id",
  cascadeDelete: true,
  calculation: { detail: { doubled: "weight * 2" } },
};

/** What looks like the parameter is none: a literal, a quoted name, comments, a cast. */
const joined = `
select l.line_id, l.qty, c.name as category_name, l.secret, ':header_id $1 ?' as odd /* :header_id */
from document_lines l left join categories c on c.category_id = l.category_id -- ? :header_id
where l.document_id = :header_id and 1 = 1
order by l.line_number desc;`;

const rules = [
  { name: "number", type: "string", constraints: { required: true, trim: true } },
  { name: "total_amount", type: "decimal", constraints: { required: true } },
];
const base = { tableName: "documents", fieldValidation: rules, hiddenFields: ["secret"], action };

/** Twice each side, so that lists read through it differ from those of the table. */
export const documentEndpoints: Readonly<Record<string, object>> = {
  documents: { ...base, masterDetail: lines, calculation },
  joined: { ...base, masterDetail: lines, detailQuery: joined },
  positional: {
    ...base,
    masterDetail: lines,
    detailQuery: "select line_id, qty from document_lines where document_id = $1 order by qty",
  },
  marked: {
    ...base,
    masterDetail: lines,
    detailQuery: "select line_id, '?' as mark from document_lines where document_id = ?",
  },
  folders: { ...base, masterDetail: [{ ...lines, calculation }, notes] },
  unstamped: { ...base, masterDetail: lines, auditColumns: false },
  "document-lines": {
    tableName: "document_lines",
    action: { first: true, read: true, create: true, aggregate: true },
  },
};

/** A line of a document as requests send it. */
export const line = (line_number: number, more: object = {}) => ({
  line_number,
  qty: 1,
  price: 1,
  ...more,
});
