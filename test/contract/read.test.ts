/** read over HTTP: pages and limits, select, search, sort, sources, and the scope that no request leaves. */
import { describe, expect, test } from "vitest";
import { and, check, column, condition, or, records, type Case } from "./cases.ts";
import { items } from "./fixture.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

const ids = items.map((row) => row.item_id);
const all = { select: ["item_id"] };

describe("the answer", () => {
  test("read answers records and their count, without pagination when there is no page", async () => {
    const answer = await shop.post("items", "read", { limit: 3 });
    expect(Object.keys(answer.body).sort()).toEqual(["count", "data", "success", "timestamp"]);
    expect(answer.body.count).toBe(3);
    const audit = { created_at: null, created_by: null, updated_at: null, updated_by: null };
    expect(answer.body.data).toEqual(
      items.slice(0, 3).map((row) => ({ ...row, locked: "set by hand", ...audit })),
    );
  });

  test("read answers an empty list when nothing matches", async () => {
    const answer = await shop.post("items", "read", { where: and(condition("code", "=", "none")) });
    expect(answer.body).toMatchObject({ data: [], count: 0 });
  });
});

describe("pages", () => {
  const pages: { name: string; body: object; ids: string[]; pagination: object }[] = [
    {
      name: "read gives ten records a page when per_page is missing",
      body: { page: 1 },
      ids,
      pagination: {
        current_page: 1,
        per_page: 10,
        total_records: 8,
        total_pages: 1,
        has_next: false,
        has_previous: false,
      },
    },
    {
      name: "read gives the first page",
      body: { page: 1, per_page: 3 },
      ids: ids.slice(0, 3),
      pagination: {
        current_page: 1,
        per_page: 3,
        total_records: 8,
        total_pages: 3,
        has_next: true,
        has_previous: false,
      },
    },
    {
      name: "read gives a page in the middle",
      body: { page: 2, per_page: 3 },
      ids: ids.slice(3, 6),
      pagination: {
        current_page: 2,
        per_page: 3,
        total_records: 8,
        total_pages: 3,
        has_next: true,
        has_previous: true,
      },
    },
    {
      name: "read gives the last page, which is shorter",
      body: { page: 3, per_page: 3 },
      ids: ids.slice(6),
      pagination: {
        current_page: 3,
        per_page: 3,
        total_records: 8,
        total_pages: 3,
        has_next: false,
        has_previous: true,
      },
    },
    {
      name: "read gives an empty page behind the last",
      body: { page: 99, per_page: 3 },
      ids: [],
      pagination: {
        current_page: 99,
        per_page: 3,
        total_records: 8,
        total_pages: 3,
        has_next: false,
        has_previous: true,
      },
    },
    {
      name: "read counts only what matches",
      body: { page: 1, per_page: 1, where: and(condition("category_id", "=", "c1")) },
      ids: ["i01"],
      pagination: {
        current_page: 1,
        per_page: 1,
        total_records: 3,
        total_pages: 3,
        has_next: true,
        has_previous: false,
      },
    },
    {
      name: "read counts no pages when nothing matches",
      body: { page: 1, where: and(condition("code", "=", "none")) },
      ids: [],
      pagination: {
        current_page: 1,
        per_page: 10,
        total_records: 0,
        total_pages: 0,
        has_next: false,
        has_previous: false,
      },
    },
    {
      name: "read takes 100 records a page",
      body: { page: 1, per_page: 100 },
      ids,
      pagination: {
        current_page: 1,
        per_page: 100,
        total_records: 8,
        total_pages: 1,
        has_next: false,
        has_previous: false,
      },
    },
  ];
  test.each(pages)("$name", async ({ body, ids: expected, pagination }) => {
    const answer = await shop.post("items", "read", body);
    expect(Object.keys(answer.body).sort()).toEqual([
      "count",
      "data",
      "pagination",
      "success",
      "timestamp",
    ]);
    expect(answer.body.pagination).toEqual(pagination);
    expect(column(answer, "item_id")).toEqual(expected);
    expect(answer.body.count).toBe(expected.length);
  });

  test("read takes limits from 1 to 5000", async () => {
    expect(records(await shop.post("items", "read", { limit: 1 }))).toHaveLength(1);
    expect(records(await shop.post("items", "read", { limit: 5000 }))).toHaveLength(8);
  });

  test("read gives 1000 records when limit is missing, and all with a greater one", async () => {
    const rows = Array.from({ length: 1005 }, (_, index) => `('bulk ${index}', 'bulk')`);
    await shop.fixture.sql(`insert into kinds (kind_id, note) values ${rows.join(", ")}`);
    const read = async (body: object) => (await shop.post("kinds", "read", body)).body.count;
    expect(await read({ select: ["note"] })).toBe(1000);
    expect(await read({ select: ["note"], limit: 1004 })).toBe(1004);
    expect(await read({ select: ["note"], limit: 5000 })).toBe(1005);
  });

  const values = [0, -1, 1.5, "10abc", true, [10], { a: 1 }, 1e308, ""];
  const refused = [
    ...values.map((value) => ({ what: `page ${JSON.stringify(value)}`, body: { page: value } })),
    ...[...values, 101].map((value) => ({
      what: `per_page ${JSON.stringify(value)}`,
      body: { page: 1, per_page: value },
    })),
    ...[...values, 5001].map((value) => ({
      what: `limit ${JSON.stringify(value)}`,
      body: { limit: value },
    })),
  ];
  test.each(refused)("read refuses $what", async ({ body }) => {
    check(await shop.post("items", "read", body), {
      name: "",
      body,
      status: 400,
      error: "Invalid parameter",
    });
  });
});

describe("select", () => {
  test("read answers the selected columns alone", async () => {
    const answer = await shop.post("items", "read", { select: ["name", "item_id"], limit: 1 });
    expect(answer.body.data).toEqual([{ item_id: "i01", name: "apple" }]);
  });

  const refused: Case[] = [
    {
      name: "read refuses an unknown column in select",
      body: { select: ["item_id", "nope"] },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "read refuses a hidden column in select",
      body: { select: ["secret"] },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "read refuses an expression in select",
      body: { select: ["count(*)"] },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "read refuses the star in select",
      body: { select: ["*"] },
      status: 400,
      error: "Invalid field",
    },
  ];
  test.each(refused)("$name", async (row) =>
    check(await shop.post("items", "read", row.body), row),
  );

  test("read shows of a table its fieldName, the key and the audit columns", async () => {
    const [row] = records(await shop.post("labels", "read", { limit: 1 }));
    expect(Object.keys(row ?? {}).sort()).toEqual([
      "created_at",
      "created_by",
      "item_id",
      "name",
      "updated_at",
      "updated_by",
    ]);
    const other = await shop.post("labels", "read", { select: ["code"] });
    check(other, { status: 400, error: "Invalid field" });
  });
});

describe("search", () => {
  const searches: { name: string; body: object; ids: string[] }[] = [
    {
      name: "read searches one column",
      body: { search_value: "an", search_by: "name" },
      ids: ["i02"],
    },
    {
      name: "read searches all columns when search_by is missing",
      body: { search_value: "A-1" },
      ids: ["i01"],
    },
    {
      name: "read searches all columns for search_by all",
      body: { search_value: "777", search_by: "all" },
      ids: ["i07"],
    },
    {
      name: "read searches what a date shows",
      body: { search_value: "2026-03", search_by: "due" },
      ids: ["i03"],
    },
    {
      name: "read searches what a decimal shows",
      body: { search_value: "0.25", search_by: "price" },
      ids: ["i02"],
    },
    {
      name: "read searches whatever the case",
      body: { search_value: "APPLE", search_by: "name" },
      ids: ["i01"],
    },
    {
      name: "read searches whatever the case of letters beyond ASCII",
      body: { search_value: "éclair", search_by: "name" },
      ids: ["i06"],
    },
    {
      name: "read searches by letters with their accents",
      body: { search_value: "eclair", search_by: "name" },
      ids: [],
    },
    {
      name: "read searches % literally",
      body: { search_value: "%", search_by: "name" },
      ids: ["i04"],
    },
    {
      name: "read searches _ literally",
      body: { search_value: "e_c", search_by: "name" },
      ids: ["i05"],
    },
    {
      name: "read searches a backslash literally",
      body: { search_value: "\\", search_by: "name" },
      ids: ["i07"],
    },
    {
      name: "read searches quotes literally",
      body: { search_value: "' or ''='", search_by: "name" },
      ids: [],
    },
    { name: "read searches no hidden column", body: { search_value: "hush" }, ids: [] },
    {
      name: "read takes an empty search as none",
      body: { search_value: "", search_by: "name" },
      ids,
    },
    {
      name: "read joins search and where by AND",
      body: {
        search_value: "a",
        search_by: "name",
        where: or(condition("qty", "=", 10), condition("qty", "=", 5)),
      },
      ids: ["i01"],
    },
  ];
  test.each(searches)("$name", async ({ body, ids: expected }) => {
    expect(column(await shop.post("items", "read", { ...all, ...body }), "item_id")).toEqual(
      expected,
    );
  });

  test("read counts what the search finds", async () => {
    const answer = await shop.post("items", "read", {
      page: 1,
      per_page: 1,
      search_value: "SNAKE",
    });
    expect(answer.body.pagination).toMatchObject({
      total_records: 2,
      total_pages: 2,
      has_next: true,
    });
  });

  const refused: Case[] = [
    {
      name: "read refuses an unknown column in search_by",
      body: { search_value: "a", search_by: "nope" },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "read refuses a hidden column in search_by",
      body: { search_value: "hu", search_by: "secret" },
      status: 400,
      error: "Invalid field",
    },
  ];
  test.each(refused)("$name", async (row) =>
    check(await shop.post("items", "read", row.body), row),
  );
});

describe("sort", () => {
  const by = (...columns: [string, string][]) =>
    columns.map(([name, direction]) => ({ column: name, direction }));
  const orders: { name: string; sort: object[]; ids: string[] }[] = [
    { name: "read sorts by the primary key when nothing is asked", sort: [], ids },
    {
      name: "read sorts upwards, null first",
      sort: by(["qty", "ASC"]),
      ids: ["i05", "i04", "i03", "i06", "i01", "i02", "i08", "i07"],
    },
    {
      name: "read sorts downwards, null last",
      sort: by(["qty", "DESC"]),
      ids: ["i07", "i02", "i08", "i01", "i06", "i03", "i04", "i05"],
    },
    {
      name: "read sorts by several columns",
      sort: by(["price", "DESC"], ["qty", "DESC"]),
      ids: ["i03", "i04", "i07", "i08", "i06", "i01", "i02", "i05"],
    },
    {
      name: "read sorts numbers as numbers",
      sort: by(["price", "ASC"]),
      ids: ["i05", "i02", "i01", "i06", "i07", "i08", "i04", "i03"],
    },
    {
      name: "read sorts false before true",
      sort: by(["active", "ASC"]),
      ids: ["i05", "i03", "i07", "i08", "i01", "i02", "i04", "i06"],
    },
    {
      name: "read sorts dates",
      sort: by(["due", "DESC"]),
      ids: ["i08", "i07", "i06", "i03", "i02", "i01", "i04", "i05"],
    },
    {
      name: "read sorts by the primary key downwards",
      sort: by(["item_id", "DESC"]),
      ids: ids.toReversed(),
    },
    {
      name: "read breaks ties by the primary key",
      sort: by(["category_id", "DESC"]),
      ids: ["i03", "i04", "i05", "i01", "i02", "i06", "i07", "i08"],
    },
  ];
  test.each(orders)("$name", async ({ sort, ids: expected }) => {
    expect(
      column(await shop.post("items", "read", { ...all, sort_columns: sort }), "item_id"),
    ).toEqual(expected);
  });

  test("read gives each record on one page only, however many share the sort value", async () => {
    const seen: unknown[] = [];
    for (let page = 1; page <= 4; page++) {
      const answer = await shop.post("items", "read", {
        page,
        per_page: 2,
        sort_columns: by(["active", "DESC"]),
      });
      seen.push(...column(answer, "item_id"));
    }
    expect(seen.toSorted()).toEqual(ids);
  });

  const refused: Case[] = [
    {
      name: "read refuses an unknown column in sort_columns",
      body: { sort_columns: by(["nope", "ASC"]) },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "read refuses a hidden column in sort_columns",
      body: { sort_columns: by(["secret", "ASC"]) },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "read refuses a direction in the column",
      body: { sort_columns: by(["qty DESC", "ASC"]) },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "read refuses another direction",
      body: { sort_columns: by(["qty", "UP"]) },
      status: 400,
      error: "Invalid parameter",
    },
    {
      name: "read refuses SQL as direction",
      body: { sort_columns: by(["qty", "ASC, name"]) },
      status: 400,
      error: "Invalid parameter",
    },
    {
      name: "read refuses sort_columns that are no array",
      body: { sort_columns: "qty" },
      status: 400,
      error: "Invalid parameter",
    },
  ];
  test.each(refused)("$name", async (row) =>
    check(await shop.post("items", "read", row.body), row),
  );
});

describe("the source", () => {
  test("read takes viewName before viewQuery and tableName", async () => {
    const answer = await shop.post("by-view", "read", {
      where: and(condition("item_id", "=", "i01")),
    });
    expect(answer.body.data).toEqual([
      { item_id: "i01", name: "apple", category_name: "Food", origin: "view" },
    ]);
  });

  test("read takes viewQuery before tableName, with its ORDER BY and semicolon", async () => {
    const answer = await shop.post("by-query", "read", {
      sort_columns: [{ column: "item_id", direction: "DESC" }],
      limit: 1,
    });
    expect(answer.body.data).toEqual([
      { item_id: "i08", name: "snakeXcase", origin: "query", odd: "a;b?:c$1" },
    ]);
  });

  test("read filters, searches, sorts and counts over a view's own columns", async () => {
    const answer = await shop.post("by-view", "read", {
      page: 1,
      per_page: 2,
      where: and(condition("category_name", "=", "Goods")),
      search_value: "C",
      search_by: "name",
      sort_columns: [{ column: "name", direction: "DESC" }],
    });
    expect(column(answer, "name")).toEqual(["snake_case", "cherry"]);
    expect(answer.body.pagination).toMatchObject({ total_records: 3 });
  });

  test("read refuses a column that the table has but the view does not", async () => {
    const answer = await shop.post("by-view", "read", { select: ["qty"] });
    check(answer, { status: 400, error: "Invalid field" });
  });
});

describe("the default scope", () => {
  const scopes: { name: string; endpoint: string; body: object; ids: string[] }[] = [
    {
      name: "read applies a flat scope",
      endpoint: "scope-flat",
      body: all,
      ids: ["i01", "i02", "i06"],
    },
    {
      name: "read applies the read part of a nested scope",
      endpoint: "scope-nested",
      body: all,
      ids: ["i03", "i07", "i08"],
    },
    {
      name: "read takes null in a scope as IS NULL",
      endpoint: "scope-null",
      body: all,
      ids: ["i04", "i05"],
    },
    {
      name: "read applies an operator of a scope",
      endpoint: "scope-operator",
      body: all,
      ids: ["i02", "i07", "i08"],
    },
    {
      name: "read keeps the scope against where with OR",
      endpoint: "scope-flat",
      body: { ...all, where: or(condition("active", "=", false), condition("qty", "=", 10)) },
      ids: ["i01"],
    },
    {
      name: "read keeps the scope against where on the same column",
      endpoint: "scope-nested",
      body: { ...all, where: and(condition("active", "=", true)) },
      ids: [],
    },
    {
      name: "read keeps the scope against a search",
      endpoint: "scope-null",
      body: { ...all, search_value: "a" },
      ids: ["i04", "i05"],
    },
    {
      name: "read narrows the scope by where",
      endpoint: "scope-operator",
      body: { ...all, where: and(condition("qty", "<", 100)) },
      ids: ["i02", "i08"],
    },
  ];
  test.each(scopes)("$name", async ({ endpoint, body, ids: expected }) => {
    expect(column(await shop.post(endpoint, "read", body), "item_id")).toEqual(expected);
  });

  test("read counts within the scope", async () => {
    const answer = await shop.post("scope-flat", "read", { page: 1, per_page: 2 });
    expect(answer.body.pagination).toMatchObject({ total_records: 3, total_pages: 2 });
  });
});

describe("the payload", () => {
  const payloads: Case[] = [
    { name: "read refuses no body", body: undefined, status: 400 },
    { name: "read refuses an empty object", body: {}, status: 400 },
    { name: "read refuses null", body: "null", status: 400 },
    { name: "read refuses an array", body: [], status: 400 },
    { name: "read refuses a text", body: '"text"', status: 400 },
    { name: "read refuses a number", body: "0", status: 400 },
  ];
  test.each(payloads)("$name", async (row) => {
    check(await shop.post("items", "read", row.body), { ...row, error: "Invalid payload" });
  });
});
