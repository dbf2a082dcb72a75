/** `rowScope` by path: which rows a role sees and writes, by columns of related records that it may not read itself. */
import { describe, expect, test } from "vitest";
import type { Caller } from "../../core/plans/caller.ts";
import type { Callers } from "../../core/callers/callers.ts";
import type { Json } from "../../core/values/json.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";
import { type Importer, importerOf, workbookOf } from "./imports.ts";

const callers: Callers = {
  authenticate(headers): Caller {
    const role = headers.get("x-role") ?? "operator";
    const region = headers.get("x-region") ?? "north";
    return {
      kind: "key",
      id: role + region,
      roles: role === "either" ? [role, "seven"] : [role],
      claims: { region },
    };
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
const all = [...Object.keys(action), "restore", "adjust", "lock", "export", "import"];

const world = openForTests(openFixture, {
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
    { name: "letters", columns: { id: "key", created_by: key("customers") } },
  ],
  setUp: (engine) => {
    const [no, yes] = engine === "sqlite" ? ["0", "1"] : ["false", "true"];
    return [
      `INSERT INTO customers VALUES ('a', 'Ada', 'north', null, ${no}), ('b', 'Bob', 'south', 'a', ${no}), ('d', 'Dan', 'north', 'a', ${yes}), ('e', 'Eve', null, 'b', ${no}), ('f', 'Fay', 'north', 'a', ${yes}), ('writernorth', 'Wim', 'north', null, ${no})`,
      "INSERT INTO orders VALUES ('o1', 'A1', 1, 'a'), ('o2', 'A2', 1, 'b'), ('o3', 'A3', 1, null), ('o4', 'A4', 1, 'd'), ('o5', 'A5', 1, 'e')",
      "INSERT INTO notes VALUES ('n1', 'x', 'o1'), ('n2', 'y', 'o2')",
    ];
  },
  endpoints: {
    customers: {
      tableName: "customers",
      action: { ...action, restore: true, import: true },
      softDelete: true,
      relations: { boss: { endpoint: "customers", column: "boss_id" } },
      access: { operator: "*", staff: all },
      rowScope: { staff: { "boss.region": "{{claims.region}}" } },
    },
    orders: {
      tableName: "orders",
      action: { ...action, adjust: true, lock: true, export: true, import: true },
      importConfig: { upsertKeys: ["id"] },
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
        either: all,
        seven: all,
      },
      rowScope: {
        clerk: { "customer.region": "{{claims.region}}" },
        other: { "customer.region": { operator: "!=", value: "north" } },
        loner: { "customer.region": null },
        both: { "customer.region": { operator: "IN", value: ["north", null] } },
        boss: { "customer.boss.region": "north" },
        mixed: { "customer.region": "{{claims.region}}", order_no: "A1" },
        either: { "customer.region": "{{claims.region}}" },
        seven: { amount: 7 },
      },
    },
    notes: {
      tableName: "notes",
      action,
      relations: { order: { endpoint: "orders", column: "order_id" } },
      access: { operator: "*", clerk: all, mixed: all, reader: all },
      rowScope: { reader: { "order.customer.region": "{{claims.region}}" } },
    },
    letters: {
      tableName: "letters",
      action: { import: true },
      relations: { author: { endpoint: "customers", column: "created_by" } },
      access: { writer: ["import"] },
      rowScope: { writer: { "author.region": "north" } },
    },
  },
  project: { auth: { apiKeys: [] } },
});

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

describe("an import", () => {
  const importer = (role: string): Importer =>
    importerOf({
      post: (path, body) => post(path, body as object, role),
      request: (path, init) =>
        world.request(path, {
          ...init,
          headers: { ...Object.fromEntries(new Headers(init?.headers)), ...as(role) },
        }),
    });
  /** The messages of the rows; the preview and the commit of rows without any. */
  async function imported(path: string, role: string, rows: readonly (readonly Json[])[]) {
    const { body } = await importer(role).previewed(path, await workbookOf(rows));
    if (body.status === "preview_error")
      return body.errors.map((error: { messages: string[] }) => error.messages.join("; "));
    const commit = await importer(role).commit(path, body.job_id);
    return `${body.status}, ${commit.body.status}`;
  }
  const outside = "is outside the rows that you may access";

  test.each<[role: string, customers: (string | null)[], refused: string]>([
    ["clerk", ["a"], ""],
    ["clerk", ["b", null, "e"], "b,,e"],
    ["other", ["b"], ""],
    ["other", ["a", null, "e"], "a,,e"],
    ["loner", [null, "e"], ""],
    ["loner", ["a", "b"], "a,b"],
    ["both", ["a", null, "e"], ""],
    ["both", ["a", "b"], "b"],
    ["boss", ["b"], ""],
    ["boss", ["a", null], "a,"],
    ["either", ["a"], ""],
    ["either", ["b", null], "b,"],
  ])("by %s of orders of %j refuses those of %j", async (role, customers, refused) => {
    const rows = customers.map((customer, at) => [`${role}${at}`, customer]);
    const message = `customer_id: ${outside}`;
    expect(await imported("orders", role, [["id", "customer_id"], ...rows])).toEqual(
      refused === "" ? "preview_ok, completed" : refused.split(",").map(() => message),
    );
    await world.sql(`delete from orders where id like '${role}%'`);
  });

  test.each<[title: string, path: string, role: string, rows: Json[][], answer: unknown]>([
    ["does not move a record out", "orders", "clerk", [["o1", "b"]], [`customer_id: ${outside}`]],
    ["does not move one to nobody", "orders", "clerk", [["o1", null]], [`customer_id: ${outside}`]],
    ["changes a record within", "orders", "clerk", [["o1", "a"]], "preview_ok, completed"],
    [
      "tells of a missing record only that",
      "orders",
      "clerk",
      [["o1", "zz"]],
      ['customer_id: there is no record "zz" to refer to'],
    ],
    [
      "tells of a marked record the same",
      "orders",
      "clerk",
      [["o1", "d"]],
      ['customer_id: there is no record "d" to refer to'],
    ],
  ])("%s", async (_, path, role, rows, answer) => {
    expect(await imported(path, role, [["id", "customer_id"], ...rows])).toEqual(answer);
  });

  test("leaves what the row does not say to the commit", async () => {
    expect(
      await imported("orders", "clerk", [
        ["id", "amount"],
        ["o1", 9],
      ]),
    ).toBe("preview_ok, completed");
    expect(
      await imported("orders", "either", [
        ["id", "amount"],
        ["e1", 7],
        ["e2", 8],
      ]),
    ).toEqual([`customer_id: ${outside}`]);
  });

  test("leaves records of its own table to the commit, and knows that there is none", async () => {
    const header = ["id", "name", "boss_id"];
    expect(await imported("customers", "staff", [header, ["s1", "S", null]])).toEqual([
      `boss_id: ${outside}`,
    ]);
    expect(await imported("customers", "staff", [header, ["s2", "S", "b"]])).toBe(
      "preview_ok, failed",
    );
  });

  test("knows that the service fills audit columns", async () => {
    expect(await imported("letters", "writer", [["id"], ["l1"]])).toBe("preview_ok, completed");
  });
});
