/**
 * Hostile input: names, values and types that try to inject SQL, reach hidden columns or crash a driver. Each request
 * has one status and one error name, the same on every engine; the tables are unchanged afterwards.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { check, type Case } from "./cases.ts";
import { hostileNames, hostileTexts, noNames } from "./hostile-words.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

interface Attack {
  endpoint: string;
  action: string;
  body: unknown;
  status: number;
  error?: string;
}

const tables = ["categories", "items", "item_lines", "days", "kinds", "forms", "counters"];
const dump = () =>
  Promise.all(tables.map((table) => shop.fixture.sql(`select * from ${table} order by 1`)));

let before: unknown;
beforeAll(async () => {
  const counter = { counter_id: "n1", stock: 5, balance: 5, big: 5, free: 5 };
  expect((await shop.post("counters", "create", counter)).status).toBe(201);
  before = await dump();
});
afterAll(async () => {
  expect(await dump(), "nothing that was refused may have written").toEqual(before);
});

const strike = async ({ endpoint, action, body, ...expected }: Attack) => {
  check(await shop.post(endpoint, action, body), expected as Case);
};

describe("names", () => {
  const places: { place: string; attack: (name: unknown) => Omit<Attack, "status" | "error"> }[] = [
    {
      place: "select of read",
      attack: (name) => ({ endpoint: "items", action: "read", body: { select: [name] } }),
    },
    {
      place: "where of read",
      attack: (name) => ({
        endpoint: "items",
        action: "read",
        body: { where: { logic: "AND", conditions: [{ key: name, operator: "=", value: null }] } },
      }),
    },
    {
      place: "sort of read",
      attack: (name) => ({
        endpoint: "items",
        action: "read",
        body: { sort_columns: [{ column: name, direction: "ASC" }] },
      }),
    },
    {
      place: "select of first",
      attack: (name) => ({
        endpoint: "items",
        action: "first",
        body: { where: [{ key: "item_id", value: "i01" }], select: [name] },
      }),
    },
    {
      place: "where of first",
      attack: (name) => ({
        endpoint: "items",
        action: "first",
        body: { where: [{ key: name, value: null }] },
      }),
    },
    {
      place: "where of delete",
      attack: (name) => ({
        endpoint: "items",
        action: "delete",
        body: { where: [{ key: name, value: null }] },
      }),
    },
  ];
  const named = places.flatMap(({ place, attack }) =>
    hostileNames.map((name) => ({ place, name, shown: name.slice(0, 30), attack })),
  );
  test.each(named)("the name $shown in $place is an invalid field", async ({ name, attack }) => {
    await strike({ ...attack(name), status: 400, error: "Invalid field" });
  });

  const unnamed = places.flatMap(({ place, attack }) =>
    noNames.map((name) => ({ place, name, shown: JSON.stringify(name), attack })),
  );
  test.each(unnamed)("$shown as a name in $place answers 400", async ({ name, attack }) => {
    const { endpoint, action, body } = attack(name);
    const answer = await shop.post(endpoint, action, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
  });

  const searched = hostileNames.filter((name) => name !== "");
  test.each(searched.map((name) => ({ name, shown: name.slice(0, 30) })))(
    "the name $shown in search_by is an invalid field",
    async ({ name }) => {
      const body = { search_value: "a", search_by: name };
      await strike({
        endpoint: "items",
        action: "read",
        body,
        status: 400,
        error: "Invalid field",
      });
    },
  );

  test.each(hostileNames.map((name) => ({ name, shown: name.slice(0, 30) })))(
    "the name $shown as a field of adjust is an invalid payload",
    async ({ name }) => {
      const body = { counter_id: "n1", adjustments: [{ field: name, value: 1 }] };
      await strike({
        endpoint: "counters",
        action: "adjust",
        body,
        status: 400,
        error: "Invalid payload",
      });
    },
  );

  test("the service says no more of a hidden column than of one that does not exist", async () => {
    for (const body of [
      { select: ["%"] },
      { sort_columns: [{ column: "%", direction: "ASC" }] },
      { search_value: "h", search_by: "%" },
    ]) {
      const ask = async (name: string) => {
        const answer = await shop.post(
          "items",
          "read",
          JSON.stringify(body).replace('"%"', JSON.stringify(name)),
        );
        return JSON.stringify({ ...answer.body, timestamp: "" }).replaceAll(name, "<name>");
      };
      expect(await ask("secret")).toBe(await ask("sorbet"));
    }
  });

  test("the service suggests no hidden column", async () => {
    for (const name of ["secre", "secrets", "secert", "Secret"]) {
      const answer = await shop.post("items", "read", { select: [name] });
      expect(answer.body.message.replaceAll(name, "")).not.toMatch(/secret/);
    }
  });

  const unseen = ["masked", "narrow"];
  test.each(unseen)(
    "create through %s names no column that the caller may not see",
    async (endpoint) => {
      const answer = await shop.post(endpoint, "create", { name: "needs a code" });
      check(answer, { status: 400, error: "Validation failed" });
      expect(JSON.stringify(answer.body)).not.toMatch(/code|secret/);
    },
  );

  test("a hostile name in a create body is a field like any other that is not there", async () => {
    const body = { name: "x", "code) values ('x'); --": "y", 'a"b': 1, "`c`": 2 };
    await strike({
      endpoint: "items",
      action: "create",
      body,
      status: 400,
      error: "Validation failed",
    });
  });
});

/** Texts that mean something to one engine or another. */
describe("values", () => {
  test.each(hostileTexts)("the text %j is looked for as it stands", async (text) => {
    const where = { logic: "AND", conditions: [{ key: "name", operator: "=", value: text }] };
    check(await shop.post("items", "read", { where }), { status: 200, data: [] });
    check(await shop.post("items", "first", { where: { key: "name", value: text } }), {
      status: 200,
    });
    await strike({
      endpoint: "items",
      action: "delete",
      body: { where: [{ key: "name", value: text }] },
      status: 404,
      error: "Not found",
    });
    await strike({
      endpoint: "items",
      action: "update",
      body: { item_id: text, name: "x" },
      status: 404,
      error: "Not found",
    });
    await strike({
      endpoint: "counters",
      action: "adjust",
      body: { counter_id: text, adjustments: [{ field: "stock", value: 1 }] },
      status: 404,
      error: "Not found",
    });
  });

  /** The values that a text key, an integer, a decimal, a date and a boolean are asked to equal. */
  const mismatches: { column: string; values: unknown[] }[] = [
    { column: "name", values: [{}, [], ["apple"], { name: 1 }, "\ud800"] },
    {
      column: "qty",
      values: [
        {},
        [],
        [10],
        "10abc",
        "abc",
        "",
        " ",
        true,
        "0x0A",
        "1e1001",
        "NaN",
        "Infinity",
        "९",
      ],
    },
    { column: "price", values: [{}, [], [1.5], "1,5", "abc", "", "NaN", "Infinity", "--1"] },
    {
      column: "due",
      values: [
        {},
        [],
        20260110,
        "2026-02-30",
        "0000-00-00",
        "10/01/2026",
        "now",
        "today",
        "",
        "2026-1-1",
        true,
      ],
    },
    { column: "active", values: [{}, [], 2, -1, "yes", "t", "TRUE ", "", 0.5] },
  ];
  const refused = mismatches.flatMap(({ column, values }) =>
    values.map((value) => ({ column, value, shown: JSON.stringify(value) })),
  );
  test.each(refused)(
    "$shown for the column $column is refused before it is compared",
    async ({ column, value }) => {
      const where = { logic: "AND", conditions: [{ key: column, operator: "=", value }] };
      const pair = [{ key: column, value }];
      await strike({
        endpoint: "items",
        action: "read",
        body: { where },
        status: 400,
        error: "Invalid parameter",
      });
      await strike({
        endpoint: "items",
        action: "first",
        body: { where: pair },
        status: 400,
        error: "Invalid parameter",
      });
      await strike({
        endpoint: "items",
        action: "delete",
        body: { where: pair },
        status: 400,
        error: "Invalid parameter",
      });
    },
  );

  test.each(refused)(
    "$shown for the column $column is refused before it is stored",
    async ({ column, value }) => {
      const body = { item_id: "i02", [column]: value };
      const answer = await shop.post("items", "update", body);
      check(answer, { status: 400, error: "Validation failed", errors: [column] });
    },
  );

  test.each([0, false, "0", "5abc", -1])(
    "%j never matches a text that is no such text",
    async (value) => {
      await strike({
        endpoint: "items",
        action: "delete",
        body: { where: [{ key: "code", value }] },
        status: value === false ? 400 : 404,
        error: value === false ? "Invalid parameter" : "Not found",
      });
    },
  );

  test("a LIKE of 60,000 characters answers within a second", async () => {
    const found = { status: 200, data: [] };
    const patterns: [string, Partial<Case>][] = [
      ["a".repeat(60_000), { status: 400, error: "Invalid parameter" }],
      ["%_".repeat(100), found],
      [`${"%a".repeat(50)}%`, found],
    ];
    for (const [pattern, expected] of patterns) {
      const started = performance.now();
      const where = {
        logic: "AND",
        conditions: [{ key: "name", operator: "LIKE", value: pattern }],
      };
      check(await shop.post("items", "read", { where }), expected);
      expect(performance.now() - started).toBeLessThan(1000);
    }
  });

  test("LIKEs with thousands of backslashes answer within two seconds", async () => {
    const condition = { key: "name", operator: "LIKE", value: `${"\\".repeat(9_998)}x\\` };
    const started = performance.now();
    const where = { logic: "AND", conditions: Array.from({ length: 40 }, () => condition) };
    check(await shop.post("items", "read", { where }), { status: 200, data: [] });
    expect(performance.now() - started).toBeLessThan(2000);
  });

  const many = <T>(item: T): T[] => Array.from({ length: 10_000 }, () => item);
  const lists: { what: string; action: string; body: object; error?: string }[] = [
    { what: "select", action: "read", body: { select: many("name") } },
    {
      what: "sort_columns",
      action: "read",
      body: { sort_columns: many({ column: "name", direction: "ASC" }) },
    },
    {
      what: "search_value",
      action: "read",
      body: { search_value: many("%_a").join("") },
      error: "Invalid parameter",
    },
    {
      what: "where of first",
      action: "first",
      body: { where: many({ key: "name", value: "x" }) },
      error: "Invalid payload",
    },
    {
      what: "select of first",
      action: "first",
      body: { where: { key: "name", value: "x" }, select: many("name") },
    },
    {
      what: "where of delete",
      action: "delete",
      body: { where: many({ key: "name", value: "x" }) },
      error: "Invalid payload",
    },
    {
      what: "adjustments",
      action: "adjust",
      body: { counter_id: "nobody", adjustments: many({ field: "stock", value: 1 }) },
      error: "Invalid payload",
    },
  ];
  test.each(lists)(
    "ten thousand items in $what answer within a second",
    async ({ action, body, error }) => {
      const started = performance.now();
      const answer = await shop.post(action === "adjust" ? "counters" : "items", action, body);
      check(answer, error === undefined ? { status: 200 } : { status: 400, error });
      expect(performance.now() - started).toBeLessThan(1000);
    },
  );

  test("an IN of 70,000 values is an invalid payload", async () => {
    const where = {
      logic: "AND",
      conditions: [
        { key: "qty", operator: "IN", value: Array.from({ length: 70_000 }, (_, index) => index) },
      ],
    };
    await strike({
      endpoint: "items",
      action: "read",
      body: { where },
      status: 400,
      error: "Invalid payload",
    });
  });

  test.each([1_000, Number.MAX_SAFE_INTEGER])("page %d, behind the end, is empty", async (page) => {
    check(await shop.post("items", "read", { page, per_page: 100 }), { status: 200, data: [] });
  });
});

describe("shapes", () => {
  const odd = [
    null,
    0,
    1,
    true,
    "",
    "x",
    [],
    [[]],
    {},
    { length: 1 },
    { conditions: { length: 1 } },
  ];
  const shapes: { member: string; attack: (value: unknown) => Omit<Attack, "status" | "error"> }[] =
    [
      {
        member: "where of delete",
        attack: (value) => ({ endpoint: "items", action: "delete", body: { where: value } }),
      },
      {
        member: "an item of delete's where",
        attack: (value) => ({ endpoint: "items", action: "delete", body: { where: [value] } }),
      },
      {
        member: "where of first",
        attack: (value) => ({ endpoint: "items", action: "first", body: { where: value } }),
      },
      {
        member: "adjustments of adjust",
        attack: (value) => ({
          endpoint: "counters",
          action: "adjust",
          body: { counter_id: "n1", adjustments: value },
        }),
      },
      {
        member: "an item of adjustments",
        attack: (value) => ({
          endpoint: "counters",
          action: "adjust",
          body: { counter_id: "n1", adjustments: [value] },
        }),
      },
      {
        member: "a condition of read",
        attack: (value) => ({
          endpoint: "items",
          action: "read",
          body: { where: { logic: "AND", conditions: [value] } },
        }),
      },
    ];
  const cases = shapes.flatMap(({ member, attack }) =>
    odd.map((value) => ({ member, attack, value, shown: JSON.stringify(value) })),
  );
  test.each(cases)("$shown as $member is an invalid payload", async ({ attack, value }) => {
    await strike({ ...attack(value), status: 400, error: "Invalid payload" });
  });
});
