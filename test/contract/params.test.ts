/** `params`: values that requests and claims give to the operator's own SQL, in every action that reads. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, inject, test } from "vitest";
import type { Callers } from "../../core/callers/callers.ts";
import type { EngineName } from "../servers/session.ts";
import { check, checkEnvelope } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

/** The claim is the header's text; without it the caller has none. */
const callers: Callers = {
  authenticate(headers) {
    const tenant = headers.get("x-tenant");
    const claims = tenant === null ? {} : { tenant, deep: { no: Number(tenant.length) } };
    return { kind: "key", id: tenant ?? "nobody", roles: ["clerk"], claims };
  },
};

const action = {
  read: true,
  first: true,
  lookup: true,
  aggregate: true,
  datatables: true,
  export: true,
};
const may = { access: { clerk: "*" } };

/** A literal, a comment and a cast hold names of parameters, which are text there. */
const sales = (engine: EngineName) => `
select s.sale_id, s.sold_on, s.region, s.amount, ':from' as note${engine === "postgres" ? ", s.amount::text as shown" : ""}
from sales s -- not :to
where s.sold_on >= :from and (:to is null or s.sold_on < :to) /* :region */
  and s.region = :region and s.amount >= :least`;

const saleParams = {
  from: { type: "date", required: true },
  to: { type: "date", constraints: { after: "from" } },
  region: {
    type: "string",
    default: "north",
    constraints: { maxLength: 5, enum: ["north", "south", "o'hai"] },
  },
  least: { type: "integer", default: 0, constraints: { min: 0, max: 1000 } },
};

const endpoints = (engine: EngineName) => ({
  sales: {
    viewQuery: sales(engine),
    datatablesQuery: "select sale_id, region, amount from sales where sold_on >= :from",
    exportQuery: "select sale_id, amount from sales where sold_on >= :from and region = :region",
    primaryKey: "sale_id",
    fieldNameLookup: { id: "sale_id", text: "region" },
    params: saleParams,
    action,
    ...may,
  },
  mine: {
    viewQuery:
      "select sale_id, tenant, amount from sales where :tenant is null or tenant = :tenant",
    primaryKey: "sale_id",
    params: { tenant: { claim: "tenant" } },
    action: { read: true, first: true, aggregate: true },
    ...may,
  },
  deep: {
    viewQuery: "select sale_id from sales where amount > :no * 10",
    primaryKey: "sale_id",
    params: { no: { claim: "deep.no", type: "integer" } },
    action: { read: true },
    ...may,
  },
  rough: {
    viewQuery: "select rate_id from rates where rate < :rate",
    primaryKey: "rate_id",
    params: { rate: { type: "number" } },
    action: { read: true },
    ...may,
  },
  limited: {
    viewQuery: "select sale_id from sales order by sale_id limit :rows offset :skipped",
    primaryKey: "sale_id",
    params: { rows: { type: "integer", default: 9 }, skipped: { type: "integer", default: 0 } },
    action: { read: true },
    ...may,
  },
  patterns: {
    viewQuery: `select sale_id from sales where (:like is null or region like :like) and (:expression is null or region ${engine === "mysql" ? "regexp" : engine === "postgres" ? "~" : "="} :expression)`,
    primaryKey: "sale_id",
    params: { like: {}, expression: {} },
    action: { read: true },
    ...may,
  },
  kinds: {
    viewQuery:
      "select sale_id, amount from sales where (:exact is null or amount > :exact) and (:yes is null or amount > 5) and (:moment is null or sold_on < :moment)",
    primaryKey: "sale_id",
    params: { exact: { type: "decimal" }, yes: { type: "boolean" }, moment: { type: "timestamp" } },
    action: { read: true },
    ...may,
  },
  top: {
    viewQuery: "select sale_id from sales order by sale_id limit :rows offset :skipped",
    datatablesQuery:
      "select sale_id from sales where amount >= :least order by sale_id desc limit :rows",
    primaryKey: "sale_id",
    params: {
      rows: { type: "integer", default: 2, constraints: { min: 0 } },
      skipped: { type: "integer", default: 0, constraints: { min: 0 } },
      least: { type: "integer", default: 0 },
    },
    action: { read: true, datatables: true },
    ...may,
  },
  // Written through the table, read through the query.
  regions: {
    tableName: "regions",
    viewQuery: "select name, size from regions where size >= :size",
    primaryKey: "name",
    params: { size: { type: "integer", default: 2 } },
    action: { read: true, first: true, create: true, update: true },
    ...may,
  },
  shops: {
    tableName: "shops",
    primaryKey: "shop_id",
    relations: { place: { endpoint: "regions", column: "region", key: "name" } },
    action: { read: true, first: true },
    ...may,
  },
  plain: { tableName: "sales", primaryKey: "sale_id", action: { read: true }, ...may },
});

const setUp = () => [
  "insert into regions values ('north', 3), ('south', 1)",
  "insert into rates values ('low', 0.5), ('high', 1e20)",
  "insert into shops values (1, 'north'), (2, 'south')",
  "insert into sales values (1, '2026-01-10', 'north', 10, 'a'), (2, '2026-02-10', 'north', 20, 'a'), (3, '2026-03-10', 'south', 30, 'bb'), (4, '2026-03-11', 'north', 40, 'bb')",
];

const fixture = openForTests(openFixture, {
  tables: [
    { name: "rates", columns: { rate_id: "key", rate: "float" } },
    { name: "regions", columns: { name: "key", size: "integer" } },
    {
      name: "shops",
      columns: { shop_id: { type: "integer", notNull: true, unique: true }, region: "text(36)" },
    },
    {
      name: "sales",
      columns: {
        sale_id: { type: "integer", notNull: true, unique: true },
        sold_on: "date",
        region: "text(40)",
        amount: "integer",
        tenant: "text(40)",
      },
    },
  ],
  setUp,
  endpoints: endpoints(inject("engine")),
  callers,
  project: {
    auth: { jwt: { secret: "a secret of at least thirty-two bytes" } },
    cache: { enabled: true },
    batch: { enabled: true },
    requests: { unknown: "refuse" },
  },
});

const as = (tenant?: string): Record<string, string> =>
  tenant === undefined ? {} : { "x-tenant": tenant };
const ids = ({ body }: Answer): unknown =>
  body.data?.map(({ sale_id: id, id: label }: Record<string, unknown>) => Number(id ?? label));
const get = (path: string, mode?: string): Promise<Answer> =>
  fixture.request(`/api/test/${path}`, {
    headers: mode === undefined ? {} : { "x-request-mode": mode },
  });

describe("read takes params", () => {
  const cases: [name: string, params: object, found: number[]][] = [
    ["and defaults of the others", { from: "2026-01-01" }, [1, 2, 4]],
    ["that compare dates", { from: "2026-02-01" }, [2, 4]],
    ["twice named ones", { from: "2026-01-01", to: "2026-02-01" }, [1]],
    ["instead of a default", { from: "2026-01-01", region: "south" }, [3]],
    ["null as absent", { from: "2026-01-01", region: null, to: null }, [1, 2, 4]],
    ["the empty text as absent", { from: "2026-01-01", region: "", to: "", least: "" }, [1, 2, 4]],
    ["numbers as text", { from: "2026-01-01", least: "20" }, [2, 4]],
    ["quotes as values", { from: "2026-01-01", region: "o'hai" }, []],
  ];
  test.each(cases)("%s", async (_, params, found) => {
    const answer = await fixture.post("sales/read", {
      params,
      sort_columns: [{ column: "sale_id" }],
    });
    check(answer, { status: 200 });
    expect(ids(answer)).toEqual(found);
  });

  test("and knows names in literals, comments and casts for text", async () => {
    const { body } = await fixture.post("sales/read", { params: { from: "2026-03-01" } });
    expect(body.data[0]).toMatchObject({ sale_id: 4, note: ":from" });
  });

  test("with pages, counts and cursors", async () => {
    const params = { from: "2026-01-01" };
    const page = await fixture.post("sales/read", { params, page: 1, per_page: 2 });
    expect(page.body.pagination).toMatchObject({ total_records: 3 });
    const first = await fixture.post("sales/read", { params, cursor: true, per_page: 2 });
    const cursor = first.body.pagination.next_cursor;
    const next = await fixture.post("sales/read", { params, cursor, per_page: 2 });
    expect([ids(first), ids(next)]).toEqual([[1, 2], [4]]);
  });

  test("each value of every type", async () => {
    const found = async (params: object) =>
      ids(await fixture.post("kinds/read", { params, limit: 9 }));
    expect(await found({ exact: "19.5" })).toEqual([2, 3, 4]);
    expect(await found({ exact: 30, yes: true })).toEqual([4]);
    expect(await found({ moment: "2026-02-01T00:00:00Z" })).toEqual([1]);
    expect(await found({})).toEqual([1, 2, 3, 4]);
  });

  test.each([1e-300, "1e30", 0])("the number %s beside a float column", async (rate) => {
    const answer = await fixture.post("rough/read", { params: { rate }, limit: 9 });
    expect(answer.body.count).toBe(rate === "1e30" ? 2 : 0);
  });

  test("that say how many rows a query gives", async () => {
    const found = async (params: object) => ids(await fixture.post("top/read", { params }));
    expect(await found({})).toEqual([1, 2]);
    expect(await found({ rows: "3", skipped: 1 })).toEqual([2, 3, 4]);
    expect(await found({ rows: 0 })).toEqual([]);
    const grid = { params: { rows: 1, least: 20 }, length: 5 };
    expect(ids(await fixture.post("top/datatables", grid))).toEqual([4]);
    const page = await fixture.post("top/read", { params: { rows: 3 }, page: 1, per_page: 2 });
    expect([ids(page), page.body.pagination.total_records]).toEqual([[1, 2], 3]);
  });

  test("as a part of the key of kept answers", async () => {
    const read = (from: string) =>
      fixture.post("sales/read", { params: { from }, page: 1, per_page: 10 });
    for (const _ of [1, 2]) {
      const [early, late] = [await read("2026-01-01"), await read("2026-03-01")];
      expect([ids(early), ids(late)]).toEqual([[1, 2, 4], [4]]);
      expect([early, late].map(({ body }) => body.pagination.total_records)).toEqual([3, 1]);
    }
  });
});

describe("params are refused:", () => {
  const from = "2026-01-01";
  const refused: [name: string, params: unknown, errors: Record<string, string[]>][] = [
    ["a required one that is missing", {}, { "params.from": ["is required"] }],
    ["a required one that is null", { from: null }, { "params.from": ["is required"] }],
    ["a required one that is empty", { from: "" }, { "params.from": ["is required"] }],
    ["no params where one is required", undefined, { "params.from": ["is required"] }],
    ["no object", [from], { params: ["must be an object"] }],
    ["another type", { from: "January" }, { "params.from": [expect.any(String)] as never }],
    [
      "a day that does not exist",
      { from: "2026-02-30" },
      { "params.from": [expect.any(String)] as never },
    ],
    ["more than max", { from, least: 1001 }, { "params.least": ["must be at most 1000"] }],
    ["less than min", { from, least: -1 }, { "params.least": ["must be at least 0"] }],
    ["a fraction", { from, least: 1.5 }, { "params.least": [expect.any(String)] as never }],
    ["a list", { from, least: [1] }, { "params.least": [expect.any(String)] as never }],
    [
      "none of the enum",
      { from, region: "east" },
      { "params.region": ["must be one of: north, south, o'hai"] },
    ],
    ["a comparison with another one", { from, to: from }, { "params.to": ["must be after from"] }],
    ["an unknown one", { from, form: 1 }, { "params.form": ['is unknown; did you mean "from"?'] }],
    ["a name of objects", { from, constructor: 1 }, { "params.constructor": ["is unknown"] }],
    [
      "several at once",
      { least: -1, xyzzy: 1 },
      {
        "params.from": ["is required"],
        "params.least": ["must be at least 0"],
        "params.xyzzy": ["is unknown"],
      },
    ],
  ];
  test.each(refused)("%s", async (_, params, errors) => {
    const answer = await fixture.post("sales/read", { limit: 5, params });
    checkEnvelope(answer);
    check(answer, { status: 400, error: "Validation failed", errors });
  });

  test.each(["1e999", "-1e309", "1e-999"])(
    "the number %s, which is none of a float column",
    async (rate) => {
      check(await fixture.post("rough/read", { limit: 5, params: { rate } }), {
        status: 400,
        error: "Validation failed",
        errors: { "params.rate": ["is too large, or too close to zero"] },
      });
    },
  );

  // Not every engine refuses all of these.
  test.each([
    ["a pattern that ends with a backslash", "patterns", { like: "nor%\\" }],
    ["a regular expression with a mistake", "patterns", { expression: "(" }],
    ["an offset below zero", "limited", { skipped: -1 }],
    ["a limit below zero", "limited", { rows: -1 }],
  ])("%s, if at all", async (_, endpoint, params) => {
    const answer = await fixture.post(`${endpoint}/read`, { limit: 5, params });
    if (answer.status !== 200) check(answer, { status: 400, error: "Validation failed" });
  });

  test.each(["first", "lookup", "aggregate", "datatables", "export"])(
    "%s needs them",
    async (name) => {
      const body = name === "first" ? { where: [{ key: "sale_id", value: 1 }] } : { params: {} };
      const answer = await fixture.post(`sales/${name}`, body, { "x-request-mode": "static" });
      expect(answer.body).toMatchObject({
        error: "Validation failed",
        errors: { "params.from": ["is required"] },
      });
    },
  );

  test("a claim that is sent", async () => {
    const answer = await fixture.post("mine/read", { params: { tenant: "a" } }, as("bb"));
    check(answer, {
      status: 400,
      error: "Validation failed",
      errors: { "params.tenant": ["cannot be sent"] },
    });
  });

  test("where the endpoint has none", async () => {
    const answer = await fixture.post("plain/read", { limit: 1, params: { from } });
    check(answer, { status: 400, error: "Invalid payload" });
  });
});

describe("params in", () => {
  const params = { from: "2026-02-01" };

  test("first", async () => {
    const found = (sale_id: number) =>
      fixture.post("sales/first", { where: [{ key: "sale_id", value: sale_id }], params });
    expect((await found(2)).body.data).toMatchObject({ amount: 20 });
    expect((await found(1)).body.data).toBeNull();
  });

  test("lookup by POST and by GET", async () => {
    const listed = await fixture.post("sales/lookup", { params }, { "x-request-mode": "static" });
    expect(ids(listed)).toEqual([2, 4]);
    const typed = await get(
      "sales/lookup?params[from]=2026-03-01&params[least]=&search=no",
      "dynamic",
    );
    expect(typed.status, JSON.stringify(typed.body)).toBe(200);
    expect(ids(typed)).toEqual([4]);
  });

  test("aggregate", async () => {
    const operations = [{ function: "sum", field: "amount", alias: "all" }];
    const { body } = await fixture.post("sales/aggregate", { params, operations });
    expect(body.data).toEqual({ all: 60 });
    const grouped = await fixture.post("sales/aggregate", {
      params,
      operations,
      group_by: [{ field: "sold_on", by: "month", alias: "month" }],
      fill: true,
      total: true,
    });
    expect(grouped.body.total).toEqual({ all: 60 });
    expect(grouped.body.data.map(({ all }: { all: number }) => all)).toEqual([20, 40]);
  });

  test("datatables by JSON, by GET and in a form", async () => {
    const sent = await fixture.post("sales/datatables", { draw: 1, params });
    expect(sent.body).toMatchObject({ recordsTotal: 3, recordsFiltered: 3 });
    const byGet = await get("sales/datatables?draw=1&params[from]=2026-03-01&search[value]=north");
    expect(byGet.body).toMatchObject({ recordsTotal: 2, recordsFiltered: 1 });
    const form = await fixture.request("/api/test/sales/datatables", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "draw=2&params%5Bfrom%5D=2026-03-11",
    });
    expect(form.body).toMatchObject({ recordsTotal: 1, data: [{ sale_id: 4 }] });
  });

  test("datatables that ask for the version of each row", async () => {
    const { body } = await fixture.post("sales/datatables", { draw: 1, params, versions: true });
    expect(body.data).toHaveLength(3);
  });

  test("export, whose job keeps them", async () => {
    const started = await fixture.post("sales/export", { format: "csv", params });
    check(started, { status: 200 });
    const job = started.body.job_id ?? started.body.data?.job_id;
    for (let tries = 0; tries < 1200; tries++) {
      const { body } = await get(`sales/export-status?job_id=${job}`);
      if (JSON.stringify(body).includes("completed")) break;
      await sleep(50);
    }
    const file = await fixture.fetch(`/api/test/sales/export-download?job_id=${job}`);
    expect((await file.text()).replace("\ufeff", "").trim().split("\r\n")).toEqual([
      "sale_id,amount",
      "2,20",
      "4,40",
    ]);
  }, 90_000);

  test("steps of a batch", async () => {
    const { body } = await fixture.post("_batch", {
      steps: [{ endpoint: "sales", action: "read", body: { params, limit: 9 } }],
    });
    expect(JSON.stringify(body)).toContain('"amount":40');
    expect(JSON.stringify(body)).not.toContain('"amount":10');
  });
});

describe("a claim", () => {
  const cases: [name: string, tenant: string | undefined, found: number[]][] = [
    ["is the caller's", "a", [1, 2]],
    ["is another one of another caller", "bb", [3, 4]],
    ["that nobody has finds nothing", "c", []],
    ["that the caller lacks finds nothing, whatever the query says of null", undefined, []],
  ];
  test.each(cases)("%s", async (_, tenant, found) => {
    for (const _again of [1, 2]) {
      const answer = await fixture.post("mine/read", { limit: 9 }, as(tenant));
      expect(ids(answer)).toEqual(found);
    }
    const operations = [{ function: "count", field: "*", alias: "n" }];
    const { body } = await fixture.post("mine/aggregate", { operations }, as(tenant));
    expect(body.data).toEqual({ n: found.length });
  });

  test("may lie deeper, and be a number", async () => {
    expect(ids(await fixture.post("deep/read", { limit: 9 }, as("bb")))).toEqual([3, 4]);
    expect(ids(await fixture.post("deep/read", { limit: 9 }, as("ccc")))).toEqual([4]);
    expect(ids(await fixture.post("deep/read", { limit: 9 }))).toEqual([]);
  });
});

describe("defaults apply", () => {
  test("to paths and to expanded records", async () => {
    const select = ["shop_id", "place.size"];
    const { body } = await fixture.post("shops/read", {
      select,
      sort_columns: [{ column: "shop_id" }],
    });
    expect(body.data).toEqual([
      { shop_id: 1, place: { size: 3 } },
      { shop_id: 2, place: null },
    ]);
    const expanded = await fixture.post("shops/first", {
      where: [{ key: "shop_id", value: 1 }],
      expand: ["place"],
    });
    expect(expanded.body.data.place).toEqual({ name: "north", size: 3 });
  });

  test("to what a write answers", async () => {
    const small = await fixture.post("regions/create", { name: "west", size: 1 });
    expect(small.body.data).toMatchObject({ name: "west", size: 1 });
    const { body } = await fixture.post("regions/read", { params: { size: 1 }, limit: 9 });
    expect(body.data).toHaveLength(3);
  });
});

test("OpenAPI describes them for each action", async () => {
  const { body } = await fixture.request("/api/test/openapi.json");
  const text = JSON.stringify(body);
  expect(text).toContain('"maximum":1000');
  const read =
    body.paths["/api/test/sales/read"].post.requestBody.content["application/json"].schema;
  expect(JSON.stringify(read) + text).toContain('"params"');
  const typed = body.paths["/api/test/sales/lookup"].get.parameters;
  expect(typed).toContainEqual(
    expect.objectContaining({ name: "params", in: "query", required: true, style: "deepObject" }),
  );
});
