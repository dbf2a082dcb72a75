/** Paths to related records, and conditions on them: in select, where, sort and search of read and first. */
import { describe, expect, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";
import { openTrade } from "./trade.ts";

const trade = openForTests(openTrade);

const as = (role?: string): Record<string, string> =>
  role === undefined ? {} : { "x-role": role };

describe("paths in select", () => {
  const cases: [
    name: string,
    path: string,
    body: object,
    role: string | undefined,
    data: unknown,
  ][] = [
    [
      "nest, and are null where there is no record",
      "orders/read",
      { select: ["order_no", "customer.name"] },
      undefined,
      [
        { order_no: "A1", customer: { name: "Ada" } },
        { order_no: "A2", customer: { name: "Bob" } },
        { order_no: "A3", customer: null },
        { order_no: "A4", customer: null },
        { order_no: "A5", customer: { name: "Ada" } },
      ],
    ],
    [
      "go on over several relations",
      "order-lines/read",
      {
        select: ["id", "order.customer.city.name", "order.order_no"],
        where: { conditions: [{ key: "id", operator: "IN", value: ["l1", "l3"] }] },
      },
      undefined,
      [
        { id: "l1", order: { customer: { city: { name: "Oslo" } }, order_no: "A1" } },
        { id: "l3", order: { customer: { city: { name: "Wien" } }, order_no: "A2" } },
      ],
    ],
    [
      "lead to the same table",
      "customers/read",
      { select: ["name", "boss.name", "boss.boss.name"] },
      undefined,
      [
        { name: "Ada", boss: null },
        { name: "Bob", boss: { name: "Ada", boss: null } },
        { name: "Eve", boss: { name: "Bob", boss: { name: "Ada" } } },
      ],
    ],
    [
      "take another unique column",
      "orders/read",
      {
        select: ["order_no", "writer.name"],
        where: { conditions: [{ key: "writer.name", operator: "IS NOT NULL" }] },
      },
      undefined,
      [
        { order_no: "A1", writer: { name: "Ada" } },
        { order_no: "A3", writer: { name: "Bob" } },
      ],
    ],
    [
      "show all columns of the other record",
      "order-lines/read",
      { select: ["product.*"], limit: 1 },
      undefined,
      [{ product: { id: "p1", name: "Pen", price: 1.5 } }],
    ],
    [
      "leave out what the caller may not see there",
      "orders/read",
      { select: ["customer.*"], limit: 1 },
      "blind",
      [
        {
          customer: {
            id: "a",
            name: "Ada",
            region: "north",
            credit: 100.5,
            city_id: "c1",
            boss_id: null,
            is_deleted: false,
          },
        },
      ],
    ],
    [
      "show no record outside of the caller's rows",
      "orders/read",
      { select: ["order_no", "customer.name"] },
      "north",
      [
        { order_no: "A1", customer: { name: "Ada" } },
        { order_no: "A2", customer: null },
        { order_no: "A3", customer: null },
        { order_no: "A4", customer: null },
        { order_no: "A5", customer: { name: "Ada" } },
      ],
    ],
    [
      "never multiply rows, even if a key is not one",
      "deals/read",
      { select: ["order_no", "client.name"] },
      undefined,
      [
        { order_no: "A1", client: { name: "Ada" } },
        { order_no: "A2", client: { name: "Bob" } },
        { order_no: "A3", client: null },
        { order_no: "A4", client: { name: "Dan" } },
        { order_no: "A5", client: { name: "Ada" } },
      ],
    ],
    [
      "stand in first",
      "orders/first",
      { where: { key: "customer.name", value: "Bob" }, select: ["order_no", "customer.city.name"] },
      undefined,
      { order_no: "A2", customer: { city: { name: "Wien" } } },
    ],
  ];
  test.each(cases)("%s", async (_, path, body, role, data) => {
    const answer = await trade.post(path, body, as(role));
    expect(answer.body).toMatchObject({ success: true, data });
  });
});

describe("paths in columns of a grid", () => {
  const paths = ["customer.name", "customer.email", "writer.name", "lines.qty", "customer"];
  test.each([
    [undefined, { customer: { name: "Ada", email: "ada@a.no" }, writer: { name: "Ada" } }],
    ["blind", { customer: { name: "Ada", email: null }, writer: null }],
    ["outsider", { customer: null, writer: null }],
  ])("are null where %s may not use them", async (role, related) => {
    const body = { columns: paths.map((data) => ({ data })), length: 1 };
    const { body: page } = await trade.post("orders/datatables", body, as(role));
    const own = await trade.post("orders/datatables", { length: 1 }, as(role));
    expect(page.data).toEqual([{ ...own.body.data[0], ...related, lines: null }]);
  });
});

const named = (body: object, role?: string) =>
  trade.post("orders/read", { select: ["order_no"], ...body }, as(role));
const numbers = (answer: { body: { data: { order_no: string }[] } }) =>
  answer.body.data.map(({ order_no }) => order_no).join(" ");

describe("conditions, order and search by path", () => {
  const cases: [name: string, body: object, found: string, role?: string][] = [
    [
      "=",
      { where: { conditions: [{ key: "customer.name", operator: "=", value: "Ada" }] } },
      "A1 A5",
    ],
    [
      "IS NULL",
      { where: { conditions: [{ key: "customer.name", operator: "IS NULL" }] } },
      "A3 A4",
    ],
    [
      "two hops",
      { where: { conditions: [{ key: "customer.city.country", operator: "LIKE", value: "Au%" }] } },
      "A2",
    ],
    [
      "OR",
      {
        where: {
          logic: "OR",
          conditions: [
            { key: "customer.credit", operator: ">", value: 50 },
            { key: "amount", operator: "<", value: 6 },
          ],
        },
      },
      "A1 A3 A5",
    ],
    [
      "of hidden rows",
      { where: { conditions: [{ key: "customer.name", operator: "=", value: "Bob" }] } },
      "",
      "north",
    ],
    ["sort", { sort_columns: [{ column: "customer.name", direction: "DESC" }] }, "A2 A1 A5 A3 A4"],
    ["search", { search_value: "ob", search_by: "customer.name" }, "A2"],
    [
      "search over all selected",
      { search_value: "wien", select: ["order_no", "customer.city.name"] },
      "A2",
    ],
    ["ANY", { where: { conditions: [{ key: "lines", operator: "ANY" }] } }, "A1 A2 A5"],
    [
      "ANY where",
      {
        where: {
          conditions: [
            {
              key: "lines",
              operator: "any",
              where: { conditions: [{ key: "product.name", operator: "=", value: "Ink" }] },
            },
          ],
        },
      },
      "A1 A5",
    ],
    ["NONE", { where: { conditions: [{ key: "lines", operator: "NONE" }] } }, "A3 A4"],
    [
      "NONE where",
      {
        where: {
          conditions: [
            {
              key: "lines",
              operator: "NONE",
              where: { conditions: [{ key: "qty", operator: ">", value: 1 }] },
            },
          ],
        },
      },
      "A2 A3 A4",
    ],
    [
      "ALL",
      {
        where: {
          conditions: [
            {
              key: "lines",
              operator: "ALL",
              where: { conditions: [{ key: "qty", operator: ">", value: 0 }] },
            },
          ],
        },
      },
      "A1 A3 A4 A5",
    ],
    [
      "after a path",
      {
        where: {
          conditions: [
            {
              key: "customer.orders",
              operator: "ANY",
              where: { conditions: [{ key: "amount", operator: ">", value: 25 }] },
            },
          ],
        },
      },
      "A1 A5",
    ],
    [
      "of one",
      {
        where: {
          conditions: [
            {
              key: "customer",
              operator: "ANY",
              where: { conditions: [{ key: "region", operator: "=", value: "south" }] },
            },
          ],
        },
      },
      "A2",
    ],
    [
      "nested",
      {
        where: {
          conditions: [
            {
              key: "lines",
              operator: "ANY",
              where: {
                conditions: [
                  {
                    key: "product.tags",
                    operator: "NONE",
                    where: { conditions: [{ key: "name", operator: "=", value: "red" }] },
                  },
                ],
              },
            },
          ],
        },
      },
      "A1 A5",
    ],
    [
      "of hidden records",
      { where: { conditions: [{ key: "customer", operator: "ANY" }] } },
      "A1 A5",
      "north",
    ],
  ];
  test.each(cases)("%s", async (_, body, found, role) => {
    const answer = await named(body, role);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(numbers(answer)).toBe(found);
  });

  test("over records in between", async () => {
    const where = {
      conditions: [
        {
          key: "tags",
          operator: "ANY",
          where: { conditions: [{ key: "name", operator: "=", value: "red" }] },
        },
      ],
    };
    const answer = await trade.post("products/read", { select: ["name"], where });
    expect(answer.body.data).toEqual([{ name: "Pen" }]);
  });

  // The same columns on both sides, from other records.
  const turned: [path: string, found: string][] = [
    ["boss", "Bob Eve"],
    ["staff", "Ada Bob"],
    ["boss.staff", "Bob Eve"],
    ["boss.boss", "Eve"],
    ["boss.boss.staff", "Eve"],
  ];
  const eve = { conditions: [{ key: "name", operator: "=", value: "Eve" }] };
  const ofEve: [path: string, found: string][] = [
    ["staff", "Bob"],
    ["boss.staff", "Eve"],
    ["boss.boss.staff", ""],
    ["boss", ""],
  ];
  test.each([
    [turned, undefined],
    [turned.toReversed(), undefined],
    [ofEve, eve],
    [ofEve.toReversed(), eve],
  ])("conditions over the same columns are told apart", async (asked, where) => {
    for (const [key, found] of asked) {
      const answer = await trade.post("customers/read", {
        select: ["name", "boss.name", "boss.boss.name"],
        where: { conditions: [{ key, operator: "ANY", where }] },
      });
      const names = answer.body.data.map(({ name }: { name: string }) => name);
      expect([key, names.join(" ")]).toEqual([key, found]);
    }
  });

  test("counts and pages count each record once", async () => {
    const where = {
      conditions: [
        { key: "lines", operator: "ANY" },
        { key: "customer.name", operator: "IS NOT NULL" },
      ],
    };
    const answer = await named({
      where,
      page: 1,
      per_page: 2,
      sort_columns: [{ column: "customer.name" }],
    });
    expect(answer.body).toMatchObject({ count: 2, pagination: { total_records: 3 } });
  });

  test("cursors go on behind a related record", async () => {
    const seen: string[] = [];
    let cursor: unknown = true;
    while (cursor) {
      const answer = await named({
        select: ["order_no", "customer.name"],
        sort_columns: [{ column: "customer.name" }],
        cursor,
        per_page: 2,
      });
      seen.push(numbers(answer));
      cursor = answer.body.pagination.next_cursor;
    }
    expect(seen).toEqual(["A3 A4", "A1 A5", "A2"]);
  });
});

describe("a column with the name of a path", () => {
  const named = openForTests(openFixture, {
    tables: [
      { name: "buyers", columns: { id: "key", name: "text(20)" } },
      {
        name: "orders",
        columns: { order_no: "key", total: "decimal(6,2)", customer_id: "text(36)" },
      },
    ],
    setUp: (engine) => {
      const name = engine === "mysql" ? "`customer.name`" : '"customer.name"';
      return [
        "insert into buyers values ('a', 'Ada')",
        "insert into orders values ('A1', 10.5, 'a')",
        `create view named as select order_no, customer_id, total as ${name} from orders`,
      ];
    },
    endpoints: {
      buyers: { tableName: "buyers", action: { read: true } },
      named: {
        viewName: "named",
        primaryKey: "order_no",
        action: { read: true },
        relations: { customer: { endpoint: "buyers", column: "customer_id" } },
      },
    },
  });

  const first = async (body: object) => {
    const answer = await named.post("named/read", { limit: 1, ...body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.data[0];
  };

  test("comes first", async () => {
    expect(await first({ select: ["customer.name"] })).toEqual({ "customer.name": 10.5 });
    const where = { conditions: [{ key: "customer.name", operator: "=", value: 10.5 }] };
    expect(await first({ select: ["order_no"], where })).toEqual({ order_no: "A1" });
  });

  test("stands beside the column of the related record", async () => {
    const both = { "customer.name": 10.5, customer: { name: "Ada" } };
    const expand = { customer: { select: ["name"] } };
    expect(await first({ select: ["customer.name"], expand })).toEqual(both);
    expect(await first({ select: ["customer.name"], expand: ["customer"] })).toMatchObject(both);
    expect(await first({ select: ["customer.*"] })).toMatchObject({ customer: { name: "Ada" } });
  });

  test("is none of the related record", async () => {
    const expand = { customer: { select: ["ghost"] } };
    const answer = await named.post("named/read", { expand });
    expect([answer.status, answer.body.error]).toEqual([400, "Invalid field"]);
  });
});

describe("refused", () => {
  const where = (condition: object) => ({ where: { conditions: [condition] } });
  const cases: [name: string, body: object, status: number, error: string, role?: string][] = [
    ["an unknown relation", { select: ["buyer.name"] }, 400, "Invalid field"],
    ["an unknown column behind it", { select: ["customer.nam"] }, 400, "Invalid field"],
    ["a path over many", { select: ["lines.qty"] }, 400, "Invalid field"],
    ["a relation as a column", { select: ["customer"] }, 400, "Invalid field"],
    ["five relations", { select: ["customer.boss.boss.boss.boss.name"] }, 400, "Invalid field"],
    ["relations without end", { select: [`${"boss.".repeat(50_000)}*`] }, 400, "Invalid field"],
    [
      "many after relations without end",
      where({ key: "a.".repeat(100_000), operator: "ANY" }),
      400,
      "Invalid field",
    ],
    ["a prototype", { select: ["__proto__.name"] }, 400, "Invalid field"],
    [
      "a hidden column",
      where({ key: "customer.email", operator: "=", value: "x" }),
      400,
      "Invalid field",
      "blind",
    ],
    [
      "a relation made of a hidden column",
      { select: ["writer.name"] },
      400,
      "Invalid field",
      "blind",
    ],
    [
      "a table that the caller may not read",
      { select: ["customer.name"] },
      400,
      "Invalid field",
      "outsider",
    ],
    [
      "many that the caller may not read",
      where({ key: "customer", operator: "ANY" }),
      400,
      "Invalid field",
      "outsider",
    ],
    ["ALL without where", where({ key: "lines", operator: "ALL" }), 400, "Invalid payload"],
    ["ANY of a column", where({ key: "order_no", operator: "ANY" }), 400, "Invalid payload"],
  ];
  test.each(cases)("%s", async (_, body, status, error, role) => {
    const answer = await trade.post("orders/read", body, as(role));
    expect(answer).toMatchObject({ status, body: { error } });
  });

  test("what a caller may not use is as unknown as what is not there", async () => {
    const message = async (name: string) =>
      (await trade.post("orders/read", { select: [name] }, as("outsider"))).body.message;
    expect(await message("customer.name")).toBe(
      (await message("custumer.name")).replace("custumer", "customer"),
    );
  });

  test("a path in the where of delete", async () => {
    const deleted = await trade.post("orders/delete", {
      where: [{ key: "customer.name", value: "Ada" }],
    });
    expect(deleted).toMatchObject({ status: 400, body: { error: "Invalid field" } });
  });
});

describe("more relations than engines join", () => {
  const letters = [..."abcdefghij"];
  const paths = letters.flatMap((one) => letters.map((other) => `${one}.${other}.name`));
  const nodes = openForTests(openFixture, {
    tables: [{ name: "nodes", columns: { id: "key", name: "text(40)", next_id: "text(36)" } }],
    setUp: () => ["insert into nodes values ('n1', 'one', null), ('n2', 'two', 'n1')"],
    endpoints: {
      nodes: {
        tableName: "nodes",
        action: { read: true, first: true, aggregate: true },
        relations: Object.fromEntries(
          letters.map((name) => [name, { endpoint: "nodes", column: "next_id" }]),
        ),
      },
    },
  });

  const byWhere = (some: string[]) => ({
    where: { conditions: some.map((name) => ({ key: name, operator: "IS NULL" })) },
  });
  test.each<[string, (some: string[]) => object]>([
    ["read", (select) => ({ select })],
    ["read", byWhere],
    ["read", (some) => ({ sort_columns: some.map((column) => ({ column })) })],
    [
      "read",
      (some) => ({ where: { conditions: [{ key: "a", operator: "ANY", ...byWhere(some) }] } }),
    ],
    ["aggregate", (some) => ({ group_by: ["id"], ...byWhere(some) })],
  ])("%s takes 40, and refuses 41", async (action, body) => {
    const ask = (count: number) => nodes.post(`nodes/${action}`, body(paths.slice(0, count)));
    const most = await ask(36);
    expect(most.status, JSON.stringify(most.body)).toBe(200);
    expect(await ask(37)).toMatchObject({ status: 400, body: { error: "Invalid parameter" } });
  });
});
