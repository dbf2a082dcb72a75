/**
 * The lines of a document that a caller can read and write are those that the endpoints of the lines' table show to it.
 * The document is the caller's; some of its lines belong to another tenant.
 */
import { beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../core/plans/caller.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const callerFor = (roles: string): Caller => ({
  kind: "key",
  id: roles,
  roles: roles.split(" "),
  claims: { tenant: "a", tenants: ["a", "c"] },
});

const composites = {
  "create-composite": true,
  "read-composite": true,
  "update-composite": true,
  delete: true,
  first: true,
};
const roles = ["clerk", "lister", "author", "teller", "reporter", "operator"];
const everybody = Object.fromEntries(roles.map((role) => [role, "*"]));
const orders = {
  tableName: "orders",
  action: composites,
  access: everybody,
  masterDetail: {
    detailTable: "order_lines",
    foreignKey: "order_id",
    cascadeDelete: true,
    detailConfig: { primaryKey: "line_id" },
  },
  calculation: { header: { total: "SUM(amount)", items: "COUNT(*)" } },
};
// The database deletes these lines with their header.
const racks = {
  tableName: "racks",
  action: { ...composites, "bulk-delete": true },
  access: everybody,
  masterDetail: { ...orders.masterDetail, detailTable: "rack_lines", cascadeDelete: false },
};
const byTenant = { tenant: "{{claims.tenant}}" };
const ownLines = {
  action: { read: true, delete: true },
  access: { clerk: "*", operator: "*" },
  rowScope: { clerk: byTenant },
  softDelete: true,
};

const fixture = openForTests(openFixture, {
  callers: { authenticate: (headers) => callerFor(headers.get("x-roles") ?? "operator") },
  tables: [
    { name: "orders", columns: { order_id: "key", total: "decimal(10,2)", items: "integer" } },
    {
      name: "order_lines",
      columns: {
        line_id: "key",
        order_id: { type: "text(36)", references: { table: "orders", column: "order_id" } },
        tenant: "text(10)",
        amount: "decimal(10,2)",
        is_deleted: "boolean",
        deleted_at: "timestamp",
      },
    },
    { name: "bins", columns: { order_id: "key", is_deleted: "boolean", deleted_at: "timestamp" } },
    {
      name: "bin_lines",
      columns: {
        line_id: "key",
        order_id: { type: "text(36)", references: { table: "bins", column: "order_id" } },
        tenant: "text(10)",
        is_deleted: "boolean",
        deleted_at: "timestamp",
      },
    },
    { name: "racks", columns: { order_id: "key", is_deleted: "boolean", deleted_at: "timestamp" } },
    {
      name: "rack_lines",
      columns: {
        line_id: "key",
        order_id: {
          type: "text(36)",
          references: { table: "racks", column: "order_id", onDelete: "cascade" },
        },
        tenant: "text(10)",
        is_deleted: "boolean",
        deleted_at: "timestamp",
      },
    },
  ],
  endpoints: {
    orders,
    asked: {
      ...orders,
      calculation: undefined,
      detailQuery:
        "select line_id, amount * 2 as twice from order_lines where order_id = :header_id order by line_id",
    },
    keyless: {
      ...orders,
      calculation: undefined,
      detailQuery: "select amount from order_lines where order_id = :header_id",
    },
    // Read by lister and clerk, each within a scope; the author only writes here.
    "order-lines": {
      tableName: "order_lines",
      action: { read: true, create: true, update: true },
      access: { clerk: "*", lister: "*", author: ["create"], operator: "*" },
      rowScope: { clerk: byTenant, lister: { tenant: "{{claims.tenants}}" }, author: byTenant },
    },
    // The reporter reads all lines here, and the teller none.
    report: { tableName: "order_lines", action: { read: true }, access: { reporter: ["read"] } },
    bins: {
      tableName: "bins",
      action: { ...composites, restore: true },
      access: everybody,
      softDelete: true,
      masterDetail: { ...orders.masterDetail, detailTable: "bin_lines" },
    },
    "bin-lines": { ...ownLines, tableName: "bin_lines" },
    racks: { ...racks, action: { ...racks.action, restore: true }, softDelete: true },
    "removed-racks": racks,
    "rack-lines": { ...ownLines, tableName: "rack_lines" },
  },
  project: { auth: { anonymous: { roles: ["operator"] } } },
});

beforeEach(async () => {
  for (const table of ["order_lines", "orders", "bin_lines", "bins", "rack_lines", "racks"])
    await fixture.sql(`delete from ${table}`);
  await fixture.sql("insert into orders (order_id, total, items) values ('o', 7, 3)");
  await fixture.sql(
    `insert into order_lines (line_id, order_id, tenant, amount) values
      ('la', 'o', 'a', 1), ('lb', 'o', 'b', 2), ('lc', 'o', 'c', 4)`,
  );
  await fixture.sql("insert into bins (order_id, is_deleted) values ('o', false)");
});

const as = (role: string) => ({
  post: (path: string, body: unknown, headers = {}): Promise<Answer> =>
    fixture.post(path, body, { "x-roles": role, ...headers }),
});
const header = { where: [{ key: "order_id", value: "o" }] };
const change = (role: string, order_lines: object, endpoint = "orders"): Promise<Answer> =>
  as(role).post(`${endpoint}/update-composite`, { orders: { order_id: "o", order_lines } });
const create = (role: string, ...lines: object[]): Promise<Answer> =>
  as(role).post("orders/create-composite", { orders: { order_lines: lines } });
const stored = (): Promise<Record<string, unknown>[]> =>
  fixture.sql("select line_id, order_id, tenant from order_lines order by line_id");
const totals = async (): Promise<unknown[]> => {
  const [row] = await fixture.sql("select total, items from orders where order_id = 'o'");
  return [Number(row!["total"]), Number(row!["items"])];
};

describe("read-composite", () => {
  test.each([
    ["a scope of the lines' endpoint", "clerk", ["la"]],
    ["a list in the claim", "lister", ["la", "lc"]],
    ["two scopes, joined by OR", "clerk lister", ["la", "lc"]],
    ["an endpoint that may only be written", "author", ["la"]],
    ["an endpoint that shows every line", "reporter", ["la", "lb", "lc"]],
    [
      "one endpoint that shows every line beside one that does not",
      "clerk reporter",
      ["la", "lb", "lc"],
    ],
    ["no endpoint of the lines", "teller", ["la", "lb", "lc"]],
    ["an endpoint without a scope", "operator", ["la", "lb", "lc"]],
  ])("with %s shows those lines", async (_, role, expected) => {
    for (const endpoint of ["orders", "asked"]) {
      const { body } = await as(role).post(`${endpoint}/read-composite`, header);
      const lines = body.data.order_lines as { line_id: string }[];
      expect(lines.map(({ line_id }) => line_id).toSorted()).toEqual(expected);
      expect([body.data.total, body.data.items]).toEqual([7, 3]);
    }
  });

  test("shows no line of a query without their key to a caller from whom some are hidden", async () => {
    const shown = async (role: string): Promise<number> =>
      (await as(role).post("keyless/read-composite", header)).body.data.order_lines.length;
    expect([await shown("clerk"), await shown("operator")]).toEqual([0, 3]);
  });
});

describe("create-composite", () => {
  test("fills the tenant of its lines in, as their own endpoint does", async () => {
    const { status, body } = await create("clerk", { amount: 1 }, { amount: 2, tenant: "a" });
    expect(status).toBe(201);
    expect(body.data.order_lines).toMatchObject([{ tenant: "a" }, { tenant: "a" }]);
    expect([body.data.total, body.data.items]).toEqual([3, 2]);
  });

  test.each([
    ["clerk", { tenant: "b" }, 403],
    ["author", { tenant: "b" }, 403],
    ["lister", { tenant: "b" }, 403],
    ["lister", { tenant: "c" }, 201],
    ["lister", {}, 403],
    ["clerk reporter", { tenant: "b" }, 403],
    ["teller", { tenant: "b" }, 201],
    ["operator", {}, 201],
  ])("by %s of a line %o is %i", async (role, line, status) => {
    const before = await stored();
    const answer = await create(role, { amount: 1, tenant: "a" }, { amount: 1, ...line });
    expect(answer.status).toBe(status);
    if (status === 403) {
      expect(answer.body.error).toBe("Forbidden");
      expect(await stored()).toEqual(before);
    }
  });

  test("replays its answer with the lines that the caller may still see", async () => {
    const lines = [
      { line_id: "r1", tenant: "a" },
      { line_id: "r2", tenant: "a" },
    ];
    const body = { orders: { order_id: "r", order_lines: lines } };
    const key = { "idempotency-key": "k" };
    expect((await as("clerk").post("orders/create-composite", body, key)).status).toBe(201);
    await fixture.sql("update order_lines set tenant = 'b' where line_id = 'r2'");
    const { body: replayed } = await as("clerk").post("orders/create-composite", body, key);
    expect(replayed.data.order_lines).toMatchObject([{ line_id: "r1" }]);
  });
});

describe("update-composite", () => {
  test.each([
    ["clerk", { insert: [{ tenant: "b" }] }, 403],
    ["clerk", { update: [{ line_id: "lb", amount: 9 }] }, 404],
    ["clerk", { update: [{ line_id: "lb" }] }, 404],
    ["clerk", { update: [{ line_id: "la", tenant: "b" }] }, 403],
    ["clerk", { delete: [{ line_id: "lb" }] }, 404],
    ["clerk", { delete: [{ line_id: "la" }, { line_id: "lb" }] }, 404],
    ["clerk reporter", { update: [{ line_id: "lb", amount: 9 }] }, 404],
    ["lister", { insert: [{ amount: 1 }] }, 403],
  ])("by %s with %o is refused, and changes nothing", async (role, lines, status) => {
    const before = await fixture.sql("select * from order_lines order by line_id");
    const answer = await change(role, lines);
    expect(answer.status).toBe(status);
    expect(await fixture.sql("select * from order_lines order by line_id")).toEqual(before);
    if (status !== 404) return;
    const missing = JSON.parse(JSON.stringify(lines).replaceAll("lb", "no"));
    const { body } = await change(role, missing);
    expect({ ...answer.body, timestamp: null }).toEqual({ ...body, timestamp: null });
  });

  test("changes own lines, fills new ones in, and totals all of them", async () => {
    const { status, body } = await change("clerk", {
      insert: [{ line_id: "ln", amount: 8 }],
      update: [{ line_id: "la", amount: 16 }],
    });
    expect(status).toBe(200);
    expect(await stored()).toMatchObject([
      { line_id: "la", tenant: "a" },
      { line_id: "lb", tenant: "b" },
      { line_id: "lc", tenant: "c" },
      { line_id: "ln", tenant: "a" },
    ]);
    expect([body.data.total, body.data.items]).toEqual([30, 4]);
    expect((await change("clerk", { delete: [{ line_id: "la" }] })).status).toBe(200);
    expect(await totals()).toEqual([14, 3]);
  });
});

describe("delete with cascadeDelete", () => {
  test("is refused like a reference where a line is hidden, and takes all lines where none is", async () => {
    const { status, body } = await as("clerk").post("orders/delete", header);
    expect([status, body.error]).toEqual([409, "Foreign key constraint"]);
    expect(await stored()).toHaveLength(3);
    expect(await totals()).toEqual([7, 3]);
    expect((await as("operator").post("orders/delete", header)).status).toBe(200);
    expect(await stored()).toEqual([]);
  });

  test("that marks does the same, and restore leaves hidden lines as they are", async () => {
    await fixture.sql(
      "insert into bin_lines (line_id, order_id, tenant, is_deleted) values ('la', 'o', 'a', false), ('lb', 'o', 'b', false)",
    );
    expect((await as("clerk").post("bins/delete", header)).status).toBe(409);
    expect((await as("operator").post("bins/delete", header)).status).toBe(200);
    expect((await as("clerk").post("bins/restore", header)).status).toBe(200);
    const { body } = await as("operator").post("bins/read-composite", header);
    expect(body.data.bin_lines).toMatchObject([{ line_id: "la" }]);
  });
});

describe.each(["racks", "removed-racks"])(
  "delete in %s, whose lines go by the database",
  (path) => {
    const lines = () =>
      fixture.sql(
        "select line_id from rack_lines where is_deleted = false or is_deleted is null order by line_id",
      );
    const fill = async (...tenants: string[]) => {
      await fixture.sql("insert into racks (order_id, is_deleted) values ('o', false)");
      for (const tenant of tenants)
        await fixture.sql(
          `insert into rack_lines (line_id, order_id, tenant, is_deleted) values ('${tenant}', 'o', '${tenant}', false)`,
        );
    };
    const deletions: [string, unknown][] = [
      ["delete", header],
      ["bulk-delete", { keys: ["o"] }],
    ];

    test.each(deletions)("%s is refused where a line is hidden", async (action, body) => {
      await fill("a", "b");
      const answer = await as("clerk").post(`${path}/${action}`, body);
      expect([answer.status, answer.body.error]).toEqual([409, "Foreign key constraint"]);
      expect(await lines()).toEqual([{ line_id: "a" }, { line_id: "b" }]);
      expect((await as("clerk").post(`${path}/first`, header)).status).toBe(200);
      expect((await as("operator").post(`${path}/${action}`, body)).status).toBe(200);
      expect(await lines()).toEqual([]);
    });

    test.each(deletions)("%s takes all lines where none is hidden", async (action, body) => {
      await fill("a");
      expect((await as("clerk").post(`${path}/${action}`, body)).status).toBe(200);
      expect(await lines()).toEqual([]);
      if (path === "removed-racks") return;
      expect((await as("clerk").post("racks/restore", header)).status).toBe(200);
      expect(await lines()).toEqual([{ line_id: "a" }]);
    });
  },
);
