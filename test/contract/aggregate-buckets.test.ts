/** aggregate by buckets: spans of time in a time zone, parts of dates, bins, formulas, empty buckets, pages, totals. */
import { beforeAll, describe, expect, inject, test } from "vitest";
import { check, type Case } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";

const rows = [
  ["s1", "a", "2026-03-29T00:59:59.999Z", "2026-03-29", 3, "2.50", 4],
  ["s2", "b", "2026-03-29T01:00:00.000Z", "2026-03-30", 5, "0.10", 0],
  ["s3", "a", "2026-10-25T00:30:00.000Z", "2026-05-01", -7, "12.00", 3],
  ["s4", "a", "2026-10-25T01:30:00.000Z", "2026-12-31", null, "-0.05", 2],
  ["s5", "b", "2026-12-31T23:30:00.000Z", null, 60, null, 1],
  ["s6", "b", null, "2027-01-03", 49, "99999999.99", 7],
] as const;

const fixture = openForTests(openFixture, {
  tables: [
    { name: "shops", columns: { id: "key", rate: "decimal(10,2)", opened_at: "timestamp" } },
    {
      name: "sales",
      columns: {
        id: "key",
        shop: { type: "text(36)", references: "shops" },
        sold_at: "timestamp",
        due: "date",
        qty: "integer",
        price: "decimal(10,2)",
        parts: "integer",
        rough: "float",
        secret: "integer",
      },
    },
    { name: "marks", columns: { id: "key", size: "float" } },
  ],
  endpoints: {
    marks: { tableName: "marks", action: { create: true, aggregate: true } },
    shops: { tableName: "shops", action: { create: true, read: true } },
    sales: {
      tableName: "sales",
      action: { create: true, aggregate: true },
      hiddenFields: ["secret"],
      relations: { at: { endpoint: "shops", column: "shop" } },
    },
  },
});
beforeAll(async () => {
  const sizes = [0.3, 0.7, 1.1, 2.4, -0.3, -0.31, 0.1 + 0.2, 1e-7, 1e20, null];
  for (const [at, size] of sizes.entries())
    await fixture.post("marks/create", { id: `m${at}`, size });
  await fixture.post("shops/create", { id: "a", rate: 2, opened_at: "2026-01-31T23:30:00Z" });
  await fixture.post("shops/create", { id: "b", rate: 10, opened_at: null });
  for (const [id, shop, sold_at, due, qty, price, parts] of rows) {
    const body = {
      id,
      shop,
      sold_at,
      due,
      qty,
      price,
      parts,
      rough: qty === null ? null : qty / 2,
    };
    const { status } = await fixture.post("sales/create", body);
    expect(status).toBe(201);
  }
});

const ask = (body: unknown) => fixture.post("sales/aggregate", body);
const n = { function: "count", field: "*", alias: "n" };
const counted = (group: object, more: object = {}) => ({
  group_by: [group],
  operations: [n],
  ...more,
});

interface Answered {
  readonly name: string;
  readonly body: object;
  readonly data: unknown;
}

function answers(cases: readonly Answered[]) {
  test.each(cases)("aggregate $name", async ({ body, data }) => {
    const answer = await ask(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body.data).toEqual(data);
  });
}

const by = (unit: string, alias = "b") => ({ field: "sold_at", by: unit, alias });
const buckets = (...found: (readonly [unknown, number])[]) =>
  found.map(([b, count]) => ({ b, n: count }));

describe("spans of time", () => {
  answers([
    {
      name: "groups by years in UTC by default",
      body: counted(by("year")),
      data: buckets([null, 1], ["2026-01-01", 5]),
    },
    {
      name: "groups by years in a time zone",
      body: counted(by("year"), { time_zone: "Europe/Vienna" }),
      data: buckets([null, 1], ["2026-01-01", 4], ["2027-01-01", 1]),
    },
    {
      name: "groups by quarters",
      body: counted(by("quarter"), { time_zone: "America/New_York" }),
      data: buckets([null, 1], ["2026-01-01", 2], ["2026-10-01", 3]),
    },
    {
      name: "groups by months, in zones of any case",
      body: counted(by("month"), { time_zone: "europe/vienna" }),
      data: buckets([null, 1], ["2026-03-01", 2], ["2026-10-01", 2], ["2027-01-01", 1]),
    },
    {
      name: "groups by weeks that begin on Monday",
      body: counted(by("week"), { time_zone: "Asia/Tokyo" }),
      data: buckets([null, 1], ["2026-03-23", 2], ["2026-10-19", 2], ["2026-12-28", 1]),
    },
    {
      name: "groups by days",
      body: counted(by("day"), { time_zone: "America/New_York" }),
      data: buckets([null, 1], ["2026-03-28", 2], ["2026-10-24", 2], ["2026-12-31", 1]),
    },
    {
      name: "groups by hours that come twice",
      body: counted(by("hour"), { time_zone: "Europe/Vienna" }),
      data: buckets(
        [null, 1],
        ["2026-03-29T00:00:00.000Z", 1],
        ["2026-03-29T01:00:00.000Z", 1],
        ["2026-10-25T00:00:00.000Z", 1],
        ["2026-10-25T01:00:00.000Z", 1],
        ["2026-12-31T23:00:00.000Z", 1],
      ),
    },
    {
      name: "groups by the full hours of the wall",
      body: counted(by("hour"), {
        time_zone: "Asia/Kathmandu",
        where: [{ key: "id", value: "s1" }],
      }),
      data: buckets(["2026-03-29T00:15:00.000Z", 1]),
    },
    {
      name: "groups times that are empty by no hour, in zones whose clocks change within an hour too",
      body: counted(by("hour"), {
        time_zone: "Australia/Lord_Howe",
        where: { conditions: [{ key: "id", operator: "IN", value: ["s5", "s6"] }] },
      }),
      data: buckets([null, 1], ["2026-12-31T23:00:00.000Z", 1]),
    },
    {
      name: "groups dates by months and weeks, in no time zone",
      body: {
        group_by: [
          { field: "due", by: "month" },
          { field: "due", by: "week" },
        ],
        operations: [n],
        time_zone: "Asia/Tokyo",
        where: [{ key: "shop", value: "b" }],
      },
      data: [
        { due_month: null, due_week: null, n: 1 },
        { due_month: "2026-03-01", due_week: "2026-03-30", n: 1 },
        { due_month: "2027-01-01", due_week: "2026-12-28", n: 1 },
      ],
    },
    {
      name: "groups by the time of a related record",
      body: counted(
        { field: "at.opened_at", by: "month", alias: "b" },
        { time_zone: "Europe/Vienna" },
      ),
      data: buckets([null, 3], ["2026-02-01", 3]),
    },
  ]);
});

describe("parts and bins", () => {
  answers([
    {
      name: "groups by parts of times",
      body: {
        group_by: [
          { field: "sold_at", part: "month" },
          { field: "sold_at", part: "weekday" },
          { field: "sold_at", part: "day" },
          { field: "sold_at", part: "hour" },
        ],
        operations: [n],
        time_zone: "Europe/Vienna",
        where: [{ key: "id", value: "s5" }],
      },
      data: [
        {
          sold_at_part_month: 1,
          sold_at_part_weekday: 5,
          sold_at_part_day: 1,
          sold_at_part_hour: 0,
          n: 1,
        },
      ],
    },
    {
      name: "groups integers by bins, below zero too",
      body: counted({ field: "qty", by: 50 }),
      data: [
        { qty_50: null, n: 1 },
        { qty_50: -50, n: 1 },
        { qty_50: 0, n: 3 },
        { qty_50: 50, n: 1 },
      ],
    },
    {
      name: "groups decimals by bins, exactly",
      body: counted({ field: "price", by: 0.05, alias: "b" }),
      data: buckets([null, 1], [-0.05, 1], [0.1, 1], [2.5, 1], [12, 1], [99999999.95, 1]),
    },
    {
      name: "groups floating point numbers by bins",
      body: counted({ field: "rough", by: 10, alias: "b" }),
      data: buckets([null, 1], [-10, 1], [0, 2], [20, 1], [30, 1]),
    },
  ]);
});

test("aggregate puts a floating point number into the bin of its digits", async () => {
  const body = counted({ field: "size", by: 0.1, alias: "b" });
  const answer = await fixture.post("marks/aggregate", body);
  expect(answer.body.data).toEqual(
    buckets(
      [null, 1],
      [-0.4, 1],
      [-0.3, 1],
      [0, 1],
      [0.3, 2],
      [0.7, 1],
      [1.1, 1],
      [2.4, 1],
      [1e20, 1],
    ),
  );
});

test("aggregate fills the bins between floating point numbers", async () => {
  const where = { conditions: [{ key: "size", operator: "BETWEEN", value: [0.3, 0.8] }] };
  const body = counted({ field: "size", by: 0.1, alias: "b" }, { where, fill: true });
  const answer = await fixture.post("marks/aggregate", body);
  expect(answer.body.data).toEqual(buckets([0.3, 2], [0.4, 0], [0.5, 0], [0.6, 0], [0.7, 1]));
});

// Other databases refuse such values.
test.runIf(inject("engine") === "sqlite")(
  "aggregate counts what is no number as no value",
  async () => {
    const id = "odd";
    await fixture.post("sales/create", { id, qty: 4, price: 1 });
    await fixture.sql(`update sales set qty = '', price = 'n/a', parts = 9e999 where id = '${id}'`);
    const where = [{ key: "id", value: id }];
    const sum = (formula: string) => ({ function: "sum", formula, alias: "s" });
    for (const formula of ["qty * 2", "price", "1 / parts"]) {
      const answer = await ask({ where, operations: [n, sum(formula)] });
      expect(answer.body.data, formula).toEqual({ n: 1, s: null });
    }
    for (const field of ["qty", "price", "parts"]) {
      const answer = await ask(counted({ field, by: 5, alias: "b" }, { where }));
      expect(answer.body.data, field).toEqual(buckets([null, 1]));
    }
    await fixture.sql(`delete from sales where id = '${id}'`);
  },
);

describe("operations", () => {
  const op = (name: string, formula: string) => ({
    operations: [{ function: name, formula, alias: "f" }],
  });
  answers([
    {
      name: "adds a formula, exactly",
      body: op("sum", "qty * price"),
      data: { f: 4899999923.51 + 0.5 - 0.01 + 0.01 - 0.5 + 0 },
    },
    {
      name: "keeps a fraction to the end of a formula",
      body: op("sum", "qty / 3 * 3"),
      data: { f: 110 },
    },
    {
      name: "rounds a formula to ten digits, and a division by zero to null",
      body: op("max", "1 / parts / 3"),
      data: { f: 0.3333333333 },
    },
    {
      name: "averages a formula with ten digits",
      body: op("avg", "0 - parts"),
      data: { f: -2.8333333333 },
    },
    {
      name: "counts the distinct results of a formula",
      body: op("countDistinct", "parts * 0"),
      data: { f: 1 },
    },
    {
      name: "takes columns of related records in a formula",
      body: op("sum", "qty * at.rate"),
      data: { f: 1132 },
    },
    {
      name: "counts distinct values",
      body: { operations: [{ function: "countDistinct", field: "shop" }] },
      data: { countDistinct_shop: 2 },
    },
    {
      name: "counts only the rows of an operation's own where",
      body: {
        operations: [
          n,
          { function: "count", field: "*", alias: "a", where: [{ key: "shop", value: "a" }] },
          { function: "sum", field: "qty", alias: "s", where: [{ key: "at.rate", value: 10 }] },
        ],
      },
      data: { n: 6, a: 3, s: 114 },
    },
    {
      name: "takes a formula of 499 characters",
      body: op("max", `1${"+1".repeat(249)}`),
      data: { f: 250 },
    },
    {
      name: "takes a formula with 247 nested parentheses",
      body: op("max", `${"(".repeat(247)}parts${")".repeat(247)}`),
      data: { f: 7 },
    },
    {
      name: "takes a formula with nested differences",
      body: op("max", `${"1-(".repeat(124)}1${")".repeat(124)}`),
      data: { f: 1 },
    },
    {
      name: "takes a formula with 401 signs",
      body: op("max", `${"-".repeat(401)}1`),
      data: { f: -1 },
    },
    {
      name: "adds formulas beyond 64 bits",
      body: op("max", "99999999999999 * 99999999999999"),
      data: { f: "9999999999999800000000000001" },
    },
  ]);
});

describe("empty buckets, pages and totals", () => {
  answers([
    {
      name: "fills empty months before having, sort and limit",
      body: counted(by("month"), {
        fill: true,
        operations: [n, { function: "sum", field: "qty", alias: "q" }],
        having: { conditions: [{ key: "n", operator: "<", value: 1 }] },
        sort_columns: [{ column: "b", direction: "DESC" }],
        limit: 11,
      }),
      data: [11, 9, 8, 7, 6, 5, 4].map((m) => ({
        b: `2026-${String(m).padStart(2, "0")}-01`,
        n: 0,
        q: null,
      })),
    },
    {
      name: "keeps the bucket without value beside the filled ones",
      body: counted({ field: "qty", by: 25, alias: "b" }, { fill: true, limit: 5 }),
      data: buckets([null, 1], [-25, 1], [0, 2], [25, 1], [50, 1]),
    },
    {
      name: "fills hours over a change of clocks",
      body: counted(by("hour"), {
        fill: true,
        time_zone: "Europe/Vienna",
        where: { conditions: [{ key: "id", operator: "IN", value: ["s3", "s4"] }] },
      }),
      data: buckets(["2026-10-25T00:00:00.000Z", 1], ["2026-10-25T01:00:00.000Z", 1]),
    },
    {
      name: "fills nothing where no row is left",
      body: counted(by("day"), { fill: true, where: [{ key: "id", value: "x" }] }),
      data: [],
    },
  ]);

  test("aggregate answers pages of groups with a total of one moment", async () => {
    const body = { group_by: ["id"], operations: [n], per_page: 4, total: true };
    const [second, beyond] = [await ask({ ...body, page: 2 }), await ask({ ...body, page: 9 })];
    const pagination = { per_page: 4, total_records: 6, total_pages: 2, has_previous: true };
    expect(second.body.data.map(({ id }: { id: string }) => id)).toEqual(["s5", "s6"]);
    expect(second.body.pagination).toEqual({ ...pagination, current_page: 2, has_next: false });
    expect(second.body.total).toEqual({ n: 6 });
    expect(beyond.body.data).toEqual([]);
    expect(beyond.body.pagination).toEqual({ ...pagination, current_page: 9, has_next: false });
  });
});

const validation = { status: 400, error: "Validation error" };
const field = { status: 400, error: "Invalid field" };
const refused: readonly Case[] = [
  {
    name: "refuses hours of a date",
    body: { group_by: [{ field: "due", by: "hour" }] },
    ...validation,
  },
  ...[
    { field: "due", part: "hour" },
    { field: "sold_at", by: "minute" },
    { field: "sold_at", by: 50 },
    { field: "qty", by: "month" },
    { field: "qty", by: 0 },
    { field: "qty", by: -1 },
    { field: "qty", by: "50" },
    { field: "price", by: 0.5 },
    { field: "sold_at" },
    { field: "sold_at", by: "day", part: "day" },
    { field: "sold_at", part: "year" },
    { field: "at.opened_at", by: "day" },
    { by: "day" },
    { field: "shop", by: "day" },
    { field: "sold_at", by: "day", alias: "a b" },
    5,
  ].map((group) => ({
    name: `refuses the group ${JSON.stringify(group)}`,
    body: { group_by: [group] },
    ...validation,
  })),
  {
    name: "refuses a bucket of an unknown column",
    body: { group_by: [{ field: "nope", by: "day" }] },
    ...field,
  },
  {
    name: "refuses a bucket of a hidden column",
    body: { group_by: [{ field: "secret", by: 5 }] },
    ...field,
  },
  {
    name: "refuses two buckets of one alias",
    body: { group_by: [by("day"), by("week")] },
    ...validation,
  },
  {
    name: "refuses fill with more buckets than the limit",
    body: { fill: true, group_by: [by("hour")], limit: 100 },
    ...validation,
  },
  {
    name: "refuses fill with as many buckets as the limit beside the one without value",
    body: { fill: true, group_by: [{ field: "qty", by: 25 }], limit: 4 },
    ...validation,
  },
  { name: "refuses page without group_by", body: { page: 1 }, ...validation },
  ...["Mars/Base", "+02:00", "", 5, "Europe/Vienna'"].map((time_zone) => ({
    name: `refuses the time zone ${JSON.stringify(time_zone)}`,
    body: { time_zone },
    ...validation,
  })),
  ...[
    { fill: true },
    { fill: true, group_by: ["id"] },
    { fill: true, group_by: [by("day"), "id"] },
    { fill: true, group_by: [{ field: "sold_at", part: "day" }] },
    { fill: "yes", group_by: [by("day")] },
    { page: 0, group_by: ["id"] },
    { page: 1, limit: 5, group_by: ["id"] },
    { page: 1, per_page: 1001, group_by: ["id"] },
    { total: 1 },
    { operations: [{ function: "sum", formula: "qty" }] },
    { operations: [{ function: "sum", formula: "qty", field: "qty", alias: "a" }] },
    { operations: [{ function: "count", formula: "qty", alias: "a" }] },
    { operations: [{ function: "sum", formula: "qty +", alias: "a" }] },
    { operations: [{ function: "sum", formula: "2e3", alias: "a" }] },
    { operations: [{ function: "sum", formula: "shop", alias: "a" }] },
    { operations: [{ function: "sum", formula: "rough", alias: "a" }] },
    { operations: [{ function: "sum", formula: "1".repeat(501), alias: "a" }] },
    { operations: [{ function: "countDistinct", field: "*" }] },
  ].map((body) => ({ name: `refuses ${JSON.stringify(body).slice(0, 120)}`, body, ...validation })),
  {
    name: "refuses a hidden column in a formula",
    body: { operations: [{ function: "sum", formula: "secret", alias: "a" }] },
    ...field,
  },
  {
    name: "refuses a hidden column in an operation's where",
    body: { operations: [{ ...n, where: [{ key: "secret", value: 1 }] }] },
    ...field,
  },
];

describe("errors", () => {
  test("aggregate refuses a formula with more digits than the database has", async () => {
    const formula = Array.from({ length: 9 }, () => "price").join(" * ");
    const { status, body } = await ask({ operations: [{ function: "max", formula, alias: "f" }] });
    // Only MySQL and MariaDB have such a limit.
    if (inject("engine") === "mysql")
      expect([status, body.error]).toEqual([400, "Invalid parameter"]);
    else expect([status, body.data]).toEqual([200, { f: expect.anything() }]);
  });

  test.each(refused)("aggregate $name", async (row) => check(await ask(row.body), row));
});
