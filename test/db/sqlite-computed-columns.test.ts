/** SQLite says nothing of the type of an expression: it is told from its text or its values, or its values are compared as they are. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fixture, openFixture } from "../contract/harness.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture({
    engine: "sqlite",
    tables: [],
    setUp: () => [
      "CREATE TABLE people (id TEXT PRIMARY KEY, born INTEGER, rate REAL, at DATETIME)",
      "INSERT INTO people VALUES ('a', 1990, 1.5, '2026-01-01 00:00:00'), ('b', 1970, 2.5, '2026-01-02T00:00:00.000Z'), ('c', 1980, 3.5, 1767398400000)",
      `CREATE VIEW list AS SELECT id, born > 1975 AS priv, count(*) OVER () AS n, born + 1 AS years, rate * 2 doubled,
         CAST(born AS TEXT) AS digits, 'x' || id AS code, CASE id WHEN 'a' THEN 7 ELSE 'seven' END AS loose, max(at, at) AS seen FROM people`,
    ],
    endpoints: {
      list: {
        viewName: "list",
        primaryKey: "id",
        action: { read: true, aggregate: true },
        fieldValidation: [{ name: "seen", type: "datetime" }],
      },
    },
  });
});
afterAll(() => fixture?.close());

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
