/**
 * LIKE patterns mean the same on every engine and in every action that takes them. A backslash at the end of a pattern
 * stands for itself.
 */
import { expect, test } from "vitest";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const service = openForTests(openFixture, {
  tables: [
    {
      name: "paths",
      columns: {
        id: "key",
        path: { type: "text(40)", notNull: true, unique: true },
        size: "integer",
        body: "longtext",
      },
    },
  ],
  setUp: (engine) => {
    const slash = engine === "mysql" ? "\\\\" : "\\";
    return [
      `insert into paths (id, path, size) values ('1', 'C:${slash}', 1), ('2', 'C:${slash}Temp', 2), ('3', 'C:', 3), ('4', '${slash}', 4), ('5', 'ÄC:${slash}', 5)`,
    ];
  },
  endpoints: {
    paths: {
      tableName: "paths",
      fieldNameLookup: { id: "id", text: "path" },
      action: { read: true, lookup: true, datatables: true, aggregate: true, export: true },
    },
  },
  project: { cache: { enabled: false } },
});

/** Ids of the rows that a pattern finds. */
const endings = ["1", "4", "5"];

const like = (operator: string, value: string) => ({
  conditions: [{ key: "path", operator, value }],
});

const lookup = (body: object): Promise<Answer> =>
  service.post("paths/lookup", body, { "X-Request-Mode": "static" });

const idsOf = ({ body }: Answer): string[] =>
  (body.data as { id: string }[]).map(({ id }) => id).toSorted();

const patterns: readonly (readonly [string, string, readonly string[]])[] = [
  ["LIKE", "%\\", endings],
  ["LIKE", "\\", ["4"]],
  ["LIKE", "C:\\\\", ["1"]],
  ["LIKE", "C:\\\\\\", []],
  ["LIKE", "%\\\\%", ["1", "2", "4", "5"]],
  ["ILIKE", "%c:\\", ["1", "5"]],
  ["ILIKE", "äc:\\", ["5"]],
  ["NOT LIKE", "%\\", ["2", "3"]],
];

test.each(patterns)("read: %s '%s'", async (operator, value, expected) => {
  const answer = await service.post("paths/read", { where: like(operator, value) });
  expect([answer.status, idsOf(answer)]).toEqual([200, expected]);
});

test("read finds a column of numbers by no pattern that ends in a backslash", async () => {
  const where = { conditions: [{ key: "size", operator: "LIKE", value: "1\\" }] };
  const answer = await service.post("paths/read", { where });
  expect([answer.status, answer.body.data]).toEqual([200, []]);
});

test("lookup takes such a pattern in where", async () => {
  const answer = await lookup({ where: like("LIKE", "%\\") });
  expect([answer.status, idsOf(answer)]).toEqual([200, endings]);
});

test("aggregate takes it in where and in having", async () => {
  const operations = [{ function: "count", field: "*", alias: "rows" }];
  const counted = await service.post("paths/aggregate", { operations, where: like("LIKE", "%\\") });
  expect([counted.status, counted.body.data]).toEqual([200, { rows: 3 }]);
  const grouped = await service.post("paths/aggregate", {
    group_by: ["path"],
    operations,
    having: { conditions: [{ key: "path", operator: "LIKE", value: "%\\" }] },
  });
  expect(grouped.status, JSON.stringify(grouped.body)).toBe(200);
  expect(grouped.body.data).toHaveLength(3);
});

test("a search for a text that ends in a backslash finds it, in lists and in the grid", async () => {
  const read = await service.post("paths/read", { search_value: "C:\\", search_by: "path" });
  expect([read.status, idsOf(read)]).toEqual([200, ["1", "2", "5"]]);
  const labels = await service.request("/api/test/paths/lookup?search=C:%5C", {
    headers: { "X-Request-Mode": "dynamic" },
  });
  expect([labels.status, idsOf(labels)]).toEqual([200, ["1", "2", "5"]]);
  const grid = await service.post("paths/datatables", {
    draw: 1,
    start: 0,
    length: 10,
    search: { value: "C:\\" },
  });
  expect([grid.status, idsOf(grid)]).toEqual([200, ["1", "2", "5"]]);
});

test("the grid's own conditions take it", async () => {
  const criteria = [{ origData: "path", condition: "ends", value: ["\\"], type: "string" }];
  const answer = await service.post("paths/datatables", {
    draw: 1,
    start: 0,
    length: 10,
    searchBuilder: { logic: "AND", criteria },
  });
  expect([answer.status, idsOf(answer)]).toEqual([200, endings]);
});

test("read takes a pattern of thousands of signs, or refuses it", async () => {
  const long = service.engine === "sqlite" ? "printf('%.*c', 100000, 'b')" : "repeat('b', 100000)";
  await service.sql(`update paths set body = ${long} where id = '3'`);
  const conditions = [{ key: "body", operator: "LIKE", value: `${"%b".repeat(3_000)}c` }];
  const { status } = await service.post("paths/read", { where: { conditions } });
  expect(status).toBe(service.engine === "mysql" ? 413 : 200);
});
