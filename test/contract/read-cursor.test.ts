/** read by cursor: how pages continue and end, other parameters beside it, and refused cursors. */
import { describe, expect, test } from "vitest";
import { check, column, where, type Case } from "./cases.ts";
import { items } from "./fixture.ts";
import type { Answer } from "./harness.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

const ids = items.map((row) => row.item_id);
const read = (body: object, endpoint = "items") => shop.post(endpoint, "read", body);
const by = (name: string, direction = "ASC") => ({ sort_columns: [{ column: name, direction }] });

/** The ids of all pages, page by page. */
async function walk(body: object, endpoint = "items"): Promise<unknown[][]> {
  const pages: unknown[][] = [];
  for (let cursor: unknown = true; cursor !== null;) {
    const answer = await read({ ...body, cursor }, endpoint);
    check(answer, { status: 200 });
    pages.push(column(answer, "item_id"));
    cursor = answer.body.pagination.next_cursor;
  }
  return pages;
}

const nextOf = (answer: Answer): string => answer.body.pagination.next_cursor;

/** What a cursor holds: a version, a digest of the list, and the row's place. */
const contentOf = (cursor: string): [number, string, unknown[]] =>
  JSON.parse(Buffer.from(cursor, "base64url").toString());
const cursorOf = (content: unknown): string =>
  Buffer.from(JSON.stringify(content)).toString("base64url");

describe("pages", () => {
  test("read begins with cursor: true and goes on with next_cursor", async () => {
    const first = await read({ cursor: true, per_page: 5 });
    expect(Object.keys(first.body).sort()).toEqual([
      "count",
      "data",
      "pagination",
      "success",
      "timestamp",
    ]);
    expect(first.body.pagination).toEqual({
      per_page: 5,
      next_cursor: expect.stringMatching(/^[\w-]+$/),
      has_next: true,
    });
    expect(first.body.count).toBe(5);
    expect(column(first, "item_id")).toEqual(ids.slice(0, 5));
    const second = await read({ cursor: nextOf(first), per_page: 5 });
    expect(second.body.pagination).toEqual({ per_page: 5, next_cursor: null, has_next: false });
    expect(column(second, "item_id")).toEqual(ids.slice(5));
  });

  test("read by cursor shows the members that other reads show", async () => {
    const [one] = (await read({ cursor: true, per_page: 1 })).body.data;
    expect(one).toEqual((await read({ limit: 1 })).body.data[0]);
  });

  test("read by cursor ends with a page that is exactly full", async () => {
    const answer = await read({ cursor: true, per_page: 8 });
    expect(answer.body.pagination).toEqual({ per_page: 8, next_cursor: null, has_next: false });
    expect(answer.body.count).toBe(8);
  });

  test("read by cursor gives an empty page when nothing matches", async () => {
    const answer = await read({ cursor: true, ...where("code", "=", "none") });
    expect(answer.body).toMatchObject({
      data: [],
      count: 0,
      pagination: { per_page: 10, next_cursor: null, has_next: false },
    });
  });

  test("read by cursor gives ten records a page when per_page is missing", async () => {
    await shop.fixture.sql(
      `insert into kinds (kind_id) values ${ids.map((id) => `('${id}'), ('x${id}')`).join(", ")}`,
    );
    const answer = await read({ cursor: true }, "kinds");
    expect(answer.body).toMatchObject({ count: 10, pagination: { per_page: 10, has_next: true } });
  });

  test("read takes another per_page and select on each page", async () => {
    const first = await read({ cursor: true, per_page: 2, ...by("qty"), select: ["name"] });
    const second = await read({ cursor: nextOf(first), per_page: 3, ...by("qty") });
    const whole = await read({ limit: 5, ...by("qty") });
    expect(column(second, "item_id")).toEqual(column(whole, "item_id").slice(2));
    expect(first.body.data).toEqual(
      whole.body.data.slice(0, 2).map(({ name }: never) => ({ name })),
    );
  });

  test("read takes cursor false and null as none", async () => {
    for (const cursor of [false, null]) {
      const answer = await read({ cursor, limit: 3 });
      expect(Object.keys(answer.body)).not.toContain("pagination");
      expect(answer.body.count).toBe(3);
    }
  });

  test("read by cursor takes a count mode and does not count", async () => {
    const answer = await read({ cursor: true, count: "exact" });
    expect(answer.body.pagination).toEqual({ per_page: 10, next_cursor: null, has_next: false });
  });

  const lists: { name: string; body: object; endpoint?: string }[] = [
    { name: "read by cursor follows ties and nulls upwards", body: by("qty") },
    { name: "read by cursor follows ties and nulls downwards", body: by("qty", "DESC") },
    { name: "read by cursor follows the key alone", body: by("item_id", "DESC") },
    {
      name: "read by cursor follows several columns in both directions",
      body: {
        sort_columns: [
          { column: "active", direction: "DESC" },
          { column: "category_id", direction: "ASC" },
          { column: "price", direction: "DESC" },
        ],
      },
    },
    {
      name: "read by cursor keeps to the where",
      body: { ...where("qty", ">", 4), ...by("price") },
    },
    { name: "read by cursor keeps to the search", body: { search_value: "a", search_by: "name" } },
    { name: "read by cursor keeps to the scope", body: by("name"), endpoint: "scope-flat" },
    { name: "read by cursor reads a view", body: by("category_name"), endpoint: "by-view" },
    { name: "read by cursor reads a query", body: by("odd"), endpoint: "by-query" },
  ];
  test.each(lists)("$name", async ({ body, endpoint }) => {
    const whole = column(await read({ ...body, limit: 100 }, endpoint), "item_id");
    expect(whole.length).toBeGreaterThan(1);
    expect((await walk({ ...body, per_page: 2 }, endpoint)).flat()).toEqual(whole);
  });
});

describe("rows that come and go", () => {
  const put = (id: string, note: string) =>
    shop.fixture.sql(
      `insert into kinds (kind_id, note, short) values ('${id}', '${note}', 'moving')`,
    );
  const list = {
    ...where("short", "=", "moving"),
    ...by("note"),
    select: ["kind_id"],
    per_page: 2,
  };

  test("read by cursor shows each other row once when rows come and go between pages", async () => {
    for (const id of ["m1", "m3", "m5", "m7", "m9"]) await put(id, id);
    const first = await read({ ...list, cursor: true }, "kinds");
    expect(column(first, "kind_id")).toEqual(["m1", "m3"]);
    // Before the place, its own row, and behind it.
    await put("m2", "m2");
    await shop.fixture.sql("delete from kinds where kind_id in ('m1', 'm3', 'm7')");
    await put("m8", "m8");
    const second = await read({ ...list, cursor: nextOf(first) }, "kinds");
    expect(column(second, "kind_id")).toEqual(["m5", "m8"]);
    const third = await read({ ...list, cursor: nextOf(second) }, "kinds");
    expect(column(third, "kind_id")).toEqual(["m9"]);
    expect(nextOf(third)).toBeNull();
  });

  test("read by cursor gives the same page for the same cursor", async () => {
    const first = await read({ cursor: true, per_page: 3, ...by("name") });
    const [one, two] = [
      await read({ cursor: nextOf(first), ...by("name") }),
      await read({ cursor: nextOf(first), ...by("name") }),
    ];
    expect(one.body.data).toEqual(two.body.data);
  });
});

describe("refusals", () => {
  const values = [
    0,
    1,
    -1,
    "",
    " ",
    "true",
    [],
    [true],
    {},
    { cursor: true },
    "é",
    "a\nb",
    "=",
    "x".repeat(100_000),
  ];
  const refused: Case[] = [
    ...values.map((cursor) => ({
      name: `read refuses the cursor ${JSON.stringify(cursor).slice(0, 40)}`,
      body: { cursor },
      status: 400,
      error: "Invalid parameter",
    })),
    {
      name: "read refuses page beside cursor",
      body: { cursor: true, page: 1 },
      status: 400,
      error: "Invalid parameter",
      message: "page and cursor cannot be combined; leave one of them out",
    },
    {
      name: "read refuses limit beside cursor",
      body: { cursor: true, limit: 5 },
      status: 400,
      error: "Invalid parameter",
      message: "limit and cursor cannot be combined; leave one of them out",
    },
    ...[0, 101, 1.5, "5", null].map((perPage) => ({
      name: `read refuses per_page ${JSON.stringify(perPage)} beside cursor`,
      body: { cursor: true, per_page: perPage },
      status: 400,
      error: "Invalid parameter",
    })),
    {
      name: "read refuses an unknown column in select beside cursor",
      body: { cursor: true, select: ["nope"] },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "read refuses another count beside cursor",
      body: { cursor: true, count: "all" },
      status: 400,
      error: "Invalid parameter",
    },
  ];
  test.each(refused)("$name", async (row) => check(await read(row.body as object), row));

  const others: { what: string; body: object; endpoint?: string }[] = [
    { what: "another sort", body: by("name") },
    { what: "another direction", body: by("qty", "DESC") },
    { what: "no sort", body: {} },
    { what: "a where", body: { ...by("qty"), ...where("qty", ">", 1) } },
    { what: "a search", body: { ...by("qty"), search_value: "a" } },
    { what: "another endpoint", body: by("qty"), endpoint: "scope-operator" },
  ];
  test.each(others)("read refuses a cursor with $what", async ({ body, endpoint }) => {
    const cursor = nextOf(await read({ cursor: true, per_page: 2, ...by("qty") }));
    check(await read({ cursor, ...body }, endpoint), {
      status: 400,
      error: "Invalid parameter",
      message:
        "The cursor belongs to a list with a different sort, where or search; start again with cursor: true",
    });
  });

  test("read takes a cursor with a where that says the same in another way", async () => {
    const list = (value: unknown, logic: string) => ({
      where: { logic, conditions: [{ operator: "<=", value, key: "price" }] },
      ...by("qty"),
    });
    const cursor = nextOf(await read({ cursor: true, per_page: 2, ...list(12, "AND") }));
    check(await read({ cursor, ...list("12.00", "and") }), { status: 200 });
  });

  const broken: [string, (cursor: string) => string][] = [
    ["cut", (cursor) => cursor.slice(0, -3)],
    ["cut to one character", (cursor) => cursor.slice(0, 1)],
    ["padded", (cursor) => `${cursor}====`],
    ["doubled", (cursor) => cursor + cursor],
    ["not JSON", () => Buffer.from("[1,").toString("base64url")],
    ["not UTF-8", () => Buffer.from([0xff, 0xfe, 0x80]).toString("base64url")],
    ["a number", () => cursorOf(1)],
    ["null", () => cursorOf(null)],
    ["an object", () => cursorOf({ length: 3 })],
    ["of another version", (cursor) => cursorOf(contentOf(cursor).with(0, 2))],
    ["without a place", (cursor) => cursorOf(contentOf(cursor).slice(0, 2))],
    ["with a place of one", (cursor) => cursorOf(contentOf(cursor).with(2, ["a"]))],
    ["with a place of three", (cursor) => cursorOf(contentOf(cursor).with(2, ["a", "b", "c"]))],
    ["with a number in its place", (cursor) => cursorOf(contentOf(cursor).with(2, [1, "i01"]))],
    ["with an object in its place", (cursor) => cursorOf(contentOf(cursor).with(2, [{}, "i01"]))],
    [
      "with half a character in its place",
      (cursor) => cursorOf(contentOf(cursor).with(2, ["i1", "\ud800"])),
    ],
    ["with another digest", (cursor) => cursorOf(contentOf(cursor).with(1, "x"))],
    ["with a number as its digest", (cursor) => cursorOf(contentOf(cursor).with(1, 7))],
  ];
  test.each(broken)("read refuses a cursor that is %s", async (_what, change) => {
    const cursor = nextOf(await read({ cursor: true, per_page: 2, ...by("qty") }));
    const answer = await read({ cursor: change(cursor), ...by("qty") });
    check(answer, { status: 400, error: "Invalid parameter" });
  });

  test("read refuses to page by cursor with a hidden key", async () => {
    check(await read({ cursor: true }, "hidden-key"), {
      status: 400,
      error: "Invalid parameter",
      message:
        "This endpoint cannot be paged by cursor, because its records do not show their whole key; use page",
    });
    check(await read({ page: 1 }, "hidden-key"), { status: 200 });
  });

  test("read refuses to page by cursor where the key does not tell rows apart", async () => {
    const error = { status: 400, error: "Invalid parameter" };
    check(await read({ cursor: true, per_page: 5, select: ["code"] }, "many"), error);
    // Another sort may do so.
    const pages = await walk({ per_page: 5, ...by("code") }, "many");
    expect(pages.flat()).toHaveLength(items.length ** 2);
  });

  test("read refuses a cursor that would be too long", async () => {
    const text = "x".repeat(60_000);
    await shop.fixture.sql(
      `insert into kinds (kind_id, short, note) values ('l1', 'long', '${text}'), ('l2', 'long', '${text}')`,
    );
    const body = { cursor: true, per_page: 1, ...by("note"), ...where("short", "=", "long") };
    const answer = await read(body, "kinds");
    // MySQL sorts only by the beginning of a long text.
    if (shop.fixture.engine === "mysql") check(answer, { status: 200 });
    else check(answer, { status: 400, error: "Invalid parameter" });
    check(await read({ page: 1, ...by("note") }, "kinds"), { status: 200 });
    await shop.fixture.sql("delete from kinds where kind_id in ('l1', 'l2')");
  });
});

describe("made-up places", () => {
  const names = [
    "whole",
    "small",
    "big",
    "unsigned",
    "exact",
    "money",
    "rough",
    "flag",
    "day",
    "moment",
    "clock",
    "token",
    "note",
    "short",
    "local_time",
  ];
  const madeUp = [
    "",
    "abc",
    "1e999",
    "NaN",
    "9".repeat(5000),
    "-1",
    "18446744073709551616",
    "2024-13-45",
    "2024-02-31 25:61:61",
    "infinity",
    "now",
    "' or 1=1 --",
    "\0",
    "a\0b",
    "😀",
    "i1",
    "i99999999999999999999",
    "nNaN",
    "n1",
    "t",
    "b0",
    "bff",
    null,
  ];

  test.each(names)("read refuses made-up places in the column %s, or finds none", async (name) => {
    await shop.fixture.sql(`insert into kinds (kind_id) values ('a ${name}'), ('b ${name}')`);
    for (const direction of ["ASC", "DESC"]) {
      const list = by(name, direction);
      const own = contentOf(nextOf(await read({ cursor: true, per_page: 1, ...list }, "kinds")));
      const [mark, key] = own[2];
      for (const value of madeUp) {
        for (const place of [
          [value, key],
          [mark, value],
        ]) {
          const answer = await read({ cursor: cursorOf(own.with(2, place)), ...list }, "kinds");
          if (answer.status !== 200) check(answer, { status: 400, error: "Invalid parameter" });
        }
      }
    }
  });

  test("read by cursor never leaves the scope, whatever place is made up", async () => {
    const whole = column(await read({ limit: 100 }, "scope-flat"), "item_id");
    const cursor = nextOf(await read({ cursor: true, per_page: 1 }, "scope-flat"));
    for (const value of [null, "", "t", "\u0001", "a"]) {
      const place = contentOf(cursor).with(2, [value]);
      const answer = await read({ cursor: cursorOf(place) }, "scope-flat");
      if (answer.status === 200)
        expect(whole).toEqual(expect.arrayContaining(column(answer, "item_id")));
      else check(answer, { status: 400, error: "Invalid parameter" });
    }
  });
});
