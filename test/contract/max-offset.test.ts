/** The largest offset of a numbered page: `limits.maxOffset` of project.json. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import { type Answer, type Fixture, openFixture } from "./harness.ts";

const options = {
  tables: [{ name: "goods", columns: { id: "key", mark: "text(20)" } }],
  setUp: () => ["insert into goods values ('a', 'A'), ('b', 'B'), ('c', 'C'), ('d', 'D')"],
  endpoints: {
    goods: {
      tableName: "goods",
      primaryKey: "id",
      action: { read: true, datatables: true, lookup: true },
      fieldNameLookup: { id: "id", text: "mark" },
      datatablesQuery: "select id, mark from goods",
    },
  },
} as const;

let narrow: Fixture;
let usual: Fixture;
beforeAll(async () => {
  narrow = await openFixture({ ...options, project: { limits: { maxOffset: 2 } } });
  usual = await openFixture(options);
});
afterAll(() => Promise.all([narrow?.close(), usual?.close()]));

type Ask = (of: Fixture, offset: number) => Promise<Answer>;

const lookup = { "X-Request-Mode": "static" };

/** Each requests a page that begins after this number of records. */
const ways: { name: string; ask: Ask; error: string; instead: string }[] = [
  {
    name: "read",
    ask: (of, offset) => of.post("goods/read", { page: offset + 1, per_page: 1 }),
    error: "Invalid parameter",
    instead:
      "page lies beyond the first 2 records; page with a cursor instead (cursor: true), or narrow the list with where",
  },
  {
    name: "datatables",
    ask: (of, offset) => of.post("goods/datatables", { start: offset, length: 1 }),
    error: "Invalid payload",
    instead:
      "start lies beyond the first 2 records; narrow the grid with a search, or page through read with a cursor",
  },
  {
    name: "lookup by POST",
    ask: (of, offset) => of.post("goods/lookup", { page: offset + 1, limit: 1 }, lookup),
    error: "Invalid parameter",
    instead:
      "page lies beyond the first 2 records; narrow the list with search or where, or page through read with a cursor",
  },
  {
    name: "lookup by GET",
    ask: (of, offset) =>
      of.request(`/api/test/goods/lookup?page=${offset + 1}&limit=1`, {
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

  test.each([
    [100_000, 200],
    [100_001, 400],
    [Number.MAX_SAFE_INTEGER - 1, 400],
  ])("answers, without the setting, a page after %d records with %d", async (offset, status) => {
    expect((await ask(usual, offset)).status).toBe(status);
  });
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
