/**
 * Opens the service for the tests of closed records: orders with lines (masterDetail), notes and tags (relations to
 * many that the database deletes with them), visits (a relation to many that it does not) and parcels (named details).
 * Two endpoints of orders have rules, others none. Every table has an endpoint of its own.
 */
import { randomUUID } from "node:crypto";
import { apiKeysOf } from "./api-keys.ts";
import { checkEnvelope, check } from "./cases.ts";
import { type Answer, type Fixture, openFixture, openForTests } from "./harness.ts";
import { importerOf, workbookOf } from "./imports.ts";
import type { Json } from "../../core/values/json.ts";
import type { FixtureTable } from "./tables.ts";

const toOrder = (onDelete?: string) =>
  ({
    type: "text(36)",
    references: { table: "orders", column: "order_id", ...(onDelete && { onDelete }) },
  }) as const;

const atSpot = (onUpdate: string) =>
  ({ type: "text(20)", references: { table: "spots", column: "code", onUpdate } }) as const;

const tables: readonly FixtureTable[] = [
  { name: "products", columns: { product_id: "key", name: "text(40)", is_deleted: "boolean" } },
  { name: "groups", columns: { group_id: "key", name: "text(40)" } },
  {
    name: "spots",
    columns: { spot_id: "key", code: { type: "text(20)", unique: true }, name: "text(40)" },
  },
  {
    name: "orders",
    columns: {
      order_id: "key",
      code: { type: "text(20)", unique: true },
      status: { type: "text(20)", default: "'draft'" },
      tenant: "text(10)",
      note: "text(40)",
      qty: { type: "integer", default: "0" },
      total: "decimal(12,2)",
      group_id: {
        type: "text(36)",
        references: { table: "groups", column: "group_id", onDelete: "CASCADE" },
      },
      spot_code: atSpot("CASCADE"),
      is_deleted: "boolean",
      deleted_at: "timestamp",
      updated_at: "timestamp",
    },
  },
  {
    name: "order_lines",
    columns: {
      line_id: "key",
      order_id: toOrder(),
      product_id: {
        type: "text(36)",
        references: { table: "products", column: "product_id", onDelete: "SET NULL" },
      },
      spot_code: atSpot("SET NULL"),
      code: "text(20)",
      amount: { type: "decimal(12,2)", default: "0" },
      is_deleted: "boolean",
      deleted_at: "timestamp",
      updated_at: "timestamp",
    },
  },
  { name: "notes", columns: { note_id: "key", order_id: toOrder("CASCADE"), note: "text(40)" } },
  { name: "tags", columns: { tag_id: "key", name: "text(40)" } },
  {
    name: "order_tags",
    columns: {
      order_tag_id: "key",
      order_id: toOrder("CASCADE"),
      tag_id: { type: "text(36)", references: { table: "tags", column: "tag_id" } },
    },
  },
  { name: "visits", columns: { visit_id: "key", order_id: toOrder(), note: "text(40)" } },
  { name: "parcels", columns: { parcel_id: "key", order_id: toOrder(), note: "text(40)" } },
  {
    name: "remarks",
    columns: { remark_id: "key", order_id: toOrder("CASCADE"), note: "text(40)" },
  },
];

const single = { create: true, read: true, first: true, update: true, delete: true };
const bulk = { "bulk-create": true, "bulk-update": true, "bulk-delete": true, upsert: true };
const everything = { ...single, ...bulk, import: true };
const all = {
  ...everything,
  restore: true,
  adjust: true,
  "change-status": true,
  "create-composite": true,
  "update-composite": true,
};
const forAdmin = { access: { admin: "*" } };
const adjustConfig = { fields: { qty: { type: "integer", min: -1000 } } };

const endpoints = {
  orders: {
    tableName: "orders",
    action: all,
    history: true,
    softDelete: true,
    adjustConfig,
    workflow: {
      transitions: {
        draft: ["checked", "approved", "cancelled", "posted"],
        checked: ["approved", "posted"],
        approved: ["posted"],
        posted: ["draft"],
        cancelled: [],
      },
      roles: { approved: ["manager"] },
      closed: ["posted", "cancelled"],
    },
    masterDetail: { detailTable: "order_lines", foreignKey: "order_id" },
    calculation: { header: { total: "SUM(amount)" } },
    importConfig: { upsertKeys: ["code"] },
    relations: {
      notes: { endpoint: "notes", foreignColumn: "order_id" },
      tags: {
        endpoint: "tags",
        through: { endpoint: "order-tags", column: "order_id", foreignColumn: "tag_id" },
      },
      visits: { endpoint: "visits", foreignColumn: "order_id" },
      parcels: { endpoint: "parcels", foreignColumn: "order_id", details: true },
      remarks: { endpoint: "remarks", foreignColumn: "order_id", details: false },
    },
    access: {
      admin: "*",
      manager: ["read", "first", "change-status", "next-statuses", "create", "update"],
      clerk: ["read", "first", "change-status", "next-statuses", "create", "update"],
      guest: ["read", "first", "change-status", "next-statuses", "create", "update"],
    },
    rowScope: { guest: { tenant: "g" } },
  },
  // Another endpoint of the table: its file has no rules, and no transitions.
  "orders-plain": {
    tableName: "orders",
    action: { ...all, restore: false, "create-composite": false, "update-composite": false },
    workflow: {},
    adjustConfig,
    importConfig: { upsertKeys: ["code"] },
    ...forAdmin,
  },
  // A third one adds rules of its own.
  "orders-held": {
    tableName: "orders",
    action: { "change-status": true, create: true },
    workflow: { roles: { checked: ["checker", "manager"] }, closed: ["held"] },
    access: { admin: "*", checker: ["change-status", "next-statuses"] },
  },
  // Deletes the lines itself.
  "orders-cascading": {
    tableName: "orders",
    action: { delete: true, "bulk-delete": true },
    masterDetail: { detailTable: "order_lines", foreignKey: "order_id", cascadeDelete: true },
    ...forAdmin,
  },
  lines: {
    tableName: "order_lines",
    action: { ...everything, adjust: true, restore: true, "change-status": true },
    workflow: { statusField: "code" },
    history: true,
    softDelete: true,
    adjustConfig: { fields: { amount: { type: "decimal" } } },
    importConfig: { upsertKeys: ["line_id"] },
    access: { admin: "*", guest: ["create", "update", "read"] },
  },
  notes: { tableName: "notes", action: everything, ...forAdmin },
  tags: { tableName: "tags", action: single, ...forAdmin },
  "order-tags": { tableName: "order_tags", action: everything, ...forAdmin },
  visits: { tableName: "visits", action: everything, ...forAdmin },
  parcels: { tableName: "parcels", action: everything, ...forAdmin },
  remarks: { tableName: "remarks", action: everything, ...forAdmin },
  products: { tableName: "products", action: single, ...forAdmin },
  groups: { tableName: "groups", action: single, ...forAdmin },
  spots: {
    tableName: "spots",
    action: everything,
    importConfig: { upsertKeys: ["spot_id"] },
    ...forAdmin,
  },
};

/** Unique per run: another run can use the same Redis. */
const run = randomUUID().slice(0, 8);
const apiKey = apiKeysOf(run);

export interface Office {
  fixture: Fixture;
  /** A request of the administrator. */
  post(endpoint: string, action: string, body: object, headers?: object): Promise<Answer>;
  /** One of a caller with this role alone. */
  as(role: string): Office["post"];
  /** An order with one line, at this status; its key. */
  order(status?: string, more?: object): Promise<string>;
  /** A line of the order. */
  line(order_id: string, more?: object): Promise<string>;
  /** What became of a row of the table, past the service. */
  rows(table: string, key: string, value: string): Promise<Record<string, Json>[]>;
  /** The commit of these rows, after a preview that found nothing. */
  approved(endpoint: string, rows: readonly (readonly Json[])[]): Promise<() => Promise<Answer>>;
  /** The answer of the preview, or of the commit if the preview found nothing. */
  imported(endpoint: string, rows: readonly (readonly Json[])[]): Promise<Answer>;
}

export function openOffice(): Office {
  const fixture = openForTests(openFixture, {
    tables,
    endpoints,
    project: {
      batch: { enabled: true },
      auth: { apiKeys: ["admin", "manager", "clerk", "guest", "checker"].map((id) => apiKey(id)) },
    },
  });
  const as =
    (role: string): Office["post"] =>
    async (endpoint, action, body, headers = {}) => {
      const path = endpoint === "" ? action : `${endpoint}/${action}`;
      const answer = await fixture.post(path, body, { "x-api-key": `key of ${role}`, ...headers });
      checkEnvelope(answer);
      return answer;
    };
  const post = as("admin");
  const made = async (endpoint: string, body: object): Promise<void> =>
    check(await post(endpoint, "create", body), { status: 201 });
  const withKey = {
    post: (path: string, body: unknown) =>
      fixture.post(path, body, { "x-api-key": "key of admin" }),
    request: (path: string, init: RequestInit = {}) =>
      fixture.request(path, {
        ...init,
        headers: { ...(init.headers as object), "x-api-key": "key of admin" },
      }),
  };
  const importer = importerOf(withKey);
  const office: Office = {
    fixture,
    post,
    as,
    async order(status = "draft", more = {}) {
      const order_id = randomUUID();
      await made("orders", { order_id, code: order_id.slice(0, 8), qty: 5, ...more });
      await office.line(order_id, { line_id: order_id });
      if (status !== "draft") {
        const changed = await post("orders-plain", "change-status", { order_id, status });
        if (changed.status !== 200) throw new Error(JSON.stringify(changed.body));
      }
      return order_id;
    },
    async line(order_id, more = {}) {
      const line = { line_id: randomUUID(), order_id, amount: 1, ...more };
      await made("lines", line);
      return line.line_id;
    },
    rows: (table, key, value) =>
      fixture.sql(`select * from ${table} where ${key} = '${value}'`) as never,
    async approved(endpoint, rows) {
      const preview = await importer.previewed(endpoint, await workbookOf(rows));
      if (preview.body.status !== "preview_ok") throw new Error(JSON.stringify(preview.body));
      return () => importer.commit(endpoint, preview.body.job_id);
    },
    async imported(endpoint, rows) {
      const preview = await importer.previewed(endpoint, await workbookOf(rows));
      return preview.body.status === "preview_ok"
        ? importer.commit(endpoint, preview.body.job_id)
        : preview;
    },
  };
  return office;
}
