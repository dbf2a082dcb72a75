/**
 * A project of tables with soft delete and tables that refer to them in every way: `makers` with endpoints of each
 * visibility, the tables that refer to it, `orders` with lines, and `pages` with a key of two columns.
 */
import { expect } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { checkEnvelope } from "./cases.ts";
import {
  type Answer,
  type Fixture,
  type FixtureOptions,
  openFixture,
  openForTests,
} from "./harness.ts";

const maker = (onDelete?: string) =>
  ({
    type: "text(36)",
    references: { table: "makers", column: "maker_id", ...(onDelete && { onDelete }) },
  }) as const;
const marks = { is_deleted: "boolean", deleted_at: "timestamp", deleted_by: "text(40)" } as const;

const tables: FixtureOptions["tables"] = [
  {
    name: "makers",
    columns: {
      maker_id: "key",
      code: { type: "text(40)", unique: true },
      name: "text(40)",
      stock: { type: "integer", default: "0" },
      status: { type: "text(20)", default: "'open'" },
      boss_id: maker("CASCADE"),
      ...marks,
      // Nothing but the service fills it.
      is_deleted: { type: "boolean", notNull: true },
      updated_at: "timestamp",
      updated_by: "text(40)",
    },
  },
  {
    name: "parts",
    columns: { part_id: "key", maker_id: maker(), name: "text(40)", is_deleted: "smallint" },
  },
  {
    name: "crates",
    columns: {
      crate_id: "key",
      maker_id: maker("CASCADE"),
      name: { type: "text(40)", unique: true },
      deleted_at: "timestamp",
    },
  },
  {
    name: "slips",
    columns: {
      slip_id: "key",
      crate_id: {
        type: "text(36)",
        references: { table: "crates", column: "crate_id", onDelete: "CASCADE" },
      },
      part_id: { type: "text(36)", references: { table: "parts", column: "part_id" } },
      ...marks,
    },
  },
  { name: "tags", columns: { tag_id: "key", maker_id: maker("CASCADE") } },
  { name: "notes", columns: { note_id: "key", maker_id: maker("SET NULL"), text: "text(40)" } },
  {
    name: "pages",
    columns: { book: "text(36)", page: "integer", deleted_at: "timestamp" },
    primaryKey: ["book", "page"],
  },
  { name: "orders", columns: { order_id: "key", name: "text(40)", total: "integer", ...marks } },
  {
    name: "order_lines",
    columns: {
      line_id: "key",
      order_id: { type: "text(36)", references: { table: "orders", column: "order_id" } },
      qty: "integer",
      ...marks,
    },
  },
  {
    name: "order_files",
    columns: {
      file_id: "key",
      order_id: { type: "text(36)", references: { table: "orders", column: "order_id" } },
    },
  },
];

const records = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  restore: true,
} as const;
const all = {
  ...records,
  adjust: true,
  lookup: true,
  aggregate: true,
  datatables: true,
  "change-status": true,
  export: true,
  import: true,
  lock: true,
  "bulk-update": true,
};
const makers = {
  tableName: "makers",
  action: all,
  fieldNameLookup: { id: "maker_id", text: "name" },
  adjustConfig: { fields: { stock: {} } },
  workflow: {},
  importConfig: { upsertKeys: ["maker_id"] },
};
const reusable = [{ field: "code", length: 20 }];
const details = (detailTable: string) => ({
  detailTable,
  foreignKey: "order_id",
  cascadeDelete: true,
});

/** What only MySQL has: a time that changes with its row, and times of whole seconds. */
const onlyMysql = [
  "alter table makers modify updated_at datetime(3) null on update current_timestamp(3)",
  "alter table crates modify deleted_at datetime null",
];

export const cellarOptions: FixtureOptions = {
  tables,
  setUp: (engine) => [
    `create table marks (book varchar(36) not null, mark integer not null, page integer default 9, primary key (book, mark),
      foreign key (book, page) references pages (book, page))`,
    ...(engine === "mysql" ? onlyMysql : []),
  ],
  endpoints: {
    makers: { ...makers, softDelete: { reusable } },
    gone: { ...makers, softDelete: { visibility: "deleted_only" } },
    everyone: { ...makers, softDelete: { visibility: "include_deleted" } },
    plain: { ...makers, action: { read: true, update: true, delete: true } },
    watched: {
      tableName: "makers",
      action: records,
      softDelete: { reusable },
      components: Object.fromEntries(
        ["onBeforeDelete", "onAfterDelete", "onBeforeRestore", "onAfterRestore"].map((event) => [
          event,
          ["components/watch.ts#listen"],
        ]),
      ),
    },
    viewed: {
      ...makers,
      action: { ...records, datatables: true, export: true },
      viewQuery: "select maker_id, name, is_deleted, updated_at from makers",
      datatablesQuery: "select maker_id, name, deleted_at from makers",
      exportQuery: "select maker_id, name, is_deleted from makers",
      softDelete: true,
    },
    parts: {
      tableName: "parts",
      action: { ...records, aggregate: true, import: true },
      aggregateConfig: {
        joins: {
          maker: {
            tableName: "makers",
            sourceField: "maker_id",
            targetField: "maker_id",
            fields: ["name"],
          },
        },
      },
      importConfig: {
        upsertKeys: ["part_id"],
        lookupFields: {
          maker: { targetTable: "makers", targetField: "maker_id", lookupField: "name" },
        },
      },
      softDelete: true,
    },
    crates: {
      tableName: "crates",
      action: records,
      softDelete: { flag: "nowhere", reusable: [{ field: "name", length: 20 }] },
    },
    slips: { tableName: "slips", action: records, softDelete: true },
    tags: { tableName: "tags", action: { create: true, delete: true } },
    notes: {
      tableName: "notes",
      action: { create: true, update: true, first: true, import: true },
    },
    orders: {
      tableName: "orders",
      action: {
        ...records,
        "create-composite": true,
        "read-composite": true,
        "update-composite": true,
      },
      masterDetail: [
        { ...details("order_lines"), calculation: { header: { total: "SUM(qty)" } } },
        details("order_files"),
      ],
      softDelete: true,
    },
    queried: {
      tableName: "orders",
      action: { "read-composite": true },
      masterDetail: { detailTable: "order_lines", foreignKey: "order_id" },
      detailQuery:
        "select line_id, deleted_at from order_lines where order_id = :header_id order by qty",
      softDelete: true,
    },
    lines: { tableName: "order_lines", action: { read: true } },
    // Nothing but a join of a request leads from here to a table with marks.
    labels: {
      viewQuery: "select part_id as label_id, maker_id as maker from parts",
      action: { aggregate: true },
    },
    pages: { tableName: "pages", action: { create: true, delete: true }, softDelete: true },
    marks: {
      tableName: "marks",
      action: { create: true, update: true, first: true, delete: true },
    },
  },
  project: { cache: { enabled: true } },
};

export interface Cellar {
  readonly fixture: Fixture;
  post(
    endpoint: string,
    action: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Creates a record, which must be possible; answers its key. */
  create(endpoint: string, body: Record<string, Json>): Promise<string>;
  /** The stored row. */
  row(table: string, key: string, id: string): Promise<Record<string, unknown>>;
}

/** The service over the cellar, for the tests of one file. */
export function openCellar(options: Partial<FixtureOptions> = {}): Cellar {
  const fixture = openForTests(async () => {
    const components = { "components/watch.ts": { listen: () => undefined } };
    return openFixture({ ...cellarOptions, components, ...options });
  });
  const cellar: Cellar = {
    fixture,
    async post(endpoint, action, body, headers) {
      const lookup = action === "lookup" ? { "X-Request-Mode": "static" } : {};
      const answer = await fixture.post(`${endpoint}/${action}`, body, { ...lookup, ...headers });
      checkEnvelope(answer);
      return answer;
    },
    async create(endpoint, body) {
      const answer = await cellar.post(endpoint, "create", body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      return String(Object.values(body)[0]);
    },
    async row(table, key, id) {
      const [row] = await fixture.sql(`select * from ${table} where ${key} = '${id}'`);
      return row!;
    },
  };
  return cellar;
}

/** The `where` of delete and restore. */
export const by = (key: string, value: Json) => ({ where: [{ key, value }] });
