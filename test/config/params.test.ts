/** What `params` must be, judged when the files are loaded. */
import { describe, expect, test } from "vitest";
import { filesOf, load, sentenceOf } from "./shop.ts";

const action = { read: true, first: true };
const query = "select * from products where made_on >= :from";

const auth = {
  "project.json": { database: { url: "sqlite::memory:" }, auth: { anonymous: { roles: [] } } },
};
const faultsOf = async (own: object, files: Record<string, unknown> = {}): Promise<string[]> => {
  const items = { viewQuery: query, primaryKey: "product_id", action, ...own };
  return (await load(filesOf({ "items.json": items, ...files }))).faults.map(sentenceOf);
};

describe("params are refused for", () => {
  const from = { type: "date" };
  const cases: readonly [name: string, own: object, path: string, ...words: string[]][] = [
    ["a text", { params: { from: "date" } }, "params.from", "object"],
    ["an unknown type", { params: { from: { type: "dat" } } }, "params.from"],
    ["a list as type", { params: { from: { type: "array" } } }, "params.from"],
    [
      "an unknown member",
      { params: { from: { type: "date", need: true } } },
      "params.from",
      "expected one of claim, type, required, default, constraints",
    ],
    [
      "a name with a dash",
      { params: { "a-b": from } },
      "params.a-b",
      'expected a name of letters, digits and _, found the name "a-b"',
    ],
    ["a name that no query has", { params: { from, to: from } }, "params.to", "that names :to"],
    [
      "a name that params lack",
      { params: { form: from } },
      "viewQuery",
      ":from",
      'did you mean "form"?',
    ],
    [
      "a default of another type",
      { params: { from: { type: "date", default: "soon" } } },
      "params.from.default",
    ],
    [
      "a default that its constraints refuse",
      {
        viewQuery: "select * from products where price > :least",
        params: { least: { type: "number", default: -1, constraints: { min: 0 } } },
      },
      "params.least.default",
      "must be at least 0",
    ],
    [
      "constraints that contradict each other",
      { params: { from: { type: "date", constraints: { min: "2026-02-01", max: "2026-01-01" } } } },
      "params.from.constraints.max",
    ],
    [
      "a bound that is no parameter",
      { params: { from: { type: "date", constraints: { before: "till" } } } },
      "params.from.constraints.before",
    ],
    [
      "a claim without auth",
      { params: { from: { claim: "since", type: "date" } } },
      "params.from.claim",
      "auth",
    ],
    [
      "a claim with a default",
      { params: { from: { claim: "since", default: "x" } } },
      "params.from",
    ],
  ];
  test.each(cases)("%s", async (_, own, path, ...words) => {
    const faults = await faultsOf(own);
    expect(faults[0]).toContain(path);
    for (const word of words) expect(faults.join("\n")).toContain(word);
  });

  test("an endpoint that relations lead to, if one is required", async () => {
    const target = (param: object) => ({
      "items.json": { viewQuery: query, primaryKey: "product_id", action, params: { from: param } },
      "notes.json": {
        tableName: "products",
        action,
        relations: { item: { endpoint: "items", column: "product_id" } },
      },
    });
    const faults = async (param: object) =>
      (await load(filesOf(target(param)))).faults.map(sentenceOf);
    expect(await faults({ type: "date", required: true })).toEqual([
      expect.stringMatching(/relations\.item\.endpoint: .*from is required/),
    ]);
    expect(await faults({ type: "date", required: true, default: "2026-01-01" })).toEqual([]);
    expect(await faults({ type: "date" })).toEqual([]);
  });
});

describe("params are accepted with", () => {
  const cases: readonly [name: string, own: object][] = [
    ["a type alone", { params: { from: { type: "date" } } }],
    ["no type", { params: { from: {} } }],
    [
      "names in literals, comments and casts that are none",
      { viewQuery: `${query} and ':x' <> "price:y"::text -- :z`, params: { from: {} } },
    ],
    ["nothing", { viewQuery: "select * from products where name <> ':from'", params: {} }],
    [
      "a query of the grid alone",
      { tableName: "products", viewQuery: undefined, datatablesQuery: query, params: { from: {} } },
    ],
    [
      "a query of the export alone",
      { tableName: "products", viewQuery: undefined, exportQuery: query, params: { from: {} } },
    ],
  ];
  test.each(cases)("%s", async (_, own) => {
    expect(await faultsOf(own)).toEqual([]);
  });

  test("a claim in a project with auth", async () => {
    const claimed = { params: { from: { claim: "realm.since", type: "date" } } };
    expect(await faultsOf(claimed, auth)).toEqual([]);
  });
});
