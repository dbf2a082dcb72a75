/**
 * Hostile input on every parameter of lookup, aggregate and datatables: names that are no columns, texts that are SQL somewhere,
 * numbers out of range and shapes that were not asked for. Each has one answer, the same on every engine, and nobody learns more.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkEnvelope } from "./cases.ts";
import { bracketed } from "./form-text.ts";
import type { Answer } from "./harness.ts";
import { hostileNames, hostileTexts, noNames } from "./hostile-words.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

const dump = () => shop.fixture.sql("select * from items order by 1");
let before: unknown;
beforeAll(async () => {
  before = await dump();
});
afterAll(async () => {
  expect(await dump(), "a list never writes").toEqual(before);
});

/** One parameter, and how a request puts something in its place. */
interface Place {
  readonly place: string;
  send(value: unknown): Promise<Answer>;
}

const lookup = (body: unknown): Promise<Answer> =>
  shop.post("items", "lookup", body, { "X-Request-Mode": "static" });
const aggregate = (body: unknown): Promise<Answer> => shop.post("totals", "aggregate", body);
const grid = (body: unknown): Promise<Answer> => shop.post("grid", "datatables", body);
const one = (key: unknown, operator: unknown, value?: unknown) => ({
  logic: "AND",
  conditions: [{ key, operator, value }],
});
const count = { function: "count", field: "*", alias: "n" };
const byActive = { group_by: ["active"], operations: [count] };
const join = {
  tableName: "categories",
  sourceField: "category_id",
  targetField: "category_id",
  fields: ["name"],
};

const refusals = (places: readonly Place[], values: readonly unknown[]) =>
  places.flatMap(({ place, send }) =>
    values.map((value) => ({ place, send, value, shown: JSON.stringify(value)?.slice(0, 40) })),
  );

async function expectRefusal(asking: Promise<Answer>, errors: readonly string[]): Promise<void> {
  const answer = await asking;
  checkEnvelope(answer);
  expect(answer.status, JSON.stringify(answer.body)).toBe(400);
  expect(errors).toContain(answer.body.error);
}

describe("names", () => {
  const places: Place[] = [
    { place: "select of lookup", send: (name) => lookup({ select: [name] }) },
    { place: "where of lookup", send: (name) => lookup({ where: [{ key: name, value: null }] }) },
    { place: "where tree of lookup", send: (name) => lookup({ where: one(name, "IS NULL") }) },
    {
      place: "sort of lookup",
      send: (name) => lookup({ sort_columns: [{ column: name, direction: "ASC" }] }),
    },
    {
      place: "field of aggregate",
      send: (name) => aggregate({ operations: [{ function: "max", field: name }] }),
    },
    { place: "group of aggregate", send: (name) => aggregate({ group_by: [name] }) },
    { place: "where of aggregate", send: (name) => aggregate({ where: one(name, "IS NULL") }) },
    {
      place: "having of aggregate",
      send: (name) =>
        aggregate({
          ...byActive,
          having: { conditions: [{ key: name, operator: ">", value: 0 }] },
        }),
    },
    {
      place: "sort of aggregate",
      send: (name) => aggregate({ ...byActive, sort_columns: [{ column: name }] }),
    },
    {
      place: "function of aggregate",
      send: (name) => aggregate({ operations: [{ function: name, field: "qty" }] }),
    },
    {
      place: "alias of aggregate",
      // A plain word is a good alias, whatever it means elsewhere.
      send: (name) => aggregate({ operations: [{ ...count, alias: `${String(name)}'` }] }),
    },
    { place: "named join of aggregate", send: (name) => aggregate({ joins: [name] }) },
    ...Object.keys(join).map((member) => ({
      place: `${member} of an aggregate's join`,
      send: (name: unknown) =>
        aggregate({ joins: [{ ...join, [member]: member === "fields" ? [name] : name }] }),
    })),
    {
      place: "joinType of an aggregate's join",
      send: (name) => aggregate({ joins: [{ ...join, joinType: name }] }),
    },
    { place: "where of datatables", send: (name) => grid({ where: one(name, "IS NULL") }) },
    {
      place: "sort_columns of datatables",
      send: (name) => grid({ sort_columns: [{ column: name, direction: "ASC" }] }),
    },
  ];
  const errors = ["Invalid field", "Invalid select fields", "Validation error"];
  test.each(refusals(places, hostileNames))(
    "the name $shown in $place is refused",
    async ({ send, value }) => {
      // Empty names of a join and its type mean that it was left out.
      await expectRefusal(send(value), [...errors, "Invalid payload", "Invalid parameter"]);
    },
  );
  // An absent function, field or list has a default of its own; the tests of the action say which.
  const named = places.filter(({ place }) => !/^(alias|joinType|named join)/.test(place));
  test.each(
    refusals(
      named,
      noNames.filter((name) => name !== null),
    ),
  )("$shown as a name in $place is refused", async ({ send, value }) => {
    await expectRefusal(send(value), [...errors, "Invalid payload", "Invalid parameter"]);
  });

  test.each(hostileNames.filter((name) => name !== ""))(
    "the name %j in searchBy of datatables is refused",
    async (name) => {
      await expectRefusal(grid({ searchBy: name, search: { value: "a" } }), ["Invalid field"]);
    },
  );

  test.each(hostileNames)(
    "a grid's own column called %j is passed over: it is not searched, sorted or filtered by",
    async (name) => {
      const columns = [
        { data: name, searchable: "true", orderable: "true", search: { value: "h" } },
      ];
      const answer = await grid({ columns, order: [{ column: 0, dir: "asc" }], length: 100 });
      expect(answer.status).toBe(200);
      expect(answer.body.recordsFiltered).toBe(answer.body.recordsTotal);
    },
  );

  test("a name in the grid's form never becomes a member of every object", async () => {
    for (const name of ["__proto__", "constructor", "prototype"]) {
      for (const text of [
        `${name}[polluted]=1`,
        `columns[0][${name}][polluted]=1`,
        `a[${name}]=1`,
      ]) {
        const answer = await shop.send(`/grid/datatables?${text}`);
        expect(answer.status).toBe(400);
        expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      }
    }
  });

  test("lookup and aggregate say no more of a hidden column than of one that does not exist", async () => {
    const asks = [
      (name: string) => lookup({ select: [name] }),
      (name: string) => lookup({ where: [{ key: name, value: "h" }] }),
      (name: string) => aggregate({ operations: [{ function: "max", field: name }] }),
      (name: string) => aggregate({ joins: [{ ...join, sourceField: name }] }),
      (name: string) => grid({ where: one(name, "IS NULL") }),
    ];
    for (const ask of asks) {
      const of = async (name: string) =>
        JSON.stringify({ ...(await ask(name)).body, timestamp: "" }).replaceAll(name, "<name>");
      expect(await of("secret")).toBe(await of("sorbet"));
    }
  });
});

describe("values", () => {
  const whole: Place[] = [
    { place: "the search of a lookup", send: (text) => get(`search=${encode(text)}`) },
    { place: "q of a lookup", send: (text) => get(`q=${encode(text)}`) },
    {
      place: "where of a lookup",
      send: (text) => lookup({ where: [{ key: "name", value: text }] }),
    },
    { place: "ids of a lookup", send: (text) => lookup({ ids: [text] }) },
    {
      place: "where of aggregate",
      send: (text) => aggregate({ operations: [count], where: one("name", "=", text) }),
    },
    {
      place: "having of aggregate",
      send: (text) =>
        aggregate({
          group_by: ["name"],
          operations: [count],
          having: { conditions: [{ key: "name", operator: "=", value: text }] },
        }),
    },
    { place: "the grid's search", send: (text) => grid({ search: { value: text } }) },
    { place: "the grid's searchValue", send: (text) => grid({ searchValue: text }) },
    {
      place: "a grid column's search",
      send: (text) => grid({ columns: [{ data: "name", search: { value: text } }] }),
    },
    {
      place: "a fixed search",
      send: (text) => grid({ search: { fixed: [{ name: "mine", term: text }] } }),
    },
    { place: "where of the grid", send: (text) => grid({ where: one("name", "=", text) }) },
    {
      place: "a grid's search in a form",
      send: (text) => shop.send(`/grid/datatables?${bracketed({ search: { value: text } })}`),
    },
  ];
  /** Texts of which some name may hold a part. */
  const occurring = new Set(["%", "_", "'", "\\", "ß", "ſ", "1e1", "-0"]);
  test.each(refusals(whole, hostileTexts))(
    "the text $shown in $place is looked for as it stands",
    async ({ send, value }) => {
      const answer = await send(value);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      const { data, recordsFiltered } = answer.body;
      const found = recordsFiltered ?? (Array.isArray(data) ? data.length : data["n"]);
      // The engines' own tables of letters differ in whether this one is an i.
      if (value === "İ") return;
      if (!occurring.has(String(value))) expect(found).toBe(0);
      else expect(found).toBeLessThan(8);
    },
  );

  // A form has texts alone: it sends the word true, and half a character as another one.
  const asJson = whole.filter(({ place }) => !place.includes("form"));
  test.each(refusals(asJson, [{}, ["apple"], { value: "a" }, true]))(
    "$shown as a text in $place is refused or names nothing",
    async ({ send, value }) => {
      const answer = await send(value);
      checkEnvelope(answer);
      expect([200, 400]).toContain(answer.status);
      const { data, recordsFiltered } = answer.body;
      if (answer.status === 200 && recordsFiltered !== undefined) expect(recordsFiltered).toBe(8);
      else if (answer.status === 200) expect(JSON.stringify(data)).not.toMatch(/hush/);
    },
  );

  const texts = ["\ud800", "a\0b", "x".repeat(20_000)];
  test.each(refusals(asJson, texts))("$shown in $place is refused", async ({ send, value }) => {
    const answer = await send(value);
    checkEnvelope(answer);
    expect([200, 400, 404, 413]).toContain(answer.status);
    if (answer.status === 200) expect(JSON.stringify(answer.body)).not.toMatch(/apple/);
  });
});

describe("numbers", () => {
  const numbers: Place[] = [
    { place: "limit of lookup", send: (limit) => lookup({ limit }) },
    { place: "page of lookup", send: (page) => lookup({ page }) },
    { place: "limit of aggregate", send: (limit) => aggregate({ ...byActive, limit }) },
    { place: "length of datatables", send: (length) => grid({ length }) },
    { place: "start of datatables", send: (start) => grid({ start }) },
    { place: "draw of datatables", send: (draw) => grid({ draw }) },
    {
      place: "an order's column of datatables",
      send: (column) => grid({ order: [{ column, dir: "asc" }] }),
    },
  ];
  const odd = [-1, 1.5, "10abc", "1e3", " 1", true, [10], {}, 1e308, 2 ** 53, "NaN", "Infinity"];
  test.each(refusals(numbers, odd))(
    "$shown as $place is refused",
    async ({ place, send, value }) => {
      const answer = await send(value);
      checkEnvelope(answer);
      // The page compares draw with its own counter, whatever its sign.
      expect(answer.status).toBe(place.startsWith("draw") && value === -1 ? 200 : 400);
    },
  );

  test.each(["limit", "page"])(
    "a lookup's %s in a query is held to the same range",
    async (name) => {
      for (const text of ["0", "-1", "1.5", "abc", "1e3", "99999999999999999999", "NaN"])
        expect((await get(`${name}=${text}`)).status).toBe(400);
    },
  );
});

describe("shapes", () => {
  const odd = [0, 1, true, "x", [[]], { length: 1 }, { conditions: { length: 1 } }, [null], [1]];
  const shapes: Place[] = [
    { place: "select of lookup", send: (value) => lookup({ select: value }) },
    { place: "where of lookup", send: (value) => lookup({ where: value }) },
    { place: "sort_columns of lookup", send: (value) => lookup({ sort_columns: value }) },
    { place: "operations of aggregate", send: (value) => aggregate({ operations: value }) },
    { place: "group_by of aggregate", send: (value) => aggregate({ group_by: value }) },
    { place: "having of aggregate", send: (value) => aggregate({ ...byActive, having: value }) },
    { place: "joins of aggregate", send: (value) => aggregate({ joins: value }) },
    { place: "where of aggregate", send: (value) => aggregate({ where: value }) },
    { place: "sort_columns of aggregate", send: (value) => aggregate({ sort_columns: value }) },
    { place: "where of datatables", send: (value) => grid({ where: value }) },
    { place: "columns of datatables", send: (value) => grid({ columns: value }) },
    { place: "order of datatables", send: (value) => grid({ order: value }) },
    { place: "sort_columns of datatables", send: (value) => grid({ sort_columns: value }) },
  ];
  test.each(refusals(shapes, odd))("$shown as $place is refused", async ({ send, value }) => {
    const answer = await send(value);
    checkEnvelope(answer);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
  });
});

const encode = (text: unknown): string =>
  encodeURIComponent(typeof text === "string" ? text.toWellFormed() : JSON.stringify(text));

const get = (query: string): Promise<Answer> =>
  shop.send(`/items/lookup?${query}`, { headers: { "X-Request-Mode": "dynamic" } });
