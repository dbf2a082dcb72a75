/**
 * Formulas and totals are rules of the tables: every write of a line through the service updates them, from any
 * endpoint and action. Orders and shipments share the same lines, and customers have totals of their orders.
 */
import { beforeEach, describe, expect, inject, test } from "vitest";
import { type Answer, openFixture, openForTests } from "./harness.ts";
import { importerOf, workbookOf } from "./imports.ts";

const marks = {
  is_deleted: { type: "boolean", notNull: true, default: "false" },
  deleted_at: "timestamp",
} as const;
const refers = (table: string, column: string, onDelete?: string) =>
  ({ type: "text(36)", references: { table, column, ...(onDelete && { onDelete }) } }) as const;
const action = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  adjust: true,
  restore: true,
  "change-status": true,
  import: true,
};
const composites = { "create-composite": true, "read-composite": true, "update-composite": true };
const details = (header: object, foreignKey: string, detail = {}) => ({
  masterDetail: {
    detailTable: "order_lines",
    foreignKey,
    cascadeDelete: true,
    detailConfig: { primaryKey: "line_id" },
  },
  calculation: { header, ...detail },
});

let refused = "";
const fixtureOptions: Parameters<typeof openFixture>[0] = {
  tables: [
    {
      name: "customers",
      columns: { customer_id: "key", spent: "decimal(14,2)", orders_count: "integer" },
    },
    { name: "products", columns: { product_id: "key", name: "text(20)" } },
    {
      name: "parts",
      columns: { part_id: "key", product_id: refers("products", "product_id", "cascade") },
    },
    {
      name: "orders",
      columns: {
        order_id: "key",
        customer_id: refers("customers", "customer_id"),
        note: "text(20)",
        total: { type: "decimal(14,2)", notNull: true, default: "0" },
        items: { type: "integer", notNull: true, default: "0" },
        dearest: "decimal(10,2)",
        updated_at: "timestamp",
        updated_by: "text(30)",
        ...marks,
      },
    },
    { name: "shipments", columns: { shipment_id: "key", weight: "decimal(12,3)" } },
    {
      name: "order_lines",
      columns: {
        line_id: "key",
        order_id: refers("orders", "order_id"),
        shipment_id: refers("shipments", "shipment_id"),
        product_id: refers("products", "product_id", "cascade"),
        part_id: refers("parts", "part_id", "cascade"),
        code: { type: "text(20)", unique: true },
        qty: { type: "decimal(12,3)", notNull: true, default: "1" },
        price: { type: "decimal(10,2)", notNull: true },
        amount: { type: "decimal(14,2)", notNull: true },
        status: "text(10)",
        ...marks,
      },
    },
  ],
  endpoints: {
    customers: {
      tableName: "customers",
      action: composites,
      masterDetail: { detailTable: "orders", foreignKey: "customer_id" },
      calculation: { header: { spent: "SUM(total)", orders_count: "COUNT(*)" } },
    },
    products: { tableName: "products", action: { delete: true } },
    orders: {
      tableName: "orders",
      action: { ...action, ...composites, "change-status": false, import: false, adjust: false },
      softDelete: true,
      ...details({ total: "SUM(amount)", items: "COUNT(*)", dearest: "MAX(price)" }, "order_id", {
        detail: { amount: "qty * price" },
      }),
    },
    // The same documents, with nothing said of totals.
    plain: {
      tableName: "orders",
      action: { create: true, update: true, ...composites },
      masterDetail: { detailTable: "order_lines", foreignKey: "order_id" },
    },
    shipments: {
      tableName: "shipments",
      action: { ...composites, delete: true },
      ...details({ weight: "SUM(qty)" }, "shipment_id"),
    },
    lines: {
      tableName: "order_lines",
      action,
      softDelete: true,
      adjustConfig: { fields: { qty: { type: "decimal" } } },
      workflow: { transitions: { open: ["done"], done: [] } },
      importConfig: { upsertKeys: ["code"] },
      components: {
        onAfterUpdate: ["components/seen.ts#look"],
        onAfterInsert: ["components/seen.ts#look"],
      },
    },
    removed: { tableName: "order_lines", action: { delete: true, create: true, update: true } },
  },
  components: {
    "components/seen.ts": {
      async look({ record, query, reject }: any) {
        const [row] = await query("select total, items from orders where order_id = ?", [
          record.order_id,
        ]);
        seen.push(row === undefined ? [] : [Number(row.total), Number(row.items)]);
        if (record.code === refused) reject("no");
      },
    },
  },
};
const seen: number[][] = [];

const fixture = openForTests(openFixture, fixtureOptions);
const importer = importerOf(fixture);

const line = (line_id: string, more: object = {}) => ({
  line_id,
  code: `c-${line_id}`,
  price: 2,
  qty: 3,
  ...more,
});
beforeEach(async () => {
  for (const table of ["order_lines", "orders", "shipments", "customers", "parts", "products"])
    await fixture.sql(`delete from ${table}`);
  for (const id of ["x", "y"])
    await fixture.sql(`insert into customers (customer_id) values ('${id}')`);
  await fixture.sql("insert into products (product_id) values ('p')");
  await fixture.sql("insert into parts (part_id, product_id) values ('pp', 'p')");
  for (const id of ["s", "t"])
    await fixture.sql(`insert into shipments (shipment_id) values ('${id}')`);
  for (const order_id of ["o", "q"])
    await post("orders/create-composite", {
      orders: {
        order_id,
        customer_id: "x",
        order_lines: [
          line(`${order_id}1`, { shipment_id: "s", status: "open" }),
          line(`${order_id}2`, { shipment_id: "t", product_id: "p" }),
          line(`${order_id}3`, { part_id: "pp" }),
        ],
      },
    });
  seen.length = 0;
});

async function post(path: string, body: unknown, status?: number): Promise<Answer> {
  const answer = await fixture.post(path, body);
  if (status !== undefined)
    expect([answer.status, answer.body.message]).toEqual([status, answer.body.message]);
  else expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
}
const key = (name: string, value: string) => ({ where: [{ key: name, value }] });

type Rows = Record<string, any>[];
const isActive = (row: Record<string, unknown>) => !row["is_deleted"];
const sum = (rows: Rows, name: string) =>
  Number(rows.reduce((all, row) => all + Number(row[name]), 0).toFixed(3));

/** The current totals, after all of them were compared with the lines. */
async function totals(): Promise<Record<string, unknown[]>> {
  const all = (table: string): Promise<Rows> => fixture.sql(`select * from ${table}`);
  const [customers, orders, shipments, every] = [
    await all("customers"),
    await all("orders"),
    await all("shipments"),
    await all("order_lines"),
  ];
  const lines = every.filter(isActive);
  for (const one of every)
    expect(Number(one["amount"]), one["line_id"]).toBe(
      Number((one["qty"] * one["price"]).toFixed(2)),
    );
  const ofOrder = (id: string) => lines.filter((one) => one["order_id"] === id);
  for (const { order_id, total, items, dearest } of orders.filter(isActive)) {
    const own = ofOrder(order_id);
    expect([order_id, Number(total), Number(items)]).toEqual([
      order_id,
      sum(own, "amount"),
      own.length,
    ]);
    expect(Number(dearest)).toBe(Math.max(0, ...own.map(({ price }) => Number(price))));
  }
  for (const { shipment_id, weight } of shipments) {
    const own = lines.filter((one) => one["shipment_id"] === shipment_id);
    if (weight !== null)
      expect([shipment_id, Number(weight)]).toEqual([shipment_id, sum(own, "qty")]);
  }
  for (const { customer_id, spent, orders_count } of customers) {
    const own = orders.filter((one) => one["customer_id"] === customer_id && isActive(one));
    if (spent !== null)
      expect([customer_id, Number(spent), Number(orders_count)]).toEqual([
        customer_id,
        sum(own, "total"),
        own.length,
      ]);
  }
  return Object.fromEntries(
    orders.map(({ order_id, total, items }) => [order_id, [Number(total), Number(items)]]),
  );
}

describe("totals and formulas follow", () => {
  test.each<[string, () => Promise<unknown>, Record<string, unknown[]>]>([
    ["create-composite of all three levels", async () => {}, { o: [18, 3] }],
    ["create", () => post("lines/create", line("n", { order_id: "o" })), { o: [24, 4] }],
    [
      "create without a formula's default",
      () => post("removed/create", { line_id: "n", order_id: "o", price: 4 }),
      { o: [22, 4] },
    ],
    [
      "create with a false amount",
      () => post("lines/create", line("n", { order_id: "o", amount: 999 })),
      { o: [24, 4] },
    ],
    ["create without a header", () => post("lines/create", line("n")), { o: [18, 3] }],
    ["update", () => post("lines/update", { line_id: "o1", qty: 10 }), { o: [32, 3] }],
    [
      "update with a false amount",
      () => post("removed/update", { line_id: "o1", amount: 999 }),
      { o: [18, 3] },
    ],
    [
      "update that moves a line",
      () => post("lines/update", { line_id: "o1", order_id: "q" }),
      { o: [12, 2], q: [24, 4] },
    ],
    [
      "update that moves a line in both kinds of document",
      () => post("removed/update", { line_id: "o1", order_id: "q", shipment_id: "t", qty: 1 }),
      { o: [12, 2], q: [20, 4] },
    ],
    [
      "update that takes a line out",
      () => post("lines/update", { line_id: "o1", order_id: null }),
      { o: [12, 2] },
    ],
    [
      "adjust",
      () => post("lines/adjust", { line_id: "o1", adjustments: [{ field: "qty", value: -2 }] }),
      { o: [14, 3] },
    ],
    [
      "change-status",
      () => post("lines/change-status", { id: "o1", status: "done" }),
      { o: [18, 3] },
    ],
    ["delete that marks", () => post("lines/delete", key("line_id", "o1")), { o: [12, 2] }],
    [
      "delete that removes lines of two documents",
      () => post("removed/delete", key("shipment_id", "s")),
      { o: [12, 2], q: [12, 2] },
    ],
    [
      "delete and restore",
      async () => {
        await post("lines/delete", key("line_id", "o1"));
        await post("lines/restore", key("line_id", "o1"));
      },
      { o: [18, 3] },
    ],
    [
      "update-composite of marked lines",
      async () => {
        await post("lines/delete", key("line_id", "o1"));
        await post("orders/update-composite", {
          orders: { order_id: "o", order_lines: { insert: [line("n")] } },
        });
      },
      { o: [18, 3] },
    ],
    [
      "update-composite by an endpoint without calculation",
      () =>
        post("plain/update-composite", {
          orders: {
            order_id: "o",
            total: 999,
            order_lines: {
              update: [{ line_id: "o2", qty: 1, amount: 5 }],
              delete: [{ line_id: "o1" }],
              insert: [line("n", { amount: 1 })],
            },
          },
        }),
      { o: [14, 3] },
    ],
    [
      "update-composite of another kind of document",
      () =>
        post("shipments/update-composite", {
          shipments: {
            shipment_id: "s",
            order_lines: {
              update: [{ line_id: "o1", qty: 5 }],
              delete: [{ line_id: "q1" }],
              insert: [line("n", { order_id: "q", amount: 0 })],
            },
          },
        }),
      { o: [22, 3], q: [18, 3] },
    ],
    [
      "create-composite of another kind of document",
      () =>
        post("shipments/create-composite", {
          shipments: { order_lines: [line("n", { order_id: "q", amount: 0 })] },
        }),
      { q: [24, 4] },
    ],
    [
      "cascadeDelete of another kind of document",
      () => post("shipments/delete", key("shipment_id", "s")),
      { o: [12, 2], q: [12, 2] },
    ],
    [
      "cascades of the database",
      () => post("products/delete", key("product_id", "p")),
      { o: [6, 1], q: [6, 1] },
    ],
    ["a header that is deleted", () => post("orders/delete", key("order_id", "o")), { q: [18, 3] }],
    [
      "a header that is deleted and restored",
      async () => {
        await post("lines/delete", key("line_id", "o1"));
        await post("orders/delete", key("order_id", "o"));
        await post("orders/restore", key("order_id", "o"));
      },
      { o: [12, 2], q: [18, 3] },
    ],
    [
      "a header that moves to another one",
      () => post("orders/update", { order_id: "o", customer_id: "y" }),
      { o: [18, 3] },
    ],
    [
      "import",
      async () => {
        const file = await workbookOf([
          ["code", "order_id", "qty", "price"],
          ["c-o1", "q", 1, 2],
          ["c-q1", "q", 5, 2],
          ["new1", "o", 7, 2],
          ["new2", "q", 7, 3],
        ]);
        const { body } = await importer.committed("lines", file);
        expect(body.result).toMatchObject({ inserted: 2, updated: 2 });
      },
      { o: [26, 3], q: [45, 5] },
    ],
  ])("%s", async (_, write, expected) => {
    await write();
    expect(await totals()).toMatchObject(expected);
  });
});

describe("the answer of a write to a line", () => {
  test("has the computed values, and handlers see the totals", async () => {
    const { body } = await post("lines/create", line("n", { order_id: "o", qty: 4, amount: 1 }));
    expect(body.data).toMatchObject({ line_id: "n", amount: 8 });
    const { body: changed } = await post("lines/update", { line_id: "n", price: 3 });
    expect(changed.data).toMatchObject({ qty: 4, amount: 12 });
    expect(seen).toEqual([
      [26, 4],
      [30, 4],
    ]);
  });

  test("is 400 where a formula's result does not fit, and nothing is stored", async () => {
    const { status, body } = await fixture.post("lines/update", {
      line_id: "o1",
      qty: 99999999,
      price: 99999999,
    });
    expect([status, Object.keys(body.errors ?? {})]).toEqual([400, ["amount"]]);
    const created = await fixture.post(
      "lines/create",
      line("n", { qty: 99999999, price: 99999999 }),
    );
    expect([created.status, Object.keys(created.body.errors ?? {})]).toEqual([400, ["amount"]]);
    expect(await totals()).toMatchObject({ o: [18, 3] });
  });

  test("that a handler refuses leaves the totals as they were", async () => {
    refused = "c-n";
    expect((await fixture.post("lines/create", line("n", { order_id: "o" }))).status).toBe(422);
    refused = "";
    expect(await totals()).toMatchObject({ o: [18, 3] });
  });
});

describe("the header", () => {
  test("is told to have changed when its totals did, and only then", async () => {
    const read = async () =>
      (await fixture.post("orders/first", key("order_id", "o"))).headers.get("etag");
    const before = await read();
    await post("lines/update", { line_id: "o1", status: "done" });
    expect(await read()).toBe(before);
    await post("lines/update", { line_id: "o1", qty: 4 });
    expect(await read()).not.toBe(before);
    const change = { orders: { order_id: "o", note: "n" } };
    expect(
      (await fixture.post("orders/update-composite", change, { "if-match": before! })).status,
    ).toBe(412);
  });

  test("is read anew from lists that were kept", async () => {
    const read = async () =>
      (await post("orders/read", { search_value: "o", search_by: "order_id" })).body.data[0].total;
    expect(await read()).toBe(18);
    await post("lines/delete", key("line_id", "o1"));
    expect(await read()).toBe(12);
  });

  test("keeps totals that fit when many write its lines by all ways at once", async () => {
    const many = 24;
    const answers = await Promise.all(
      Array.from({ length: many }, (_, at) => {
        const order_id = at % 2 === 0 ? "o" : "q";
        const one = [
          () => fixture.post("lines/create", line(`n${at}`, { order_id })),
          () => fixture.post("lines/update", { line_id: `${order_id}1`, qty: at + 1 }),
          () => fixture.post("lines/update", { line_id: "o2", order_id }),
          () =>
            fixture.post("orders/update-composite", {
              orders: { order_id, order_lines: { insert: [line(`m${at}`)] } },
            }),
          () =>
            fixture.post("lines/adjust", {
              line_id: `${order_id}3`,
              adjustments: [{ field: "qty", value: 1 }],
            }),
          () =>
            fixture.post("shipments/update-composite", {
              shipments: {
                shipment_id: "s",
                order_lines: { update: [{ line_id: `${order_id}1`, price: at }] },
              },
            }),
          () => fixture.post("orders/update", { order_id, note: `n${at}` }),
          () => fixture.post("lines/delete", key("line_id", `${order_id}3`)),
        ][at % 8]!;
        return one();
      }),
    );
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    await totals();
  });
});

describe("totals and formulas follow what the database itself changes", () => {
  /** InnoDB has no SET DEFAULT. */
  const resets = inject("engine") === "mysql" ? [] : ["reset"];
  const rules = { follow: "CASCADE", leave: "SET NULL", reset: "SET DEFAULT" } as const;
  const names = ["follow", "leave", ...resets] as (keyof typeof rules)[];

  const reached = openForTests(openFixture, {
    tables: [
      { name: "rates", columns: { rate_id: "key", rate: { type: "integer", unique: true } } },
      {
        name: "bins",
        columns: {
          bin_id: "key",
          code: { type: "text(20)", unique: true, notNull: true },
          ...Object.fromEntries(names.map((name) => [name, "integer"] as const)),
        },
      },
      ...(names.map((name) => ({
        name: `${name}_lines`,
        columns: {
          line_id: "key",
          bin_code: {
            type: "text(20)",
            ...(name === "reset" && { default: "'spare'" }),
            references: {
              table: "bins",
              column: "code",
              onUpdate: rules[name],
              onDelete: rules[name],
            },
          },
          rate: {
            type: "integer",
            references: {
              table: "rates",
              column: "rate",
              onUpdate: "CASCADE",
              onDelete: "SET NULL",
            },
          },
          qty: "integer",
          amount: "integer",
        },
      })) as NonNullable<Parameters<typeof openFixture>[0]["tables"]>),
    ],
    endpoints: {
      rates: {
        tableName: "rates",
        action: { create: true, update: true, "bulk-update": true, delete: true },
      },
      bins: {
        tableName: "bins",
        action: { create: true, update: true, "bulk-update": true, delete: true, first: true },
      },
      ...Object.fromEntries(
        names.map((name) => [
          `${name}-bins`,
          {
            tableName: "bins",
            primaryKey: "code",
            action: { "create-composite": true },
            masterDetail: { detailTable: `${name}_lines`, foreignKey: "bin_code" },
            calculation: { detail: { amount: "qty * rate" }, header: { [name]: "SUM(amount)" } },
          },
        ]),
      ),
      ...Object.fromEntries(
        names.map((name) => [
          `${name}-lines`,
          { tableName: `${name}_lines`, action: { create: true } },
        ]),
      ),
    },
  });
  beforeEach(async () => {
    for (const name of names) await reached.sql(`delete from ${name}_lines`);
    for (const table of ["bins", "rates"]) await reached.sql(`delete from ${table}`);
    await reached.sql("insert into rates (rate_id, rate) values ('two', 2), ('three', 3)");
    await reached.sql("insert into bins (bin_id, code) values ('a', 'A'), ('s', 'spare')");
    for (const name of names)
      for (const [line_id, rate] of [
        ["two", 2],
        ["three", 3],
      ])
        await send(`${name}-lines/create`, { line_id, bin_code: "A", rate, qty: 10 });
    expect(await sums("a")).toEqual(names.map(() => 50));
  });

  async function send(path: string, body: unknown): Promise<Answer> {
    const answer = await reached.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer;
  }
  const sumsIn = (row: Record<string, unknown>) => names.map((name) => row[name] ?? 0);
  async function sums(bin_id: string): Promise<unknown[]> {
    const { body } = await send("bins/first", key("bin_id", bin_id));
    return sumsIn(body.data);
  }

  test.each<[string, string, object, number]>([
    ["a changed operand", "update", { rate_id: "two", rate: 7 }, 100],
    ["an operand of many records", "bulk-update", { data: [{ rate_id: "two", rate: 7 }] }, 100],
    ["an operand that is cleared", "delete", key("rate_id", "two"), 30],
  ])("of %s", async (_name, action, body, sum) => {
    await send(`rates/${action}`, body);
    expect(await sums("a")).toEqual(names.map(() => sum));
  });

  const kept = { follow: 50, leave: 0, reset: 0 };
  const given = { follow: 0, leave: 0, reset: 50 };
  test("where the key of a header changes, in its answer too", async () => {
    const { body } = await send("bins/update", { bin_id: "a", code: "B" });
    expect(sumsIn(body.data)).toEqual(names.map((name) => kept[name]));
    expect(await sums("a")).toEqual(names.map((name) => kept[name]));
    expect(await sums("s")).toEqual(names.map((name) => given[name]));
  });

  test("where the keys of many headers change", async () => {
    await send("bins/bulk-update", { data: [{ bin_id: "a", code: "B" }] });
    expect(await sums("a")).toEqual(names.map((name) => kept[name]));
    expect(await sums("s")).toEqual(names.map((name) => given[name]));
  });

  test("where a header is deleted and its lines get another", async () => {
    await send("bins/delete", key("bin_id", "a"));
    expect(await sums("s")).toEqual(names.map((name) => given[name]));
  });
});
