/** The largest offset of a numbered page: `limits.maxOffset` of project.json. */
import { describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import { type Answer, type Fixture, openFixture, openForTests } from "./harness.ts";

const options = {
  tables: [{ name: "goods", columns: { id: "key", mark: "text(20)" } }],
  setUp: () => ["insert into goods values ('a', 'A'), ('b', 'B'), ('c', 'C'), ('d', 'D')"],
  endpoints: {
    goods: {
      tableName: "goods",
      primaryKey: "id",
      history: true,
      action: { read: true, datatables: true, lookup: true, aggregate: true, update: true },
      fieldNameLookup: { id: "id", text: "mark" },
      datatablesQuery: "select id, mark from goods",
    },
  },
} as const;

const narrow = openForTests(openFixture, {
  ...options,
  project: { odata: true, limits: { maxOffset: 2 } },
});
const usual = openForTests(openFixture, options);

type Ask = (of: Fixture, offset: number, filter?: object) => Promise<Answer>;

const onlyA = { where: { conditions: [{ key: "id", operator: "=", value: "a" }] } };

const lookup = { "X-Request-Mode": "static" };

/** Each requests a page that begins after this number of records. */
const ways: { name: string; ask: Ask; error: string; instead: string }[] = [
  {
    name: "read",
    ask: (of, offset, filter) =>
      of.post("goods/read", { page: offset + 1, per_page: 1, ...filter }),
    error: "Invalid parameter",
    instead:
      "page lies beyond the first 2 records; page with a cursor instead (cursor: true), or narrow the list with where",
  },
  {
    name: "datatables",
    ask: (of, offset, filter) =>
      of.post("goods/datatables", { start: offset, length: 1, ...filter }),
    error: "Invalid payload",
    instead:
      "start lies beyond the first 2 records; narrow the grid with a search, or page through read with a cursor",
  },
  {
    name: "lookup by POST",
    ask: (of, offset, filter) =>
      of.post("goods/lookup", { page: offset + 1, limit: 1, ...filter }, lookup),
    error: "Invalid parameter",
    instead:
      "page lies beyond the first 2 records; narrow the list with search or where, or page through read with a cursor",
  },
  {
    name: "lookup by GET",
    ask: (of, offset, filter) =>
      of.request(`/api/test/goods/lookup?page=${offset + 1}&limit=1${filter ? "&search=A" : ""}`, {
        headers: { "X-Request-Mode": "dynamic" },
      }),
    error: "Invalid parameter",
    instead:
      "page lies beyond the first 2 records; narrow the list with search or where, or page through read with a cursor",
  },
];

describe.each(ways)("$name", ({ ask, error, instead }) => {
  test("shows the page that begins right after maxOffset records", async () => {
    const { status, body } = await ask(narrow, 2);
    expect([status, body.data.map(({ id }: { id: string }) => id)]).toEqual([200, ["c"]]);
  });

  test("refuses a page that begins further, and says what to do instead", async () => {
    const answer = await ask(narrow, 3);
    check(answer, { status: 400, error });
    expect(answer.body.message).toBe(instead);
  });

  test("shows an empty page further on, where the list has ended before", async () => {
    const { status, body } = await ask(narrow, 3, onlyA);
    expect([status, body.data]).toEqual([200, []]);
  });

  test.each([100_000, 100_001, Number.MAX_SAFE_INTEGER - 1])(
    "shows an empty page after %d records of a short list",
    async (offset) => {
      const { status, body } = await ask(usual, offset);
      expect([status, body.data]).toEqual([200, []]);
    },
  );
});

describe("far behind the end of a short list", () => {
  const page = Number.MAX_SAFE_INTEGER;
  const pagination = { current_page: page, per_page: 100, has_next: false, has_previous: true };

  test.each<[name: string, body: object, pagination: object]>([
    ["totals", {}, { ...pagination, total_records: 4, total_pages: 1 }],
    [
      "totals with versions",
      { versions: true },
      { ...pagination, total_records: 4, total_pages: 1 },
    ],
    ["no totals without a count", { count: "none" }, pagination],
    ["an estimate", { count: "estimated" }, { has_next: false }],
  ])("read shows %s", async (_, body, expected) => {
    const answer = await usual.post("goods/read", { page, per_page: 100, ...body });
    expect([answer.status, answer.body.data]).toEqual([200, []]);
    expect(answer.body.pagination).toMatchObject(expected);
  });

  test("datatables shows the totals", async () => {
    const { status, body } = await usual.post("goods/datatables", { draw: 1, start: page });
    expect([status, body]).toEqual([
      200,
      { draw: 1, recordsTotal: 4, recordsFiltered: 4, data: [] },
    ]);
  });

  test("aggregate shows the number of groups, also beyond maxOffset", async () => {
    const groups = { group_by: ["id"], per_page: 1000 };
    const answer = await narrow.post("goods/aggregate", { ...groups, page });
    expect([answer.status, answer.body.data]).toEqual([200, []]);
    expect(answer.body.pagination).toMatchObject({ total_records: 4 });
    const last = await narrow.post("goods/aggregate", { ...groups, per_page: 1, page: 4 });
    expect(last.body.data).toMatchObject([{ id: "d" }]);
  });

  test("history shows the total", async () => {
    const answer = await usual.post("goods/history", { page, per_page: 100 });
    expect([answer.status, answer.body.data]).toEqual([200, []]);
  });
});

test.each([
  ["goods?$skip=3", 400],
  ["goods?$skip=3&$filter=id eq 'a'", 200],
  ["goods?$skip=9007199254740991&$filter=id eq 'a'", 200],
])("OData answers %s with %i", async (address, status) => {
  const answer = await narrow.request(`/odata/test/${address}`);
  expect([answer.status, answer.body.value]).toEqual([status, status === 200 ? [] : undefined]);
});

test("history refuses a page far behind records, if there are more changes", async () => {
  for (const mark of ["B2", "B3", "B4"]) await narrow.post("goods/update", { id: "b", mark });
  const page = (number: number) =>
    narrow.post("goods/history", { id: "b", page: number, per_page: 1 });
  expect((await page(3)).body.data).toHaveLength(1);
  check(await page(4), { status: 400, error: "Invalid parameter" });
});

test("lookup gives no path of a page that it would refuse", async () => {
  const headers = { "X-Request-Mode": "dynamic" };
  const page = (number: number) =>
    narrow.request(`/api/test/goods/lookup?page=${number}&limit=1`, { headers });
  const next = "/api/test/goods/lookup?page=3&limit=1";
  expect((await page(2)).body.pagination).toEqual({ more: true, next });
  expect((await page(3)).body.pagination).toEqual({ more: true, next: null });
});

test("a cursor goes further than maxOffset records", async () => {
  const first = await narrow.post("goods/read", { cursor: true, per_page: 3 });
  const { next_cursor: cursor } = first.body.pagination;
  const { body } = await narrow.post("goods/read", { cursor, per_page: 3 });
  expect(body.data).toMatchObject([{ id: "d" }]);
});
