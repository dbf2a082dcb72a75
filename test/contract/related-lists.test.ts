/** Paths to related records where lists are asked for in other words than read's: lookup, the grid, aggregate, export, the cache. */
import { describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import { type Answer, openForTests } from "./harness.ts";
import { openTrade } from "./trade.ts";

const trade = openForTests(openTrade);

const as = (role?: string): Record<string, string> =>
  role === undefined ? {} : { "x-role": role };

const static_ = (role?: string) => ({ "x-request-mode": "static", ...as(role) });
const listed = (path: string, body: object, role?: string): Promise<Answer> =>
  trade.post(`${path}/lookup`, body, static_(role));
const typed = (query: string, role?: string): Promise<Answer> =>
  trade.request(`/api/test/orders/lookup?${query}`, {
    headers: { "x-request-mode": "dynamic", ...as(role) },
  });
const texts = ({ body }: Answer) =>
  body.data.map(({ text }: { text: string }) => text.trim()).join(" ");

describe("lookup", () => {
  const byName = (value: string) => ({
    where: { conditions: [{ key: "customer.name", operator: "=", value }] },
  });
  const found: [name: string, body: object, found: string, role?: string][] = [
    ["filters by a path", byName("Ada"), "A1 A5"],
    ["filters by pairs", { where: [{ key: "customer.city.name", value: "Wien" }] }, "A2"],
    [
      "filters by conditions on many",
      { where: { conditions: [{ key: "lines", operator: "NONE" }] } },
      "A3 A4",
    ],
    [
      "sorts by a path",
      { sort_columns: [{ column: "customer.name", direction: "DESC" }] },
      "A2 A1 A5 A3 A4",
    ],
    ["finds no hidden record", byName("Bob"), "", "north"],
    ["finds no deleted record", byName("Dan"), ""],
  ];
  test.each(found)("%s", async (_, body, data, role) => {
    const answer = await listed("orders", body, role);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(texts(answer)).toBe(data);
  });

  test("items nest what select names", async () => {
    const select = ["amount", "customer.name", "customer.city.name"];
    const { body } = await listed("orders", { select, ids: ["o2", "o3"] });
    expect(body.data).toEqual([
      { id: "o2", text: "A2", amount: 20, customer: { name: "Bob", city: { name: "Wien" } } },
      { id: "o3", text: "A3", amount: 5, customer: null },
    ]);
  });

  test("select takes all columns of a related record", async () => {
    const { body } = await listed("customers", { select: ["city.*"], ids: ["a"] });
    expect(body.data).toEqual([
      { id: "a", text: "Ada", city: { id: "c1", name: "Oslo", country: "Norway" } },
    ]);
  });

  test("GET filters by paths", async () => {
    const answer = await typed("where[customer.city.name]=Wien");
    expect(texts(answer)).toBe("A2");
    const where = JSON.stringify({ conditions: [{ key: "customer", operator: "ANY" }] });
    expect(texts(await typed(`where=${encodeURIComponent(where)}`, "north"))).toBe("A1 A5");
  });

  const labels: [name: string, path: string, role: string | undefined, found: string][] = [
    ["joins paths", "sales", undefined, "A1 Ada A2 Bob A3 A4 A5 Ada"],
    ["shows no hidden record", "sales", "north", "A1 Ada A2 A3 A4 A5 Ada"],
    ["shows no path that the caller may not use", "sales", "outsider", "A1 A2 A3 A4 A5"],
    ["may be a path alone", "buyers", undefined, "  Ada Ada Bob"],
    ["may be empty", "buyers", "outsider", "    "],
  ];
  test.each(labels)("the label %s", async (_, path, role, data) => {
    const answer = await listed(path, {}, role);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(texts(answer)).toBe(data);
  });

  const searches: [path: string, search: string, role: string | undefined, found: string][] = [
    ["sales", "bo", undefined, "A2 Bob"],
    ["sales", "bo", "north", ""],
    ["sales", "bo", "outsider", ""],
    ["sales", "a2", "outsider", "A2"],
    ["buyers", "ad", undefined, "Ada Ada"],
    ["buyers", "ad", "outsider", ""],
  ];
  test.each(searches)("a search in %s for %s as %s", async (path, search, role, data) => {
    expect(texts(await listed(path, { search }, role))).toBe(data);
  });
});

const grid = (path: string, body: object, role?: string): Promise<Answer> =>
  trade.post(`${path}/datatables`, body, as(role));
const column = (data: string, search = "") => ({ data, search: { value: search } });
const columns = [column("order_no"), column("customer.name"), column("customer.city.name")];
const numbers = ({ body }: Answer) =>
  body.data.map(({ order_no }: { order_no: string }) => order_no).join(" ");

describe("datatables", () => {
  test("rows nest the paths of the grid's columns", async () => {
    const { body } = await grid("orders", { draw: 3, columns, length: 3 });
    expect(body).toMatchObject({ draw: 3, recordsTotal: 5, recordsFiltered: 5 });
    expect(body.data.map(({ customer }: { customer: unknown }) => customer)).toEqual([
      { name: "Ada", city: { name: "Oslo" } },
      { name: "Bob", city: { name: "Wien" } },
      null,
    ]);
  });

  test("rows without paths are what they were", async () => {
    const { body } = await grid("orders", { columns: [column("order_no")], length: 1 });
    expect(body.data[0]).toMatchObject({ id: "o1", customer_id: "a" });
    expect(body.data[0]).not.toHaveProperty("customer");
  });

  test("a column of a query with the name of a path comes first", async () => {
    const asked = [column("customer.code"), column("customer.name")];
    const { body } = await grid("buyers", { columns: asked });
    expect(body.data.map(({ customer }: { customer: unknown }) => customer)).toEqual([
      { code: "x", name: "Ada" },
      { code: "x", name: "Bob" },
      { code: "x" },
      { code: "x" },
      { code: "x", name: "Ada" },
    ]);
  });

  const builder = (origData: string, value: string) => ({
    searchBuilder: { logic: "AND", criteria: [{ condition: "=", origData, value1: value }] },
  });
  const control = (value: string) => ({
    columns: [
      {
        ...column("customer.name"),
        columnControl: { search: { value, logic: "contains", type: "text" } },
      },
    ],
  });
  const found: [name: string, body: object, found: string, role?: string][] = [
    ["searches everywhere", { columns, search: { value: "wien" } }, "A2"],
    ["searches only columns of the grid", { search: { value: "wien" } }, ""],
    [
      "searches a column",
      { columns: [column("order_no"), column("customer.name", "ad")] },
      "A1 A5",
    ],
    ["searches by name", { searchBy: "customer.name", searchValue: "bo" }, "A2"],
    ["sorts", { columns, order: [{ column: 1, dir: "desc" }] }, "A2 A1 A5 A3 A4"],
    [
      "sorts by sort_columns",
      { sort_columns: [{ column: "customer.city.name", direction: "DESC" }] },
      "A2 A1 A5 A3 A4",
    ],
    [
      "filters",
      { where: { conditions: [{ key: "customer.credit", operator: ">", value: 50 }] } },
      "A1 A5",
    ],
    ["filters by many", { where: { conditions: [{ key: "lines", operator: "ANY" }] } }, "A1 A2 A5"],
    ["filters by SearchBuilder", builder("customer.name", "Bob"), "A2"],
    ["filters by SearchPanes", { searchPanes: { "customer.name": ["Ada"] } }, "A1 A5"],
    ["filters by empty panes", { searchPanes: { "customer.name": [""] } }, "A3 A4"],
    ["filters by ColumnControl", control("bo"), "A2"],
    ["searches no hidden record", { columns, search: { value: "wien" } }, "", "north"],
    ["builds no hidden record", builder("customer.name", "Bob"), "", "north"],
    ["ignores unknown columns", { columns, search: { value: "wien" } }, "", "outsider"],
    [
      "ignores unknown panes",
      { searchPanes: { "customer.name": ["Ada"] } },
      "A1 A2 A3 A4 A5",
      "outsider",
    ],
    [
      "ignores an unknown order",
      { columns, order: [{ column: 1, dir: "desc" }] },
      "A1 A2 A3 A4 A5",
      "outsider",
    ],
  ];
  test.each(found)("%s", async (_, body, data, role) => {
    const answer = await grid("orders", body, role);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(numbers(answer)).toBe(data);
    expect(answer.body.recordsFiltered).toBe(answer.body.data.length);
  });

  test("refuses ColumnControl in a path that the caller may not use, as a search in it", async () => {
    check(await grid("orders", control("bo"), "outsider"), { status: 400, error: "Invalid field" });
  });

  test("counts and pages are those of the filter", async () => {
    const where = { conditions: [{ key: "customer.name", operator: "IS NOT NULL" }] };
    const { body } = await grid("orders", { columns, where, start: 1, length: 1 });
    expect(body).toMatchObject({ recordsTotal: 5, recordsFiltered: 3 });
    expect(body.data).toMatchObject([{ order_no: "A2", customer: { name: "Bob" } }]);
  });

  const options: [role: string | undefined, panes: unknown, cities: unknown, regions: unknown][] = [
    [
      undefined,
      [
        { label: "", value: null, total: 2, count: 2 },
        { label: "Ada", value: "Ada", total: 2, count: 2 },
        { label: "Bob", value: "Bob", total: 1, count: 1 },
      ],
      ["Oslo", "Wien"],
      ["", "north", "south"],
    ],
    [
      "north",
      [
        { label: "", value: null, total: 3, count: 3 },
        { label: "Ada", value: "Ada", total: 2, count: 2 },
      ],
      ["Oslo"],
      ["", "north"],
    ],
    ["outsider", [], [], []],
  ];
  test.each(options)("the options are named by path (%s)", async (role, panes, cities, regions) => {
    const { body } = await grid("sales", { columns }, role);
    const values = (list: { value: string }[]) => list.map(({ value }) => value);
    expect(body.searchPanes).toEqual({ options: { "customer.name": panes } });
    expect(Object.keys(body.searchBuilder.options)).toEqual(["customer.city.name"]);
    expect(values(body.searchBuilder.options["customer.city.name"])).toEqual(cities);
    expect(values(body.columnControl["customer.region"])).toEqual(regions);
  });

  test("panes count what the others leave", async () => {
    const { body } = await grid("sales", {
      searchPanes: { "customer.name": ["Ada"] },
      searchPanes_options: { viewTotal: true },
      where: { conditions: [{ key: "order_no", operator: "IN", value: ["A2", "A5"] }] },
    });
    expect(body.searchPanes.options["customer.name"]).toEqual([
      { label: "", value: null, total: 2, count: 0 },
      { label: "Ada", value: "Ada", total: 2, count: 1 },
      { label: "Bob", value: "Bob", total: 1, count: 0 },
    ]);
  });

  test("datatablesWhere names the paths that are searched", async () => {
    expect(numbers(await grid("sales", { columns, search: { value: "ad" } }))).toBe("A1 A5");
    expect(numbers(await grid("sales", { columns, search: { value: "wien" } }))).toBe("");
  });
});

const figures = (body: object, role?: string): Promise<Answer> =>
  trade.post("orders/aggregate", body, as(role));
const counted = [{ function: "count", field: "*", alias: "n" }];

describe("aggregate", () => {
  const byCity = { group_by: ["customer.city.name"], operations: counted };
  const found: [name: string, body: object, data: unknown, role?: string][] = [
    [
      "groups by a path",
      byCity,
      [
        { "customer.city.name": null, n: 2 },
        { "customer.city.name": "Oslo", n: 2 },
        { "customer.city.name": "Wien", n: 1 },
      ],
    ],
    [
      "groups no hidden records",
      byCity,
      [
        { "customer.city.name": null, n: 3 },
        { "customer.city.name": "Oslo", n: 2 },
      ],
      "north",
    ],
    [
      "computes over a path",
      {
        operations: [
          { function: "sum", field: "customer.credit" },
          { function: "max", field: "customer.name", alias: "last" },
        ],
      },
      { "sum_customer.credit": 221, last: "Bob" },
    ],
    [
      "filters by a path",
      { where: [{ key: "customer.name", value: "Ada" }], operations: counted },
      { n: 2 },
    ],
    [
      "filters by conditions on many",
      { where: { conditions: [{ key: "lines", operator: "NONE" }] }, operations: counted },
      { n: 2 },
    ],
    [
      "sorts and filters groups",
      {
        ...byCity,
        having: { conditions: [{ key: "n", operator: ">", value: 1 }] },
        sort_columns: [{ column: "customer.city.name", direction: "DESC" }],
      },
      [
        { "customer.city.name": "Oslo", n: 2 },
        { "customer.city.name": null, n: 2 },
      ],
    ],
    [
      "takes paths beside joins",
      {
        joins: ["goods"],
        group_by: ["customer.name"],
        operations: [{ function: "sum", field: "goods.qty", alias: "n" }],
      },
      [
        { "customer.name": null, n: null },
        { "customer.name": "Ada", n: 8 },
        { "customer.name": "Bob", n: null },
      ],
    ],
    [
      "takes conditions on many beside joins",
      {
        joins: ["goods"],
        where: { conditions: [{ key: "customer", operator: "ANY" }] },
        operations: [{ function: "sum", field: "goods.qty", alias: "n" }],
      },
      { n: 8 },
      "north",
    ],
    [
      "takes a join before a path of the same name",
      { joins: ["writer"], group_by: ["writer.name"], operations: counted },
      [
        { "writer.name": null, n: 2 },
        { "writer.name": "Ada", n: 2 },
        { "writer.name": "Bob", n: 1 },
      ],
    ],
    [
      "takes the path where the join is not asked for",
      { group_by: ["writer.name"], operations: counted },
      [
        { "writer.name": null, n: 3 },
        { "writer.name": "Ada", n: 1 },
        { "writer.name": "Bob", n: 1 },
      ],
    ],
  ];
  test.each(found)("%s", async (_, body, data, role) => {
    const answer = await figures(body, role);
    expect(answer.body).toMatchObject({ success: true, data });
  });
});

const startExport = (body: object, role?: string): Promise<Answer> =>
  trade.post("sales/export", body, as(role));

async function exported(body: object, role?: string): Promise<string> {
  const started = await startExport({ format: "csv", ...body }, role);
  expect(started.status, JSON.stringify(started.body)).toBe(200);
  const query = `job_id=${started.body.job_id}`;
  const headers = as(role);
  await expect
    .poll(
      async () =>
        (await trade.request(`/api/test/sales/export-status?${query}`, { headers })).body.status,
      { timeout: 14_000 },
    )
    .toBe("completed");
  const file = await trade.fetch(`/api/test/sales/export-download?${query}`, { headers });
  const text = await file.text();
  return text.replace("\uFEFF", "").trim().replaceAll("\r", "").replaceAll("\n", " ");
}

describe("export", () => {
  const select = ["order_no", "customer.name", "customer.city.name"];
  const found: [name: string, body: object, text: string, role?: string][] = [
    [
      "writes paths as columns, with labels and formats",
      { select: ["order_no", "customer.name", "customer.is_deleted"] },
      "Order,Buyer,customer.is_deleted A1,Ada,no A2,Bob,no A3,, A4,, A5,Ada,no",
    ],
    [
      "names columns of jsonl by their paths",
      {
        select,
        format: "jsonl",
        where: { conditions: [{ key: "id", operator: "=", value: "o2" }] },
      },
      '{"order_no":"A2","customer.name":"Bob","customer.city.name":"Wien"}',
    ],
    [
      "filters and sorts by paths",
      {
        select: ["order_no"],
        where: { conditions: [{ key: "customer", operator: "ANY" }] },
        sort_columns: [{ column: "customer.name", order: "DESC" }],
      },
      "Order A2 A1 A5",
    ],
    [
      "shows no hidden record",
      { select },
      "Order,Buyer,customer.city.name A1,Ada,Oslo A2,, A3,, A4,, A5,Ada,Oslo",
      "north",
    ],
    [
      "holds the configured columns without select",
      { where: { conditions: [{ key: "order_no", operator: "IN", value: ["A1", "A4"] }] } },
      "Order,Buyer,customer.is_deleted,customer_id A1,Ada,no,a A4,,,d",
    ],
    [
      "leaves configured columns empty that the caller may not use",
      { where: { conditions: [{ key: "order_no", operator: "IN", value: ["A1", "A2"] }] } },
      "Order,Buyer,customer.is_deleted,customer_id A1,,,a A2,,,b",
      "outsider",
    ],
  ];
  test.each(found)("%s", { timeout: 20_000 }, async (_, body, text, role) => {
    expect(await exported(body, role)).toBe(text);
  });
});

describe("unknown names", () => {
  type Ask = (name: string, role?: string) => Promise<Answer>;
  const asks: [name: string, ask: Ask][] = [
    ["export's select", (name, role) => startExport({ select: [name] }, role)],
    [
      "export's where",
      (key, role) => startExport({ where: { conditions: [{ key, operator: "IS NULL" }] } }, role),
    ],
    ["aggregate's where", (key, role) => figures({ where: [{ key, value: "x" }] }, role)],
    ["aggregate's group_by", (name, role) => figures({ group_by: [name] }, role)],
    [
      "aggregate's group_by beside a join",
      (name, role) => figures({ joins: ["goods"], group_by: [name] }, role),
    ],
    [
      "aggregate's operations",
      (field, role) => figures({ operations: [{ function: "max", field }] }, role),
    ],
    ["lookup's where", (key, role) => listed("orders", { where: [{ key, value: "x" }] }, role)],
    ["lookup's select", (name, role) => listed("orders", { select: [name] }, role)],
    [
      "lookup's order",
      (name, role) => listed("orders", { sort_columns: [{ column: name }] }, role),
    ],
    ["lookup's query", (name, role) => typed(`where[${name}]=x`, role)],
    [
      "the grid's where",
      (key, role) =>
        grid("orders", { where: { conditions: [{ key, operator: "IS NULL" }] } }, role),
    ],
    ["the grid's search", (name, role) => grid("orders", { columns: [column(name, "x")] }, role)],
    [
      "the grid's searchBy",
      (name, role) => grid("orders", { searchBy: name, searchValue: "x" }, role),
    ],
    [
      "the grid's order",
      (name, role) => grid("orders", { sort_columns: [{ column: name }] }, role),
    ],
    [
      "SearchBuilder",
      (origData, role) =>
        grid("orders", { searchBuilder: { criteria: [{ condition: "null", origData }] } }, role),
    ],
  ];
  test.each(asks)("%s", async (_, ask) => {
    const message = async (name: string, role?: string) => {
      const { status, body } = await ask(name, role);
      expect(status).toBe(400);
      // Own columns may be meant.
      return (
        body.error.replace("Invalid field: ", "") +
        (body.message ?? "").replace(/; did you mean "customer_\w+"\?/, "")
      );
    };
    const unknown = (await message("customer.nope")).replace("nope", "email");
    expect(await message("customer.email", "blind")).toBe(unknown);
    expect(await message("customer.email", "outsider")).toBe(unknown);
    expect(await message("lines.email")).toBe(unknown.replace("customer", "lines"));
  });
});

describe("the cache", () => {
  const path = { columns: [column("customer.name")] };
  const asks: [name: string, ask: (role?: string) => Promise<Answer>][] = [
    ["read", (role) => trade.post("orders/read", { select: ["customer.name"] }, as(role))],
    [
      "expand",
      (role) =>
        trade.post(
          "order-lines/read",
          { expand: { order: { expand: { customer: { select: ["name"] } } } } },
          as(role),
        ),
    ],
    [
      "an expanded list",
      (role) =>
        trade.post(
          "customers/read",
          { select: ["id"], expand: { staff: { select: ["boss.name"] } } },
          as(role),
        ),
    ],
    ["lookup", (role) => listed("orders", { select: ["customer.name"] }, role)],
    ["a label", (role) => listed("sales", {}, role)],
    ["the grid", (role) => grid("orders", path, role)],
    ["a pane", (role) => grid("sales", {}, role)],
    [
      "a condition on many",
      (role) =>
        grid(
          "orders",
          {
            where: {
              conditions: [
                {
                  key: "lines",
                  operator: "NONE",
                  where: {
                    conditions: [{ key: "order.customer.name", operator: "LIKE", value: "Ada%" }],
                  },
                },
              ],
            },
          },
          role,
        ),
    ],
  ];
  const rename = async (name: string) =>
    expect((await trade.post("customers/update", { id: "a", name })).status).toBe(200);

  test.each(asks)("%s is read anew after a write to a related table", async (_, ask) => {
    const data = async () => {
      const { draw: _draw, timestamp: _timestamp, ...body } = (await ask()).body;
      return JSON.stringify(body);
    };
    const before = await data();
    await trade.sql("update customers set name = 'Zoe' where id = 'a'");
    expect(await data(), "a kept answer").toBe(before);
    await trade.sql("update customers set name = 'Ada' where id = 'a'");
    await rename("Bea");
    const between = await data();
    await rename("Ada");
    expect(await data()).toBe(before);
    expect(between).not.toBe(before);
  });

  test.each(asks.slice(0, 7))("%s differs for callers who see other records", async (_, ask) => {
    const all = JSON.stringify((await ask()).body);
    const some = JSON.stringify((await ask("north")).body);
    expect([all.includes("Bob"), some.includes("Bob")]).toEqual([true, false]);
  });

  test("totals of searches are those of the selected paths", async () => {
    const total = async (select: string[]) => {
      const search = { search_value: "@", page: 1, per_page: 1, count: "estimated", select };
      return (await trade.post("orders/read", search)).body.pagination.total_records;
    };
    expect(await total(["order_no", "customer.name"])).toBe(2);
    expect(await total(["order_no", "customer.email"])).toBe(4);
    expect(await total(["order_no", "customer.name"])).toBe(2);
  });
});

describe("Accept: text/csv", () => {
  const csv = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await trade.fetch(`/api/test/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", accept: "text/csv", ...headers },
    });
    const text = Buffer.from(await response.arrayBuffer()).toString("utf8");
    return { text, status: response.status, headers: response.headers };
  };

  const flat = {
    select: ["order_no", "customer.name", "customer.is_deleted"],
    where: { conditions: [{ key: "order_no", operator: "IN", value: ["A1", "A4"] }] },
  };
  const tables: [name: string, path: string, body: object, lines: string[], role?: string][] = [
    [
      "shows paths flat, with the labels and formats of exports",
      "sales/read",
      flat,
      ["Order,Buyer,customer.is_deleted", "A1,Ada,no", "A4,,"],
    ],
    [
      "shows nothing of related records outside of the caller's rows",
      "orders/read",
      { select: ["order_no", "customer.name"], sort_columns: [{ column: "order_no" }], limit: 2 },
      ["order_no,customer.name", "A1,Ada", "A2,"],
      "north",
    ],
    [
      "shows expanded records to one flat",
      "orders/read",
      {
        select: ["order_no"],
        expand: { customer: { select: ["name", "credit"] } },
        page: 2,
        per_page: 1,
      },
      ["order_no,customer.name,customer.credit", "A2,Bob,20"],
    ],
    [
      "has a heading without records",
      "orders/read",
      { select: ["id"], where: { conditions: [{ key: "id", operator: "=", value: "x" }] } },
      ["id"],
    ],
    [
      "shows groups of aggregate",
      "sales/aggregate",
      {
        group_by: ["customer.name"],
        operations: [{ function: "count", field: "*", alias: "n" }],
        sort_columns: [{ column: "customer.name", direction: "desc" }],
        where: { conditions: [{ key: "customer.name", operator: "IS NOT NULL" }] },
      },
      ["Buyer,n", "Bob,1", "Ada,2"],
    ],
    [
      "shows figures of all records",
      "orders/aggregate",
      { operations: [{ function: "count", field: "*", alias: "n" }] },
      ["n", "5"],
    ],
  ];
  test.each(tables)("%s", async (_, path, body, lines, role) => {
    // Twice: the second answer may come from the cache.
    for (const _time of [1, 2]) {
      const { status, text, headers } = await csv(path, body, as(role));
      expect({ status, text }).toEqual({
        status: 200,
        text: `\ufeff${lines.map((line) => `${line}\r\n`).join("")}`,
      });
      expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
      expect(headers.get("vary")).toBe("Accept");
      expect([headers.get("x-next-cursor"), headers.get("link")]).toEqual([null, null]);
    }
  });

  test("says where the next page begins, and has versions", async () => {
    const walked: string[] = [];
    let cursor: string | true | null = true;
    while (cursor !== null) {
      const { text, headers } = await csv("orders/read", {
        select: ["order_no"],
        versions: true,
        cursor,
        per_page: 2,
      });
      const [heading, ...lines] = text.trim().split("\r\n");
      expect(heading).toBe("order_no,_version");
      for (const line of lines) expect(line).toMatch(/^A\d,.+$/);
      walked.push(...lines.map((line) => line.slice(0, 2)));
      cursor = headers.get("x-next-cursor");
    }
    expect(walked).toEqual(["A1", "A2", "A3", "A4", "A5"]);
  });

  test("escapes formulas, and follows writes", async () => {
    const noted = {
      select: ["note"],
      where: { conditions: [{ key: "id", operator: "=", value: "l1" }] },
    };
    const set = (note: string) => trade.post("order-lines/update", { id: "l1", note });
    expect((await csv("order-lines/read", noted)).text).toBe("\ufeffnote\r\nfirst\r\n");
    await set('=1+"1"');
    expect((await csv("order-lines/read", noted)).text).toBe(`\ufeffnote\r\n"'=1+""1"""\r\n`);
    await set("first");
  });

  const refused: [name: string, path: string, body: object, error: string, role?: string][] = [
    ["lists of many", "orders/read", { expand: ["lines"] }, "Invalid parameter"],
    [
      "lists of many behind one",
      "orders/read",
      { expand: { customer: { expand: ["orders"] } } },
      "Invalid parameter",
    ],
    ["unknown paths", "orders/read", { select: ["customer.none"] }, "Invalid field"],
    [
      "what the caller may not use",
      "orders/read",
      { select: ["customer.name"] },
      "Invalid field",
      "outsider",
    ],
    [
      "an unknown function",
      "orders/aggregate",
      { operations: [{ function: "x", field: "*" }] },
      "Validation error",
    ],
  ];
  test.each(refused)("answers errors as JSON: %s", async (_, path, body, error, role) => {
    const { status, text, headers } = await csv(path, body, as(role));
    expect(JSON.parse(text)).toMatchObject({ success: false, error });
    expect(status).toBe(400);
    expect(headers.get("content-type")).toContain("application/json");
  });

  test.each([
    ["application/json, text/csv", "orders/read"],
    ["text/csv;q=0, */*", "orders/read"],
    ["text/csv;q=0.5, application/json;q=0.8", "orders/aggregate"],
    ["text/*", "orders/read"],
    ["text/csv", "orders/first"],
  ])("%s gets JSON of %s", async (accept, path) => {
    const { text } = await csv(
      path,
      {
        where: { key: "id", value: "o1" },
        ...(path.endsWith("read") && { where: null, limit: 1 }),
      },
      { accept },
    );
    expect(JSON.parse(text)).toMatchObject({ success: true });
  });

  test("is in OpenAPI", async () => {
    const { body } = await trade.request("/api/test/orders/openapi.json");
    const responses = (action: string) =>
      body["paths"][`/api/test/orders/${action}`].post.responses["200"];
    for (const action of ["read", "aggregate", "first"]) {
      const found = responses(action);
      const { content, headers } = found.$ref
        ? body["components"].responses[found.$ref.split("/").at(-1)]
        : found;
      expect(["text/csv" in content, "X-Next-Cursor" in headers]).toEqual(
        action === "first" ? [false, false] : [true, true],
      );
    }
  });
});
