/** `rowScope` by path: which rows a role sees and writes, by columns of related records that it may not read itself. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Caller } from "../../core/plans/caller.ts";
import type { Callers } from "../../core/callers/callers.ts";
import { type Answer, type Fixture, openFixture } from "./harness.ts";

const callers: Callers = {
  authenticate(headers): Caller {
    const role = headers.get("x-role") ?? "operator";
    const region = headers.get("x-region") ?? "north";
    return { kind: "key", id: role + region, roles: [role], claims: { region } };
  },
};

const key = (table: string) => ({ type: "text(36)", references: table }) as const;
const action = {
  read: true,
  first: true,
  lookup: true,
  datatables: true,
  aggregate: true,
  create: true,
  update: true,
  delete: true,
};
const all = [...Object.keys(action), "restore", "adjust", "lock", "export"];

let world: Fixture;
beforeAll(async () => {
  world = await openFixture({
    callers,
    tables: [
      {
        name: "customers",
        columns: {
          id: "key",
          name: "text(40)",
          region: "text(20)",
          boss_id: key("customers"),
          is_deleted: "boolean",
        },
      },
      {
        name: "orders",
        columns: {
          id: "key",
          order_no: "text(20)",
          amount: "integer",
          customer_id: key("customers"),
        },
      },
      { name: "notes", columns: { id: "key", body: "text(40)", order_id: key("orders") } },
    ],
    setUp: (engine) => {
      const [no, yes] = engine === "sqlite" ? ["0", "1"] : ["false", "true"];
      return [
        `INSERT INTO customers VALUES ('a', 'Ada', 'north', null, ${no}), ('b', 'Bob', 'south', 'a', ${no}), ('d', 'Dan', 'north', 'a', ${yes}), ('e', 'Eve', null, 'b', ${no}), ('f', 'Fay', 'north', 'a', ${yes})`,
        "INSERT INTO orders VALUES ('o1', 'A1', 1, 'a'), ('o2', 'A2', 1, 'b'), ('o3', 'A3', 1, null), ('o4', 'A4', 1, 'd'), ('o5', 'A5', 1, 'e')",
        "INSERT INTO notes VALUES ('n1', 'x', 'o1'), ('n2', 'y', 'o2')",
      ];
    },
    endpoints: {
      customers: {
        tableName: "customers",
        action: { ...action, restore: true },
        softDelete: true,
        relations: { boss: { endpoint: "customers", column: "boss_id" } },
        access: { operator: "*", staff: all },
        rowScope: { staff: { "boss.region": "{{claims.region}}" } },
      },
      orders: {
        tableName: "orders",
        action: { ...action, adjust: true, lock: true, export: true },
        adjustConfig: { fields: { amount: { type: "integer" } } },
        relations: { customer: { endpoint: "customers", column: "customer_id" } },
        access: {
          operator: "*",
          clerk: all,
          other: all,
          loner: all,
          both: all,
          boss: all,
          mixed: all,
        },
        rowScope: {
          clerk: { "customer.region": "{{claims.region}}" },
          other: { "customer.region": { operator: "!=", value: "north" } },
          loner: { "customer.region": null },
          both: { "customer.region": { operator: "IN", value: ["north", null] } },
          boss: { "customer.boss.region": "north" },
          mixed: { "customer.region": "{{claims.region}}", order_no: "A1" },
        },
      },
      notes: {
        tableName: "notes",
        action,
        relations: { order: { endpoint: "orders", column: "order_id" } },
        access: { operator: "*", clerk: all, mixed: all, reader: all },
        rowScope: { reader: { "order.customer.region": "{{claims.region}}" } },
      },
    },
    project: { auth: { apiKeys: [] } },
  });
});
afterAll(() => world.close());

const as = (role: string, region?: string) => ({
  "x-role": role,
  ...(region !== undefined && { "x-region": region }),
});
const post = (path: string, body: object, role: string, region?: string): Promise<Answer> =>
  world.post(path, body, as(role, region));
const ids = (answer: Answer): string =>
  answer.body.data
    .map(({ id }: { id: string }) => id)
    .toSorted()
    .join(" ");

const reads: [
  action: string,
  of: (path: string, role: string, region?: string) => Promise<string>,
][] = [
  ["read", async (path, ...who) => ids(await post(`${path}/read`, { limit: 100 }, ...who))],
  ["datatables", async (path, ...who) => ids(await post(`${path}/datatables`, {}, ...who))],
  [
    "lookup",
    async (path, role, region) =>
      ids(
        await world.post(`${path}/lookup`, {}, { ...as(role, region), "x-request-mode": "static" }),
      ),
  ],
  [
    "aggregate",
    async (path, ...who) =>
      (await post(`${path}/aggregate`, { group_by: ["id"] }, ...who)).body.data
        .map(({ id }: { id: string }) => id)
        .join(" "),
  ],
];

describe.each(reads)("%s", (_, read) => {
  const cases: [path: string, role: string, region: string | undefined, found: string][] = [
    ["orders", "operator", undefined, "o1 o2 o3 o4 o5"],
    ["orders", "clerk", "north", "o1"],
    ["orders", "clerk", "south", "o2"],
    ["orders", "clerk", "nowhere", ""],
    ["orders", "other", undefined, "o2"],
    ["orders", "loner", undefined, "o3 o4 o5"],
    ["orders", "both", undefined, "o1 o3 o4 o5"],
    ["orders", "boss", undefined, "o2"],
    ["orders", "mixed", "north", "o1"],
    ["orders", "mixed", "south", ""],
    ["notes", "reader", "north", "n1"],
    ["notes", "reader", "south", "n2"],
    ["customers", "staff", "north", "b"],
  ];
  test.each(cases)("%s of %s (%s)", async (path, role, region, found) => {
    expect(await read(path, role, region)).toBe(found);
  });
});

describe("counts", () => {
  test("are those of the scope", async () => {
    const { body } = await post("orders/read", { page: 1, per_page: 1 }, "loner");
    expect(body.pagination).toMatchObject({ total_records: 3 });
  });
});

describe("writes", () => {
  const cases: [name: string, path: string, body: object, role: string, status: number][] = [
    ["update a row within", "orders/update", { id: "o1", amount: 5 }, "clerk", 200],
    ["update no row outside", "orders/update", { id: "o2", amount: 5 }, "clerk", 404],
    ["do not move a row out", "orders/update", { id: "o1", customer_id: "b" }, "clerk", 403],
    ["do not move a row to nobody", "orders/update", { id: "o1", customer_id: null }, "clerk", 403],
    ["update a row of nobody", "orders/update", { id: "o3", amount: 6 }, "loner", 200],
    [
      "delete no row outside",
      "orders/delete",
      { where: [{ key: "id", value: "o2" }] },
      "clerk",
      404,
    ],
    ["create a row within", "orders/create", { id: "m1", customer_id: "a" }, "clerk", 201],
    ["delete a row within", "orders/delete", { where: [{ key: "id", value: "m1" }] }, "clerk", 200],
    ["create no row outside", "orders/create", { id: "m2", customer_id: "b" }, "clerk", 403],
    ["fill nothing in", "orders/create", { id: "m3" }, "clerk", 403],
    [
      "create no row of a marked record",
      "orders/create",
      { id: "m4", customer_id: "d" },
      "clerk",
      400,
    ],
    [
      "update by a path to the same table",
      "customers/update",
      { id: "b", name: "Bo" },
      "staff",
      200,
    ],
    ["update nothing else there", "customers/update", { id: "e", name: "E" }, "staff", 404],
    [
      "delete by a path to the same table",
      "customers/delete",
      { where: [{ key: "id", value: "e" }] },
      "staff",
      404,
    ],
    ["restore within", "customers/restore", { where: [{ key: "id", value: "f" }] }, "staff", 200],
    [
      "delete within, by a path to the same table",
      "customers/delete",
      { where: [{ key: "id", value: "f" }] },
      "staff",
      200,
    ],
    [
      "restore nothing outside",
      "customers/restore",
      { where: [{ key: "id", value: "f" }] },
      "staff of south",
      404,
    ],
    [
      "adjust a row within",
      "orders/adjust",
      { id: "o1", adjustments: [{ field: "amount", value: 1 }] },
      "clerk",
      200,
    ],
    [
      "adjust no row outside",
      "orders/adjust",
      { id: "o2", adjustments: [{ field: "amount", value: 1 }] },
      "clerk",
      404,
    ],
    [
      "lock a row within",
      "orders/lock/acquire",
      { lock_keys: [{ key: "id", value: "o1" }], ttl: 1 },
      "clerk",
      200,
    ],
    [
      "lock no row outside",
      "orders/lock/acquire",
      { lock_keys: [{ key: "id", value: "o2" }], ttl: 1 },
      "clerk",
      404,
    ],
    ["refer to a row within", "notes/create", { id: "k1", order_id: "o1" }, "clerk", 201],
    [
      "refer to no row that a path hides",
      "notes/create",
      { id: "k2", order_id: "o2" },
      "clerk",
      403,
    ],
    [
      "refer to no row that is not there",
      "notes/create",
      { id: "k3", order_id: "zz" },
      "clerk",
      400,
    ],
    [
      "refer to no row that a column hides",
      "notes/create",
      { id: "k4", order_id: "o2" },
      "mixed",
      400,
    ],
    [
      "update no reference to a hidden row",
      "notes/update",
      { id: "n1", order_id: "o2" },
      "clerk",
      403,
    ],
  ];
  test.each(cases)("%s", async (_, path, body, role, status) => {
    const [name = "", region] = role.split(" of ");
    const answer = await post(path, body, name, region);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  });

  test("refused writes left nothing", async () => {
    const rows = await world.sql("select id from orders order by id");
    expect(rows.map(({ id }) => id)).toEqual(["o1", "o2", "o3", "o4", "o5"]);
  });
});

test("an export holds the rows within", async () => {
  const started = await post("orders/export", { format: "csv", select: ["id"] }, "clerk", "south");
  const query = `job_id=${started.body.job_id}`;
  const headers = as("clerk", "south");
  const status = async () =>
    (await world.request(`/api/test/orders/export-status?${query}`, { headers })).body.status;
  await expect.poll(status, { timeout: 14_000 }).toBe("completed");
  const file = await world.fetch(`/api/test/orders/export-download?${query}`, { headers });
  expect((await file.text()).trim().split("\r\n").slice(1)).toEqual(["o2"]);
});

test("kept lists follow the tables of the path", async () => {
  const read = async () => ids(await post("orders/read", { limit: 100 }, "clerk"));
  const before = await read();
  await post("customers/update", { id: "b", region: "north" }, "operator");
  const between = await read();
  await post("customers/update", { id: "b", region: "south" }, "operator");
  expect([before, between, await read()]).toEqual(["o1", "o1 o2", "o1"]);
});
