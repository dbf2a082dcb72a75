/**
 * Random writes by every path: what the history of a record tells, applied one after the other from its creation, gives
 * the record as it is now.
 */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Answer, openFixture, openForTests } from "./harness.ts";
import { importerOf } from "./imports.ts";

const write = { create: true, update: true, delete: true, read: true };
const bulk = { "bulk-create": true, "bulk-update": true, "bulk-delete": true, upsert: true };

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "items",
      columns: {
        item_id: "key",
        name: "text(40)",
        price: "decimal(12,2)",
        stock: { type: "integer", default: "0" },
        status: { type: "text(20)", default: "'open'" },
        is_deleted: "boolean",
        deleted_at: "timestamp",
        updated_at: "timestamp",
      },
    },
    { name: "orders", columns: { order_id: "key", name: "text(40)", total: "decimal(12,2)" } },
    {
      name: "lines",
      columns: {
        line_id: "key",
        order_id: {
          type: "text(36)",
          references: { table: "orders", column: "order_id", onDelete: "CASCADE" },
        },
        quantity: "integer",
        price: "decimal(12,2)",
        amount: "decimal(12,2)",
      },
    },
  ],
  endpoints: {
    items: {
      tableName: "items",
      action: { ...write, ...bulk, restore: true, adjust: true, "change-status": true },
      history: true,
      softDelete: true,
      adjustConfig: { fields: { stock: { type: "integer" } } },
      workflow: { statusField: "status" },
    },
    // Another endpoint of the table, which does not ask for its changes.
    intake: {
      tableName: "items",
      primaryKey: "item_id",
      fieldName: ["item_id", "name", "price"],
      action: { import: true, update: true },
    },
    orders: {
      tableName: "orders",
      action: { ...write, "create-composite": true, "update-composite": true },
      history: true,
      masterDetail: { detailTable: "lines", foreignKey: "order_id" },
      calculation: { detail: { amount: "quantity * price" }, header: { total: "SUM(amount)" } },
    },
    lines: { tableName: "lines", action: { ...write, ...bulk }, history: true },
  },
  project: { batch: { enabled: true } },
});

interface Step {
  readonly path: string;
  /** Which of the records. */
  readonly at: number;
  readonly value: number;
}

/** The writes by their names; `id` and `order` are of one record of the run, `other` of another one. */
type Write = (by: {
  id: string;
  other: string;
  order: string;
  value: number;
}) => Promise<Answer | undefined>;

const ask = async (path: string, body: object): Promise<Answer> => {
  const answer = await fixture.post(path, body);
  expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBeLessThan(500);
  return answer;
};
const where = (key: string, value: string) => ({ where: [{ key, value }] });
const line = (order: string, at: number, value: number) => ({
  line_id: `${order}-${at}`,
  quantity: value,
  price: value / 2,
});
const batch = (...steps: [string, string, object][]) =>
  ask("_batch", { steps: steps.map(([endpoint, action, body]) => ({ endpoint, action, body })) });

const writes: Readonly<Record<string, Write>> = {
  create: ({ id, value }) => ask("items/create", { item_id: id, name: `n${value}` }),
  update: ({ id, value }) => ask("items/update", { item_id: id, price: value / 2, name: null }),
  "update elsewhere": ({ id, value }) =>
    ask("intake/update", { item_id: id, name: `e${value}`, price: value }),
  adjust: ({ id, value }) =>
    ask("items/adjust", { item_id: id, adjustments: [{ field: "stock", value }] }),
  delete: ({ id }) => ask("items/delete", where("item_id", id)),
  restore: ({ id }) => ask("items/restore", where("item_id", id)),
  "change-status": ({ id, value }) =>
    ask("items/change-status", { item_id: id, status: value % 2 === 0 ? "open" : "done" }),
  "bulk-create": ({ id, other, value }) =>
    ask("items/bulk-create", { data: [id, other].map((item_id) => ({ item_id, price: value })) }),
  "bulk-update": ({ id, other, value }) =>
    ask("items/bulk-update", {
      data: [
        { item_id: id, name: `b${value}` },
        { item_id: other, price: value },
      ],
      mode: "each",
    }),
  "bulk-delete": ({ id, other }) => ask("items/bulk-delete", { keys: [id, other] }),
  upsert: ({ id, other, value }) =>
    ask("items/upsert", {
      data: [
        { item_id: id, name: `u${value}` },
        { item_id: other, name: "u", price: value },
      ],
    }),
  batch: ({ id, other, value }) =>
    batch(
      ["items", "upsert", { data: { item_id: id, name: "s1" } }],
      ["items", "update", { item_id: id, name: `s${value}` }],
      ["items", "upsert", { data: { item_id: other, name: "s2" } }],
    ),
  "undone batch": ({ id, value }) =>
    batch(
      ["items", "upsert", { data: { item_id: id, name: `undone ${value}` } }],
      ["items", "update", { item_id: "none", name: "undone" }],
    ),
  revert: async ({ id, value }) => {
    const { body } = await ask("items/history", { item_id: id });
    const change = body.data[value % Math.max(1, body.data.length)];
    return change && ask("items/revert", { change_id: change.change_id });
  },
  import: async ({ id, other, value }) => {
    const csv = `Item Id,Name,Price\n${id},i${value},1.5\n${other},j${value},2\n`;
    const importer = importerOf(fixture);
    const file = new TextEncoder().encode(csv);
    // The preview refuses rows of marked records.
    return importer
      .committed("intake", file, { name: "rows.csv", type: "text/csv" })
      .catch((error: Error) => void expect(error.message).toContain("preview"));
  },
  "create-composite": ({ order, value }) =>
    ask("orders/create-composite", {
      orders: {
        order_id: order,
        name: `o${value}`,
        lines: [line(order, 1, value), line(order, 2, value + 1)],
      },
    }),
  "update-composite": ({ order, value }) =>
    ask("orders/update-composite", {
      orders: {
        order_id: order,
        name: `p${value}`,
        lines: { update: [line(order, 2, value)], insert: [line(order, 4, value)] },
      },
    }),
  "update of a line": ({ order, value }) =>
    ask("lines/update", { line_id: `${order}-2`, quantity: value }),
  "upsert of lines": ({ order, value }) =>
    ask("lines/upsert", { data: [{ ...line(order, 3, value), order_id: order }] }),
  "delete of a line": ({ order }) => ask("lines/delete", where("line_id", `${order}-1`)),
  "delete with its lines": ({ order }) => ask("orders/delete", where("order_id", order)),
};

type Values = Record<string, unknown>;

/** What the history says that the record is now; null: there is none. */
async function replayed(endpoint: string, key: Values): Promise<Values | null> {
  const { body } = await ask(`${endpoint}/history`, { ...key, per_page: 100 });
  const [name] = Object.keys(key) as [string];
  let image: Values | null = null;
  for (const { changes, action } of body.data.toReversed()) {
    const entries = Object.entries(changes as Record<string, { from: unknown; to: unknown }>);
    // An endpoint without soft delete also changes records that another one has marked.
    if (image === null && changes[name]?.from !== null) continue;
    for (const [column, { from }] of entries)
      expect([action, column, from]).toEqual([action, column, image?.[column] ?? null]);
    const isGone = changes[name] !== undefined && changes[name].to === null;
    const after = Object.fromEntries(entries.map(([column, { to }]) => [column, to]));
    image = isGone ? null : Object.assign({}, image, after);
  }
  return image;
}

/** Of a record that is not marked; without what the service keeps for itself. */
async function stored(endpoint: string, key: Values): Promise<Values | null> {
  const [[name, value]] = Object.entries(key) as [[string, unknown]];
  const conditions = [{ key: name, operator: "=", value }];
  const { body } = await ask(`${endpoint}/read`, { where: { conditions }, limit: 1 });
  return body.data[0] ?? null;
}

const own = new Set(["is_deleted", "deleted_at", "updated_at"]);
const plain = (image: Values | null) =>
  image && Object.fromEntries(Object.entries(image).filter(([name]) => !own.has(name)));

/** Every write, in an order in which all are accepted but the one that is to be undone. */
const everyWrite = [
  ...Object.keys(writes).filter((path) => path !== "bulk-delete"),
  "bulk-delete",
].map((path): Step => {
  const at = path === "bulk-create" ? 1 : 0;
  return { path, at, value: path === "revert" ? 2 : 5 };
});

const steps = fc.array(
  fc.record<Step>({
    path: fc.constantFrom(...Object.keys(writes).filter((name) => name !== "import")),
    at: fc.nat(2),
    value: fc.integer({ min: 1, max: 9 }),
  }),
  { minLength: 5, maxLength: 15 },
);

/** Writes of one run, to records of its own. Resolves with the names of those that were accepted. */
async function runAll(sequence: readonly Step[]): Promise<ReadonlySet<string>> {
  const run = randomUUID().slice(0, 8);
  const ids = [0, 1, 2].map((at) => `${run}-${at}`);
  const orders = [0, 1].map((at) => `${run}-o${at}`);
  const accepted = new Set<string>();
  for (const { path, at, value } of sequence) {
    const answer = await writes[path]!({
      id: ids[at]!,
      other: ids[(at + 1) % 3]!,
      order: orders[at % 2]!,
      value,
    });
    if (answer !== undefined && answer.status < 300) accepted.add(path);
  }
  const lines = orders.flatMap((order) => [1, 2, 3, 4].map((at) => `${order}-${at}`));
  const keys: [string, Values][] = [
    ...ids.map((item_id): [string, Values] => ["items", { item_id }]),
    ...orders.map((order_id): [string, Values] => ["orders", { order_id }]),
    ...lines.map((line_id): [string, Values] => ["lines", { line_id }]),
  ];
  for (const [endpoint, key] of keys) {
    const [told, found] = [await replayed(endpoint, key), await stored(endpoint, key)];
    expect([key, plain(told)]).toEqual([key, plain(found)]);
  }
  return accepted;
}

test("the history of a record, replayed, gives the record as it is after every kind of write", async () => {
  const accepted = await runAll(everyWrite);
  const refused = Object.keys(writes).filter((path) => !accepted.has(path));
  expect(refused).toEqual(["undone batch"]);
}, 60_000);

test("the same after random writes", async () => {
  const property = fc.asyncProperty(steps, async (sequence) => void (await runAll(sequence)));
  await fc.assert(property, { numRuns: 20, interruptAfterTimeLimit: 8_000 });
}, 60_000);
