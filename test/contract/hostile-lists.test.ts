/**
 * Hostile input in every parameter of lookup, aggregate and datatables: unknown column names, SQL in texts, numbers out
 * of range and unexpected shapes. Each request has one answer, the same on every engine, and reveals nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { check, checkEnvelope } from "./cases.ts";
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

const refusals = <P extends Place>(places: readonly P[], values: readonly unknown[]) =>
  places.flatMap((place) =>
    values.map((value) => ({ ...place, value, shown: JSON.stringify(value)?.slice(0, 40) })),
  );

async function expectRefusal(asking: Promise<Answer>, error: string): Promise<void> {
  const answer = await asking;
  checkEnvelope(answer);
  check(answer, { status: 400, error });
}

describe("names", () => {
  /** `error`: for an unknown column name; `noNameError`: for an invalid name. Both default to those of aggregate. */
  const places: (Place & { error?: string; noNameError?: string })[] = [
    {
      place: "select of lookup",
      error: "Invalid select fields",
      noNameError: "Invalid select fields",
      send: (name) => lookup({ select: [name] }),
    },
    {
      place: "where of lookup",
      error: "Invalid field",
      noNameError: "Invalid payload",
      send: (name) => lookup({ where: [{ key: name, value: null }] }),
    },
    {
      place: "where tree of lookup",
      error: "Invalid field",
      noNameError: "Invalid payload",
      send: (name) => lookup({ where: one(name, "IS NULL") }),
    },
    {
      place: "sort of lookup",
      error: "Invalid field",
      noNameError: "Invalid parameter",
      send: (name) => lookup({ sort_columns: [{ column: name, direction: "ASC" }] }),
    },
    {
      place: "field of aggregate",
      error: "Invalid field",
      send: (name) => aggregate({ operations: [{ function: "max", field: name }] }),
    },
    {
      place: "group of aggregate",
      error: "Invalid field",
      send: (name) => aggregate({ group_by: [name] }),
    },
    {
      place: "where of aggregate",
      error: "Invalid field",
      noNameError: "Invalid payload",
      send: (name) => aggregate({ where: one(name, "IS NULL") }),
    },
    {
      place: "having of aggregate",
      error: "Invalid field",
      send: (name) =>
        aggregate({
          ...byActive,
          having: { conditions: [{ key: name, operator: ">", value: 0 }] },
        }),
    },
    {
      place: "sort of aggregate",
      error: "Invalid field",
      send: (name) => aggregate({ ...byActive, sort_columns: [{ column: name }] }),
    },
    {
      place: "function of aggregate",
      send: (name) => aggregate({ operations: [{ function: name, field: "qty" }] }),
    },
    {
      place: "alias of aggregate",
      // A plain word is a valid alias, even if it is a keyword elsewhere.
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
    {
      place: "where of datatables",
      error: "Invalid field",
      noNameError: "Invalid payload",
      send: (name) => grid({ where: one(name, "IS NULL") }),
    },
    {
      place: "sort_columns of datatables",
      error: "Invalid field",
      noNameError: "Invalid payload",
      send: (name) => grid({ sort_columns: [{ column: name, direction: "ASC" }] }),
    },
  ];
  test.each(refusals(places, hostileNames))(
    "the name $shown in $place is refused",
    async ({ place, send, value, error = "Validation error" }) => {
      const isNoField = place === "field of aggregate" && value === "*";
      await expectRefusal(send(value), isNoField ? "Validation error" : error);
    },
  );
  // An absent function, field or list has a default, which the action's tests check.
  const named = places.filter(({ place }) => !/^(alias|joinType|named join)/.test(place));
  test.each(
    refusals(
      named,
      noNames.filter((name) => name !== null),
    ),
  )(
    "$shown as a name in $place is refused",
    async ({ send, value, noNameError = "Validation error" }) => {
      await expectRefusal(send(value), noNameError);
    },
  );

  test.each(hostileNames.filter((name) => name !== ""))(
    "the name %j in searchBy of datatables is refused",
    async (name) => {
      await expectRefusal(grid({ searchBy: name, search: { value: "a" } }), "Invalid field");
    },
  );

  test.each(hostileNames)(
    "a grid's own column called %j is passed over: it is not sorted or filtered by",
    async (name) => {
      const columns = [{ data: name, searchable: "true", orderable: "true" }];
      const answer = await grid({ columns, order: [{ column: 0, dir: "asc" }], length: 100 });
      expect(answer.status).toBe(200);
      expect(answer.body.recordsFiltered).toBe(answer.body.recordsTotal);
    },
  );

  // An index is no name: the library sends it for rows that are arrays.
  test.each(hostileNames.filter((name) => !/^\d*$/.test(name)))(
    "a search in a grid's own column called %j is refused",
    async (name) => {
      await expectRefusal(
        grid({ columns: [{ data: name, search: { value: "h" } }] }),
        "Invalid field",
      );
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

/** Ways to search for a text: lookup's query, a compared value, a grid's search, one of the grid's fixed searches. */
type Kind = "query" | "condition" | "search" | "fixed";

const oddTexts = {
  noText: [{}, ["apple"], { value: "a" }, true],
  half: ["\ud800"],
  nul: ["a\0b"],
  long: ["x".repeat(20_000)],
};

/** How many rows a list found, or an aggregate counted. */
function foundBy({ body: { data, recordsFiltered } }: Answer): number {
  return recordsFiltered ?? (Array.isArray(data) ? data.length : data["n"]);
}

describe("values", () => {
  const whole: (Place & { kind: Kind | "form" })[] = [
    {
      place: "the search of a lookup",
      kind: "query",
      send: (text) => get(`search=${encode(text)}`),
    },
    { place: "q of a lookup", kind: "query", send: (text) => get(`q=${encode(text)}`) },
    {
      place: "where of a lookup",
      kind: "condition",
      send: (text) => lookup({ where: [{ key: "name", value: text }] }),
    },
    { place: "ids of a lookup", kind: "condition", send: (text) => lookup({ ids: [text] }) },
    {
      place: "where of aggregate",
      kind: "condition",
      send: (text) => aggregate({ operations: [count], where: one("name", "=", text) }),
    },
    {
      place: "having of aggregate",
      kind: "condition",
      send: (text) =>
        aggregate({
          group_by: ["name"],
          operations: [count],
          having: { conditions: [{ key: "name", operator: "=", value: text }] },
        }),
    },
    {
      place: "the grid's search",
      kind: "search",
      send: (text) => grid({ search: { value: text } }),
    },
    {
      place: "the grid's searchValue",
      kind: "search",
      send: (text) => grid({ searchValue: text }),
    },
    {
      place: "a grid column's search",
      kind: "search",
      send: (text) => grid({ columns: [{ data: "name", search: { value: text } }] }),
    },
    {
      place: "a fixed search",
      kind: "fixed",
      send: (text) => grid({ search: { fixed: [{ name: "mine", term: text }] } }),
    },
    {
      place: "where of the grid",
      kind: "condition",
      send: (text) => grid({ where: one("name", "=", text) }),
    },
    {
      place: "a grid's search in a form",
      kind: "form",
      send: (text) => shop.send(`/grid/datatables?${bracketed({ search: { value: text } })}`),
    },
  ];
  /** Texts of which a part can occur in a name. */
  const occurring = new Set(["%", "_", "'", "\\", "ß", "ſ", "1e1", "-0"]);
  test.each(refusals(whole, hostileTexts))(
    "the text $shown in $place is looked for as it stands",
    async ({ send, value }) => {
      const answer = await send(value);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      const found = foundBy(answer);
      // The engines' own tables of letters differ in whether this one is an i.
      if (value === "İ") return;
      if (!occurring.has(String(value))) expect(found).toBe(0);
      else expect(found).toBeLessThan(8);
    },
  );

  /** What a place answers to what is no text or too long a one; null: it is taken. */
  const errors: Record<Kind, Record<keyof typeof oddTexts, string | null>> = {
    // The text of a query is always one: half a character arrives there as another one.
    query: { noText: null, half: null, nul: "Invalid payload", long: "Invalid parameter" },
    condition: {
      noText: "Invalid parameter",
      half: "Invalid parameter",
      nul: "Invalid payload",
      long: null,
    },
    search: {
      noText: "Invalid payload",
      half: "Invalid payload",
      nul: "Invalid payload",
      long: "Invalid payload",
    },
    // A term that is no text is a function in the page.
    fixed: {
      noText: null,
      half: "Invalid payload",
      nul: "Invalid payload",
      long: "Invalid payload",
    },
  };
  const odd = whole.flatMap((place) => {
    const { kind } = place;
    // A form has only texts: it sends the word true, and replaces a lone surrogate.
    if (kind === "form") return [];
    return Object.entries(oddTexts).flatMap(([what, values]) => {
      const error = errors[kind][what as keyof typeof oddTexts];
      return refusals([{ ...place, error }], values);
    });
  });
  // What version 2 of the library sends of a RegExp in JSON.
  const isRegExp = ({ kind, place, value }: (typeof odd)[number]) =>
    kind === "search" && place !== "the grid's searchValue" && JSON.stringify(value) === "{}";
  test.each(odd.filter((one) => one.error !== null && !isRegExp(one)))(
    "$shown as a text in $place is refused",
    async ({ send, value, error }) => {
      await expectRefusal(send(value), error!);
    },
  );
  const taken = odd.filter(({ error }) => error === null);
  test.each(taken.filter(({ kind }) => kind !== "fixed"))(
    "$shown as a text in $place is found nowhere",
    async ({ send, value }) => {
      const answer = await send(value);
      checkEnvelope(answer);
      expect([answer.status, foundBy(answer)]).toEqual([200, 0]);
    },
  );
  test.each(taken.filter(({ kind }) => kind === "fixed"))(
    "$shown as a text in $place is passed over",
    async ({ send, value }) => {
      const answer = await send(value);
      checkEnvelope(answer);
      expect([answer.status, foundBy(answer)]).toEqual([200, 8]);
    },
  );
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
      // The page compares draw with its counter, whatever its sign.
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
