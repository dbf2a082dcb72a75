/** lookup over HTTP, on every engine: both modes, the requests of Select2 and Tom Select, and refusals. */
import { describe, expect, test } from "vitest";
import { check, checkEnvelope } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const people = [
  ["p1", "A-1", "Ärger, Älva", "Lund", 1, 1],
  ["p2", "A-2", "Bo O'Neil", "Oslo", 1, 2],
  ["p3", "B%1", "ceder", "Lund", 1, 3],
  ["p4", "B_1", "Dora", null, 0, 4],
  ["p5", "C-1", "bo", "Oslo", 1, 5],
] as const;

/** Names with accents, with letters that only look like it, and with what patterns are made of. */
const letters = [
  ["l1", "a", "Málaga"],
  ["l2", "b", "Łódź"],
  ["l3", "c", "Ørsted Đurić"],
  ["l4", "d", "Straße"],
  ["l5", "e", "malaga_x 5%"],
  ["l6", "f", "Ήλιος"],
] as const;

const fixture = openForTests(async () => {
  const text = (value: string | null) =>
    value === null ? "NULL" : `'${value.replaceAll("'", "''")}'`;
  return openFixture({
    tables: [
      {
        name: "people",
        columns: {
          id: "key",
          name: "text(50)",
          code: "text(10)",
          city: "text(50)",
          active: "boolean",
          rank: "integer",
          secret: "text(10)",
        },
      },
      { name: "numbers", columns: { number_id: "identity", label: "text(20)" } },
      { name: "letters", columns: { letter_id: "key", code: "text(5)", name: "text(40)" } },
      { name: "options", columns: { option_id: "key", chosen: "json" } },
    ],
    setUp: (engine) => [
      ...people.map(([id, code, name, city, active, rank]) => {
        const isActive = engine === "postgres" ? (active ? "TRUE" : "FALSE") : String(active);
        const values = `${text(id)}, ${text(name)}, ${text(code)}, ${text(city)}, ${isActive}, ${rank}, 'hush'`;
        return `INSERT INTO people VALUES (${values})`;
      }),
      ...letters.map(
        ([id, code, name]) => `INSERT INTO letters VALUES ('${id}', '${code}', '${name}')`,
      ),
      "INSERT INTO numbers (label) VALUES ('one'), ('two'), ('three')",
      `INSERT INTO options VALUES ('o1', '{"size":[1,2.5]}'), ('o2', '"red"')`,
    ],
    endpoints: {
      people: {
        tableName: "people",
        action: { lookup: true },
        fieldName: ["id", "name", "code", "city", "active", "rank", "secret"],
        hiddenFields: ["secret"],
      },
      options: { tableName: "options", action: { lookup: true } },
      labelled: {
        tableName: "people",
        action: { lookup: true },
        fieldNameLookup: { id: "code", text: "name || ' (' || city || '), it''s \\ ' || rank" },
      },
      scoped: {
        tableName: "people",
        action: { lookup: true },
        defaultScope: { read: { active: false }, lookup: { active: true } },
      },
      prefixed: {
        tableName: "people",
        action: { lookup: true },
        fieldNameLookup: { id: "id", text: "name", match: "prefix" },
      },
      plain: {
        tableName: "letters",
        action: { lookup: true },
        fieldNameLookup: { id: "letter_id", text: "name", accents: "ignore" },
      },
      "plain-prefix": {
        tableName: "letters",
        action: { lookup: true },
        fieldNameLookup: {
          id: "letter_id",
          text: "code || ' ' || name",
          accents: "ignore",
          match: "prefix",
        },
      },
      accented: {
        tableName: "letters",
        action: { lookup: true },
        fieldNameLookup: { id: "letter_id", text: "name" },
      },
      numbers: { tableName: "numbers", action: { lookup: true, create: true } },
      unable: { tableName: "people", action: { read: true } },
    },
  });
});

async function get(path: string, mode: string | null = "dynamic"): Promise<Answer> {
  const headers: Record<string, string> = mode === null ? {} : { "X-Request-Mode": mode };
  const answer = await fixture.request(`/api/test/${path}`, { headers });
  checkEnvelope(answer);
  return answer;
}

async function post(
  endpoint: string,
  body: unknown,
  mode: string | null = "static",
): Promise<Answer> {
  const headers: Record<string, string> = mode === null ? {} : { "X-Request-Mode": mode };
  const answer = await fixture.post(`${endpoint}/lookup`, body, headers);
  checkEnvelope(answer);
  return answer;
}

const json = (value: unknown): string => encodeURIComponent(JSON.stringify(value));

const ids = (answer: Answer): string[] => answer.body.data.map((item: { id: string }) => item.id);

describe("a GET", () => {
  test("lookup by GET answers id and text of every record, by label, with the search it was asked", async () => {
    const answer = await get("people/lookup?search=o");
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(["success", "count", "data", "search", "timestamp"]);
    expect(answer.body).toMatchObject({
      success: true,
      count: 3,
      search: "o",
      data: [
        { id: "p2", text: "Bo O'Neil" },
        { id: "p4", text: "Dora" },
        { id: "p5", text: "bo" },
      ],
    });
  });

  test.each([
    ["nothing", "", ["p2", "p4", "p5", "p3", "p1"], ""],
    ["an empty search", "?search=", ["p2", "p4", "p5", "p3", "p1"], ""],
    ["a search in the other case", "?search=BO", ["p2", "p5"], "BO"],
    ["a search beyond ASCII", "?search=%C3%A4lv", ["p1"], "älv"],
    ["q for search", "?q=dor", ["p4"], "dor"],
    ["term for search", "?term=dor", ["p4"], "dor"],
    ["search_value for search", "?search_value=dor", ["p4"], "dor"],
    ["q beside an empty search", "?search=&q=dor", ["p4"], "dor"],
    ["term beside an empty search and q", "?search=&q=&term=dor", ["p4"], "dor"],
    ["search_value beside an empty search", "?search=&search_value=dor", ["p4"], "dor"],
    ["a search before its other names", "?search=bo&q=x&term=x&search_value=x", ["p2", "p5"], "bo"],
    ["a quote", "?search=O%27N", ["p2"], "O'N"],
    ["a percent sign as it is", "?search=%25", [], "%"],
    ["an underscore as it is", "?search=_", [], "_"],
    ["a hundred characters", `?search=${"x".repeat(100)}`, [], "x".repeat(100)],
    ["ids", "?ids=p3,p1,p9", ["p3", "p1"], ""],
    ["a limit", "?limit=2", ["p2", "p4"], ""],
    ["where of one column", "?where[city]=Oslo", ["p2", "p5"], ""],
    ["where of two columns", "?where[city]=Oslo&where[rank]=5", ["p5"], ""],
    ["where of a truth value", "?where[active]=false", ["p4"], ""],
    ["where beside a search", "?where[city]=Oslo&search=neil", ["p2"], "neil"],
    ["where beside ids", "?where[city]=Oslo&ids=p1,p5", ["p5"], ""],
    ["an empty where", "?where=", ["p2", "p4", "p5", "p3", "p1"], ""],
    ["where with a list", "?where[city][]=Oslo&where[city][]=Rome", ["p2", "p5"], ""],
    ["where with a list of numbers", "?where[rank][]=5&where[rank][]=4", ["p4", "p5"], ""],
    ["a list of empty values of a number", "?where[rank][]=&where[rank][]=", [], ""],
    ["a list beside a value", "?where[rank][0]=5&where[rank][1]=4&where[city]=Oslo", ["p5"], ""],
    ["an empty value of a text column", "?where[city]=", [], ""],
    ["an empty value of another column", "?where[rank]=", [], ""],
    ["an empty value beside another one", "?where[rank]=&where[city]=Oslo", [], ""],
    ["where as JSON pairs", `?where=${json([{ key: "city", value: null }])}`, ["p4"], ""],
    ["where as an empty JSON list", "?where=[]", ["p2", "p4", "p5", "p3", "p1"], ""],
    [
      "where as a JSON tree",
      `?where=${json({ conditions: [{ key: "rank", operator: ">", value: 3.5 }] })}`,
      ["p4", "p5"],
      "",
    ],
    ["unknown parameters", "?_=1700000000000&x=y", ["p2", "p4", "p5", "p3", "p1"], ""],
  ])("lookup by GET takes %s", async (_name, query, expected, search) => {
    const answer = await get(`people/lookup${query}`);
    check(answer, { status: 200 });
    expect({ ids: ids(answer), search: answer.body.search, count: answer.body.count }).toEqual({
      ids: expected,
      search,
      count: expected.length,
    });
  });

  test("lookup pages by page and limit, and says whether there is more", async () => {
    const pages = [];
    for (const page of [1, 2, 3]) {
      const answer = await get(`people/lookup?page=${page}&limit=2`);
      pages.push([ids(answer), answer.body.pagination]);
    }
    const next = (page: number) => `/api/test/people/lookup?page=${page}&limit=2`;
    expect(pages).toEqual([
      [["p2", "p4"], { more: true, next: next(2) }],
      [["p5", "p3"], { more: true, next: next(3) }],
      [["p1"], { more: false, next: null }],
    ]);
  });

  test.each([
    ["a search", "search=%C3%84&limit=1", ["p1"]],
    ["a search with signs of queries", "search=O%27n&where[city]=Oslo&limit=1", ["p2"]],
    ["where", "where[city]=Oslo&limit=1", ["p2", "p5"]],
    ["a list", "where[city][]=Oslo&where[city][]=Rome&limit=1", ["p2", "p5"]],
    ["where as JSON", `where=${json([{ key: "city", value: "Oslo" }])}&limit=1`, ["p2", "p5"]],
    ["ids", "ids=p5,p1,p2&limit=1", ["p2", "p5", "p1"]],
    ["what Select2 sends", "_type=query&term=bo&q=bo&limit=1", ["p2", "p5"]],
    ["unknown parameters", "x[]=1&x[]=2&y=&_=17&ids=p1,p2&limit=1", ["p2", "p1"]],
  ])("lookup is walked by the next path of each page, with %s", async (_name, query, expected) => {
    const found: string[] = [];
    let path: string | null = `/api/test/people/lookup?${query}&page=1`;
    while (path !== null && found.length < 9) {
      const answer: Answer = await get(path.replace("/api/test/", ""));
      check(answer, { status: 200 });
      expect(answer.body.pagination.more).toBe(answer.body.pagination.next !== null);
      found.push(...ids(answer));
      path = answer.body.pagination.next;
      expect(path ?? "").not.toMatch(/[?&]_=/);
    }
    expect(found).toEqual(expected);
  });

  test("lookup by POST has no next path, because a path has no body", async () => {
    const { body } = await post("people", { page: 1, limit: 2 });
    expect(body.pagination).toEqual({ more: true });
  });

  test("lookup gives Select2 its results and pagination beside data", async () => {
    const answer = await get("people/lookup?_type=query&term=bo&q=bo&limit=1");
    expect(answer.body.results).toEqual([{ id: "p2", text: "Bo O'Neil" }]);
    expect(answer.body.results).toEqual(answer.body.data);
    const next = "/api/test/people/lookup?_type=query&term=bo&q=bo&limit=1&page=2";
    expect(answer.body.pagination).toEqual({ more: true, next });
  });

  test.each([
    ["no mode", "people/lookup", null, "Invalid Request Mode"],
    ["the mode of POST", "people/lookup", "static", "Invalid Request Mode"],
    ["an unknown mode", "people/lookup", "Dynamic", "Invalid Request Mode"],
    [
      "a search that is too long",
      `people/lookup?search=${"x".repeat(101)}`,
      "dynamic",
      "Invalid parameter",
    ],
    [
      "a term that is too long, also beside q",
      `people/lookup?q=a&term=${"x".repeat(101)}`,
      "dynamic",
      "Invalid parameter",
    ],
    [
      "a search_value that is too long, also beside search",
      `people/lookup?search=a&search_value=${"x".repeat(101)}`,
      "dynamic",
      "Invalid parameter",
    ],
    ["a limit of 0", "people/lookup?limit=0", "dynamic", "Invalid parameter"],
    ["a limit of 5001", "people/lookup?limit=5001", "dynamic", "Invalid parameter"],
    ["a limit that is no number", "people/lookup?limit=10abc", "dynamic", "Invalid parameter"],
    ["page 0", "people/lookup?page=0", "dynamic", "Invalid parameter"],
    ["a page with a fraction", "people/lookup?page=1.5", "dynamic", "Invalid parameter"],
    ["ids of another type", "numbers/lookup?ids=1,x", "dynamic", "Invalid parameter"],
    ["where of an unknown column", "people/lookup?where[nope]=1", "dynamic", "Invalid field"],
    ["where of a hidden column", "people/lookup?where[secret]=a", "dynamic", "Invalid field"],
    [
      "an empty where of a hidden column",
      "people/lookup?where[secret]=",
      "dynamic",
      "Invalid field",
    ],
    ["where of another type", "people/lookup?where[rank]=x", "dynamic", "Invalid parameter"],
    [
      "where with a list of lists",
      "people/lookup?where[city][][]=a",
      "dynamic",
      "Invalid parameter",
    ],
    ["where with an object", "people/lookup?where[city][a]=b", "dynamic", "Invalid parameter"],
    ["where that is a word", "people/lookup?where=city", "dynamic", "Invalid payload"],
    ["where that is a number", "people/lookup?where=5", "dynamic", "Invalid payload"],
    ["where that is broken JSON", "people/lookup?where={", "dynamic", "Invalid payload"],
    [
      "where as JSON with an unknown column",
      `people/lookup?where=${json([{ key: "nope", value: 1 }])}`,
      "dynamic",
      "Invalid field",
    ],
    [
      "where as JSON with a NUL character",
      `people/lookup?where=${json([{ key: "city", value: "\0" }])}`,
      "dynamic",
      "Invalid payload",
    ],
    ["a NUL character", "people/lookup?search=%00", "dynamic", "Invalid payload"],
    ["bytes that are no UTF-8", "people/lookup?search=%FF", "dynamic", "Invalid payload"],
  ])("lookup by GET refuses %s", async (_name, path, mode, error) => {
    check(await get(path, mode), { status: 400, error });
  });
});

describe("a POST", () => {
  test("lookup by POST answers the whole list without a search", async () => {
    const answer = await post("people", {});
    check(answer, { status: 200 });
    expect(Object.keys(answer.body)).toEqual(["success", "count", "data", "timestamp"]);
    expect(ids(answer)).toEqual(["p2", "p4", "p5", "p3", "p1"]);
    expect(answer.body.data[0]).toEqual({ id: "p2", text: "Bo O'Neil" });
  });

  test.each([
    ["no body", undefined, ["p2", "p4", "p5", "p3", "p1"]],
    ["where as a list", { where: [{ key: "city", value: "Oslo" }] }, ["p2", "p5"]],
    [
      "where with several conditions",
      {
        where: [
          { key: "city", value: "Oslo" },
          { key: "rank", value: 5 },
        ],
      },
      ["p5"],
    ],
    ["where with null", { where: [{ key: "city", value: null }] }, ["p4"]],
    [
      "where with operators",
      {
        where: [
          { key: "rank", operator: ">", value: 2 },
          { key: "city", value: "Oslo" },
        ],
      },
      ["p5"],
    ],
    ["an empty where", { where: [] }, ["p2", "p4", "p5", "p3", "p1"]],
    [
      "where as a tree",
      {
        where: {
          logic: "OR",
          conditions: [
            { key: "rank", operator: ">", value: 4 },
            { key: "city", operator: "IS NULL" },
          ],
        },
      },
      ["p4", "p5"],
    ],
    [
      "an order",
      { sort_columns: [{ column: "rank", direction: "DESC" }] },
      ["p5", "p4", "p3", "p2", "p1"],
    ],
    [
      "an order with ties",
      { sort_columns: [{ column: "city", direction: "DESC" }] },
      ["p2", "p5", "p1", "p3", "p4"],
    ],
    ["ids", { ids: ["p5", "p1"] }, ["p5", "p1"]],
    ["no ids at all", { ids: [] }, []],
    ["a search", { search: "BO" }, ["p2", "p5"]],
    ["an empty search", { search: "" }, ["p2", "p4", "p5", "p3", "p1"]],
    ["a search that is null", { search: null }, ["p2", "p4", "p5", "p3", "p1"]],
    ["search_value for search", { search_value: "BO" }, ["p2", "p5"]],
    ["search_value beside an empty search", { search: "", search_value: "BO" }, ["p2", "p5"]],
    ["a search before search_value", { search: "BO", search_value: "dora" }, ["p2", "p5"]],
    ["a search beside where", { search: "o", where: [{ key: "rank", value: 5 }] }, ["p5"]],
    [
      "a search with an order",
      { search: "o", sort_columns: [{ column: "rank", direction: "DESC" }] },
      ["p5", "p4", "p2"],
    ],
    ["a limit", { limit: 1 }, ["p2"]],
  ])("lookup by POST takes %s", async (_name, body, expected) => {
    const answer = await post("people", body);
    check(answer, { status: 200 });
    expect(ids(answer)).toEqual(expected);
  });

  test.each([
    ["one condition alone", { key: "city", value: "Oslo" }],
    ["a word", "city"],
    ["an empty object", {}],
  ])("lookup refuses %s as where, and names the forms that it takes", async (_, where) => {
    check(await post("people", { where }), {
      status: 400,
      error: "Invalid payload",
      message: "where must be an array of {key, value}, or an object with conditions",
    });
  });

  test("lookup adds the columns of select to each item", async () => {
    const answer = await post("people", {
      select: ["code", "active"],
      where: [{ key: "id", value: "p1" }],
    });
    expect(answer.body.data).toEqual([
      { id: "p1", text: "Ärger, Älva", code: "A-1", active: true },
    ]);
  });

  test("lookup marks the item of selected_tag with the text true, and no other", async () => {
    const answer = await post("people", { selected_tag: "p4", where: [{ key: "rank", value: 4 }] });
    expect(answer.body.data).toEqual([{ id: "p4", text: "Dora", selected: "true" }]);
    const others = await post("people", { selected_tag: "p4", where: [{ key: "rank", value: 1 }] });
    expect(others.body.data).toEqual([{ id: "p1", text: "Ärger, Älva" }]);
  });

  test.each([
    ["no mode", {}, null, "Invalid Request Mode"],
    ["the mode of GET", {}, "dynamic", "Invalid Request Mode"],
    [
      "unknown columns in select",
      { select: ["code", "colour", "size"] },
      "static",
      "Invalid select fields",
    ],
    ["a hidden column in select", { select: ["secret"] }, "static", "Invalid select fields"],
    ["a select that is no list", { select: "code" }, "static", "Invalid select fields"],
    ["numbers in select", { select: [1] }, "static", "Invalid select fields"],
    ["prototype names in select", { select: ["constructor"] }, "static", "Invalid select fields"],
    [
      "an unknown column in where",
      { where: [{ key: "colour", value: 1 }] },
      "static",
      "Invalid field",
    ],
    [
      "a hidden column in where",
      { where: [{ key: "secret", value: "hush" }] },
      "static",
      "Invalid field",
    ],
    ["a where without values", { where: [{ key: "city" }] }, "static", "Invalid payload"],
    ["a where that is a text", { where: "city" }, "static", "Invalid payload"],
    [
      "an unknown operator in where",
      { where: [{ key: "city", operator: "near", value: "Oslo" }] },
      "static",
      "Invalid payload",
    ],
    [
      "a single condition as where",
      { where: { key: "city", value: "Oslo" } },
      "static",
      "Invalid payload",
    ],
    [
      "a value of another type",
      { where: [{ key: "rank", value: "high" }] },
      "static",
      "Invalid parameter",
    ],
    [
      "an unknown column in sort_columns",
      { sort_columns: [{ column: "colour" }] },
      "static",
      "Invalid field",
    ],
    [
      "a hidden column in sort_columns",
      { sort_columns: [{ column: "secret" }] },
      "static",
      "Invalid field",
    ],
    [
      "a direction that is none",
      { sort_columns: [{ column: "rank", direction: "up" }] },
      "static",
      "Invalid parameter",
    ],
    ["a search of 101 characters", { search: "x".repeat(101) }, "static", "Invalid parameter"],
    [
      "a search_value that is too long",
      { search: "a", search_value: "x".repeat(101) },
      "static",
      "Invalid parameter",
    ],
    ["a search_value that is no text", { search_value: ["bo"] }, "static", "Invalid parameter"],
    ["a search that is no text", { search: ["bo"] }, "static", "Invalid parameter"],
    ["a limit as true", { limit: true }, "static", "Invalid parameter"],
    ["ids as a number", { ids: 5 }, "static", "Invalid parameter"],
    ["an array as body", [], "static", "Invalid payload"],
  ])("lookup by POST refuses %s", async (_name, body, mode, error) => {
    check(await post("people", body, mode), { status: 400, error });
  });

  test.each([
    ["application/json", "{"],
    ["text/plain", "x"],
  ])("lookup checks its header before a body of %s that it cannot read", async (type, body) => {
    const headers = { "content-type": type };
    const answer = await fixture.request("/api/test/people/lookup", {
      method: "POST",
      headers,
      body,
    });
    check(answer, { status: 400, error: "Invalid Request Mode" });
  });

  test.each<[string, unknown, string]>([
    ["every unknown field of select", ["code", "colour", "size"], "colour, size"],
    ["a select that is no list", "code", "code; select must be an array"],
    ["a select that is an object", { code: true }, "?; select must be an array"],
    ["the beginning of a long name in select", ["x".repeat(1000)], "x".repeat(100)],
  ])("lookup lists %s in the message", async (_name, select, listed) => {
    const { body } = await post("people", { select });
    expect(body.message).toBe(`Invalid fields in select: ${listed}`);
  });
});

describe("the configuration", () => {
  test("lookup joins columns and texts to one label, and searches and sorts by it", async () => {
    const answer = await get("labelled/lookup?search=lund), IT%27S");
    expect(answer.body.data).toEqual([
      { id: "B%1", text: "ceder (Lund), it's \\ 3" },
      { id: "A-1", text: "Ärger, Älva (Lund), it's \\ 1" },
    ]);
    const withoutCity = await post("labelled", { where: [{ key: "rank", value: 4 }] });
    expect(withoutCity.body.data).toEqual([{ id: "B_1", text: "Dora (), it's \\ 4" }]);
  });

  test("lookup shows a label that is JSON as JSON, and finds nothing in it", async () => {
    const { body } = await get("options/lookup");
    expect(body.data).toEqual([
      { id: "o2", text: "red" },
      { id: "o1", text: '{"size":[1,2.5]}' },
    ]);
    expect((await get("options/lookup?search=red")).body.data).toEqual([]);
  });

  test("lookup always applies the default scope for lookups, whatever is asked", async () => {
    expect(ids(await get("scoped/lookup?search=dora"))).toEqual([]);
    expect(ids(await get("scoped/lookup?ids=p4,p1"))).toEqual(["p1"]);
    const where = {
      logic: "OR",
      conditions: [
        { key: "active", operator: "=", value: false },
        { key: "rank", operator: "=", value: 1 },
      ],
    };
    expect(ids(await post("scoped", { where }))).toEqual(["p1"]);
  });

  test("lookup applies the default scope beside the where of a GET", async () => {
    expect(ids(await get("scoped/lookup?where[city]=Oslo"))).toEqual(["p2", "p5"]);
    expect(ids(await get("scoped/lookup?where[active]=false"))).toEqual([]);
  });

  test.each([
    ["prefixed", "bo", ["p2", "p5"]],
    ["prefixed", "o", []],
    ["prefixed", "%", []],
    ["plain", "malaga", ["l1", "l5"]],
    ["plain", "MÁLAGÁ", ["l1", "l5"]],
    ["plain", "lodz", ["l2"]],
    ["plain", "Łódź", ["l2"]],
    ["plain", "orsted duric", ["l3"]],
    ["plain", "ørsted", ["l3"]],
    ["plain", "straße", ["l4"]],
    ["plain", "strasse", []],
    ["plain", "ηλιος", ["l6"]],
    ["plain", "a_x", ["l5"]],
    ["plain", "5%", ["l5"]],
    ["plain", "m%a", []],
    ["plain-prefix", "A malaga", ["l1"]],
    ["plain-prefix", "malaga", []],
    ["accented", "malaga", ["l5"]],
    ["accented", "málaga", ["l1"]],
  ])("lookup of %s finds labels by %s", async (endpoint, search, expected) => {
    expect(ids(await get(`${endpoint}/lookup?search=${encodeURIComponent(search)}`))).toEqual(
      expected,
    );
    expect(ids(await post(endpoint, { search }))).toEqual(expected);
  });

  test("lookup keeps each search by POST apart in the cache", async () => {
    const found = async (search: string) => ids(await post("people", { search }));
    expect([await found("dora"), await found("ceder"), await found("dora")]).toEqual([
      ["p4"],
      ["p3"],
      ["p4"],
    ]);
  });

  test("lookup shows numeric keys as text", async () => {
    const answer = await get("numbers/lookup?ids=2");
    expect(answer.body.data).toEqual([{ id: "2", text: "two" }]);
  });

  test("lookup finds nothing by an id that no row can have", async () => {
    const answer = await get("numbers/lookup?ids=2,9223372036854775808");
    check(answer, { status: 200 });
    expect(ids(answer)).toEqual(["2"]);
  });

  test("lookup sees what was just created", async () => {
    check(await fixture.post("numbers/create", { label: "four" }), { status: 201 });
    expect((await get("numbers/lookup?search=four")).body.count).toBe(1);
  });

  test("lookup answers 404 where it is not switched on", async () => {
    check(await get("unable/lookup"), { status: 404, error: "Not found" });
  });

  test("lookup answers another method with 405 and the two that it takes", async () => {
    const answer = await fixture.request("/api/test/people/lookup", { method: "PUT" });
    check(answer, { status: 405, error: "Method not allowed" });
    expect(answer.headers.get("Allow")).toBe("GET, POST");
  });
});
