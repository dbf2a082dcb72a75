/** The grid's searches beyond plain text, over HTTP: booleans, column groups, words, and those only a page can run. */
import { describe, expect, test } from "vitest";
import { ids, idsOf, shelfOfFile } from "./shelf.ts";

const { ways, ask } = shelfOfFile();

interface Found {
  name: string;
  /** Without it, `shelf`. */
  endpoint?: string;
  body: object;
  ids: readonly string[];
}

/** The columns of the shelf as the library sends them; `more` replaces members by field. */
const columns = (more: Record<string, object> = {}) =>
  ["name", "note", "grade", "qty", "ready", null].map((data) => ({
    data,
    name: "",
    searchable: true,
    orderable: true,
    search: { value: "", regex: false },
    ...more[data ?? ""],
  }));
const typed = (value: unknown) => ({ search: { value, regex: false } });
const inColumn = (field: string, value: unknown) => ({
  columns: columns({ [field]: typed(value) }),
});
const groups = (...all: [places: unknown[], term: unknown][]) => ({
  columns: columns(),
  search: { groups: all.map(([places, term]) => ({ columns: places, term })) },
});
const groupsFixed = (...all: [places: unknown[], term: unknown][]) => ({
  columns: columns(),
  search: {
    groupsFixed: all.map(([places, term], at) => ({ columns: places, name: `n${at}`, term })),
  },
});

const truths: Found[] = [
  { text: "true", ids: ["p1", "p3", "p6"] },
  { text: "TR", ids: ["p1", "p3", "p6"] },
  { text: "false", ids: ["p2", "p5"] },
  { text: "f", ids: ["p2", "p5"] },
  { text: "1", ids: ["p1", "p3", "p6"] },
  { text: "0", ids: ["p2", "p5"] },
  { text: "alse", ids: [] },
  { text: "truest", ids: [] },
  { text: "null", ids: [] },
].flatMap(({ text, ids: found }) => [
  {
    name: `the search of a column finds truth values by ${text}`,
    body: inColumn("ready", text),
    ids: found,
  },
  {
    name: `searchBy finds truth values by ${text}`,
    body: { searchBy: "ready", ...typed(text) },
    ids: found,
  },
  {
    name: `a fixed search finds truth values by ${text}`,
    body: {
      columns: columns({ ready: { search: { value: "", fixed: [{ name: "a", term: text }] } } }),
    },
    ids: found,
  },
]);

const grouped: Found[] = [
  {
    name: "a group finds its term in any of its columns",
    body: groups([[0, 1], "heavy"]),
    ids: ["p1", "p4"],
  },
  {
    name: "a group finds its term in none but its columns",
    body: groups([[0, 2], "heavy"]),
    ids: [],
  },
  {
    name: "a group takes places that are texts",
    body: groups([["1", "2"], "a"]),
    ids: ["p1", "p2", "p4", "p6"],
  },
  { name: "groups are joined by AND", body: groups([[0, 1], "heavy"], [[2, 3], "5"]), ids: ["p1"] },
  {
    name: "a group is joined with the search over all by AND",
    body: {
      columns: columns(),
      search: { value: "case", groups: [{ columns: [0, 1], term: "heavy" }] },
    },
    ids: ["p4"],
  },
  {
    name: "a fixed group finds its term in any of its columns",
    body: groupsFixed([[0, 1], "heavy"]),
    ids: ["p1", "p4"],
  },
  {
    name: "fixed groups are joined by AND",
    body: groupsFixed([[0, 1], "heavy"], [[0, 1], "load"]),
    ids: ["p4"],
  },
  {
    name: "a group finds nothing in a column that is not searchable",
    body: {
      columns: columns({ note: { searchable: false } }),
      search: { groups: [{ columns: [0, 1], term: "heavy" }] },
    },
    ids: [],
  },
  {
    name: "a group passes over its columns that are no fields",
    body: groups([[1, 5], "heavy"]),
    ids: ["p1", "p4"],
  },
  { name: "a group of no fields filters nothing", body: groups([[5, 9], "heavy"]), ids },
  { name: "a group without a term filters nothing", body: groups([[0, 1], ""]), ids },
  {
    name: "without columns, the places of a group are those of the source",
    body: { search: { groups: [{ columns: [1, 2], term: "heavy" }] } },
    ids: ["p1", "p4"],
  },
];

/** The library sends such texts for functions and expressions, but people can type them, too. */
const ofPages: Found[] = [
  ...["function", "/anv/i", "/anv/"].flatMap((text) => [
    { name: `${text} is searched for as it is typed`, body: typed(text), ids: [] },
    { name: `${text} is searched for in a column`, body: inColumn("name", text), ids: [] },
    { name: `${text} is searched for in a group`, body: groups([[0, 1], text]), ids: [] },
  ]),
  { name: "function is no term of a fixed group", body: groupsFixed([[0, 1], "function"]), ids },
  { name: "a RegExp is no term of a fixed group", body: groupsFixed([[0, 1], "/anv/i"]), ids },
  {
    name: "a RegExp is no fixed search",
    body: { search: { fixed: [{ name: "a", term: "/anv/i" }] } },
    ids,
  },
  { name: "a path is searched for", body: typed("/usr/bin"), ids: [] },
];

const words: Found[] = [
  { name: "words are found in any order", search: "load heavy", ids: ["p4"] },
  { name: "words are found in different columns", search: "case load", ids: ["p4"] },
  { name: "words are found whatever the case", search: "ANVIL Heavy", ids: ["p1"] },
  { name: "blanks around words say nothing", search: "  heavy  case ", ids: ["p4"] },
  { name: "blanks alone filter nothing", search: "   ", ids },
  { name: "a phrase in quotes is kept together", search: '"heavy load"', ids: ["p4"] },
  { name: "a phrase in quotes has an order", search: '"load heavy"', ids: [] },
  { name: "curved quotes make a phrase", search: "\u201cheavy load\u201d case", ids: ["p4"] },
  { name: "a quote that is not closed says nothing", search: '"heavy load', ids: ["p4"] },
  { name: "a word behind ! must not occur", search: "!heavy", ids: ["p2", "p3", "p5", "p6"] },
  {
    name: "a phrase behind ! must not occur",
    search: '!"heavy load"',
    ids: ids.filter((id) => id !== "p4"),
  },
  { name: "! alone excludes nothing", search: "heavy !", ids: ["p1", "p4"] },
  { name: "words and exclusions go together", search: "heavy !case", ids: ["p1"] },
  { name: "a word is found in a truth value", search: "true anvil", ids: ["p1"] },
  { name: "% is no wildcard in a word", search: "% 100", ids: ["p3"] },
].map(({ name, search, ids: found }) => ({
  name: `with words, ${name}`,
  endpoint: "words",
  body: typed(search),
  ids: found,
}));
words.push(
  {
    name: "with words, the search of a column has words too",
    endpoint: "words",
    body: inColumn("note", "load heavy"),
    ids: ["p4"],
  },
  {
    name: "with words, a fixed search has words too",
    endpoint: "words",
    body: { search: { fixed: [{ name: "a", term: "load case" }] } },
    ids: ["p4"],
  },
  {
    name: "with words, a group has words too",
    endpoint: "words",
    body: groups([[0, 1], "load case"]),
    ids: ["p4"],
  },
  {
    name: "with words, contains of ColumnControl has words too",
    endpoint: "words",
    body: {
      columns: columns({
        note: {
          columnControl: { search: { type: "text", logic: "contains", value: "load heavy" } },
        },
      }),
    },
    ids: ["p4"],
  },
  { name: "without words, a search is one phrase", body: typed("load heavy"), ids: [] },
);

describe.each(Object.entries(ways))("sent as %s", (_, send) => {
  test.each([...truths, ...grouped, ...ofPages, ...words])(
    "$name",
    async ({ endpoint = "shelf", body, ids: expected }) => {
      const answer = await send(endpoint, body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect(idsOf(answer)).toEqual(expected);
      expect(answer.body).toMatchObject({ recordsTotal: 6, recordsFiltered: expected.length });
    },
  );

  test.each([
    {
      name: "groups that are a text are refused",
      endpoint: "shelf",
      body: { search: { groups: "x" } },
    },
    {
      name: "a group that is a text is refused",
      endpoint: "shelf",
      body: { search: { groups: ["x"] } },
    },
    {
      name: "places that are no numbers are refused",
      endpoint: "shelf",
      body: groups([["x"], "a"]),
    },
    {
      name: "more than a hundred groups are refused",
      endpoint: "shelf",
      body: groups(...Array.from({ length: 101 }, (): [number[], string] => [[0, 1], "a"])),
    },
    {
      name: "more than a hundred words are refused",
      endpoint: "words",
      body: typed("a ".repeat(101)),
    },
    {
      name: "more than a hundred words of ColumnControl are refused",
      endpoint: "words",
      body: {
        columns: columns({
          note: { columnControl: { search: { logic: "contains", value: "a ".repeat(101) } } },
        }),
      },
    },
  ])("$name", async ({ endpoint, body }) => {
    const answer = await send(endpoint, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(answer.body.error).toBe("Invalid payload");
  });
});

test("a RegExp that version 2 sends as JSON is no search", async () => {
  expect(idsOf(await ask("shelf", typed({})))).toEqual(ids);
});

test("a truth value is found by the search over all columns", async () => {
  const only = columns().filter(({ data }) => data === "ready" || data === "name");
  expect(idsOf(await ask("shelf", { columns: only, ...typed("fal") }))).toEqual(["p2", "p5"]);
});
