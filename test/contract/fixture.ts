/**
 * Tables, rows and configuration that the contract and parity tests share. Most cases use `items`. `forms` has a column
 * per validation rule, `kinds` one per type of value, `counters` is for adjust, `days` has a key that is not generated.
 * `shop.ts` opens a service over them.
 */
import { documentEndpoints, documentTables } from "./documents.ts";
import type { EngineName } from "../servers/session.ts";
import type { FixtureOptions } from "./harness.ts";
import type { FixtureColumn, FixtureTable } from "./tables.ts";

type Value = string | number | boolean | null;

/** Seeded rows, as `first` answers them (less the audit columns, which are null). */
export const items = [
  item("i01", "A-1", "apple", "c1", 10, 1.5, true, "2026-01-10"),
  item("i02", "A-2", "banana", "c1", 20, 0.25, true, "2026-02-10"),
  item("i03", "A-3", "cherry", "c2", 5, 12, false, "2026-03-10"),
  item("i04", "A-4", "100% cotton", "c2", 0, 9.99, true, null),
  item("i05", "A-5", "snake_case", "c2", null, null, null, null),
  item("i06", "A-6", "ÉCLAIR", "c1", 7, 3.2, true, "2026-04-10"),
  item("i07", "A-7", "back\\slash", null, 777, 7, false, "2026-05-10"),
  item("i08", "A-8", "snakeXcase", null, 20, 7, false, "2026-06-10"),
] as const;

export const categories = [
  { category_id: "c1", name: "Food" },
  { category_id: "c2", name: "Goods" },
] as const;

const audit = {
  created_at: "timestamp",
  created_by: "text(60)",
  updated_at: "timestamp",
  updated_by: "text(60)",
} as const;
const text: FixtureColumn = { type: "text(200)" };

const tables: FixtureTable[] = [
  {
    name: "categories",
    columns: {
      category_id: "key",
      name: { type: "text(40)", notNull: true, unique: true },
      made_on: "timestamp",
      made_by: "text(60)",
      changed_on: "timestamp",
      changed_by: "text(60)",
    },
  },
  {
    name: "items",
    columns: {
      item_id: "key",
      code: { type: "text(20)", notNull: true, unique: true },
      name: { type: "text(60)", notNull: true },
      category_id: { type: "text(36)", references: { table: "categories", column: "category_id" } },
      qty: { type: "integer", check: "qty < 100000" },
      price: "decimal(10,2)",
      active: "boolean",
      due: "date",
      secret: "text(40)",
      locked: "text(40)",
      ...audit,
    },
  },
  {
    name: "item_lines",
    columns: {
      line_id: "identity",
      item_id: {
        type: "text(36)",
        notNull: true,
        references: { table: "items", column: "item_id" },
      },
      amount: "integer",
      note: "text(40)",
    },
  },
  {
    name: "days",
    columns: { day: { type: "date", notNull: true, unique: true }, note: "text(40)" },
  },
  {
    name: "kinds",
    columns: {
      kind_id: "key",
      whole: "integer",
      small: "smallint",
      big: "bigint",
      unsigned: "unsigned",
      exact: "decimal(20,4)",
      money: "decimal(10,2)",
      rough: "float",
      flag: "boolean",
      day: "date",
      moment: "timestamp",
      clock: "time",
      token: "uuid",
      document: "json",
      raw: "bytes",
      note: "longtext",
      short: "text(10)",
    },
  },
  {
    name: "forms",
    columns: {
      form_id: "key",
      title: text,
      email: text,
      phone: text,
      link: text,
      ref: text,
      word: text,
      choice: text,
      nick: text,
      low: text,
      shout: text,
      filled: text,
      solid: text,
      ranked: "integer",
      firm: "integer",
      tags: "json",
      gain: "decimal(10,2)",
      loss: "decimal(10,2)",
      unit: "decimal(10,2)",
      fine: "decimal(20,10)",
      born: "date",
      starts: "date",
      ends: "date",
    },
  },
  {
    name: "counters",
    columns: {
      counter_id: "key",
      label: "text(40)",
      stock: { type: "integer", notNull: true },
      balance: { type: "decimal(12,2)", notNull: true },
      big: { type: "bigint", notNull: true },
      free: { type: "integer", notNull: true },
      quota: { type: "unsigned", notNull: true, default: "0" },
      rough: { type: "float", notNull: true, default: "0" },
      blank: "integer",
      ...audit,
    },
  },
  {
    name: "orders",
    columns: {
      order_id: "key",
      code: "text(20)",
      status: "text(12)",
      stage: "integer",
      remarks: "text(200)",
      total: "decimal(10,2)",
      secret: "text(40)",
      ...audit,
    },
  },
  {
    name: "tickets",
    columns: { id: "identity", state: { type: "text(20)", notNull: true, default: "'new'" } },
  },
];

/** A timestamp without a zone, which the words of `tables.ts` do not have. */
const withoutZone = { postgres: "timestamp(3)", mysql: "datetime(3)", sqlite: "datetime" };

const setUp = (engine: EngineName): string[] => [
  `alter table kinds add column local_time ${withoutZone[engine]}`,
  `create view item_view as select i.item_id, i.name, c.name as category_name, 'view' as origin
    from items i left join categories c on c.category_id = i.category_id`,
  `create view order_view as select order_id, status, upper(code) as loud_code from orders`,
  ...categories.map((row) => insert(engine, "categories", row)),
  ...items.map((row) =>
    insert(engine, "items", { ...row, secret: `hush-${row.item_id}`, locked: "set by hand" }),
  ),
  insert(engine, "item_lines", { item_id: "i01", amount: 3, note: "first" }),
  insert(engine, "days", { day: "2026-01-01", note: "new year" }),
];

/** A record without a status begins at draft; nothing follows closed, nor cancelled. */
const orderTransitions = {
  "": ["draft"],
  draft: ["posted", "cancelled"],
  posted: ["draft", "closed", "posted"],
  closed: [],
};

const everyAction = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  adjust: true,
};
const reads = { read: true, first: true };
const crud = { create: true, read: true, first: true, update: true, delete: true };

/** A query as people write them: what looks like a parameter or a second statement is a literal or a comment. */
const itemsQuery = `
select item_id, name, 'query' as origin, 'a;b?:c$1' as odd /* ; ? :header_id */
from items -- not all; some
order by name; -- the end`;

/** A name that is hidden, one that no table has, and an order that the grid does not keep. */
const gridQuery = `
select i.item_id, i.name, i.qty, i.secret, c.name as category_name
from items i left join categories c on c.category_id = i.category_id
order by i.name desc;`;

/** Each item eight times. */
const manyQuery = "select a.item_id, b.code from items a cross join items b";

/** The cache is off, so that every answer shows the table's current state. */
export const shopOptions: FixtureOptions = {
  tables: [...tables, ...documentTables],
  setUp,
  endpoints: { ...endpoints(), ...documentEndpoints },
  files: { "test/query/items.sql": itemsQuery, "test/query/grid.sql": gridQuery },
  project: { cache: { enabled: false } },
};

function endpoints(): Record<string, object> {
  return {
    items: {
      tableName: "items",
      primaryKey: "item_id",
      action: { ...crud, lookup: true, lock: true, aggregate: false },
      fieldName: [
        "item_id",
        "code",
        "name",
        "category_id",
        "qty",
        "price",
        "active",
        "due",
        "secret",
        "locked",
      ],
      fieldValidation: [{ name: "name", type: "string", constraints: { required: true } }],
      hiddenFields: ["secret"],
      readOnlyFields: ["locked"],
    },
    // A required column that no caller can see: hidden in one endpoint, not in fieldName of the other.
    masked: {
      tableName: "items",
      primaryKey: "item_id",
      action: crud,
      hiddenFields: ["code", "secret"],
    },
    narrow: {
      tableName: "items",
      primaryKey: "item_id",
      action: crud,
      fieldName: ["item_id", "name"],
    },
    // Reads only, and shows a part of the table.
    labels: {
      tableName: "items",
      primaryKey: "item_id",
      action: reads,
      fieldName: ["item_id", "name"],
    },
    unaudited: { tableName: "items", primaryKey: "item_id", action: crud, auditColumns: false },
    categories: {
      tableName: "categories",
      action: { ...crud, lookup: true },
      auditColumns: {
        createdAt: "made_on",
        createdBy: "made_by",
        updatedAt: "changed_on",
        updatedBy: "changed_by",
      },
    },
    lines: { tableName: "item_lines", action: { ...crud, lookup: true } },
    // Without a key in the database: the first field is the key.
    days: { tableName: "days", action: crud },
    kinds: { tableName: "kinds", action: crud },
    cascade: {
      tableName: "items",
      primaryKey: "item_id",
      action: crud,
      masterDetail: {
        detailTable: "item_lines",
        foreignKey: "item_id",
        cascadeDelete: true,
        detailConfig: {
          primaryKey: "line_id",
          fieldName: ["line_id", "item_id", "amount", "note"],
        },
      },
    },
    "by-both": {
      action: crud,
      primaryKey: "item_id",
      viewName: "item_view",
      tableName: "items",
      fieldName: ["item_id", "code", "name", "category_id"],
    },
    "by-view": {
      action: reads,
      primaryKey: "item_id",
      viewName: "item_view",
      viewQuery: "select item_id, name, 'query' as origin from items",
      tableName: "items",
    },
    "by-query": {
      action: reads,
      primaryKey: "item_id",
      viewQuery: "file:query/items.sql",
      tableName: "items",
    },
    // The column that distinguishes the rows is hidden, or shown several times.
    many: { action: { read: true }, primaryKey: "item_id", viewQuery: manyQuery },
    "hidden-key": {
      tableName: "items",
      primaryKey: "item_id",
      action: { read: true },
      hiddenFields: ["item_id", "secret"],
    },
    orders: {
      tableName: "orders",
      action: { ...crud, "change-status": true },
      hiddenFields: ["secret"],
      fieldValidation: [{ name: "status", type: "string", constraints: { lowercase: true } }],
      workflow: { transitions: orderTransitions },
    },
    // No transitions, a status that update cannot change, and no next-statuses.
    "orders-free": {
      tableName: "orders",
      action: { first: true, workflow: true, nextStatuses: false },
      workflow: {},
      readOnlyFields: ["status"],
    },
    "orders-open": { tableName: "orders", action: { "next-statuses": true } },
    "orders-view": {
      tableName: "orders",
      viewName: "order_view",
      action: { first: true, "change-status": true },
      workflow: { transitions: orderTransitions },
    },
    "orders-narrow": {
      workflow: {},
      tableName: "orders",
      action: { first: true, "change-status": true },
      fieldName: ["order_id", "code"],
      auditColumns: { updatedBy: "remarks", updatedAt: "updated_at" },
    },
    "order-stages": {
      tableName: "orders",
      action: { first: true, "change-status": true },
      workflow: { statusField: "stage", transitions: { "1": ["2"], "2": ["3", "1"] } },
    },
    tickets: {
      tableName: "tickets",
      action: { create: true, first: true, "change-status": true },
      workflow: { statusField: "state", transitions: { new: ["open"], open: ["new", "done"] } },
    },
    "scope-flat": {
      tableName: "items",
      primaryKey: "item_id",
      action: reads,
      defaultScope: { active: true, category_id: "c1" },
    },
    "scope-nested": {
      tableName: "items",
      primaryKey: "item_id",
      action: reads,
      defaultScope: { read: { active: false }, lookup: { active: true } },
    },
    "scope-null": {
      tableName: "items",
      primaryKey: "item_id",
      action: reads,
      defaultScope: { due: null },
    },
    "scope-operator": {
      tableName: "items",
      primaryKey: "item_id",
      action: reads,
      defaultScope: { qty: { operator: ">=", value: 20 } },
    },
    totals: {
      tableName: "items",
      primaryKey: "item_id",
      action: { aggregate: true },
      hiddenFields: ["secret"],
      defaultScope: { active: true },
      aggregateConfig: {
        joins: {
          category: {
            tableName: "categories",
            sourceField: "category_id",
            targetField: "category_id",
            fields: ["name", "made_by"],
          },
          line: {
            tableName: "item_lines",
            joinType: "INNER",
            sourceField: "item_id",
            targetField: "item_id",
            fields: ["amount", "note"],
          },
          // A column that no endpoint shows to others under this name.
          "same-secret": {
            tableName: "items",
            sourceField: "secret",
            targetField: "secret",
            fields: ["code"],
          },
        },
      },
    },
    "kind-totals": { tableName: "kinds", action: { aggregate: true } },
    "view-totals": { viewName: "item_view", action: { aggregate: true } },
    "line-totals": { tableName: "item_lines", action: { aggregate: true } },
    grid: {
      tableName: "items",
      viewName: "item_view",
      primaryKey: "item_id",
      action: { datatables: true },
      fieldName: [
        "code",
        "name",
        "category_id",
        "qty",
        "price",
        "active",
        "due",
        "secret",
        "locked",
      ],
      hiddenFields: ["secret"],
      defaultScope: { origin: "nothing" },
    },
    "grid-query": {
      tableName: "items",
      primaryKey: "item_id",
      action: { datatables: true },
      datatablesQuery: "file:query/grid.sql",
      hiddenFields: ["secret"],
    },
    "grid-narrow": {
      tableName: "items",
      primaryKey: "item_id",
      action: { datatables: true },
      hiddenFields: ["secret"],
      datatablesWhere: ["name"],
    },
    "grid-many": {
      primaryKey: "item_id",
      action: { datatables: true },
      datatablesQuery: manyQuery,
    },
    counters: {
      tableName: "counters",
      primaryKey: "counter_id",
      action: everyAction,
      adjustConfig: {
        reasonRequired: false,
        fields: {
          stock: { type: "integer", min: 0 },
          balance: { type: "decimal", allowNegativeResult: false },
          big: { type: "integer", allowNegativeResult: true },
          free: { type: "integer", allowNegativeResult: true },
          quota: { type: "integer", allowNegativeResult: true },
          rough: { type: "decimal", allowNegativeResult: true },
          blank: { type: "integer", min: -10 },
        },
      },
    },
    // Callers say nothing about who did it.
    signed: {
      tableName: "counters",
      action: { create: true, update: true, adjust: true },
      readOnlyFields: ["created_by", "updated_by"],
      adjustConfig: { fields: { stock: { type: "integer" } } },
    },
    reasoned: {
      tableName: "counters",
      primaryKey: "counter_id",
      action: { adjust: true },
      adjustConfig: {
        reasonRequired: true,
        fields: {
          stock: { type: "integer", min: 5, allowNegativeResult: false },
          blank: { type: "integer" },
        },
      },
    },
    forms: {
      tableName: "forms",
      action: crud,
      fieldValidation: {
        title: {
          type: "string",
          required: true,
          requiredMessage: "A title, please",
          minLength: 3,
          maxLength: 10,
        },
        email: { type: "string", format: "email", formatMessage: "Not an address" },
        phone: { type: "string", format: "phone" },
        link: { type: "string", format: "url" },
        ref: { type: "string", format: "uuid" },
        word: { type: "string", pattern: "^[a-z]+$", patternMessage: "Small letters only" },
        choice: { type: "string", enum: ["red", "green"] },
        nick: { type: "string", trim: true, minLength: 2 },
        low: { type: "string", lowercase: true },
        shout: { type: "string", uppercase: true },
        filled: { type: "string", default: "n/a" },
        solid: { type: "string", nullable: false },
        ranked: { type: "integer", min: 1, max: 5, maxMessage: "Five at most" },
        gain: { type: "decimal", positive: true },
        loss: { type: "decimal", negative: true },
        unit: { type: "number", integer: true },
        fine: { type: "decimal", precision: 6, scale: 3 },
        firm: { type: "integer", strict: true },
        born: { type: "date", before: "now" },
        starts: { type: "date", after: "2026-01-01" },
        ends: { type: "date", after: "starts", afterMessage: "Must end after it starts" },
        tags: { type: "array", minItems: 1, maxItems: 3, uniqueItems: true },
      },
    },
  };
}

function item(
  item_id: string,
  code: string,
  name: string,
  category_id: string | null,
  qty: number | null,
  price: number | null,
  active: boolean | null,
  due: string | null,
) {
  return { item_id, code, name, category_id, qty, price, active, due };
}

function insert(engine: EngineName, table: string, row: Record<string, Value>): string {
  const values = Object.values(row).map((value) => literal(engine, value));
  return `insert into ${table} (${Object.keys(row).join(", ")}) values (${values.join(", ")})`;
}

/** Only MySQL reads a backslash in a literal as the start of an escape. */
function literal(engine: EngineName, value: Value): string {
  if (typeof value !== "string") return String(value);
  const text = value.replaceAll("'", "''");
  return `'${engine === "mysql" ? text.replaceAll("\\", "\\\\") : text}'`;
}
