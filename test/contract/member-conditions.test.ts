/** Conditions on arrays and objects: `=` compares the whole, CONTAINS finds an element, or an object by members. */
import { describe, expect, inject, test } from "vitest";
import { check, records } from "./cases.ts";
import { openJobFixture } from "./job-places.ts";
import { openForTests } from "./harness.ts";

const engine = inject("engine");
const whole = { a: 1, b: { c: [1, 2], d: "x" } };
const documents = [
  '{"a": 1, "b": {"c": [1, 2], "d": "x"}}',
  '{"b":{"d":"x","c":[1,2]},"a":1}',
  '["red", 5, {"k": "v", "n": 1}]',
  '"red"',
  "[]",
  null,
  "[1.50]",
  '{"a": "1", "b": [null]}',
  '[[9, "deep"], {"x": [8]}]',
  '{"list": [{"m": 7}], "text [{": "}]"}',
];
const arrays = engine === "postgres";

const service = openForTests(openJobFixture, "in the service", {
  tables: [],
  setUp: () => [
    "create table docs (id integer primary key, name varchar(20), doc json)",
    ...documents.map(
      (doc, at) =>
        `insert into docs values (${at + 1}, 'row ${at + 1}', ${doc === null ? "null" : `'${doc}'`})`,
    ),
    ...(arrays
      ? [
          `alter table docs add column parts jsonb, add column tags text[], add column counts integer[],
              add column days date[], add column plain json[], add column binary_ones jsonb[]`,
          "update docs set parts = doc::jsonb",
          `update docs set tags = '{red,"a, \\"b\\"",NULL}', counts = '{1,2}', days = '{2026-01-31}',
              plain = array['{"a": 1, "b": 2}'::json], binary_ones = array['{"a": 1, "b": 2}'::jsonb] where id = 1`,
          "update docs set tags = '{blue}', counts = '{2,1}', days = '{}' where id = 2",
        ]
      : []),
  ],
  endpoints: {
    docs: {
      tableName: "docs",
      action: {
        read: true,
        first: true,
        aggregate: true,
        datatables: true,
        lookup: true,
        delete: true,
        export: true,
      },
      datatablesWhere: arrays ? ["doc", "parts", "tags"] : ["doc"],
    },
  },
  project: { cache: { enabled: false } },
});

const where = (key: string, operator: string, value?: unknown) => ({
  conditions: [{ key, operator, ...(value !== undefined && { value }) }],
});
const found = async (key: string, operator: string, value?: unknown): Promise<unknown[]> => {
  const answer = await service.post("docs/read", { where: where(key, operator, value) });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return records(answer).map(({ id }) => id);
};

test("read finds by CONTAINS an array with the element, and an object with the members", async () => {
  expect(await found("doc", "CONTAINS", 5)).toEqual([3]);
  expect(await found("doc", "CONTAINS", { a: 1 })).toEqual([1, 2]);
});

describe.each(arrays ? ["doc", "parts"] : ["doc"])("read by the JSON of %s", (key) => {
  test.each([
    ["=", whole, [1, 2]],
    ["=", { b: { d: "x", c: [1, 2] }, a: 1.0 }, [1, 2]],
    ["=", { b: { d: "x", c: [2, 1] }, a: 1 }, []],
    ["=", { a: 1 }, []],
    ["=", "red", [4]],
    ["=", "Red", []],
    ["=", [], [5]],
    ["=", [1.5], [7]],
    ["=", null, [6]],
    ["!=", whole, [3, 4, 5, 7, 8, 9, 10]],
    ["<>", [], [1, 2, 3, 4, 7, 8, 9, 10]],
    ["IS NOT NULL", undefined, [1, 2, 3, 4, 5, 7, 8, 9, 10]],
    ["CONTAINS", "red", [3, 4]],
    ["CONTAINS", "RED", []],
    ["CONTAINS", 5, [3]],
    ["CONTAINS", "5", []],
    ["CONTAINS", 1.5, [7]],
    ["contains", { k: "v" }, [3]],
    ["CONTAINS", { n: 1, k: "v" }, [3]],
    ["CONTAINS", { k: "V" }, []],
    ["CONTAINS", { a: 1 }, [1, 2]],
    ["CONTAINS", { b: { d: "x" } }, [1, 2]],
    ["CONTAINS", { b: { c: [2] } }, [1, 2]],
    ["CONTAINS", { b: [null] }, [8]],
    ["CONTAINS", { b: {} }, [1, 2]],
    ["CONTAINS", true, []],
    ["CONTAINS", 9, []],
    ["CONTAINS", "deep", []],
    ["CONTAINS", { x: 8 }, []],
    ["CONTAINS", { x: [8] }, [9]],
    ["CONTAINS", { list: { m: 7 } }, []],
    ["CONTAINS", { list: [{ m: 7 }] }, [10]],
    ["CONTAINS", { list: {} }, []],
    ["CONTAINS", { "text [{": "}]" }, [10]],
  ])("%s %j gives %j", async (operator, value, ids) => {
    expect(await found(key, operator, value)).toEqual(ids);
  });
});

describe.runIf(arrays)("read by the elements of an array", () => {
  test.each([
    ["tags", "=", ["red", 'a, "b"', null], [1]],
    ["tags", "=", ["blue"], [2]],
    ["tags", "!=", ["blue"], [1]],
    ["tags", "CONTAINS", "red", [1]],
    ["tags", "CONTAINS", 'a, "b"', [1]],
    ["tags", "CONTAINS", "re", []],
    ["counts", "=", [1, 2], [1]],
    ["counts", "CONTAINS", 2, [1, 2]],
    ["counts", "CONTAINS", "2", [1, 2]],
    ["days", "CONTAINS", "2026-01-31", [1]],
    ["days", "=", [], [2]],
    ["plain", "=", [{ b: 2, a: 1 }], [1]],
    ["plain", "CONTAINS", { a: 1 }, [1]],
    ["binary_ones", "=", [{ b: 2, a: 1 }], [1]],
    ["binary_ones", "CONTAINS", { a: 1 }, [1]],
  ])("%s %s %j gives %j", async (key, operator, value, ids) => {
    expect(await found(key, operator, value)).toEqual(ids);
  });

  test("an element that the array cannot hold is refused", async () => {
    const answer = await service.post("docs/read", { where: where("counts", "CONTAINS", "x") });
    check(answer, { status: 400, error: "Invalid parameter" });
  });
});

describe("CONTAINS is refused", () => {
  const needsOne = "CONTAINS needs one element: a text, a number, true, false or an object";
  test.each([
    [
      "name",
      "x",
      {
        error: "Invalid parameter",
        message:
          'Column "name" holds no other values, as CONTAINS needs; LIKE finds a part of a text',
      },
    ],
    ["doc", null, { error: "Invalid payload", message: needsOne }],
    ["doc", [1], { error: "Invalid payload", message: needsOne }],
  ])("for %s with %j", async (key, value, expected) => {
    const answer = await service.post("docs/read", { where: where(key, "CONTAINS", value) });
    check(answer, { status: 400, ...expected });
  });
});

describe("other actions take the same conditions", () => {
  const red = where("doc", "CONTAINS", "red");

  test("first compares the whole value", async () => {
    const answer = await service.post("docs/first", { where: { key: "doc", value: "red" } });
    expect(answer.body.data).toMatchObject({ id: 4 });
  });

  test("aggregate counts", async () => {
    const operations = [{ function: "count", field: "id", alias: "n" }];
    const answer = await service.post("docs/aggregate", { operations, where: red });
    expect(answer.body.data).toEqual({ n: 2 });
  });

  test("datatables lists", async () => {
    const answer = await service.post("docs/datatables", { draw: 1, length: 10, where: red });
    expect(answer.body.data.map(({ id }: { id: number }) => id)).toEqual([3, 4]);
  });

  type Search = [field: string, condition: string, value: string, ids: readonly number[]];
  const everyOther = [1, 2, 5, 6, 7, 8, 9, 10];
  const inArrays: readonly Search[] = [
    ["tags", "contains", "red", [1]],
    ["tags", "without", "red", [2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ["counts", "contains", "2", [1, 2]],
    ["counts", "contains", "two", []],
    ["counts", "without", "two", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  ];
  test.each<Search>([
    ["doc", "contains", "red", [3, 4]],
    ["doc", "contains", "re", []],
    ["doc", "without", "red", everyOther],
    ["name", "without", "ROW 3", [1, 2, 4, 5, 6, 7, 8, 9, 10]],
    ...(arrays ? inArrays : []),
  ])("SearchBuilder's arrays: %s %s %s", async (origData, condition, value, ids) => {
    const criteria = [{ condition, data: "Title", origData, type: "array", value: [value] }];
    const answer = await service.post("docs/datatables", {
      length: 100,
      searchBuilder: { logic: "AND", criteria },
    });
    check(answer, { status: 200 });
    expect(answer.body.data.map(({ id }: { id: number }) => id)).toEqual(ids);
  });

  test("lookup lists", async () => {
    const answer = await service.post(
      "docs/lookup",
      { where: red },
      { "X-Request-Mode": "static" },
    );
    expect(answer.body).toMatchObject({ data: [{ text: "row 3" }, { text: "row 4" }] });
  });

  test("export writes", async () => {
    const rows = await service.exported("docs", { format: "csv", where: red });
    expect(rows.match(/row \d/g)).toEqual(["row 3", "row 4"]);
  });

  test("delete deletes", async () => {
    const answer = await service.post("docs/delete", { where: [{ key: "doc", value: [1.5] }] });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(await found("id", ">=", 5)).toEqual([5, 6, 8, 9, 10]);
  });
});
