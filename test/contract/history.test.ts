/** `history`: every write of a table is recorded, and shown within the caller's rows and columns. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { apiKeysOf } from "./api-keys.ts";
import { check, instant, records } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

/** Unique per run: another run can use the same Redis. */
const run = randomUUID().slice(0, 8);
const apiKey = apiKeysOf(run);
const all = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  restore: true,
  adjust: true,
  "bulk-create": true,
  "bulk-update": true,
  "bulk-delete": true,
  upsert: true,
};

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "items",
      columns: {
        item_id: "key",
        tenant: "text(10)",
        name: "text(40)",
        price: "decimal(12,2)",
        stock: { type: "integer", default: "0" },
        status: { type: "text(20)", default: "'open'" },
        notes: "text(40)",
        secret: "text(40)",
        cost: "integer",
        is_deleted: "boolean",
        deleted_at: "timestamp",
        deleted_by: "text(40)",
        created_at: "timestamp",
        updated_at: "timestamp",
        updated_by: "text(80)",
      },
    },
    { name: "orders", columns: { order_id: "key", name: "text(40)", total: "decimal(12,2)" } },
    { name: "sums", columns: { sum_id: "key", name: "text(40)", total: "integer" } },
    { name: "places", columns: { place_id: "key", name: "text(40)" } },
    { name: "papers", columns: { paper_id: "key", body: "json" } },
    {
      name: "order_lines",
      columns: {
        line_id: "key",
        order_id: {
          type: "text(36)",
          references: { table: "orders", column: "order_id", onDelete: "CASCADE" },
        },
        place_id: {
          type: "text(36)",
          references: { table: "places", column: "place_id", onDelete: "SET NULL" },
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
      action: { ...all, "change-status": true },
      history: true,
      changes: { except: ["notes"] },
      workflow: { statusField: "status" },
      softDelete: true,
      adjustConfig: { fields: { stock: { type: "integer" } } },
      hiddenFields: { clerk: ["cost"] },
      access: {
        admin: "*",
        clerk: ["create", "first", "update", "delete", "history", "revert", "restore"],
        looker: ["read", "history"],
        undoer: ["read", "revert"],
      },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
    },
    // Another endpoint of the table, which does not ask for its changes.
    goods: {
      tableName: "items",
      action: { update: true, create: true, first: true },
      access: { admin: "*" },
    },
    // Another endpoint of the table, with a history and no way to write.
    shown: {
      tableName: "items",
      action: { read: true },
      history: true,
      access: { admin: "*", undoer: ["read", "history", "revert"] },
    },
    shelf: {
      tableName: "orders",
      action: { read: true },
      history: true,
      access: { admin: "*", undoer: ["read", "history", "revert"] },
    },
    orders: {
      tableName: "orders",
      action: {
        ...all,
        restore: false,
        adjust: false,
        "create-composite": true,
        "update-composite": true,
      },
      history: true,
      masterDetail: { detailTable: "order_lines", foreignKey: "order_id" },
      calculation: { detail: { amount: "quantity * price" }, header: { total: "SUM(amount)" } },
      access: { admin: "*" },
    },
    "order-lines": {
      tableName: "order_lines",
      action: { create: true, update: true, delete: true, read: true },
      history: true,
      access: { admin: "*" },
    },
    sums: {
      tableName: "sums",
      action: { create: true, first: true, update: true, delete: true },
      history: true,
      hiddenFields: { blind: ["total"] },
      readOnlyFields: { reader: ["total"] },
      access: { admin: "*", blind: "*", reader: "*" },
    },
    papers: {
      tableName: "papers",
      action: { create: true, update: true },
      history: true,
      access: { admin: "*" },
    },
    places: {
      tableName: "places",
      action: { create: true, update: true, delete: true, read: true },
      history: true,
      live: true,
      changes: { except: ["name"], keepDays: 30 },
      access: { admin: "*" },
    },
  },
  project: {
    batch: { enabled: true },
    auth: {
      apiKeys: [
        apiKey("admin", ["admin"]),
        apiKey("clerk", ["clerk"], { tenant: "a" }),
        apiKey("looker", ["looker"]),
        apiKey("undoer", ["undoer"]),
        apiKey("blind", ["blind"]),
        apiKey("reader", ["reader"]),
      ],
    },
  },
});

const as =
  (id: string) =>
  (endpoint: string, action: string, body: object, headers: Record<string, string> = {}) =>
    fixture.post(`${endpoint}/${action}`, body, { "x-api-key": `key of ${id}`, ...headers });
const admin = as("admin");
const clerk = as("clerk");
const by = (key: string, value: string) => ({ where: [{ key, value }] });

async function made(more: object = {}): Promise<string> {
  const item_id = randomUUID();
  check(await admin("items", "create", { item_id, tenant: "a", name: "n", price: 10, ...more }), {
    status: 201,
  });
  return item_id;
}

interface Entry {
  change_id: string;
  at: string;
  by: string | null;
  action: string;
  reason: string | null;
  request_id: string;
  key: object | null;
  changes: Record<string, { from: unknown; to: unknown }>;
}

async function historyOf(item_id: string, ask = admin): Promise<Entry[]> {
  const answer = await ask("items", "history", { item_id, per_page: 100 });
  check(answer, { status: 200 });
  return records(answer) as unknown as Entry[];
}

const summary = (entries: readonly Entry[]) =>
  entries.map(({ action, changes }) => [action, Object.keys(changes).toSorted()]);

describe("history", () => {
  test("tells who changed what, newest first", async () => {
    const item_id = await made({ stock: 4 });
    check(await admin("items", "update", { item_id, price: 12 }, { "x-request-id": "r-1" }), {
      status: 200,
    });
    const [update, create, ...rest] = await historyOf(item_id);
    expect(rest).toEqual([]);
    expect(update).toEqual({
      change_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      at: expect.stringMatching(instant),
      by: `admin ${run}`,
      action: "update",
      reason: null,
      request_id: "r-1",
      key: { item_id },
      changes: { price: { from: 10, to: 12 } },
    });
    expect(create).toMatchObject({
      action: "create",
      changes: {
        item_id: { from: null, to: item_id },
        name: { from: null, to: "n" },
        price: { from: null, to: 10 },
        stock: { from: null, to: 4 },
      },
    });
    expect(Object.keys(create!.changes)).not.toContain("notes");
    expect(Object.keys(create!.changes)).not.toContain("updated_at");
  });

  test.for<[string, (item_id: string) => Promise<Answer>, string, Record<string, unknown>]>([
    [
      "adjust",
      (item_id) =>
        admin("items", "adjust", {
          item_id,
          adjustments: [{ field: "stock", value: 3 }],
          reason: "count",
        }),
      "adjust",
      { stock: { from: 0, to: 3 } },
    ],
    [
      "change-status",
      (item_id) => admin("items", "change-status", { item_id, status: "closed" }),
      "change-status",
      { status: { from: "open", to: "closed" } },
    ],
    [
      "bulk-update",
      (item_id) => admin("items", "bulk-update", { data: [{ item_id, name: "x" }] }),
      "bulk-update",
      { name: { from: "n", to: "x" } },
    ],
    [
      "bulk-update by where",
      (item_id) =>
        admin("items", "bulk-update", {
          where: { conditions: [{ key: "item_id", operator: "=", value: item_id }] },
          set: { name: "y" },
          expect: 1,
        }),
      "bulk-update",
      { name: { from: "n", to: "y" } },
    ],
    [
      "upsert",
      (item_id) => admin("items", "upsert", { data: { item_id, name: "z" } }),
      "upsert",
      { name: { from: "n", to: "z" } },
    ],
    [
      "update through another endpoint of the table",
      (item_id) => admin("goods", "update", { item_id, cost: 5 }),
      "update",
      { cost: { from: null, to: 5 } },
    ],
    [
      "a batch",
      (item_id) =>
        fixture.post(
          "_batch",
          { steps: [{ endpoint: "items", action: "update", body: { item_id, name: "a" } }] },
          { "x-api-key": "key of admin" },
        ),
      "update",
      { name: { from: "n", to: "a" } },
    ],
  ])("records %s", async ([, write, action, changes]) => {
    const item_id = await made();
    check(await write(item_id), { status: 200 });
    const [newest, , ...rest] = await historyOf(item_id);
    expect(rest).toEqual([]);
    expect(newest).toMatchObject({ action });
    expect(newest!.changes).toEqual(changes);
  });

  test("names each change by a text that stays the same and is no number", async () => {
    const item_id = await made();
    await admin("items", "update", { item_id, name: "m" });
    const [one, again] = [await historyOf(item_id), await historyOf(item_id)];
    const ids = one.map(({ change_id }) => change_id);
    expect(again.map(({ change_id }) => change_id)).toEqual(ids);
    // Numbers that follow each other would share most of their signs.
    const alike = [...ids[0]!].filter((sign, at) => sign === ids[1]![at]);
    expect(alike.length).toBeLessThan(24);
  });

  test.for<[string, (string | null | undefined)[], string | undefined, string | null]>([
    ["beside the adjustments", [undefined], "count", "count"],
    ["in the adjustment", ["found"], undefined, "found"],
    ["in the adjustment, which counts before the common one", ["found"], "count", "found"],
    ["that two adjustments share, once", ["found", "found"], undefined, "found"],
    ["of each adjustment", ["found", "lost", "found"], undefined, "found; lost"],
    ["of one adjustment, and the common one", [null, "lost"], "count", "count; lost"],
    ["of which one is blank", [" ", "lost"], undefined, "lost"],
    ["that is too long to be kept whole", ["x".repeat(70_000)], undefined, "x".repeat(10_000)],
    ["only if there is one", [undefined, null], undefined, null],
  ])("has the reason of an adjustment, %s", async ([, reasons, reason, kept]) => {
    const adjustments = reasons.map((one) => ({ field: "stock", value: 3, reason: one }));
    const [alone, inBatch] = [await made(), await made()];
    const body = { adjustments, reason };
    check(await admin("items", "adjust", { item_id: alone, ...body }), { status: 200 });
    const steps = [{ endpoint: "items", action: "adjust", body: { item_id: inBatch, ...body } }];
    check(await fixture.post("_batch", { steps }, { "x-api-key": "key of admin" }), {
      status: 200,
    });
    for (const item_id of [alone, inBatch])
      expect((await historyOf(item_id))[0]).toMatchObject({ action: "adjust", reason: kept });
  });

  test("has deletions, restores, and what was deleted", async () => {
    const item_id = await made();
    await admin("items", "delete", by("item_id", item_id));
    await admin("items", "restore", by("item_id", item_id));
    const [restored, deleted] = await historyOf(item_id);
    expect(deleted).toMatchObject({
      action: "delete",
      changes: { name: { from: "n", to: null }, price: { from: 10, to: null } },
    });
    expect(restored).toMatchObject({
      action: "restore",
      changes: { name: { from: null, to: "n" }, price: { from: null, to: 10 } },
    });
  });

  test("has no entry for an update that changes nothing, nor for one that failed", async () => {
    const item_id = await made();
    check(await admin("items", "update", { item_id, name: "n" }), { status: 200 });
    check(await admin("items", "update", { item_id, name: "n".repeat(50) }), {
      status: 400,
      error: "Validation failed",
    });
    check(await admin("items", "update", { item_id, name: "m" }, { prefer: "tx=rollback" }), {
      status: 200,
    });
    const failing = [
      { endpoint: "items", action: "update", body: { item_id, name: "m" } },
      { endpoint: "items", action: "update", body: { item_id: "none", name: "m" } },
    ];
    check(await fixture.post("_batch", { steps: failing }, { "x-api-key": "key of admin" }), {
      status: 404,
      error: "Not found",
    });
    expect(summary(await historyOf(item_id))).toHaveLength(1);
  });

  test("has no entry for an object whose members come in another order", async () => {
    const paper_id = randomUUID();
    await admin("papers", "create", { paper_id, body: { b: 1, a: { d: [1, 2], c: null } } });
    const same = { paper_id, body: { a: { c: null, d: [1, 2] }, b: 1 } };
    check(await admin("papers", "update", same), { status: 200 });
    const other = { paper_id, body: { a: { c: null, d: [2, 1] }, b: 1 } };
    check(await admin("papers", "update", other), { status: 200 });
    const entries = records(await admin("papers", "history", { paper_id }));
    expect(entries.map(({ action }) => action)).toEqual(["update", "create"]);
  });

  test("never has columns that the file leaves out", async () => {
    const item_id = await made({ notes: "private" });
    await admin("items", "update", { item_id, notes: "other", name: "m" });
    const stored = JSON.stringify(await fixture.sql("select * from rowgate_changes"));
    expect(stored).not.toContain("private");
    expect((await historyOf(item_id))[0]!.changes).toEqual({ name: { from: "n", to: "m" } });
  });

  test.each([
    ["items", "item_id", "notes"],
    ["places, which are live", "place_id", "name"],
  ])("has no entry where only such a column changed: %s", async (title, key, column) => {
    const [endpoint] = title.split(",") as [string];
    const made = await admin(endpoint, "create", { [column]: "one" });
    const record = { [key]: made.body.data[key] };
    check(await admin(endpoint, "update", { ...record, [column]: "two" }), { status: 200 });
    const answer = await admin(endpoint, "history", { ...record, page: 1 });
    expect(records(answer).map(({ action }) => action)).toEqual(["create"]);
    expect(answer.body.pagination.total_records).toBe(1);
  });

  test("replayed from the creation gives the record as it is now", async () => {
    const item_id = await made();
    for (let at = 0; at < 20; at++) {
      const value = { price: at % 3, name: `n${at % 4}`, stock: at };
      const body = at % 2 === 0 ? { item_id, ...value } : { item_id, name: value.name };
      await admin("items", "update", body);
    }
    const state: Record<string, unknown> = {};
    for (const { changes } of (await historyOf(item_id)).toReversed())
      for (const [name, { from, to }] of Object.entries(changes)) {
        expect(state[name] ?? null).toEqual(from);
        state[name] = to;
      }
    const [now] = records(
      await admin("items", "read", {
        where: { conditions: [{ key: "item_id", operator: "=", value: item_id }] },
      }),
    );
    const { notes: _, updated_at: _at, updated_by: _by, ...kept } = now as Record<string, unknown>;
    expect(state).toMatchObject(kept);
  });
});

describe("history of documents", () => {
  test("has one entry for a header with its total, and one for each line", async () => {
    const order_id = randomUUID();
    check(
      await admin("orders", "create-composite", {
        orders: {
          order_id,
          name: "A",
          order_lines: [
            { line_id: `${order_id.slice(0, 30)}1`, quantity: 2, price: 5 },
            { line_id: `${order_id.slice(0, 30)}2`, quantity: 1, price: 7 },
          ],
        },
      }),
      { status: 201 },
    );
    const [header, ...others] = records(
      await admin("orders", "history", { order_id }),
    ) as unknown as Entry[];
    expect(others).toEqual([]);
    expect(header).toMatchObject({
      action: "create-composite",
      changes: { total: { from: null, to: 17 } },
    });
    const [line] = records(
      await admin("order-lines", "history", { line_id: `${order_id.slice(0, 30)}1` }),
    ) as unknown as Entry[];
    expect(line).toMatchObject({ action: "create-composite", changes: { amount: { to: 10 } } });
  });

  test("has the totals that a line's own endpoint changes", async () => {
    const order_id = randomUUID();
    const line_id = randomUUID();
    await admin("orders", "create", { order_id, name: "A" });
    await admin("order-lines", "create", { line_id, order_id, quantity: 2, price: 5 });
    await admin("order-lines", "update", { line_id, quantity: 3 });
    const entries = records(await admin("orders", "history", { order_id })) as unknown as Entry[];
    expect(entries[0]).toMatchObject({
      action: "update",
      changes: { total: { from: 10, to: 15 } },
    });
    const lines = records(await admin("order-lines", "history", { line_id })) as unknown as Entry[];
    expect(lines[0]!.changes).toEqual({
      quantity: { from: 2, to: 3 },
      amount: { from: 10, to: 15 },
    });
  });

  test("has the rows that the database deletes or clears by itself", async () => {
    const [order_id, line_id, place_id] = [randomUUID(), randomUUID(), randomUUID()];
    await admin("places", "create", { place_id, name: "P" });
    await admin("orders", "create", { order_id, name: "A" });
    await admin("order-lines", "create", { line_id, order_id, place_id, quantity: 2, price: 5 });
    check(await admin("places", "delete", by("place_id", place_id)), { status: 200 });
    check(await admin("orders", "delete", by("order_id", order_id)), { status: 200 });
    const [deleted, cleared] = records(
      await admin("order-lines", "history", { line_id }),
    ) as unknown as Entry[];
    expect(cleared).toMatchObject({
      action: "delete",
      changes: { place_id: { from: place_id, to: null } },
    });
    expect(deleted).toMatchObject({
      action: "delete",
      changes: { quantity: { from: 2, to: null } },
    });
  });
});

describe("what a caller sees of history", () => {
  test("is within its rows, before or after the change", async () => {
    const [own, other, moved] = [await made(), await made({ tenant: "b" }), await made()];
    await admin("items", "update", { item_id: moved, tenant: "b" });
    await admin("items", "update", { item_id: moved, name: "later" });
    expect(summary(await historyOf(own, clerk))).toEqual([["create", expect.any(Array)]]);
    expect(await historyOf(other, clerk)).toEqual([]);
    expect(summary(await historyOf(moved, clerk))).toEqual([
      ["update", ["tenant"]],
      ["create", expect.any(Array)],
    ]);
  });

  test("has no column that is hidden from it", async () => {
    const item_id = await made({ cost: 3 });
    const [create] = await historyOf(item_id, clerk);
    expect(Object.keys(create!.changes)).not.toContain("cost");
    expect(Object.keys((await historyOf(item_id))[0]!.changes)).toContain("cost");
  });

  test.for([
    { endpoint: "items", key: "item_id", id: "clerk", hidden: "cost" },
    { endpoint: "sums", key: "sum_id", id: "blind", hidden: "total" },
  ])("has no change of $hidden alone for $id, and counts none", async (one) => {
    const { endpoint, hidden } = one;
    const record = { [one.key]: randomUUID() };
    const tenant = endpoint === "items" && { tenant: "a" };
    check(await admin(endpoint, "create", { ...record, ...tenant, name: "n" }), { status: 201 });
    await admin(endpoint, "update", { ...record, [hidden]: 4 });
    await admin(endpoint, "update", { ...record, [hidden]: 5, name: "m" });
    const entries = (answer: Answer) => records(answer) as unknown as Entry[];
    const [both, alone] = entries(await admin(endpoint, "history", record));
    expect(summary([both!, alone!])).toEqual([
      ["update", [hidden, "name"].toSorted()],
      ["update", [hidden]],
    ]);
    const answer = await as(one.id)(endpoint, "history", { ...record, per_page: 1 });
    expect(answer.body.pagination).toMatchObject({ total_records: 2, has_next: true });
    expect(summary(entries(answer))).toEqual([["update", ["name"]]]);
    const reverted = await as(one.id)(endpoint, "revert", { change_id: alone!.change_id });
    check(reverted, { status: 404, error: "Not found" });
  });

  test.for<[string, string, object, number, string?]>([
    ["nothing of a key that never was", "admin", { item_id: "none" }, 200],
    ["no history without the right", "undoer", { item_id: "none" }, 403, "Forbidden"],
    ["no page 0", "admin", { page: 0 }, 400, "Invalid parameter"],
    ["no page of 101", "admin", { per_page: 101 }, 400, "Invalid parameter"],
    [
      "no other fields in where",
      "admin",
      { where: { conditions: [{ key: "name", operator: "=", value: "n" }] } },
      400,
      "Invalid field",
    ],
  ])("is %s", async ([, id, body, status, error]) => {
    const answer = await as(id)("items", "history", body);
    check(answer, { status, ...(error !== undefined && { error }) });
    if (status === 200) expect(records(answer)).toEqual([]);
  });

  test("is the log of the table without a key, in pages and with conditions", async () => {
    const item_id = await made();
    await admin("items", "update", { item_id, name: "m" });
    const where = {
      conditions: [
        { key: "action", operator: "=", value: "update" },
        { key: "by", operator: "=", value: `admin ${run}` },
        { key: "at", operator: ">", value: "2020-01-01" },
      ],
    };
    const answer = await admin("items", "history", { where, per_page: 1 });
    check(answer, { status: 200 });
    const [newest] = records(answer) as unknown as Entry[];
    expect(newest).toMatchObject({ action: "update", key: { item_id } });
    expect(answer.body["pagination"]).toMatchObject({
      current_page: 1,
      per_page: 1,
      has_next: true,
    });
    const log = await clerk("items", "history", { per_page: 100 });
    const tenants = (records(log) as unknown as Entry[]).flatMap(({ changes: { tenant } }) =>
      tenant ? [[tenant.from, tenant.to]] : [],
    );
    expect(tenants.length).toBeGreaterThan(0);
    for (const sides of tenants) expect(sides).toContain("a");
  });
});

describe("changes that are older than keepDays", () => {
  test("are not shown, not reverted, and removed by writes to other tables", async () => {
    const [place_id, order_id] = [randomUUID(), randomUUID()];
    await admin("places", "create", { place_id, name: "P" });
    await admin("places", "delete", by("place_id", place_id));
    const history = async () =>
      records(await admin("places", "history", { place_id })) as unknown as Entry[];
    const [deleted] = await history();
    const own = `record_key like '%${place_id}%'`;
    await fixture.sql(`update rowgate_changes set at = '2020-01-01 00:00:00' where ${own}`);
    expect(await history()).toEqual([]);
    check(await admin("places", "revert", { change_id: deleted!.change_id }), {
      status: 404,
      error: "Not found",
    });
    // Some changes of tables that are written are kept for ever.
    await admin("orders", "create", { order_id, name: "A" });
    await fixture.sql(
      `update rowgate_changes set at = '2020-01-01 00:00:00' where record_key like '%${order_id}%'`,
    );
    expect(records(await admin("orders", "history", { order_id }))).toHaveLength(1);
    const steps = Array.from({ length: 50 }, (_, at) => ({
      endpoint: "orders",
      action: "update",
      body: { order_id, name: `${at}` },
    }));
    for (const _ of [1, 2])
      check(await fixture.post("_batch", { steps }, { "x-api-key": "key of admin" }), {
        status: 200,
      });
    expect(await fixture.sql(`select change_id from rowgate_changes where ${own}`)).toEqual([]);
    expect(records(await admin("orders", "history", { order_id, per_page: 100 }))).toHaveLength(
      100,
    );
  });
});

describe("revert", () => {
  const revert = (change_id: string, ask = admin, headers: Record<string, string> = {}) =>
    ask("items", "revert", { change_id }, headers);

  test("of an update is an update to the values before", async () => {
    const item_id = await made();
    await admin("items", "update", { item_id, price: 12, name: "m" });
    await admin("items", "update", { item_id, stock: 5 });
    const [, update] = await historyOf(item_id);
    check(await revert(update!.change_id), {
      status: 200,
      data: { price: 10, name: "n", stock: 5 },
    });
    expect((await historyOf(item_id))[0]).toMatchObject({
      action: "revert",
      changes: { price: { from: 12, to: 10 }, name: { from: "m", to: "n" } },
    });
  });

  test("of a deletion that marked the record restores it", async () => {
    const item_id = await made();
    await admin("items", "delete", by("item_id", item_id));
    const [deleted] = await historyOf(item_id);
    check(await revert(deleted!.change_id), { status: 200, data: { item_id, name: "n" } });
    expect((await historyOf(item_id))[0]).toMatchObject({ action: "revert" });
    check(await revert(deleted!.change_id), { status: 404, error: "Data not found" });
  });

  test("of a real deletion creates the record again", async () => {
    const order_id = randomUUID();
    await admin("orders", "create", { order_id, name: "A" });
    await admin("orders", "delete", by("order_id", order_id));
    const [deleted] = records(await admin("orders", "history", { order_id })) as unknown as Entry[];
    check(await admin("orders", "revert", { change_id: deleted!.change_id }), {
      status: 201,
      data: { order_id, name: "A" },
    });
    check(await admin("orders", "revert", { change_id: deleted!.change_id }), {
      status: 409,
      error: "Duplicate entry",
    });
  });

  test("leaves the totals of a document to its lines", async () => {
    const [order_id, line_id] = [randomUUID(), randomUUID()];
    await admin("orders", "create-composite", {
      orders: { order_id, name: "A", order_lines: [{ line_id, quantity: 2, price: 5 }] },
    });
    await admin("orders", "update-composite", {
      orders: { order_id, name: "B", order_lines: { insert: [{ quantity: 1, price: 7 }] } },
    });
    await admin("order-lines", "update", { line_id, quantity: 3 });
    const entries = records(await admin("orders", "history", { order_id })) as unknown as Entry[];
    const [totalAlone, renamed] = entries.map(({ change_id }) => ({ change_id }));
    check(await admin("orders", "revert", totalAlone!), { status: 400, error: "Invalid payload" });
    check(await admin("orders", "revert", renamed!), {
      status: 200,
      data: { name: "A", total: 22 },
    });
    await admin("orders", "delete", by("order_id", order_id));
    const [deleted] = records(await admin("orders", "history", { order_id })) as unknown as Entry[];
    check(await admin("orders", "revert", { change_id: deleted!.change_id }), {
      status: 201,
      data: { name: "A", total: null },
    });
  });

  test("of a deletion is refused where columns are never recorded", async () => {
    const place_id = randomUUID();
    await admin("places", "create", { place_id, name: "P" });
    await admin("places", "delete", by("place_id", place_id));
    const [deleted] = records(await admin("places", "history", { place_id })) as unknown as Entry[];
    const answer = await admin("places", "revert", { change_id: deleted!.change_id });
    check(answer, { status: 409, error: "Constraint violation" });
    expect(answer.body.message).toContain("name");
  });

  test.for<[string, string, (id: string) => Promise<Answer>]>([
    ["an update", "update", (item_id) => admin("items", "update", { item_id, name: "m" })],
    [
      "a deletion that marked the record",
      "restore",
      (item_id) => admin("items", "delete", by("item_id", item_id)),
    ],
  ])("of %s is refused where the endpoint has that switched off", async ([, needed, change]) => {
    const item_id = await made();
    check(await change(item_id), { status: 200 });
    for (const ask of [admin, as("undoer")]) {
      const [newest] = records(await ask("shown", "history", { item_id })) as unknown as Entry[];
      const answer = await ask("shown", "revert", { change_id: newest!.change_id });
      check(answer, { status: 404, error: "Not found" });
      expect(answer.body.message).toContain(`${needed}, which is switched off for shown`);
    }
    expect(await historyOf(item_id)).toHaveLength(2);
  });

  test("of a real deletion is refused where the endpoint has create switched off", async () => {
    const order_id = randomUUID();
    await admin("orders", "create", { order_id, name: "A" });
    await admin("orders", "delete", by("order_id", order_id));
    const undoer = as("undoer");
    const [deleted] = records(await undoer("shelf", "history", { order_id })) as unknown as Entry[];
    check(await undoer("shelf", "revert", { change_id: deleted!.change_id }), {
      status: 404,
      error: "Not found",
    });
    expect((await admin("orders", "first", by("order_id", order_id))).body.data).toBeNull();
  });

  test.for<[string, string, (answer: Answer) => void]>([
    [
      "holds what is hidden from the caller",
      "blind",
      (answer) => expect(answer.body.message).not.toContain("total"),
    ],
    [
      "holds what the caller may only read",
      "reader",
      (answer) => expect(answer.body.message).toContain("total"),
    ],
  ])("of a deletion is refused where the record %s", async ([, id, say]) => {
    const sum_id = randomUUID();
    await admin("sums", "create", { sum_id, name: "S", total: 3 });
    await admin("sums", "delete", by("sum_id", sum_id));
    const [deleted] = records(await admin("sums", "history", { sum_id })) as unknown as Entry[];
    const answer = await as(id)("sums", "revert", { change_id: deleted!.change_id });
    check(answer, { status: 409, error: "Constraint violation" });
    say(answer);
    expect((await admin("sums", "first", by("sum_id", sum_id))).body.data).toBeNull();
    const empty = randomUUID();
    await admin("sums", "create", { sum_id: empty, name: "E" });
    await admin("sums", "delete", by("sum_id", empty));
    const [second] = records(
      await admin("sums", "history", { sum_id: empty }),
    ) as unknown as Entry[];
    check(await as(id)("sums", "revert", { change_id: second!.change_id }), { status: 201 });
  });

  test.for<[string, string, number, string]>([
    ["a creation", "create", 400, "Invalid payload"],
    ["an unknown change", "none", 404, "Not found"],
    ["a text that is no change", "text", 404, "Not found"],
    ["a change whose text was altered", "altered", 404, "Not found"],
    ["a change of another table", "table", 404, "Not found"],
    ["a change of a record that the caller does not see", "hidden", 404, "Not found"],
    ["without the right to update", "undoer", 403, "Forbidden"],
    ["with another version", "etag", 412, "Precondition failed"],
  ])("refuses %s", async ([, which, status, error]) => {
    const item_id = await made({ tenant: "b" });
    await admin("items", "update", { item_id, name: "m" });
    const [update, create] = await historyOf(item_id);
    const order_id = randomUUID();
    await admin("orders", "create", { order_id, name: "A" });
    const [order] = records(await admin("orders", "history", { order_id })) as unknown as Entry[];
    const asked: Record<string, () => Promise<Answer>> = {
      create: () => revert(create!.change_id),
      none: () => revert("0".repeat(64)),
      altered: () => revert(update!.change_id.replace(/.$/, (last) => (last === "0" ? "1" : "0"))),
      text: () => revert("x"),
      table: () => revert(order!.change_id),
      hidden: () => revert(update!.change_id, clerk),
      undoer: () => revert(update!.change_id, as("undoer")),
      etag: () => revert(update!.change_id, admin, { "if-match": '"other"' }),
    };
    check(await asked[which]!(), { status, error });
  });
});
