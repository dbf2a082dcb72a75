/** aggregate over HTTP: functions by type, groups, HAVING, joins, filters, order, and everything that it refuses. */
import { beforeAll, describe, expect, test } from "vitest";
import { check, type Case } from "./cases.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

const ask = (body?: unknown) => shop.post("totals", "aggregate", body);
const op = (name: string, field: string, alias?: string) => ({
  function: name,
  field,
  ...(alias === undefined ? {} : { alias }),
});
const having = (key: string, operator: string, value?: unknown) => ({
  conditions: [{ key, operator, value }],
});
const categories = {
  tableName: "categories",
  sourceField: "category_id",
  targetField: "category_id",
  fields: ["name"],
};

interface Answered {
  name: string;
  body: unknown;
  data: unknown;
}

function answers(cases: readonly Answered[], endpoint = "totals") {
  test.each(cases)("aggregate $name", async ({ body, data }) => {
    const answer = await shop.post(endpoint, "aggregate", body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body.data).toEqual(data);
  });
}

describe("the answer", () => {
  test("aggregate answers data alone", async () => {
    const answer = await ask({});
    expect(Object.keys(answer.body).sort()).toEqual(["data", "success", "timestamp"]);
  });

  answers([
    { name: "counts all rows without a body", body: undefined, data: { "count_*": 8 } },
    { name: "counts all rows for an empty body", body: {}, data: { "count_*": 8 } },
    { name: "counts all rows for no operations", body: { operations: [] }, data: { "count_*": 8 } },
    {
      name: "names each result by its function and field",
      body: { operations: [op("sum", "qty"), op("max", "name")] },
      data: { sum_qty: 839, max_name: "ÉCLAIR" },
    },
    {
      name: "names a result by its alias",
      body: { operations: [op("count", "*", "n"), op("sum", "qty", "Total_2")] },
      data: { n: 8, Total_2: 839 },
    },
    {
      name: "tells aliases apart that differ in case alone",
      body: { operations: [op("min", "qty", "a"), op("max", "qty", "A")] },
      data: { a: 0, A: 777 },
    },
    {
      name: "takes words of SQL and of JavaScript as aliases",
      body: { operations: [op("count", "*", "select"), op("count", "*", "constructor")] },
      data: { select: 8, constructor: 8 },
    },
  ]);

  test("aggregate takes __proto__ as an alias like any other", async () => {
    const { body } = await ask({ operations: [op("count", "*", "__proto__")] });
    expect(Object.entries(body.data)).toEqual([["__proto__", 8]]);
  });
});

describe("functions", () => {
  answers([
    {
      name: "counts the values that are not null",
      body: { operations: [op("count", "qty"), op("count", "due"), op("count", "name")] },
      data: { count_qty: 7, count_due: 6, count_name: 8 },
    },
    {
      name: "takes each function of an integer",
      body: { operations: ["sum", "avg", "min", "max"].map((name) => op(name, "qty")) },
      data: { sum_qty: 839, avg_qty: 119.8571, min_qty: 0, max_qty: 777 },
    },
    {
      name: "takes each function of a decimal, exactly",
      body: { operations: ["sum", "avg", "min", "max"].map((name) => op(name, "price")) },
      data: { sum_price: 40.94, avg_price: 5.848571, min_price: 0.25, max_price: 12 },
    },
    {
      name: "takes the extremes of texts and dates",
      body: { operations: ["min", "max"].flatMap((name) => [op(name, "code"), op(name, "due")]) },
      data: { min_code: "A-1", max_code: "A-8", min_due: "2026-01-10", max_due: "2026-06-10" },
    },
    {
      name: "answers 0 and null when no row is left",
      body: {
        operations: [
          op("count", "*", "n"),
          ...["sum", "avg", "min", "max"].map((f) => op(f, "qty")),
        ],
        where: [{ key: "code", value: "none" }],
      },
      data: { n: 0, sum_qty: null, avg_qty: null, min_qty: null, max_qty: null },
    },
    {
      name: "takes no account of defaultScope",
      body: { where: [{ key: "active", value: false }] },
      data: { "count_*": 3 },
    },
  ]);
  answers(
    [
      {
        name: "reads the view where there is one",
        body: { group_by: ["origin"] },
        data: [{ origin: "view", "count_*": 8 }],
      },
    ],
    "view-totals",
  );
});

describe("values of every type", () => {
  beforeAll(async () => {
    const rows = [
      { kind_id: "k1", big: "9223372036854775807", exact: "1234567.0001", money: 0.1, rough: 0.5 },
      { kind_id: "k2", big: "9223372036854775807", exact: "-0.0001", money: 0.2, rough: 0.25 },
      { kind_id: "k3", big: "9223372036854775806", exact: null, money: -0.05, rough: 1e-3 },
      {
        kind_id: "k4",
        moment: "2026-01-02T03:04:05.678Z",
        clock: "10:11:12",
        token: "00000000-0000-4000-8000-000000000001",
        flag: true,
        document: { a: 1 },
        raw: "AP8=",
      },
      {
        kind_id: "k5",
        moment: "2026-01-02T03:04:05.600Z",
        clock: "09:59:59",
        token: "ffffffff-0000-4000-8000-000000000001",
      },
    ];
    for (const row of rows)
      expect((await shop.post("kinds", "create", row)).status, JSON.stringify(row)).toBe(201);
  });

  answers(
    [
      {
        name: "adds integers beyond 64 bits",
        body: { operations: [op("sum", "big"), op("avg", "big")] },
        data: { sum_big: "27670116110564327420", avg_big: "9223372036854775806.6667" },
      },
      {
        name: "rounds the average of decimals with four digits more than the column",
        body: {
          operations: [
            op("sum", "exact"),
            op("avg", "exact"),
            op("sum", "money"),
            op("avg", "money"),
          ],
        },
        data: { sum_exact: 1234567, avg_exact: 617283.5, sum_money: 0.25, avg_money: 0.083333 },
      },
      {
        name: "adds floating point numbers",
        body: { operations: [op("sum", "rough"), op("max", "rough")] },
        data: { sum_rough: 0.751, max_rough: 0.5 },
      },
      {
        name: "takes the extremes of instants, times and uuids",
        body: {
          operations: ["moment", "clock", "token"].flatMap((field) => [
            op("min", field),
            op("max", field),
          ]),
        },
        data: {
          min_moment: "2026-01-02T03:04:05.600Z",
          max_moment: "2026-01-02T03:04:05.678Z",
          min_clock: "09:59:59",
          max_clock: "10:11:12",
          min_token: "00000000-0000-4000-8000-000000000001",
          max_token: "ffffffff-0000-4000-8000-000000000001",
        },
      },
      {
        name: "counts values of types that have no order",
        body: { operations: [op("count", "document"), op("count", "raw"), op("count", "flag")] },
        data: { count_document: 1, count_raw: 1, count_flag: 1 },
      },
      {
        name: "compares an exact sum in having",
        body: {
          group_by: ["flag"],
          operations: [op("sum", "big", "total")],
          having: having("total", ">", "27670116110564327419"),
        },
        data: [{ flag: null, total: "27670116110564327420" }],
      },
    ],
    "kind-totals",
  );
});

describe("group_by", () => {
  answers([
    {
      name: "answers a row for each group, in the order of the groups",
      body: { group_by: ["category_id"], operations: [op("count", "*", "n"), op("sum", "price")] },
      data: [
        { category_id: null, n: 2, sum_price: 14 },
        { category_id: "c1", n: 3, sum_price: 4.95 },
        { category_id: "c2", n: 3, sum_price: 21.99 },
      ],
    },
    {
      name: "groups by several columns",
      body: { group_by: ["category_id", "active"], where: [{ key: "category_id", value: "c2" }] },
      data: [
        { category_id: "c2", active: null, "count_*": 1 },
        { category_id: "c2", active: false, "count_*": 1 },
        { category_id: "c2", active: true, "count_*": 1 },
      ],
    },
    {
      name: "takes a column that is named twice once",
      body: { group_by: ["active", "active"], where: [{ key: "active", value: true }] },
      data: [{ active: true, "count_*": 4 }],
    },
    { name: "takes an empty group_by as none", body: { group_by: [] }, data: { "count_*": 8 } },
    {
      name: "answers no group when no row is left",
      body: { group_by: ["active"], where: [{ key: "code", value: "none" }] },
      data: [],
    },
    {
      name: "sorts by an alias",
      body: {
        group_by: ["category_id"],
        operations: [op("sum", "qty", "q")],
        sort_columns: [{ column: "q", direction: "DESC" }],
      },
      data: [
        { category_id: null, q: 797 },
        { category_id: "c1", q: 37 },
        { category_id: "c2", q: 5 },
      ],
    },
    {
      name: "sorts by a grouped column and cuts at the limit",
      body: { group_by: ["code"], sort_columns: [{ column: "code", direction: "DESC" }], limit: 2 },
      data: [
        { code: "A-8", "count_*": 1 },
        { code: "A-7", "count_*": 1 },
      ],
    },
    {
      name: "keeps the groups that having wants",
      body: {
        group_by: ["category_id"],
        operations: [op("sum", "price", "p")],
        having: {
          logic: "OR",
          conditions: [
            { key: "p", operator: "=", value: 21.99 },
            { key: "p", operator: "<", value: "4.951" },
          ],
        },
      },
      data: [
        { category_id: "c1", p: 4.95 },
        { category_id: "c2", p: 21.99 },
      ],
    },
    {
      name: "takes a grouped column in having",
      body: { group_by: ["category_id"], having: having("category_id", "IS NULL") },
      data: [{ category_id: null, "count_*": 2 }],
    },
    {
      name: "compares a count with a list in having",
      body: { group_by: ["category_id"], having: having("count_*", "IN", [2, 99]) },
      data: [{ category_id: null, "count_*": 2 }],
    },
    {
      name: "compares an average in having with its own digits",
      body: {
        group_by: ["category_id"],
        operations: [op("avg", "qty", "a")],
        having: having("a", "=", 12.3333),
      },
      data: [{ category_id: "c1", a: 12.3333 }],
    },
  ]);
});

describe("where", () => {
  answers([
    {
      name: "filters by read's tree",
      body: {
        where: {
          logic: "OR",
          conditions: [
            { key: "qty", operator: ">=", value: 20 },
            { key: "due", operator: "IS NULL" },
          ],
        },
      },
      data: { "count_*": 5 },
    },
    {
      name: "filters by an array of pairs",
      body: {
        where: [
          { key: "category_id", value: "c1" },
          { key: "qty", value: 7 },
        ],
      },
      data: { "count_*": 1 },
    },
    {
      name: "filters by one pair",
      body: { where: { key: "category_id", value: null } },
      data: { "count_*": 2 },
    },
    {
      name: "filters by an array of conditions and pairs",
      body: {
        where: [
          { key: "qty", operator: ">", value: 1 },
          { key: "category_id", value: "c1" },
          { key: "name", operator: "LIKE", value: "AP%", sensitive: false },
        ],
      },
      data: { "count_*": 1 },
    },
    {
      name: "filters by one condition",
      body: { where: { key: "category_id", operator: "IS NULL" } },
      data: { "count_*": 2 },
    },
    {
      name: "filters an operation by an array of conditions",
      body: {
        operations: [
          { ...op("count", "*"), where: [{ key: "category_id", operator: "IS NOT NULL" }] },
        ],
      },
      data: { "count_*": 6 },
    },
    { name: "filters nothing by an empty array", body: { where: [] }, data: { "count_*": 8 } },
  ]);
});

describe("joins", () => {
  answers([
    {
      name: "joins by a declared name",
      body: { joins: ["category"], group_by: ["category.name"] },
      data: [
        { "category.name": null, "count_*": 2 },
        { "category.name": "Food", "count_*": 3 },
        { "category.name": "Goods", "count_*": 3 },
      ],
    },
    {
      name: "names a joined field alone where the entity has none of the name",
      body: {
        joins: ["line"],
        group_by: ["note"],
        operations: [op("sum", "amount"), op("max", "name")],
      },
      data: [{ note: "first", sum_amount: 3, max_name: "apple" }],
    },
    {
      name: "joins LEFT by default the table of another entity",
      body: {
        joins: [categories],
        group_by: ["categories.name"],
        sort_columns: [{ column: "categories.name", direction: "DESC" }],
      },
      data: [
        { "categories.name": "Goods", "count_*": 3 },
        { "categories.name": "Food", "count_*": 3 },
        { "categories.name": null, "count_*": 2 },
      ],
    },
    {
      name: "joins INNER",
      body: { joins: [{ ...categories, joinType: "INNER" }] },
      data: { "count_*": 6 },
    },
    {
      name: "joins RIGHT",
      body: {
        joins: [{ ...categories, joinType: "RIGHT" }],
        where: [{ key: "categories.name", value: "Food" }],
        operations: [op("count", "item_id", "n"), op("min", "categories.name", "c")],
      },
      data: { n: 3, c: "Food" },
    },
    {
      name: "takes an object that equals a declared join",
      body: {
        joins: [
          { tableName: "items", sourceField: "secret", targetField: "secret", fields: ["code"] },
        ],
        operations: [op("count", "items.code", "n")],
      },
      data: { n: 8 },
    },
    {
      name: "joins two tables at once",
      body: {
        joins: ["category", "line"],
        operations: [op("max", "category.name", "c"), op("max", "line.note", "l")],
      },
      data: { c: "Food", l: "first" },
    },
    { name: "takes an empty list of joins", body: { joins: [] }, data: { "count_*": 8 } },
  ]);

  test("aggregate keeps rows of the right table without a match", async () => {
    const joins = [
      {
        tableName: "items",
        joinType: "RIGHT",
        sourceField: "item_id",
        targetField: "item_id",
        fields: ["name"],
      },
    ];
    const answer = await shop.post("line-totals", "aggregate", {
      joins,
      operations: [op("count", "*", "rows"), op("count", "line_id", "lines")],
    });
    expect(answer.body.data).toEqual({ rows: 8, lines: 1 });
  });
});

const validation = { status: 400, error: "Validation error" };
const field = { status: 400, error: "Invalid field" };
const refused: readonly Case[] = [
  {
    name: "refuses an unknown function",
    body: { operations: [op("median", "qty")] },
    ...validation,
  },
  {
    name: "refuses a function in other case",
    body: { operations: [op("SUM", "qty")] },
    ...validation,
  },
  {
    name: "refuses an operation without function",
    body: { operations: [{ field: "qty" }] },
    ...validation,
  },
  {
    name: "refuses an operation without field",
    body: { operations: [{ function: "sum" }] },
    ...validation,
  },
  {
    name: "refuses operations of another shape",
    body: { operations: { function: "count" } },
    ...validation,
  },
  { name: "refuses an operation that is null", body: { operations: [null] }, ...validation },
  {
    name: "refuses too many operations",
    body: { operations: Array.from({ length: 101 }, (_, at) => op("count", "*", `n${at}`)) },
    ...validation,
  },
  {
    name: "refuses too many columns of group_by, also equal ones",
    body: { group_by: Array.from({ length: 33 }, () => "name") },
    ...validation,
  },
  ...["sum", "avg", "min", "max"].map((name) => ({
    name: `refuses * with ${name}`,
    body: { operations: [op(name, "*")] },
    ...validation,
  })),
  { name: "refuses a sum of texts", body: { operations: [op("sum", "name")] }, ...validation },
  { name: "refuses an average of dates", body: { operations: [op("avg", "due")] }, ...validation },
  {
    name: "refuses the largest of booleans",
    body: { operations: [op("max", "active")] },
    ...validation,
  },
  {
    name: "refuses having without group_by",
    body: { having: having("count_*", ">", 1) },
    ...validation,
  },
  {
    name: "refuses having of another shape",
    body: { group_by: ["active"], having: [] },
    ...validation,
  },
  {
    name: "refuses an unknown operator in having",
    body: { group_by: ["active"], having: having("count_*", "~", 1) },
    ...validation,
  },
  {
    name: "refuses a value in having that the result cannot take",
    body: { group_by: ["active"], having: having("count_*", ">", "many") },
    status: 400,
    error: "Invalid parameter",
  },
  {
    name: "refuses a column in having that is not grouped",
    body: { group_by: ["active"], having: having("qty", ">", 1) },
    ...field,
  },
  { name: "refuses group_by of another shape", body: { group_by: "active" }, ...validation },
  {
    name: "refuses an alias twice",
    body: { operations: [op("sum", "qty", "a"), op("max", "qty", "a")] },
    ...validation,
  },
  {
    name: "refuses an alias that is a grouped column",
    body: { group_by: ["active"], operations: [op("count", "*", "active")] },
    ...validation,
  },
  ...["", "1a", "a b", 'a"b', "a`b", "a;--", "a.b", "é", "a".repeat(64), 5, {}, []].map(
    (alias) => ({
      name: `refuses the alias ${JSON.stringify(alias).slice(0, 30)}`,
      body: { operations: [{ function: "count", field: "*", alias }] },
      ...validation,
    }),
  ),
  ...[0, -1, 1.5, 10_001, "10", true, [1], 1e308].map((limit) => ({
    name: `refuses the limit ${JSON.stringify(limit)}`,
    body: { limit },
    ...validation,
  })),
  { name: "refuses an unknown field", body: { operations: [op("sum", "nope")] }, ...field },
  { name: "refuses an unknown column in group_by", body: { group_by: ["nope"] }, ...field },
  {
    name: "refuses an unknown column in where",
    body: { where: [{ key: "nope", value: 1 }] },
    ...field,
  },
  {
    name: "refuses an unknown column in sort_columns",
    body: { sort_columns: [{ column: "qty" }] },
    ...field,
  },
  { name: "refuses sort_columns of another shape", body: { sort_columns: "qty" }, ...validation },
  {
    name: "refuses a malformed where",
    body: { where: "qty = 1" },
    status: 400,
    error: "Invalid payload",
    message:
      "where must be an object {key, value}, an array of {key, value}, or an object with conditions",
  },
  {
    name: "refuses an unknown operator in an array of conditions",
    body: { where: [{ key: "qty", operator: "near", value: 1 }] },
    status: 400,
    error: "Invalid payload",
  },
  {
    name: "refuses a condition that is no object in an array",
    body: { where: ["qty = 1"] },
    status: 400,
    error: "Invalid payload",
  },
  {
    name: "refuses a value in where that the column cannot take",
    body: { where: [{ key: "qty", value: "many" }] },
    status: 400,
    error: "Invalid parameter",
  },
  ...[
    { operations: [op("count", "secret")] },
    { group_by: ["secret"] },
    { where: [{ key: "secret", value: "hush-i01" }] },
    { where: { conditions: [{ key: "secret", operator: "LIKE", value: "%" }] } },
    { sort_columns: [{ column: "secret" }] },
  ].map((body) => ({
    name: `refuses a hidden column in ${Object.keys(body)[0]} ${JSON.stringify(body).length}`,
    body,
    ...field,
  })),
  ...[
    'qty"',
    "qty`",
    "qty; drop table items",
    "(select 1)",
    "constructor",
    "__proto__",
    "toString",
    "source.qty",
    "v0",
    "QTY",
  ].flatMap((name) => [
    { name: `refuses the field ${name}`, body: { operations: [op("max", name)] }, ...field },
    { name: `refuses the group ${name}`, body: { group_by: [name] }, ...field },
  ]),
  ...[
    ["of a table that no entity has", { tableName: "pg_shadow" }],
    ["of SQLite's own table", { tableName: "sqlite_master" }],
    [
      "to a field that the entity does not show",
      { tableName: "items", targetField: "item_id", sourceField: "item_id", fields: ["nope"] },
    ],
    [
      "to a hidden field that is declared for another use",
      { tableName: "items", sourceField: "secret", targetField: "secret", fields: ["name"] },
    ],
    ["from an unknown column", { sourceField: "nope" }],
    ["from a hidden column", { sourceField: "secret" }],
    ["to an unknown column", { targetField: "nope" }],
    ["of another type", { sourceField: "qty" }],
    ["without fields", { fields: [] }],
    ["with fields that are no names", { fields: [1] }],
    ["of another kind", { joinType: "CROSS" }],
    ["of a kind in other case", { joinType: "left" }],
    ["of a table in another schema", { tableName: "public.categories" }],
    ["of a table with a quote", { tableName: 'categories" on 1=1 --' }],
  ].map(([what, change]) => ({
    name: `refuses a join ${what as string}`,
    body: { joins: [{ ...categories, ...(change as object) }] },
    ...validation,
  })),
  { name: "refuses an unknown declared name", body: { joins: ["nope"] }, ...validation },
  {
    name: "refuses a declared name from a prototype",
    body: { joins: ["constructor"] },
    ...validation,
  },
  { name: "refuses a join of another shape", body: { joins: [5] }, ...validation },
  { name: "refuses joins that are no array", body: { joins: "category" }, ...validation },
  { name: "refuses the same join twice", body: { joins: ["category", "category"] }, ...validation },
  {
    name: "refuses the same table twice",
    body: { joins: [categories, categories] },
    ...validation,
  },
  { name: "refuses a body that is no object", body: [], status: 400, error: "Invalid payload" },
];

describe("errors", () => {
  test.each(refused)("aggregate $name", async (row) => check(await ask(row.body), row));

  test("aggregate refuses fields that are not shown as it refuses a table that is not there", async () => {
    const join = (tableName: string) => ({
      joins: [{ tableName, sourceField: "name", targetField: "label", fields: ["label"] }],
    });
    const [hidden, none] = await Promise.all([
      shop.post("view-totals", "aggregate", join("days")),
      shop.post("view-totals", "aggregate", join("daze")),
    ]);
    expect([hidden.status, none.status]).toEqual([400, 400]);
    expect(hidden.body.message).toBe(none.body.message);
  });

  test("aggregate says in having which alias is at fault", async () => {
    const { body } = await ask({ group_by: ["active"], having: having("count_*", ">", "x") });
    expect(body.message).toContain('column "count_*"');
  });

  test("aggregate is answered 404 where it is not switched on", async () => {
    check(await shop.post("items", "aggregate", {}), { status: 404, error: "Not found" });
  });
});
