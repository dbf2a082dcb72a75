/** SQLite has no type for expressions: their text or values show it, otherwise values are compared as they are. */
import { describe, expect, test } from "vitest";
import { openFixture, openForTests } from "../contract/harness.ts";

const fixture = openForTests(openFixture, {
  engine: "sqlite",
  tables: [],
  setUp: () => [
    "CREATE TABLE ord (id INTEGER PRIMARY KEY, qty INTEGER, price DECIMAL(10,2), seen TIMESTAMP, day DATE, note TEXT, open BOOLEAN)",
    "CREATE TABLE visits (id INTEGER PRIMARY KEY, who TEXT, seen TIMESTAMP, odd TIMESTAMP)",
    "INSERT INTO visits (who, seen, odd) VALUES ('a', '2024-05-06 07:08:09', 'soon'), ('a', '2023-01-01 00:00:00', 'late'), ('b', null, null)",
    "CREATE TABLE people (id TEXT PRIMARY KEY, born INTEGER, rate REAL, at DATETIME)",
    "INSERT INTO people VALUES ('a', 1990, 1.5, '2026-01-01 00:00:00'), ('b', 1970, 2.5, '2026-01-02T00:00:00.000Z'), ('c', 1980, 3.5, 1767398400000)",
    "CREATE TABLE counts (id INTEGER PRIMARY KEY, kind TEXT, n INTEGER)",
    "INSERT INTO counts (kind, n) VALUES ('small', 3), ('small', -5), ('small', null), ('large', 9223372036854775807), ('large', 9223372036854775807), ('large', 2147483648), ('large', 7), ('low', -9223372036854775808), ('low', -1), ('odd', '12'), ('odd', 4), ('none', null)",
    "CREATE TABLE orders (person TEXT, total INTEGER, match INTEGER, note TEXT)",
    "INSERT INTO orders VALUES ('a', 7, 3, '{}'), ('a', 9, 3, '{}'), ('b', 5, 2, 'no JSON')",
    `CREATE VIEW sums (id, orders, worth, open, goals, has, rate) AS WITH o AS (SELECT * FROM orders) SELECT id, (SELECT COUNT(*) FROM o WHERE person = people.id),
         (SELECT SUM(total) FROM o WHERE person = people.id AND total > 5), (SELECT total = 5 FROM o WHERE person = people.id LIMIT 1),
         (SELECT match + 0 FROM o WHERE person = people.id LIMIT 1), EXISTS (SELECT 1 FROM o WHERE person = people.id), CASE WHEN id = 'a' THEN 0.5 ELSE 'none' END FROM people`,
    "CREATE VIEW parts AS SELECT id, born > 1975 AS x, id AS y FROM people UNION ALL SELECT 'o' || rowid, total, match FROM orders",
    "CREATE VIEW broken AS SELECT rowid AS id, total + 1 AS more, json_extract(note, '$.a') AS a FROM orders",
    `CREATE VIEW list AS SELECT id, born > 1975 AS priv, count(*) OVER () AS n, born + 1 AS years, rate * 2 doubled,
         CAST(born AS TEXT) AS digits, 'x' || id AS code, CASE id WHEN 'a' THEN 7 ELSE 'seven' END AS loose, max(at, at) AS seen FROM people`,
    `CREATE VIEW starred AS SELECT born > 1975 AS late, p.*, rate > 2 AS fast, o.*, born + 0 AS year, id = 'a' AS own
         FROM people AS p LEFT JOIN orders AS o ON o.person = p.id AND o.total = 9`,
  ],
  endpoints: {
    ...Object.fromEntries(
      ["sums", "parts", "broken", "starred"].map((viewName) => [
        viewName,
        { viewName, primaryKey: "id", action: { read: true, aggregate: true } },
      ]),
    ),
    empty: {
      viewQuery: `WITH o AS (SELECT * FROM ord AS x) SELECT id, qty, qty * price AS total, -qty + 1 AS less, coalesce(qty, 0) AS q0,
          coalesce(price, 0) p0, max(seen) OVER () AS last, (SELECT min(y.day) FROM ord AS y WHERE y.id = o.id) AS first,
          CASE WHEN qty > 1 THEN note ELSE 'none' END AS word, ifnull(open, FALSE) AS open, nullif("o"."seen", day) AS either,
          coalesce(seen, note) AS mixed, sum(price) OVER () AS worth FROM o LEFT JOIN (SELECT id AS other FROM visits) ON other = id WHERE qty > 0`,
      primaryKey: "id",
      action: { read: true, aggregate: true },
    },
    visits: {
      viewQuery:
        "SELECT who AS id, max(seen) AS last_seen, max(odd) AS odd FROM visits GROUP BY who",
      primaryKey: "id",
      action: { read: true, aggregate: true },
    },
    counts: { tableName: "counts", action: { aggregate: true } },
    list: {
      viewName: "list",
      primaryKey: "id",
      action: { read: true, aggregate: true },
      fieldValidation: [{ name: "seen", type: "datetime" }],
    },
  },
});

const read = (key: string, operator: string, value: unknown) =>
  fixture.post("list/read", {
    where: { conditions: [{ key, operator, value }] },
    sort_columns: [{ column: "id", direction: "ASC" }],
  });
const found = async (key: string, operator: string, value: unknown): Promise<string> =>
  (await read(key, operator, value)).body.data.map(({ id }: { id: string }) => id).join("");

test("each is shown as what it is", async () => {
  expect((await read("id", "=", "a")).body.data).toEqual([
    {
      id: "a",
      priv: true,
      n: 3,
      years: 1991,
      doubled: 3,
      digits: "1990",
      code: "xa",
      loose: 7,
      seen: "2026-01-01T00:00:00.000Z",
    },
  ]);
});

test("expressions before and after the columns of a star are shown as what they are", async () => {
  const { body } = await fixture.post("starred/read", { limit: 1 });
  expect(body.data).toMatchObject([{ late: true, born: 1990, total: 9, year: 1990, own: true }]);
});

test.each([
  ["priv", "=", true, "ac"],
  ["priv", "=", false, "b"],
  ["priv", "!=", true, "b"],
  ["n", ">", 2, "abc"],
  ["n", "=", "3", "abc"],
  ["years", "<", 1985, "bc"],
  ["doubled", "BETWEEN", [3.5, 6], "b"],
  ["digits", "=", "1990", "a"],
  ["code", "LIKE", "xb%", "b"],
  ["loose", "=", 7, "a"],
  ["loose", "=", "seven", "bc"],
  ["loose", ">", "abc", "bc"],
  ["loose", "<", 8, "a"],
  ["loose", "=", true, ""],
  ["seen", "<=", "2026-01-02T00:00:00Z", "ab"],
  ["seen", ">", "2026-01-02T00:00:00Z", "c"],
] as const)("%s %s %j finds %j", async (key, operator, value, ids) => {
  expect(await found(key, operator, value)).toBe(ids);
});

test.each([
  ["n", "abc"],
  ["years", "abc"],
  ["doubled", "abc"],
  ["priv", "abc"],
  ["seen", "abc"],
])("%s cannot be compared with %j", async (key, value) => {
  expect((await read(key, ">", value)).status).toBe(400);
});

test("integers are added exactly, whatever a column of integers holds", async () => {
  const { body } = await fixture.post("counts/aggregate", {
    group_by: ["kind"],
    operations: [
      { function: "sum", field: "n", alias: "sum" },
      {
        function: "sum",
        field: "n",
        alias: "above",
        where: { logic: "AND", conditions: [{ key: "n", operator: ">", value: 3 }] },
      },
    ],
    sort_columns: [{ column: "kind" }],
  });
  expect(
    (body.data as { kind: string; sum: unknown; above: unknown }[]).map((row) => [
      row.kind,
      row.sum,
      row.above,
    ]),
  ).toEqual([
    ["large", "18446744075857035269", "18446744075857035269"],
    ["low", "-9223372036854775809", null],
    ["none", null, null],
    ["odd", 16, 16],
    ["small", -2, null],
  ]);
});

test("numbers are added up", async () => {
  const { body } = await fixture.post("list/aggregate", {
    operations: [
      { function: "sum", field: "years", alias: "sum" },
      { function: "max", field: "doubled", alias: "max" },
      { function: "max", field: "seen", alias: "last" },
    ],
  });
  expect(body.data).toEqual({ sum: 5943, max: 7, last: "2026-01-03T00:00:00.000Z" });
});

describe("a query without rows has the types of the columns that it reads", () => {
  test.each(["qty", "total", "less", "q0", "p0", "worth"])("%s is a number", async (field) => {
    const { status, body } = await fixture.post("empty/aggregate", {
      operations: [{ function: "sum", field }],
    });
    expect([status, body.data]).toEqual([200, { [`sum_${field}`]: null }]);
  });

  test.each([
    ["total", 1.5, "x"],
    ["last", "2024-05-06T07:08:09.000Z", 1],
    ["first", "2024-05-06", "2024-05"],
    ["either", "2024-05-06T07:08:09.000Z", "x"],
    ["open", true, "x"],
  ])("%s takes %j and not %j", async (key, value, other) => {
    const ask = async (one: unknown): Promise<number> => {
      const where = { conditions: [{ key, operator: "=", value: one }] };
      return (await fixture.post("empty/read", { where })).status;
    };
    expect([await ask(value), await ask(other)]).toEqual([200, 400]);
  });

  test.each(["word", "mixed"])("%s is not added up", async (field) => {
    const { status } = await fixture.post("empty/aggregate", {
      operations: [{ function: "sum", field }],
    });
    expect(status).toBe(400);
  });
});

test("the latest of times is a time, if all values are some", async () => {
  const where = {
    conditions: [{ key: "last_seen", operator: "=", value: "2024-05-06T07:08:09.000Z" }],
  };
  expect((await fixture.post("visits/read", { where })).body.data).toEqual([
    { id: "a", last_seen: "2024-05-06T07:08:09.000Z", odd: "soon" },
  ]);
});

describe("what stands inside of brackets", () => {
  const all = async (view: string): Promise<object[]> =>
    (await fixture.post(`${view}/read`, { sort_columns: [{ column: "id", direction: "ASC" }] }))
      .body.data;

  test("says nothing of what they give", async () => {
    expect(await all("sums")).toEqual([
      { id: "a", orders: 2, worth: 16, open: false, goals: 3, has: true, rate: 0.5 },
      { id: "b", orders: 1, worth: null, open: true, goals: 2, has: true, rate: "none" },
      { id: "c", orders: 0, worth: null, open: null, goals: null, has: false, rate: "none" },
    ]);
  });

  test.each([
    ["orders", 2, "a"],
    ["orders", 0, "c"],
    ["worth", 16, "a"],
    ["worth", 16.5, ""],
    ["open", true, "b"],
    ["has", false, "c"],
    ["rate", "none", "bc"],
  ])("%s = %j finds %j", async (key, value, ids) => {
    const { body } = await fixture.post("sums/read", {
      where: { conditions: [{ key, operator: "=", value }] },
    });
    expect(body.data.map(({ id }: { id: string }) => id).join("")).toBe(ids);
  });

  test("does not keep it from being added up", async () => {
    const operations = ["orders", "worth", "goals"].map((field) => ({
      function: "sum",
      field,
      alias: field,
    }));
    const { body } = await fixture.post("sums/aggregate", { operations });
    expect(body.data).toEqual({ orders: 3, worth: 16, goals: 5 });
  });

  test("of one part of a compound query is not what the others give", async () => {
    expect((await all("parts")).slice(2)).toEqual([
      { id: "c", x: 1, y: "c" },
      { id: "o1", x: 7, y: 3 },
      { id: "o2", x: 9, y: 3 },
      { id: "o3", x: 5, y: 2 },
    ]);
  });
});

test("a row that a view cannot read is no fault of the configuration", async () => {
  const where = { conditions: [{ key: "id", operator: "<", value: 3 }] };
  const { status, body } = await fixture.post("broken/read", { where });
  expect(status).toBe(200);
  expect(body.data[0]).toEqual({ id: 1, more: 8, a: null });
  expect((await fixture.post("broken/read", { limit: 10 })).status).not.toBe(200);
});
