/** expand: related records inside of the records of read and first. */
import { describe, expect, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";
import { openTrade } from "./trade.ts";

const trade = openForTests(openTrade);

const as = (role?: string): Record<string, string> =>
  role === undefined ? {} : { "x-role": role };
const only = (...numbers: string[]) => ({
  where: { conditions: [{ key: "order_no", operator: "IN", value: numbers }] },
});

describe("expand", () => {
  const cases: [name: string, path: string, body: object, answer: object, role?: string][] = [
    [
      "to one gives an object or null",
      "orders/read",
      { select: ["order_no"], expand: { customer: { select: ["name"] } }, ...only("A1", "A3") },
      {
        data: [
          { order_no: "A1", customer: { name: "Ada" } },
          { order_no: "A3", customer: null },
        ],
      },
    ],
    [
      "to many gives an array, sorted by key, and an empty one",
      "orders/read",
      { select: ["order_no"], expand: ["lines"], ...only("A1", "A3") },
      {
        data: [
          {
            order_no: "A1",
            lines: [
              { id: "l1", order_id: "o1", product_id: "p1", qty: 2, note: "first" },
              { id: "l2", order_id: "o1", product_id: "p2", qty: 1, note: null },
            ],
          },
          { order_no: "A3", lines: [] },
        ],
      },
    ],
    [
      "takes where, order and limit, and tells what was cut",
      "orders/read",
      {
        select: ["order_no"],
        expand: {
          lines: { select: ["id"], sort_columns: [{ column: "qty", direction: "ASC" }], limit: 1 },
        },
        ...only("A1", "A2"),
      },
      {
        data: [
          { order_no: "A1", lines: [{ id: "l2" }] },
          { order_no: "A2", lines: [{ id: "l3" }] },
        ],
        more: { lines: ["o1"] },
      },
    ],
    [
      "filters the records of each list",
      "orders/read",
      {
        select: ["order_no"],
        expand: {
          lines: {
            select: ["id"],
            where: { conditions: [{ key: "product.name", operator: "=", value: "Ink" }] },
          },
        },
        ...only("A1", "A2"),
      },
      {
        data: [
          { order_no: "A1", lines: [{ id: "l2" }] },
          { order_no: "A2", lines: [] },
        ],
      },
    ],
    [
      "nests, to many and from there to one",
      "orders/first",
      {
        where: { key: "order_no", value: "A1" },
        select: ["order_no"],
        expand: { lines: { select: ["id"], expand: { product: { select: ["name"] } } } },
      },
      {
        data: {
          order_no: "A1",
          lines: [
            { id: "l1", product: { name: "Pen" } },
            { id: "l2", product: { name: "Ink" } },
          ],
        },
      },
    ],
    [
      "nests, to one and from there to many",
      "orders/read",
      {
        select: ["order_no"],
        expand: {
          customer: { select: ["name"], expand: { orders: { select: ["order_no"], limit: 1 } } },
        },
        ...only("A1", "A2", "A3", "A5"),
      },
      {
        data: [
          { order_no: "A1", customer: { name: "Ada", orders: [{ order_no: "A1" }] } },
          { order_no: "A2", customer: { name: "Bob", orders: [{ order_no: "A2" }] } },
          { order_no: "A3", customer: null },
          { order_no: "A5", customer: { name: "Ada", orders: [{ order_no: "A1" }] } },
        ],
        more: { "customer.orders": ["a"] },
      },
    ],
    [
      "goes over records in between",
      "products/read",
      {
        select: ["name"],
        expand: { tags: { select: ["name"], sort_columns: [{ column: "name" }] } },
      },
      {
        data: [
          { name: "Pen", tags: [{ name: "new" }, { name: "red" }] },
          { name: "Ink", tags: [{ name: "new" }] },
          { name: "Pad", tags: [] },
        ],
      },
    ],
    [
      "gives figures instead of lists",
      "orders/read",
      {
        select: ["order_no"],
        expand: {
          lines: {
            operations: [
              { function: "count", field: "*", alias: "n" },
              { function: "sum", field: "qty" },
            ],
          },
        },
      },
      {
        data: [
          { order_no: "A1", lines: { n: 2, sum_qty: 3 } },
          { order_no: "A2", lines: { n: 1, sum_qty: null } },
          { order_no: "A3", lines: { n: 0, sum_qty: null } },
          { order_no: "A4", lines: { n: 0, sum_qty: null } },
          { order_no: "A5", lines: { n: 1, sum_qty: 5 } },
        ],
      },
    ],
    [
      "merges with the select of the same relation",
      "orders/read",
      {
        select: ["order_no", "customer.region"],
        expand: { customer: { select: ["name"] } },
        ...only("A1"),
      },
      { data: [{ order_no: "A1", customer: { region: "north", name: "Ada" } }] },
    ],
    [
      "shows only what the caller may see there",
      "customers/read",
      { select: ["name"], expand: { staff: { select: ["name"] } } },
      {
        data: [
          { name: "Ada", staff: [] },
          { name: "Eve", staff: [] },
        ],
      },
      "north",
    ],
    [
      "leaves out records that are marked as deleted",
      "customers/read",
      { select: ["name"], expand: { staff: { select: ["name"] } } },
      {
        data: [
          { name: "Ada", staff: [{ name: "Bob" }] },
          { name: "Bob", staff: [{ name: "Eve" }] },
          { name: "Eve", staff: [] },
        ],
      },
    ],
    [
      "stands beside pages",
      "orders/read",
      { select: ["order_no"], expand: { lines: { select: ["id"] } }, page: 2, per_page: 1 },
      {
        data: [{ order_no: "A2", lines: [{ id: "l3" }] }],
        pagination: { total_records: 5, current_page: 2 },
      },
    ],
    [
      "stands beside cursors",
      "orders/read",
      { select: ["order_no"], expand: { lines: { select: ["id"] } }, cursor: true, per_page: 1 },
      {
        data: [{ order_no: "A1", lines: [{ id: "l1" }, { id: "l2" }] }],
        pagination: { has_next: true },
      },
    ],
  ];
  test.each(cases)("%s", async (_, path, body, answer, role) => {
    const got = await trade.post(path, body, as(role));
    expect(got.body).toMatchObject({ success: true, ...answer });
    if (!("more" in answer)) expect(got.body).not.toHaveProperty("more");
  });
});

describe("refused", () => {
  const eleven = Object.fromEntries(["customer", "writer", "lines"].map((name) => [name, {}]));
  const cases: [name: string, body: object, error: string, role?: string][] = [
    ["an unknown relation", { expand: ["buyer"] }, "Invalid field"],
    ["a column", { expand: ["order_no"] }, "Invalid parameter"],
    [
      "a relation that the caller may not use",
      { expand: ["customer"] },
      "Invalid field",
      "outsider",
    ],
    ["no list", { expand: "lines" }, "Invalid parameter"],
    ["a limit above 1,000", { expand: { lines: { limit: 1001 } } }, "Invalid parameter"],
    ["a limit of none", { expand: { lines: { limit: 0 } } }, "Invalid parameter"],
    ["where of one", { expand: { customer: { where: { conditions: [] } } } }, "Invalid parameter"],
    ["operations of one", { expand: { customer: { operations: [] } } }, "Invalid parameter"],
    [
      "operations beside select",
      { expand: { lines: { operations: [{ function: "count", field: "*" }], select: ["id"] } } },
      "Invalid parameter",
    ],
    [
      "operations beside expand",
      {
        expand: { lines: { operations: [{ function: "count", field: "*" }], expand: ["product"] } },
      },
      "Invalid parameter",
    ],
    [
      "an operation that a column does not take",
      { expand: { lines: { operations: [{ function: "sum", field: "note" }] } } },
      "Invalid parameter",
    ],
    [
      "three levels",
      { expand: { lines: { expand: { product: { expand: ["tags"] } } } } },
      "Invalid parameter",
    ],
    [
      "eleven relations",
      {
        expand: {
          ...eleven,
          customer: { expand: ["city", "boss", "staff", "orders"] },
          writer: { expand: ["city", "boss", "staff", "orders"] },
        },
      },
      "Invalid parameter",
    ],
    [
      "a hidden column inside",
      { expand: { customer: { select: ["email"] } } },
      "Invalid field",
      "blind",
    ],
  ];
  test.each(cases)("%s", async (_, body, error, role) => {
    const answer = await trade.post("orders/read", body, as(role));
    expect(answer).toMatchObject({ status: 400, body: { error } });
  });
});

describe("versions", () => {
  test("are the tags that If-Match takes", async () => {
    const first = await trade.post("orders/first", { where: { key: "id", value: "o1" } });
    const tag = first.headers.get("etag");
    const body = { select: ["order_no"], versions: true, ...only("A1") };
    const read = await trade.post("orders/read", body);
    expect(read.body.data).toEqual([{ order_no: "A1", _version: tag }]);
    const nested = { ...body, expand: { customer: { select: ["name"] } } };
    expect((await trade.post("orders/read", nested)).body.data).toEqual([
      { order_no: "A1", customer: { name: "Ada" }, _version: tag },
    ]);
    const again = await trade.post("orders/first", {
      where: { key: "id", value: "o1" },
      select: ["order_no"],
      versions: true,
    });
    expect(again.body.data).toEqual({ order_no: "A1", _version: tag });
  });

  test.each([
    ["a grid of the table", "orders"],
    ["a grid with a query of its own", "buyers"],
  ])("stand in the rows of %s, as JSON and as a form", async (_, endpoint) => {
    const { body } = await trade.post("orders/read", { select: ["order_no"], versions: true });
    const known = new Map<string, string>(
      body.data.map((one: Record<string, string>) => [one["order_no"], one["_version"]]),
    );
    const form = await trade.request(`/api/test/${endpoint}/datatables`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "versions=true&columns[0][data]=customer.name&length=3",
    });
    const asked = { versions: true, columns: [{ data: "customer.name" }], length: 3 };
    const sent = await trade.post(`${endpoint}/datatables`, asked);
    for (const { body: page } of [form, sent]) {
      expect(page.data).toHaveLength(3);
      for (const row of page.data) expect(row._version).toBe(known.get(row.order_no));
      expect(page.data[0]).toHaveProperty("customer.name");
    }
    const plain = await trade.post(`${endpoint}/datatables`, { versions: "false", length: 1 });
    expect(plain.body.data[0]).not.toHaveProperty("_version");
  });

  test("are refused where they would take the place of a column", async () => {
    const service = await openFixture({
      tables: [{ name: "things", columns: { id: "key", _version: "text(20)" } }],
      endpoints: {
        things: { tableName: "things", action: { read: true, first: true, datatables: true } },
      },
    });
    try {
      const where = { key: "id", value: "t1" };
      for (const [action, error, body] of [
        ["read", "Invalid parameter", { page: 1 }],
        ["read", "Invalid parameter", { select: ["_version"] }],
        ["first", "Invalid parameter", { where }],
        ["datatables", "Invalid payload", {}],
      ] as const) {
        const answer = await service.post(`things/${action}`, { ...body, versions: true });
        expect([answer.status, answer.body.error]).toEqual([400, error]);
      }
      const read = await service.post("things/read", { select: ["id"], versions: true });
      expect(read.status).toBe(200);
    } finally {
      await service.close();
    }
  });

  test("are refused by a grid that does not say what they are", async () => {
    const answer = await trade.post("orders/datatables", { versions: "perhaps" });
    expect([answer.status, answer.body.error]).toEqual([400, "Invalid payload"]);
  });

  test.each(["yes", 1, []])("%j is refused", async (versions) => {
    const answer = await trade.post("orders/read", { versions });
    expect(answer).toMatchObject({ status: 400, body: { error: "Invalid parameter" } });
  });
});
