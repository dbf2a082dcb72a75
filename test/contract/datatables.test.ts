/**
 * datatables over HTTP. The cases are sent in each encoding that the library has: JSON, a form, a query string, and
 * JSON with the content type of a form.
 */
import { describe, expect, test } from "vitest";
import { column, type Case } from "./cases.ts";
import { items } from "./fixture.ts";
import { bracketed } from "./form-text.ts";
import type { Answer } from "./harness.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

const formType = "application/x-www-form-urlencoded; charset=UTF-8";

type Way = (endpoint: string, body: object) => Promise<Answer>;

const postText = (endpoint: string, type: string, body: string): Promise<Answer> =>
  shop.send(`/${endpoint}/datatables`, { method: "POST", headers: { "content-type": type }, body });

const ways: Record<string, Way> = {
  JSON: (endpoint, body) => shop.post(endpoint, "datatables", body),
  "a form": (endpoint, body) => postText(endpoint, formType, bracketed(body)),
  "a query": (endpoint, body) => shop.send(`/${endpoint}/datatables?${bracketed(body)}`),
  "JSON called a form": (endpoint, body) => postText(endpoint, formType, JSON.stringify(body)),
};

const ids = items.map((row) => row.item_id);
const byQty = ["i05", "i04", "i03", "i06", "i01", "i02", "i08", "i07"];

/** A column as the library sends each one. */
const col = (data: unknown, more: object = {}) => ({
  data,
  name: "",
  searchable: true,
  orderable: true,
  search: { value: "", regex: false },
  ...more,
});
const find = (value: unknown, more: object = {}) => ({ search: { value, regex: false, ...more } });
const bad = "Invalid payload";
const of = (key: string, operator: string, value?: unknown, more: object = {}) => ({
  where: { logic: "AND", conditions: [{ key, operator, value, ...more }] },
});

interface Found {
  name: string;
  /** Without it, `grid`: the table of the items. */
  endpoint?: string;
  body: object;
  ids: readonly string[];
  /** Without it, all of them are on the page. */
  filtered?: number;
  draw?: number;
}

const found: Found[] = [
  { name: "datatables gives all by default, without the scope of reads", body: {}, ids },
  { name: "datatables echoes draw", body: { draw: 7 }, ids, draw: 7 },
  { name: "datatables echoes draw as an integer", body: { draw: "0012" }, ids, draw: 12 },
  {
    name: "datatables ignores the parameters that it does not know",
    body: { _: 1, x: [1], searchPanes: { a: 1 } },
    ids,
  },
  {
    name: "datatables gives a page",
    body: { start: 3, length: 2 },
    ids: ["i04", "i05"],
    filtered: 8,
  },
  {
    name: "datatables gives an empty page behind the last",
    body: { start: 80, length: 10 },
    ids: [],
    filtered: 8,
  },
  { name: "datatables takes a length of 1000", body: { length: 1000 }, ids },

  { name: "datatables searches every field", body: find("777"), ids: ["i07"] },
  {
    name: "datatables searches numbers and texts alike",
    body: find("7"),
    ids: ["i06", "i07", "i08"],
  },
  { name: "datatables ignores case beyond ASCII", body: find("éclair"), ids: ["i06"] },
  { name: "datatables searches % literally", body: find("%"), ids: ["i04"] },
  { name: "datatables searches _ literally", body: find("_"), ids: ["i05"] },
  { name: "datatables searches a backslash literally", body: find("\\"), ids: ["i07"] },
  {
    name: "datatables takes a regular expression as a text",
    body: find("snake.case", { regex: true }),
    ids: [],
  },
  { name: "datatables finds nothing in a hidden column", body: find("hush-"), ids: [] },
  {
    name: "datatables searches by searchValue",
    body: { searchValue: "snake" },
    ids: ["i05", "i08"],
  },
  {
    name: "datatables searches by search_value",
    body: { search_value: "snake" },
    ids: ["i05", "i08"],
  },
  {
    name: "datatables searches by search.value as one name",
    body: { "search.value": "snake" },
    ids: ["i05", "i08"],
  },
  {
    name: "datatables uses another name where search.value is empty",
    body: { ...find(""), search_value: "apple" },
    ids: ["i01"],
  },
  {
    name: "datatables searches the column of searchBy alone",
    body: { ...find("7"), searchBy: "code" },
    ids: ["i07"],
  },
  {
    name: "datatables searches every field with searchBy all",
    body: { ...find("7"), searchBy: "all" },
    ids: ["i06", "i07", "i08"],
  },
  {
    name: "datatables searches every field with searchBy all, also beside columns",
    body: { ...find("7"), searchBy: "all", columns: [col("code", { searchable: false })] },
    ids: ["i06", "i07", "i08"],
  },
  {
    name: "datatables searches the columns that it sends, where searchBy is empty",
    body: { ...find("7"), searchBy: "", columns: [col("code")] },
    ids: ["i07"],
  },
  {
    name: "datatables searches the searchable columns alone",
    body: { ...find("7"), columns: [col("code"), col("qty", { searchable: false })] },
    ids: ["i07"],
  },
  {
    name: "datatables finds nothing where no column is searchable",
    body: { ...find("7"), columns: [col("code", { searchable: false }), col("")] },
    ids: [],
  },
  {
    name: "datatables searches the column of searchBy though it is not searchable",
    body: { ...find("7"), searchBy: "code", columns: [col("code", { searchable: false })] },
    ids: ["i07"],
  },
  {
    name: "datatables narrows the global search to datatablesWhere",
    endpoint: "grid-narrow",
    body: find("7"),
    ids: [],
  },
  {
    name: "datatables finds what is in the columns of datatablesWhere",
    endpoint: "grid-narrow",
    body: find("snake"),
    ids: ["i05", "i08"],
  },

  {
    name: "datatables searches a column",
    body: { columns: [col("item_id"), col("name", find("SNAKE"))] },
    ids: ["i05", "i08"],
  },
  {
    name: "datatables joins column searches and the global search by AND",
    body: { ...find("snake"), columns: [col("name"), col("qty", find("20"))] },
    ids: ["i08"],
  },
  {
    name: "datatables searches two columns",
    body: { columns: [col("qty", find("20")), col("category_id", find("c1"))] },
    ids: ["i02"],
  },
  {
    name: "datatables takes a column's regular expression as a text",
    body: { columns: [col("name", find("a.*e", { regex: true }))] },
    ids: [],
  },
  {
    name: "datatables ignores the search of a column that is not searchable",
    body: { columns: [col("name", { ...find("snake"), searchable: false })] },
    ids,
  },
  {
    name: "datatables ignores the search of what is no field",
    body: {
      columns: [null, "", "function", 5, "5", { _: "nope" }].map((data) => col(data, find("x"))),
    },
    ids,
  },
  {
    name: "datatables ignores an unknown column that is not searched",
    body: {
      ...find("snake"),
      columns: [
        col("name"),
        col("nope"),
        col("secret"),
        col("edit", { ...find("x"), searchable: false }),
      ],
    },
    ids: ["i05", "i08"],
  },
  {
    name: "datatables applies fixed searches",
    body: {
      search: { value: "", regex: false, fixed: [{ name: "mine", term: "snake" }] },
      columns: [
        col("name"),
        col("qty", { search: { value: "", fixed: [{ name: "q", term: 20 }] } }),
      ],
    },
    ids: ["i08"],
  },
  {
    name: "datatables passes over a fixed search that is a function, or none",
    body: {
      search: { value: "", fixed: [{ name: "f", term: "function" }, { name: "e", term: "" }, "x"] },
      columns: [col("name", { search: { value: "", fixed: [{ term: "function" }] } })],
    },
    ids,
  },

  { name: "datatables filters by where", body: of("qty", ">=", 20), ids: ["i02", "i07", "i08"] },
  {
    name: "datatables joins where and search by AND",
    body: { ...of("qty", "=", 20), ...find("snake") },
    ids: ["i08"],
  },
  {
    name: "datatables takes sensitive in where",
    body: of("name", "LIKE", "ÉCL%", { sensitive: false }),
    ids: ["i06"],
  },
  {
    name: "datatables takes a where without conditions",
    body: { where: { logic: "AND", conditions: [] } },
    ids,
  },
  {
    name: "datatables takes groups in where",
    body: {
      where: {
        logic: "OR",
        conditions: [
          { key: "qty", operator: "IN", value: [5, 7] },
          { logic: "AND", conditions: [{ key: "due", operator: "IS NULL" }] },
        ],
      },
    },
    ids: ["i03", "i04", "i05", "i06"],
  },

  {
    name: "datatables sorts by order, resolved through the data of columns",
    body: { columns: [col("name"), col("qty")], order: [{ column: 1, dir: "asc", name: "" }] },
    ids: byQty,
  },
  {
    name: "datatables sorts by order, resolved by position where there are no columns",
    body: { order: [{ column: 4, dir: "asc" }] },
    ids: byQty,
  },
  {
    name: "datatables resolves by position a column that says no data",
    body: {
      columns: ["item_id", "code", "name", "category_id", "qty"].map(() => ({ orderable: true })),
      order: [{ column: 4, dir: "asc" }],
    },
    ids: byQty,
  },
  {
    name: "datatables sorts by several columns, each in its direction",
    body: {
      columns: [col("category_id"), col("qty")],
      order: [
        { column: 0, dir: "desc" },
        { column: 1, dir: "DESC" },
      ],
    },
    ids: ["i03", "i04", "i05", "i02", "i01", "i06", "i07", "i08"],
  },
  {
    name: "datatables ends every order with the primary key, ascending",
    body: { columns: [col("active")], order: [{ column: 0, dir: "desc" }] },
    ids: ["i01", "i02", "i04", "i06", "i03", "i07", "i08", "i05"],
  },
  {
    name: "datatables sorts by sort_columns before order",
    body: {
      sort_columns: [{ column: "price", direction: "DESC" }],
      columns: [col("code")],
      order: [{ column: 0, dir: "desc" }],
    },
    ids: ["i03", "i04", "i08", "i07", "i06", "i01", "i02", "i05"],
  },
  {
    name: "datatables ignores the order of a column that is not orderable",
    body: { columns: [col("qty", { orderable: false })], order: [{ column: 0, dir: "desc" }] },
    ids,
  },
  {
    name: "datatables ignores the order of what is no field",
    body: {
      columns: ["secret", "", "function", "nope", "constructor"].map((data) => col(data)),
      order: [0, 1, 2, 3, 4, 5, 600].map((at) => ({ column: at, dir: "desc" })),
    },
    ids,
  },
  {
    name: "datatables ignores an order without a direction",
    body: { columns: [col("qty")], order: [{ column: 0, dir: "" }] },
    ids,
  },
  {
    name: "datatables sorts by a column of a list with gaps",
    body: { columns: { 2: col("qty") }, order: [{ column: 2, dir: "asc" }] },
    ids: byQty,
  },
  {
    name: "datatables sorts by position in a gap of columns",
    body: { columns: { 7: col("name") }, order: [{ column: 4, dir: "asc" }] },
    ids: byQty,
  },
  {
    name: "datatables sorts by an order with gaps, in its sequence",
    body: {
      columns: [col("category_id"), col("qty")],
      order: { 4: { column: 1, dir: "desc" }, 2: { column: 0, dir: "desc" } },
    },
    ids: ["i03", "i04", "i05", "i02", "i01", "i06", "i07", "i08"],
  },
  {
    name: "datatables searches only what was sent of a list with gaps",
    body: { ...find("7"), columns: { 3: col("code") } },
    ids: ["i07"],
  },
  {
    name: "datatables searches a column of a list with gaps",
    body: { columns: { 0: col("item_id"), 9: col("name", find("SNAKE")) } },
    ids: ["i05", "i08"],
  },
  {
    name: "datatables takes the last place of columns alone",
    body: { columns: { 999: col("qty") }, order: [{ column: 999, dir: "asc" }] },
    ids: byQty,
  },
  {
    name: "datatables takes hundreds of columns",
    body: {
      columns: Array.from({ length: 300 }, (_, at) => col(`c${at}`)).concat(col("qty")),
      order: [{ column: 300, dir: "asc" }],
    },
    ids: byQty,
  },

  {
    name: "datatables reads datatablesQuery",
    endpoint: "grid-query",
    body: { ...find("goods"), columns: [col("category_name")] },
    ids: ["i03", "i04", "i05"],
  },
  {
    name: "datatables sorts a datatablesQuery by position",
    endpoint: "grid-query",
    body: { order: [{ column: 2, dir: "asc" }] },
    ids: byQty,
  },
];

describe.each(Object.entries(ways))("sent as %s", (_, send) => {
  test.each(found)("$name", async ({ endpoint = "grid", body, ids: expected, filtered, draw }) => {
    const answer = await send(endpoint, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect({
      ...answer.body,
      data: answer.body.data.map((row: { item_id: string }) => row.item_id),
    }).toEqual({
      draw: draw ?? 0,
      recordsTotal: 8,
      recordsFiltered: filtered ?? expected.length,
      data: expected,
    });
  });
});

describe("names with brackets in JSON", () => {
  const byName = (body: object) => shop.post("grid", "datatables", body);
  test.each([
    ["an order", { "order[0][column]": 4, "order[0][dir]": "asc" }, byQty],
    ["a search", { "search[value]": "apple", draw: 0 }, ["i01"]],
    [
      "columns with gaps",
      { "columns[2][data]": "name", "columns[2][search][value]": "SNAKE" },
      ["i05", "i08"],
    ],
    ["a where beside them", { "search[value]": "snake", ...of("qty", "=", 20) }, ["i08"]],
  ])("datatables reads %s", async (_name, body, expected) => {
    const answer = await byName(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body.data.map((row: { item_id: string }) => row.item_id)).toEqual(expected);
  });

  test.each([
    ["a value that is a list too", { search: { value: "a" }, "search[value]": "b" }],
    ["a prototype's name", { "columns[0][__proto__][x]": 1 }],
  ])("datatables refuses %s", async (_name, body) => {
    const answer = await byName(body);
    expect([answer.status, answer.body.error]).toEqual([400, bad]);
  });
});

describe("the answer", () => {
  test("datatables answers draw, the two counts and data, and nothing else", async () => {
    const answer = await shop.post("grid-query", "datatables", { draw: 3, length: 1 });
    expect(answer.body).toEqual({
      draw: 3,
      recordsTotal: 8,
      recordsFiltered: 8,
      data: [{ item_id: "i01", name: "apple", qty: 10, category_name: "Food" }],
    });
  });

  test("datatables shows the table's fields, its key and its audit columns, and never the view's", async () => {
    const answer = await shop.post("grid", "datatables", { length: 1 });
    const audit = { created_at: null, created_by: null, updated_at: null, updated_by: null };
    expect(answer.body.data).toEqual([{ ...items[0], locked: "set by hand", ...audit }]);
  });

  const row = { item_id: "i01", name: "apple", qty: 10, category_name: "Food" };
  test.each(Object.entries(ways))(
    "datatables has null in columns that are no fields of the caller, sent as %s",
    async (_way, send) => {
      const named = ["nope", "price", "nobody.name", "nobody.age", "constructor", "a\\.b"];
      const nameless = ["", "function", "0", "tags[, ]", "lines[].qty", "total()", "."];
      const own = ["name", "name.length", "__proto__", "x.__proto__"];
      const columns = [...named, ...nameless, ...own].map((data) => col(data));
      const { body } = await send("grid-query", { columns, length: 1 });
      const added = { nope: null, price: null, nobody: null, constructor: null, "a.b": null };
      expect(body.data).toEqual([{ ...row, ...added }]);
    },
  );

  test("datatables has null in no more than 100 columns, of names that columns can have", async () => {
    const names = Array.from({ length: 150 }, (_, at) => `c${at}`);
    const columns = ["x".repeat(101), ...names, ...names].map((data) => col(data));
    const { body } = await shop.post("grid-query", "datatables", { columns, length: 2 });
    const added = Object.fromEntries(names.slice(0, 100).map((name) => [name, null]));
    expect(body.data).toEqual([
      { ...row, ...added },
      { ...row, item_id: "i02", name: "banana", qty: 20, ...added },
    ]);
  });

  test("datatables answers a request without a body or a query", async () => {
    for (const init of [{ method: "POST" }, { method: "GET" }]) {
      const answer = await shop.send("/grid/datatables", init);
      expect(column({ ...answer, body: { ...answer.body, success: true } }, "item_id")).toEqual(
        ids,
      );
    }
  });

  test("datatables gives ten rows when length is missing", async () => {
    const answer = await shop.post("grid-many", "datatables", {});
    expect(answer.body).toMatchObject({ recordsTotal: 64, recordsFiltered: 64 });
    expect(answer.body.data).toHaveLength(10);
  });
});

const unknown = "Invalid field";
const refused: Omit<Case, "status">[] = [
  ...["x", "1.5", "1e3", "", " 1", "99999999999999999", "<script>"].map((draw) => ({
    name: `datatables refuses the draw ${JSON.stringify(draw)}`,
    body: { draw },
    error: bad,
  })),
  ...[0, -1, 1001, "x", 1.5, ""].map((length) => ({
    name: `datatables refuses the length ${JSON.stringify(length)}`,
    body: { length },
    error: bad,
  })),
  ...[-1, "x", 0.5, "", "9007199254740993"].map((start) => ({
    name: `datatables refuses the start ${JSON.stringify(start)}`,
    body: { start },
    error: bad,
  })),
  { name: "datatables refuses a search that is no object", body: { search: "x" }, error: bad },
  {
    name: "datatables refuses a search for a list",
    body: { search: { value: ["x"] } },
    error: bad,
  },
  {
    name: "datatables refuses an unknown searchBy",
    body: { ...find("x"), searchBy: "nope" },
    error: unknown,
  },
  {
    name: "datatables refuses an unknown searchBy, also without a search",
    body: { searchBy: "nope" },
    error: unknown,
  },
  {
    name: "datatables refuses the search of an unknown column",
    body: { columns: [col("name"), col("nope", find("x"))] },
    error: unknown,
  },
  {
    name: "datatables refuses the search of a hidden column",
    body: { columns: [col("secret", find("x"))] },
    error: unknown,
  },
  {
    name: "datatables refuses the search of a column with a prototype's name",
    body: { columns: [col("__proto__", find("x"))] },
    error: unknown,
  },
  { name: "datatables refuses a hidden searchBy", body: { searchBy: "secret" }, error: unknown },
  {
    name: "datatables refuses a prototype's name",
    body: { searchBy: "__proto__" },
    error: unknown,
  },
  {
    name: "datatables refuses a searchBy that is a list",
    body: { searchBy: ["name"] },
    error: bad,
  },
  {
    name: "datatables refuses an unknown column in sort_columns",
    body: { sort_columns: [{ column: "nope", direction: "ASC" }] },
    error: unknown,
  },
  {
    name: "datatables refuses a hidden column in sort_columns",
    body: { sort_columns: [{ column: "secret", direction: "ASC" }] },
    error: unknown,
  },
  {
    name: "datatables refuses another direction in sort_columns",
    body: { sort_columns: [{ column: "qty", direction: "up" }] },
    error: bad,
  },
  {
    name: "datatables refuses sort_columns that are no array",
    body: { sort_columns: { a: 1 } },
    error: bad,
  },
  {
    name: "datatables refuses an unknown column in where",
    body: of("nope", "=", 1),
    error: unknown,
  },
  {
    name: "datatables refuses a hidden column in where",
    body: of("secret", "=", "x"),
    error: unknown,
  },
  {
    name: "datatables refuses a column of the view in where",
    body: of("origin", "=", "view"),
    error: unknown,
  },
  { name: "datatables refuses an unknown operator in where", body: of("qty", "~", 1), error: bad },
  {
    name: "datatables refuses a bare array as where",
    body: { where: [{ key: "qty", value: 1 }] },
    error: bad,
  },
  {
    name: "datatables refuses a where that misspells its conditions",
    body: { where: { logic: "AND", condition: [{ key: "qty", operator: "=", value: 1 }] } },
    error: bad,
  },
  {
    name: "datatables refuses a value in where that the column cannot take",
    body: of("qty", "=", "ten"),
    error: "Invalid parameter",
  },
  { name: "datatables refuses columns that are no array", body: { columns: { a: 1 } }, error: bad },
  ...[1000, 4294967294, 4294967295, 1e300].map((place) => ({
    name: `datatables refuses a column at place ${place}`,
    body: { columns: { [place.toLocaleString("fullwide", { useGrouping: false })]: col("qty") } },
    error: bad,
  })),
  {
    name: "datatables refuses columns with other names beside places",
    body: { columns: { 0: col("name"), a: col("qty") } },
    error: bad,
  },
  {
    name: "datatables refuses columns by place that are no objects",
    body: { columns: { 2: "name" } },
    error: bad,
  },
  {
    name: "datatables refuses columns that are no objects",
    body: { columns: ["name"] },
    error: bad,
  },
  {
    name: "datatables refuses more than 1000 columns",
    body: { columns: Array.from({ length: 1001 }, () => ({ data: "name" })) },
    error: bad,
  },
  {
    name: "datatables refuses more than 100 searches of columns",
    body: {
      columns: Array.from({ length: 101 }, () => ({ data: "name", search: { value: "a" } })),
    },
    error: bad,
  },
  { name: "datatables refuses an order that is no array", body: { order: { a: 1 } }, error: bad },
  { name: "datatables refuses an order of no objects", body: { order: ["qty"] }, error: bad },
  {
    name: "datatables refuses an order without a column",
    body: { order: [{ dir: "asc" }] },
    error: bad,
  },
  {
    name: "datatables refuses an order by a name",
    body: { order: [{ column: "qty", dir: "asc" }] },
    error: bad,
  },
  {
    name: "datatables refuses another direction in order",
    body: { order: [{ column: 0, dir: "desc; drop table items" }] },
    error: bad,
  },
];

describe.each(Object.entries(ways))("refused as %s", (_, send) => {
  test.each(refused)("$name", async ({ body, error }) => {
    const sent = { draw: 4, ...(body as object) };
    const answer = await send("grid", sent);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(answer.body).toMatchObject({
      success: false,
      error,
      draw: sent.draw === 4 ? 4 : 0,
      recordsTotal: 0,
      recordsFiltered: 0,
      data: [],
    });
  });
});

describe("what cannot be read", () => {
  const texts: { name: string; type: string; body: string; status: number }[] = [
    {
      name: "datatables refuses JSON that is none",
      type: "application/json",
      body: "{",
      status: 400,
    },
    {
      name: "datatables refuses JSON called a form that is none",
      type: formType,
      body: "{x=1",
      status: 400,
    },
    {
      name: "datatables refuses a list as JSON",
      type: "application/json",
      body: "[]",
      status: 400,
    },
    {
      name: "datatables refuses a form with a prototype's name",
      type: formType,
      body: "__proto__[x]=1",
      status: 400,
    },
    {
      name: "datatables refuses a prototype's name as a place",
      type: formType,
      body: "columns[2][data]=name&columns[__proto__][data]=name",
      status: 400,
    },
    {
      name: "datatables refuses a form that is not UTF-8",
      type: formType,
      body: "draw=%FF",
      status: 400,
    },
    {
      name: "datatables refuses a form with a NUL character",
      type: formType,
      body: "searchValue=%00",
      status: 400,
    },
    {
      name: "datatables refuses another media type",
      type: "text/plain",
      body: "draw=1",
      status: 415,
    },
  ];
  test.each(texts)("$name", async ({ type, body, status }) => {
    const answer = await postText("grid", type, body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ success: false, draw: 0, data: [] });
  });

  test("datatables refuses a query with a prototype's name", async () => {
    const answer = await shop.send("/grid/datatables?constructor[prototype][x]=1");
    expect(answer.status).toBe(400);
  });

  test("datatables takes no other method than GET and POST", async () => {
    const answer = await shop.send("/grid/datatables", { method: "PUT" });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("Allow")).toBe("GET, POST");
  });

  test("the other actions take no form", async () => {
    const answer = await shop.send("/items/read", {
      method: "POST",
      headers: { "content-type": formType },
      body: "limit=1",
    });
    expect(answer.status).toBe(415);
  });
});
