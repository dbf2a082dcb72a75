/** Related records are those of their endpoint, whatever the scope and the marks of the endpoint of the request. */
import { expect, test } from "vitest";
import { openTrade } from "./trade.ts";
import { openForTests } from "./harness.ts";

const trade = openForTests(openTrade);

const is = (key: string, value: string) => ({ key, operator: "=", value });
const names = { select: ["name"] };
const count = { operations: [{ function: "count", field: "*", alias: "n" }] };
const cases: [name: string, path: string, expand: object, role: string, data: object[]][] = [
  [
    "a list of a query, from a table without a scope",
    "cities/read",
    { patrons: names },
    "north",
    [{ patrons: [{ name: "Ada" }, { name: "Eve" }] }, { patrons: [] }],
  ],
  [
    "figures of a query, from a table without a scope",
    "cities/read",
    { patrons: count },
    "north",
    [{ patrons: { n: 2 } }, { patrons: { n: 0 } }],
  ],
  [
    "a list of one of several endpoints of a table",
    "cities/read",
    { residents: names },
    "north",
    [{ residents: [{ name: "Eve" }] }, { residents: [] }],
  ],
  [
    "figures of one of several endpoints of a table",
    "cities/read",
    { residents: count },
    "north",
    [{ residents: { n: 1 } }, { residents: { n: 0 } }],
  ],
  [
    "a list of a query, from a table with marks and a scope",
    "customers/read",
    { self: names },
    "north",
    [{ self: [{ name: "Ada" }] }, { self: [{ name: "Eve" }] }],
  ],
  [
    "figures of a query, from a table with marks and a scope",
    "customers/read",
    { self: count },
    "north",
    [{ self: { n: 1 } }, { self: { n: 1 } }],
  ],
  [
    "a list of a query, for callers without a scope",
    "cities/read",
    { patrons: names },
    "operator",
    [{ patrons: [{ name: "Ada" }, { name: "Eve" }] }, { patrons: [{ name: "Bob" }] }],
  ],
  [
    "a path in a list",
    "orders/read",
    { lines: { select: ["order.customer.name"] } },
    "north",
    [
      {
        lines: [{ order: { customer: { name: "Ada" } } }, { order: { customer: { name: "Ada" } } }],
      },
      { lines: [{ order: { customer: null } }] },
    ],
  ],
  [
    "records in between, and behind them, of a list",
    "products/read",
    { tags: names },
    "north",
    [{ tags: [{ name: "new" }] }, { tags: [] }, { tags: [] }],
  ],
];
test.each(cases)("%s", async (_, path, expand, role, data) => {
  const answer = await trade.post(path, { expand }, { "x-role": role });
  expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ success: true });
  expect(answer.body.data.slice(0, data.length)).toMatchObject(data);
});

const any = (key: string, ...conditions: object[]) => ({
  key,
  operator: "ANY",
  where: { conditions },
});
test.each<[name: string, path: string, condition: object, all: number, north: number]>([
  ["records in between", "products/read", any("tags"), 2, 1],
  ["records behind them", "products/read", any("tags", is("name", "red")), 1, 0],
  ["a path", "orders/read", any("lines", is("order.customer.name", "Bob")), 1, 0],
  [
    "records of records",
    "orders/read",
    any("lines", any("order.customer", is("name", "Bob"))),
    1,
    0,
  ],
])("a condition on %s", async (_, path, condition, all, north) => {
  for (const [role, found] of Object.entries({ operator: all, north })) {
    const answer = await trade.post(
      path,
      { where: { conditions: [condition] } },
      { "x-role": role },
    );
    expect([role, answer.body.count]).toEqual([role, found]);
  }
});
