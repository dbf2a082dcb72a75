/**
 * Buckets, formulas, operations with a `where`, pages and totals of aggregate beside what callers may not see: hidden
 * columns, rows outside of their scope, marked records, endpoints without access. Also joins, csv, and batches.
 */
import { describe, expect, test } from "vitest";
import type { Caller } from "../../core/plans/caller.ts";
import type { Callers } from "../../core/callers/callers.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

/** The role is what the header says: `north` sees one region, `blind` not all columns, `outsider` no customers. */
const callers: Callers = {
  authenticate(headers): Caller {
    const role = headers.get("x-role") ?? "operator";
    return { kind: "key", id: role, roles: [role], claims: {} };
  },
};
const roles = ["operator", "north", "blind", "outsider"];
const access = (without = "") =>
  Object.fromEntries(
    roles.filter((role) => role !== without).map((role) => [role, ["aggregate", "read"]]),
  );

const fixture = openForTests(openFixture, {
  callers,
  project: { auth: { apiKeys: [] }, timeZone: "America/New_York", batch: { enabled: true } },
  tables: [
    {
      name: "customers",
      columns: {
        id: "key",
        name: "text(40)",
        since: "timestamp",
        rating: "integer",
        margin: "decimal(6,3)",
        is_deleted: "boolean",
      },
    },
    {
      name: "orders",
      columns: {
        id: "key",
        customer_id: { type: "text(36)", references: "customers" },
        region: "text(20)",
        placed_at: "timestamp",
        due: "date",
        quantity: "integer",
        unit_price: "decimal(10,2)",
        secret: "integer",
        large: "bigint",
        is_deleted: "boolean",
      },
    },
  ],
  setUp: (engine) => {
    const [no, yes] = engine === "sqlite" ? ["0", "1"] : ["false", "true"];
    const customers = [
      `'c1', 'Ada', '2026-01-01 03:00:00', 3, 1.500, ${no}`,
      `'c2', 'Bob', '2026-02-01 12:00:00', 5, 0.125, ${no}`,
      `'c3', 'Cy', '2026-03-01 12:00:00', 9, 2.000, ${yes}`,
    ];
    const orders = [
      `'o1', 'c1', 'north', '2026-01-01 03:00:00', '2026-01-05', 2, 10.50, 1, 9007199254740993, ${no}`,
      `'o2', 'c1', 'north', '2026-03-08 07:00:00', '2026-03-01', 3, 0.10, 2, 9007199254740993, ${no}`,
      `'o3', 'c2', 'south', '2026-06-01 03:59:59', '2026-03-31', -7, 4.00, 3, null, ${no}`,
      `'o4', null, 'south', '2026-11-01 05:30:00', null, 1, 2.25, 5, null, ${no}`,
      `'o5', 'c3', 'south', '2026-11-01 06:30:00', '2026-12-31', null, 8.00, 7, null, ${no}`,
      `'o6', 'c2', 'north', '2030-01-01 00:00:00', '2030-01-01', 99, 99.00, 9, null, ${yes}`,
    ];
    return [
      ...customers.map((values) => `insert into customers values (${values})`),
      ...orders.map((values) => `insert into orders values (${values})`),
    ];
  },
  endpoints: {
    customers: {
      tableName: "customers",
      action: { read: true, aggregate: true },
      softDelete: true,
      hiddenFields: { blind: ["margin"] },
      relations: { orders: { endpoint: "orders", foreignColumn: "customer_id" } },
      access: access("outsider"),
    },
    orders: {
      tableName: "orders",
      action: { read: true, aggregate: true },
      softDelete: true,
      hiddenFields: { blind: ["secret"] },
      rowScope: { north: { region: "north" } },
      relations: { customer: { endpoint: "customers", column: "customer_id" } },
      access: access(),
    },
  },
});

const ask = (body: object, role = "operator", headers: Record<string, string> = {}) =>
  fixture.post("orders/aggregate", body, { "x-role": role, ...headers });
const n = { function: "count", field: "*", alias: "n" };
const sum = (formula: string) => ({ function: "sum", formula, alias: "f" });
const month = { field: "placed_at", by: "month", alias: "b" };

describe("a column that a caller may not see is unknown", () => {
  /** Each place in which a request names a column. */
  const places: Readonly<Record<string, (name: string) => object>> = {
    "a span of time": (field) => ({ group_by: [{ field, by: "month", alias: "b" }] }),
    "a part": (field) => ({ group_by: [{ field, part: "month", alias: "b" }] }),
    "a bin": (field) => ({ group_by: [{ field, by: 5, alias: "b" }] }),
    "a filled bin": (field) => ({ group_by: [{ field, by: 5, alias: "b" }], fill: true }),
    "a formula": (name) => ({ operations: [sum(`quantity * ${name}`)] }),
    "a formula with a page": (name) => ({
      group_by: ["region"],
      page: 1,
      operations: [sum(`quantity / ${name}`)],
    }),
    "a count of distinct values": (field) => ({
      operations: [{ function: "countDistinct", field, alias: "f" }],
    }),
    "an operation's where": (key) => ({ operations: [{ ...n, where: [{ key, value: 1 }] }] }),
    "a condition in an operation's where": (key) => ({
      operations: [{ ...n, where: { conditions: [{ key, operator: ">", value: 1 }] } }],
    }),
    having: (key) => ({
      group_by: ["region"],
      operations: [n],
      having: { conditions: [{ key, operator: ">", value: 1 }] },
    }),
    sort_columns: (column) => ({
      group_by: ["region"],
      operations: [n],
      sort_columns: [{ column, direction: "ASC" }],
    }),
    "a total": (field) => ({ total: true, operations: [{ function: "sum", field, alias: "f" }] }),
  };
  const hidden = [
    ["blind", "secret", "nothing"],
    ["blind", "customer.margin", "customer.nothing"],
    ["outsider", "customer.rating", "customer.nothing"],
    ["operator", "orders.quantity", "orders.nothing"],
  ] as const;
  const cases = hidden.flatMap(([role, name, unknown]) =>
    Object.entries(places).map(([place, body]) => ({ role, name, unknown, place, body })),
  );
  const gist = ({ status, body }: Answer, name: string) => [
    status,
    body.error,
    body.message.replaceAll(name, "…").replaceAll(name.split(".")[0]!, "…"),
  ];

  test.each(cases)("$name to $role in $place", async ({ role, name, unknown, body }) => {
    const [known, other] = [await ask(body(name), role), await ask(body(unknown), role)];
    expect([known.status, known.body.error], JSON.stringify(known.body)).toEqual([
      400,
      "Invalid field",
    ]);
    expect(gist(known, name)).toEqual(gist(other, unknown));
    expect(JSON.stringify(known.body)).not.toMatch(/did you mean/);
  });

  test("and is there for others", async () => {
    const { body } = await ask({ operations: [sum("secret * customer.margin")] });
    expect(body.data).toEqual({ f: 4.875 });
  });
});

describe("rows that a caller may not see are in no figure", () => {
  test.each([
    ["operator", { n: 5, f: -4.45 }],
    ["north", { n: 2, f: 21.3 }],
  ])("of %s: groups, pages and total", async (role, total) => {
    const operations = [n, sum("quantity * unit_price")];
    const more = { page: 1, per_page: 1, total: true };
    const { body } = await ask({ group_by: [month], operations, ...more }, role);
    expect(body.data).toEqual([{ b: "2025-12-01", n: 1, f: 21 }]);
    expect(body.total).toEqual(total);
    expect(body.pagination.total_records).toBe(role === "north" ? 2 : 4);
  });
});

interface Answered {
  readonly name: string;
  readonly body: object;
  readonly role?: string;
  readonly data: unknown;
  /** Further members of the answer. */
  readonly more?: object;
}
const buckets = (...found: (readonly [unknown, unknown])[]) =>
  found.map(([b, count]) => ({ b, n: count }));
const joined = {
  tableName: "customers",
  sourceField: "customer_id",
  targetField: "id",
  fields: ["name", "since", "margin"],
};
const answered: readonly Answered[] = [
  {
    name: "reads times in the time zone of the project",
    body: { group_by: [month], operations: [n] },
    data: buckets(["2025-12-01", 1], ["2026-03-01", 1], ["2026-05-01", 1], ["2026-11-01", 2]),
  },
  {
    name: "reads them in UTC if the request says so",
    body: { group_by: [month], operations: [n], time_zone: "UTC" },
    data: buckets(["2026-01-01", 1], ["2026-03-01", 1], ["2026-06-01", 1], ["2026-11-01", 2]),
  },
  {
    name: "takes null as the default of each new parameter",
    body: {
      time_zone: null,
      fill: null,
      total: null,
      page: null,
      per_page: null,
      group_by: [{ ...month, part: null }],
      operations: [{ ...n, formula: null, where: null }],
    },
    data: buckets(["2025-12-01", 1], ["2026-03-01", 1], ["2026-05-01", 1], ["2026-11-01", 2]),
  },
  {
    name: "fills months only between the rows of the scope",
    role: "north",
    body: { group_by: [month], operations: [n], fill: true },
    data: buckets(["2025-12-01", 1], ["2026-01-01", 0], ["2026-02-01", 0], ["2026-03-01", 1]),
  },
  {
    name: "fills pages, with a total of what is there",
    body: {
      group_by: [month],
      fill: true,
      page: 3,
      per_page: 4,
      total: true,
      operations: [
        n,
        { function: "countDistinct", field: "region", alias: "d" },
        sum("quantity * 2"),
      ],
      having: { conditions: [{ key: "n", operator: "<", value: 2 }] },
    },
    data: [
      { b: "2026-08-01", n: 0, d: 0, f: null },
      { b: "2026-09-01", n: 0, d: 0, f: null },
      { b: "2026-10-01", n: 0, d: 0, f: null },
    ],
    more: {
      total: { n: 5, d: 2, f: -2 },
      pagination: {
        current_page: 3,
        per_page: 4,
        total_records: 11,
        total_pages: 3,
        has_next: false,
        has_previous: true,
      },
    },
  },
  {
    name: "counts a marked record behind a path as none",
    body: {
      group_by: [{ field: "customer.since", by: "quarter", alias: "b" }],
      operations: [n, { function: "countDistinct", field: "customer.name", alias: "d" }],
      time_zone: "UTC",
    },
    data: [
      { b: null, n: 2, d: 0 },
      { b: "2026-01-01", n: 3, d: 2 },
    ],
  },
  {
    name: "reads the time of a path in its own stretch of time",
    body: {
      group_by: [{ field: "customer.since", by: "day", alias: "b" }, "region"],
      operations: [n],
    },
    data: [
      { b: null, region: "south", n: 2 },
      { b: "2025-12-31", region: "north", n: 2 },
      { b: "2026-02-01", region: "south", n: 1 },
    ],
  },
  {
    name: "groups by the time of a joined table, and multiplies by its columns",
    body: {
      joins: [joined],
      group_by: [{ field: "customers.since", by: "month", alias: "b" }],
      operations: [
        sum("quantity * customers.margin"),
        { ...n, where: { conditions: [{ key: "customers.name", operator: "=", value: "Bob" }] } },
      ],
      total: true,
    },
    data: [
      { b: null, f: null, n: 0 },
      { b: "2025-12-01", f: 7.5, n: 0 },
      { b: "2026-02-01", f: -0.875, n: 1 },
    ],
    more: { total: { f: 6.625, n: 1 } },
  },
  {
    name: "takes a joined column by its own name in a formula",
    body: { joins: [{ ...joined, joinType: "INNER" }], operations: [sum("margin * quantity"), n] },
    data: { f: 6.625, n: 3 },
  },
  {
    name: "takes conditions on many in an operation's where",
    body: {
      operations: [
        n,
        {
          ...n,
          alias: "m",
          where: {
            conditions: [
              {
                key: "customer.orders",
                operator: "ANY",
                where: { conditions: [{ key: "quantity", operator: ">", value: 2 }] },
              },
            ],
          },
        },
      ],
    },
    data: { n: 5, m: 2 },
  },
  {
    name: "gives each operation its own rows",
    body: {
      group_by: ["region"],
      operations: [
        {
          function: "avg",
          field: "quantity",
          alias: "a",
          where: [{ key: "due", value: "2026-03-31" }],
        },
        {
          function: "max",
          formula: "quantity / 3",
          alias: "m",
          where: { key: "region", value: "north" },
        },
        { function: "countDistinct", field: "customer_id", alias: "d", where: { conditions: [] } },
      ],
    },
    data: [
      { region: "north", a: null, m: 1, d: 1 },
      { region: "south", a: -7, m: null, d: 2 },
    ],
  },
  {
    name: "groups a field several times, by spans, parts and itself",
    body: {
      group_by: [
        { field: "due", by: "week" },
        { field: "due", part: "weekday" },
        { field: "due", by: "day" },
        { field: "due", part: "day", alias: "d" },
        "due",
      ],
      operations: [n],
      where: [{ key: "id", value: "o3" }],
    },
    data: [
      {
        due_week: "2026-03-30",
        due_part_weekday: 2,
        due_day: "2026-03-31",
        d: 31,
        due: "2026-03-31",
        n: 1,
      },
    ],
  },
  {
    name: "fills bins below zero, in the order of the request",
    body: {
      group_by: [{ field: "quantity", by: 2.5, alias: "b" }],
      operations: [n],
      fill: true,
      sort_columns: [{ column: "b", direction: "DESC" }],
      limit: 6,
    },
    data: buckets([2.5, 1], [0, 2], [-2.5, 0], [-5, 0], [-7.5, 1], [null, 1]),
  },
  {
    name: "takes unary minus, parentheses and blanks in formulas",
    body: { operations: [sum(" - ( quantity - -2 ) * - unit_price ")] },
    data: { f: 42 + 0.5 - 20 + 6.75 },
  },
  {
    name: "rounds halves of the eleventh digit away from zero",
    body: {
      group_by: ["id"],
      operations: [
        sum("quantity / 20000000000"),
        { function: "avg", formula: "quantity / 20000000000", alias: "a" },
      ],
      where: { conditions: [{ key: "id", operator: "IN", value: ["o2", "o3", "o4"] }] },
    },
    data: [
      { id: "o2", f: 2e-10, a: 2e-10 },
      { id: "o3", f: -4e-10, a: -4e-10 },
      { id: "o4", f: 1e-10, a: 1e-10 },
    ],
  },
  {
    name: "multiplies whole numbers beyond 64 bits",
    body: { operations: [sum("large * large")] },
    data: { f: "162259276829213399420375029252098" },
  },
  {
    name: "takes formulas of numbers, and nulls of a division by zero",
    body: {
      operations: [
        sum("1 + 1 / 4"),
        { function: "countDistinct", formula: "quantity / (quantity - 2)", alias: "d" },
        { function: "min", formula: "quantity / (quantity - 2)", alias: "m" },
      ],
    },
    data: { f: 6.25, d: 3, m: -1 },
  },
  {
    name: "sorts and cuts by a figure of some rows",
    body: {
      group_by: [month],
      limit: 2,
      total: true,
      operations: [{ ...n, where: [{ key: "region", value: "south" }] }],
      sort_columns: [{ column: "n", direction: "DESC" }],
    },
    data: buckets(["2026-11-01", 2], ["2026-05-01", 1]),
    more: { total: { n: 3 } },
  },
  {
    name: "answers the total of no groups",
    body: {
      group_by: [month],
      operations: [n],
      where: [{ key: "id", value: "x" }],
      total: true,
      page: 1,
    },
    data: [],
    more: {
      total: { n: 0 },
      pagination: {
        current_page: 1,
        per_page: 10,
        total_records: 0,
        total_pages: 0,
        has_next: false,
        has_previous: false,
      },
    },
  },
  {
    name: "answers a total without groups",
    body: { operations: [n], total: true },
    data: { n: 5 },
    more: { total: { n: 5 } },
  },
];

test.each(answered)("aggregate $name", async ({ body, role, data, more }) => {
  const { status, body: answer } = await ask(body, role);
  expect(status, JSON.stringify(answer)).toBe(200);
  expect(answer.data).toEqual(data);
  expect(answer).toMatchObject(more ?? {});
});

test("a join of a table that a caller may not use is unknown, with buckets too", async () => {
  const body = (tableName: string) => ({
    joins: [{ ...joined, tableName }],
    group_by: [{ field: `${tableName}.since`, by: "month", alias: "b" }],
  });
  const known = await ask(body("customers"), "outsider");
  const unknown = await ask(body("nothings"), "outsider");
  expect(known.status).toBe(400);
  expect([known.body.error, known.body.message.replaceAll("customers", "…")]).toEqual([
    unknown.body.error,
    unknown.body.message.replaceAll("nothings", "…"),
  ]);
});

describe("csv", () => {
  test.each([
    [
      { group_by: [month], operations: [n], total: true },
      "b,n\r\n2025-12-01,1\r\n2026-03-01,1\r\n2026-05-01,1\r\n2026-11-01,2\r\n",
    ],
    [{ group_by: [month], operations: [n], page: 2, per_page: 3 }, "b,n\r\n2026-11-01,2\r\n"],
    [
      {
        group_by: [{ field: "quantity", by: 5, alias: "b" }],
        operations: [sum("unit_price / 3")],
        fill: true,
      },
      "b,f\r\n,2.6666666667\r\n-10,1.3333333333\r\n-5,\r\n0,4.2833333333\r\n",
    ],
    [{ operations: [sum("quantity * unit_price")], total: true }, "f\r\n-4.45\r\n"],
  ])("of %j", async (body, text) => {
    const answer = await ask(body, "operator", { accept: "text/csv" });
    expect([answer.status, answer.body]).toEqual([200, text]);
  });

  test("errors stay JSON", async () => {
    const body = { group_by: [{ field: "due", by: "hour" }] };
    const answer = await ask(body, "operator", { accept: "text/csv" });
    expect([answer.status, answer.body.error]).toEqual([400, "Validation error"]);
  });
});

test("one batch answers the figures of a dashboard", async () => {
  const bodies = [
    { group_by: [month], operations: [n], fill: true },
    {
      group_by: [{ field: "placed_at", part: "weekday" }],
      operations: [n],
      page: 1,
      per_page: 2,
      total: true,
    },
    { operations: [sum("quantity * customer.margin")] },
  ];
  const alone = await Promise.all(bodies.map((body) => ask(body)));
  const steps = bodies.map((body) => ({ endpoint: "orders", action: "aggregate", body }));
  for (const more of [{ independent: true }, {}]) {
    const { status, body } = await fixture.post("_batch", { steps, ...more });
    expect(status).toBe(200);
    const gist = ({ data, total, pagination }: any) => ({ data, total, pagination });
    expect(body.data.map((step: any) => gist(step.body))).toEqual(
      alone.map((answer) => gist(answer.body)),
    );
  }
});
