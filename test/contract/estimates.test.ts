/**
 * `count: "estimated"` in a large table: within a factor of two, or marked as counted. The rows mislead planners: rare
 * words, words in one part of the table, correlated conditions.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type Fixture, openFixture } from "./harness.ts";

const engine = inject("engine");
const rowsMax = 120_000;

const numbers = {
  sqlite: `with recursive s(n) as (select 0 union all select n + 1 from s where n < ${rowsMax - 1}) select n from s`,
  mysql: `select seq as n from seq_0_to_${rowsMax - 1}`,
  postgres: `select n from generate_series(0, ${rowsMax - 1}) as n`,
}[engine];
const joined = (...parts: string[]): string =>
  engine === "mysql" ? `concat(${parts.join(", ")})` : parts.join(" || ");
const analyze = { postgres: "analyze goods", mysql: "analyze table goods", sqlite: "analyze" };

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture({
    tables: [
      {
        name: "goods",
        columns: {
          id: "integer",
          name: "text(60)",
          remark: "text(60)",
          kind: "integer",
          sort: "integer",
          made: "integer",
          is_deleted: "integer",
        },
        primaryKey: ["id"],
      },
    ],
    setUp: () => [
      `insert into goods select n, case when n % 13 = 0 then ${joined("'Brass valve '", "n")} when n = 4711 then 'one of a kind' else ${joined("'Steel bolt '", "n")} end,
        case when n % 3 = 0 then null when n < 9000 then 'from the old hall' else 'from the hall' end,
        n % 40, n % 40, n, case when n % 10 = 0 then 1 else 0 end from (${numbers}) as numbers`,
      "create view goods_view as select * from goods",
      analyze[engine],
    ],
    project: { cache: { enabled: false } },
    endpoints: Object.fromEntries(
      Object.entries({
        goods: { tableName: "goods" },
        kept: { tableName: "goods", softDelete: { flag: "is_deleted" } },
        viewed: {
          viewName: "goods_view",
          primaryKey: "id",
          datatablesQuery: "select * from goods_view",
        },
      }).map(([name, rest]) => [
        name,
        { ...rest, action: { read: true, datatables: true }, auditColumns: false },
      ]),
    ),
  });
}, 60_000);
afterAll(() => fixture?.close());

const where = (...conditions: [key: string, operator: string, value?: unknown][]) => ({
  where: { conditions: conditions.map(([key, operator, value]) => ({ key, operator, value })) },
});

/** `isSampled`: what PostgreSQL finds often enough in a part of the table. */
const filters: { name: string; filter: object; isSampled: boolean }[] = [
  {
    name: "a frequent word in one column",
    filter: { search_value: "bolt", search_by: "name" },
    isSampled: true,
  },
  { name: "a word in all columns", filter: { search_value: "valve" }, isSampled: true },
  { name: "a word in two of three rows", filter: { search_value: "HALL" }, isSampled: true },
  { name: "a rare word", filter: { search_value: "one of" }, isSampled: false },
  { name: "a word that is nowhere", filter: { search_value: "zinc" }, isSampled: false },
  {
    name: "a word of one part of the table",
    filter: { search_value: "old hall" },
    isSampled: false,
  },
  { name: "a LIKE", filter: where(["name", "LIKE", "%valve 1%"]), isSampled: true },
  { name: "one of forty values", filter: where(["kind", "=", 7]), isSampled: true },
  { name: "one row", filter: where(["id", "=", 7]), isSampled: false },
  {
    name: "a range of a tenth",
    filter: where(["made", "BETWEEN", [1000, 12000]]),
    isSampled: false,
  },
  { name: "nearly all", filter: where(["made", ">", 10]), isSampled: true },
  {
    name: "what goes together",
    filter: where(["kind", "=", 7], ["sort", "=", 7]),
    isSampled: true,
  },
  {
    name: "what excludes each other",
    filter: where(["kind", "=", 7], ["sort", "=", 8]),
    isSampled: false,
  },
  { name: "missing values", filter: where(["remark", "IS NULL"]), isSampled: true },
  { name: "nothing", filter: {}, isSampled: true },
];
const cases = filters.flatMap((one) =>
  ["goods", "kept", "viewed"].map((endpoint) => ({ endpoint, ...one })),
);

describe("an estimate", () => {
  test.each(cases)(
    "of read in $endpoint is right, or says that it counted: $name",
    async ({ endpoint, name, filter, isSampled }) => {
      const page = { page: 1, per_page: 1, ...filter };
      const { pagination: exact } = (await fixture.post(`${endpoint}/read`, page)).body;
      const answer = await fixture.post(`${endpoint}/read`, { ...page, count: "estimated" });
      const { pagination } = answer.body;
      const isPlain = name === "nothing" && endpoint !== "kept";
      const mayEstimate =
        (engine === "postgres" && isSampled && endpoint !== "viewed") ||
        (engine !== "sqlite" && isPlain);
      expect(pagination.count_mode).toBe(mayEstimate ? "estimated" : "exact");
      if (pagination.count_mode === "exact")
        return expect(pagination.total_records).toBe(exact.total_records);
      expect(pagination.total_records).toBeGreaterThan(exact.total_records / 2);
      expect(pagination.total_records).toBeLessThan(exact.total_records * 2);
    },
  );

  test.each(["bolt", "valve", "one of", "zinc", "old hall"])(
    "of datatables is right, or says that it counted: %s",
    async (value) => {
      const grid = { draw: 1, start: 0, length: 1, search: { value } };
      const exact = (await fixture.post("goods/datatables", grid)).body;
      const { body } = await fixture.post("goods/datatables", { ...grid, count: "estimated" });
      expect(body.count_mode).toBe(engine === "sqlite" ? "exact" : "estimated");
      for (const name of ["recordsTotal", "recordsFiltered"]) {
        expect(body[name]).toBeGreaterThanOrEqual(exact[name] / 2);
        expect(body[name]).toBeLessThanOrEqual(exact[name] * 2);
      }
    },
  );
});
