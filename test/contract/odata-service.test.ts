/** OData 4 as a service: credentials, methods, what it does not offer, and requests that mean harm. */
import { createHash } from "node:crypto";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";
import { odataOver } from "./odata.ts";

const tables = [
  {
    name: "goods",
    columns: {
      id: "identity",
      name: "text(40)",
      stock: "integer",
      cost: { type: "integer", notNull: true, default: "1" },
    },
  },
] as const;
const setUp = () => ["INSERT INTO goods (id, name, stock) VALUES (1, 'Pen', 5), (2, 'Ink', 7)"];
const sha256 = (key: string): string => createHash("sha256").update(key).digest("hex");
const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

const open = openForTests(openFixture, {
  tables,
  setUp,
  endpoints: { goods: { tableName: "goods", action: { read: true, first: true } } },
  project: { odata: true, cors: { origins: ["https://grid.example"] } },
  env: { METRICS_TOKEN: "a-token-of-the-metrics" },
});
const closed = openForTests(openFixture, {
  tables,
  setUp,
  endpoints: {
    goods: {
      tableName: "goods",
      action: { read: true, first: true },
      access: { clerk: ["read"], guest: ["first"] },
      hiddenFields: { guest: ["stock"], clerk: ["cost"] },
    },
    secrets: { tableName: "goods", action: { read: true }, access: { admin: "*" } },
  },
  project: {
    odata: true,
    auth: {
      apiKeys: [
        { id: "erp", sha256: sha256("pass:word"), roles: ["clerk"] },
        { id: "till", sha256: sha256("till"), roles: ["guest"] },
        { id: "both", sha256: sha256("both"), roles: ["clerk", "guest"] },
        { id: "idle", sha256: sha256("idle"), roles: [] },
      ],
    },
    rateLimit: { max: 1_000, actions: { read: 12 } },
  },
});

const get = odataOver(() => open);
const ask = odataOver(() => closed);
const challenge = 'Basic realm="rowgate", charset="UTF-8"';

describe("credentials", () => {
  test.each([
    ["none", {}],
    ["a wrong password", basic("erp", "pass")],
    ["no password", { authorization: `Basic ${Buffer.from("erp").toString("base64")}` }],
    ["no base64", { authorization: "Basic ä!" }],
    ["an unknown scheme", { authorization: "Digest x" }],
    ["a wrong key beside a right password", { ...basic("erp", "pass:word"), "x-api-key": "no" }],
  ])("%s are refused, and Basic is asked for", async (_, headers) => {
    for (const path of ["", "$metadata", "goods", "nothing", "goods(1)"]) {
      const answer = await ask(path, headers as Record<string, string>);
      expect([answer.status, answer.headers.get("www-authenticate"), answer.body]).toEqual([
        401,
        challenge,
        { error: { code: "Unauthorized", message: expect.any(String) } },
      ]);
      expect(answer.headers.get("odata-version")).toBe("4.0");
    }
  });

  test("an API key is taken as the password, under any name, and as before", async () => {
    for (const headers of [
      basic("", "pass:word"),
      basic("anybody", "pass:word"),
      { "x-api-key": "pass:word" },
    ])
      expect((await ask("goods/$count", headers)).body).toBe("2");
  });

  test("Basic is taken here alone", async () => {
    const { status, headers } = await closed.post(
      "goods/read",
      { limit: 1 },
      basic("erp", "pass:word"),
    );
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).not.toContain("Basic");
  });

  test("a caller has the sets of its roles, and single records without the right to lists", async () => {
    const clerk = basic("erp", "pass:word");
    const till = basic("till", "till");
    expect((await ask("", clerk)).body.value).toHaveLength(1);
    expect((await ask("secrets", clerk)).body.error.message).toBe("Unknown entity set");
    expect((await ask("secret", clerk)).body.error.message).toBe("Unknown entity set");
    expect((await ask("", basic("idle", "idle"))).body.value).toEqual([]);
    expect((await ask("goods", basic("idle", "idle"))).status).toBe(404);
    expect((await ask("goods", till)).status).toBe(403);
    expect((await ask("goods(1)", till)).body).toMatchObject({ id: 1, name: "Pen" });
    expect((await ask("goods(1)", till)).body).not.toHaveProperty("stock");
    expect((await ask("$metadata", till)).body).not.toContain("stock");
    expect((await ask("$metadata", clerk)).body).toContain("stock");
  });

  test("the metadata has what lists show and what single records show", async () => {
    const both = basic("both", "both");
    const { body } = await ask("$metadata", both);
    expect(body).toContain('<Property Name="stock"');
    // What is not in each of them may be missing.
    expect(body).toMatch(/<Property Name="cost" Type="Edm.Int(32|64)"\/>/);
    expect(Object.keys((await ask("goods?$top=1", both)).body.value[0])).toEqual([
      "id",
      "name",
      "stock",
    ]);
    expect((await ask("goods(1)?$select=cost", both)).body).toMatchObject({ cost: 1 });
    expect((await ask("goods?$filter=cost eq 1", both)).status).toBe(400);
  });

  test("requests count for the limits of read", async () => {
    const clerk = basic("erp", "pass:word");
    const { headers } = await ask("goods?$top=1", clerk);
    expect(headers.get("ratelimit-policy")).toContain('"read";q=12');
    let answer = await ask("goods?$top=1", clerk);
    for (let left = 12; left > 0 && answer.status === 200; left--)
      answer = await ask("goods?$top=1", clerk);
    expect([answer.status, answer.body.error.code]).toEqual([429, "Too many requests"]);
    expect(answer.headers.get("retry-after")).not.toBeNull();
    // The service document is no read.
    expect((await ask("", clerk)).status).toBe(200);
  });
});

describe("the OpenAPI document", () => {
  test("describes the paths of OData, with the sets of the caller", async () => {
    const pathsFor = async (key: string) => {
      const { body } = await closed.request("/api/test/openapi.json", {
        headers: { "x-api-key": key },
      });
      const config = await createConfig({ extends: ["recommended"] });
      const problems = await lintFromString({ source: JSON.stringify(body), config });
      const errors = problems.filter(({ severity }) => severity === "error");
      expect(errors.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
      return body;
    };
    const { paths, components } = await pathsFor("pass:word");
    expect(Object.keys(paths).filter((path) => path.startsWith("/odata/"))).toEqual([
      "/odata/test",
      "/odata/test/$metadata",
      "/odata/test/{set}({key})",
      "/odata/test/{set}",
      "/odata/test/{set}/$count",
    ]);
    const { get: list } = paths["/odata/test/{set}"];
    expect(list.parameters[0]).toMatchObject({ name: "set", schema: { enum: ["goods"] } });
    expect(list.security).toContainEqual({ basic: [] });
    expect(components.securitySchemes.basic).toEqual({ type: "http", scheme: "basic" });
    // Single records alone.
    expect(Object.keys((await pathsFor("till")).paths)).not.toContain("/odata/test/{set}");
    expect(JSON.stringify((await pathsFor("idle")).paths)).not.toContain("/odata/");
  });
});

test.each([
  ["?$format=json", "application/json"],
  ["?$format=application/json;odata.metadata=minimal", "application/json"],
  ["$metadata?$format=xml", "application/xml"],
  ["$metadata?$format=application/xml", "application/xml"],
  ["$metadata?$format=application/xml;charset=utf-8", "application/xml"],
  ["goods?a=1&a=2", "application/json"],
])("%s is answered", async (path, type) => {
  const { status, headers } = await get(path);
  expect([status, headers.get("content-type")]).toEqual([200, expect.stringContaining(type)]);
});

describe("what is not offered", () => {
  const refused: [path: string, status: number, code: string, message: RegExp][] = [
    [
      "goods?$apply=groupby((name))",
      501,
      "Not implemented",
      /^The query option \$apply is not supported$/,
    ],
    ["goods?$compute=stock mul 2 as twice", 501, "Not implemented", /\$compute/],
    ["goods?$levels=2", 501, "Not implemented", /\$levels/],
    ["goods?$deltatoken=1", 501, "Not implemented", /\$deltatoken/],
    ["goods?$inlinecount=allpages", 501, "Not implemented", /\$inlinecount/],
    ["goods?$format=atom", 501, "Not implemented", /The \$format atom/],
    ["?$format=atom", 501, "Not implemented", /The \$format atom/],
    ["$metadata?$format=json", 501, "Not implemented", /The \$format json/],
    ["goods?$top=1&$top=2", 400, "Invalid parameter", /^\$top stands in the query twice$/],
    ["goods(1)?$select=id&%24select=name", 400, "Invalid parameter", /^\$select stands/],
    ["?$format=json&$format=atom", 400, "Invalid parameter", /^\$format stands/],
    ["$metadata?$format=xml&$format=json", 400, "Invalid parameter", /^\$format stands/],
    ["goods?$filter=length(name) eq 3", 501, "Not implemented", /^length in \$filter/],
    ["goods?$filter=stock add 1 eq 3", 501, "Not implemented", /^add in \$filter/],
    ["goods?$filter=stock mod 2 eq 1", 501, "Not implemented", /^mod in \$filter/],
    ["goods?$filter=-stock eq 1", 501, "Not implemented", /minus/],
    ["goods?$filter=stock eq id", 501, "Not implemented", /^eq between two properties/],
    ["goods?$filter=indexof(name,'e') eq 2", 501, "Not implemented", /^indexof/],
    ["goods?$filter=name eq @p&@p='Pen'", 501, "Not implemented", /parameter alias/],
    ["goods?$filter=tolower(name) gt 'a'", 501, "Not implemented", /^gt of tolower/],
    ["goods?$filter=rowgate.goodsRecord/name eq 'x'", 501, "Not implemented", /The type/],
    ["goods?$filter=duration'PT1H' eq stock", 501, "Not implemented", /duration/],
    ["goods?$orderby=tolower(name)", 501, "Not implemented", /^tolower in \$orderby/],
    ["goods?$search=NOT pen", 501, "Not implemented", /^NOT in \$search/],
    ["goods(1)/name/$value", 501, "Not implemented", /^\$value/],
    ["goods/$ref", 501, "Not implemented", /^\$ref/],
    ["$batch", 501, "Not implemented", /^\$batch/],
    ["$all", 404, "Not found", /^Unknown entity set$/],
    [
      "goods(1)?$filter=stock eq 1",
      400,
      "Invalid parameter",
      /^\$filter cannot be used for a single record$/,
    ],
    ["goods/$count?$top=1", 400, "Invalid parameter", /^\$top cannot be used for a count$/],
    ["goods(1)/$count", 400, "Invalid parameter", /single record/],
    ["goods/1", 404, "Not found", /goods\(1\)/],
    ["goods(1)/name", 400, "Invalid parameter", /"name" is no relation/],
    ["good", 404, "Not found", /did you mean "goods"/],
    ["goods(Pen)", 400, "Invalid parameter", /^"Pen" in the key is no value; .*: 'Pen'$/],
    ["goods(id=Pen)", 400, "Invalid parameter", /^"Pen" in the key is no value; .*: 'Pen'$/],
    ["goods?$filter=name in ('a',Pen)", 400, "Invalid parameter", /^"Pen" in \$filter is no value/],
    ["goods?$filter=name eq Pen", 400, "Invalid field", /^Unknown property "Pen" in \$filter/],
    ["goods?$filter=nam eq 'x'", 400, "Invalid field", /did you mean "name"/],
    ["goods?$orderby=nam", 400, "Invalid field", /did you mean "name"/],
    ["goods?$select=nam", 400, "Invalid field", /did you mean "name"/],
    ["goods?$expand=name", 400, "Invalid field", /"name" in \$expand is no relation/],
    ["goods?$top=-1", 400, "Invalid parameter", /^\$top must be a whole number from 0$/],
    ["goods?$top=1.5", 400, "Invalid parameter", /^\$top/],
    ["goods?$top=1e3", 400, "Invalid parameter", /^\$top/],
    ["goods?$skip=x", 400, "Invalid parameter", /^\$skip/],
    ["goods?$count=yes", 400, "Invalid parameter", /^\$count must be true or false$/],
    ["goods?$skiptoken=x", 400, "Invalid parameter", /^\$skiptoken is not valid/],
    ["goods?$skiptoken=1.abc", 400, "Invalid parameter", /cursor/],
    [
      `goods?$filter=${Array.from({ length: 101 }, (_, at) => `stock eq ${at}`).join(" or ")}`,
      400,
      "Invalid payload",
      /^\$filter takes at most 100 conditions$/,
    ],
    ["goods?$filter[0]=x", 400, "Invalid parameter", /^\$filter must be a text$/],
  ];
  test.each(refused)("%s: %i", async (path, status, code, message) => {
    const answer = await get(path);
    expect([answer.status, answer.body.error?.code, answer.body.error?.message]).toEqual([
      status,
      code,
      expect.stringMatching(message),
    ]);
  });

  test.each(["POST", "PUT", "PATCH", "DELETE"])("%s is refused", async (method) => {
    const { status, headers, body } = await get("goods(1)", {}, method);
    expect([status, headers.get("allow"), body.error.code]).toEqual([
      405,
      "GET",
      "Method not allowed",
    ]);
  });

  test("HEAD has the headers alone", async () => {
    const response = await open.fetch("/odata/test/goods", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(response.headers.get("odata-version")).toBe("4.0");
  });
});

describe("hostile requests", () => {
  const filters = [
    "name eq 'a' or 1 eq 1 --",
    "name eq 'x'; drop table goods",
    "name eq 'x",
    "((((",
    "name eq",
    "name eq 'a' and",
    "eq eq eq",
    "contains(name",
    "contains(name,'a','b')",
    "contains('a',name)",
    "contains(name,null)",
    "tolower(stock,name) eq 'a'",
    "name in 'a'",
    "name in ('a'",
    "name/any(x: x eq 'a')",
    "any(x: x eq 'a')",
    "constructor eq 'a'",
    "__proto__ eq 'a'",
    "toString/any()",
    "name eq '\u{1F600}' and \u{1F600} eq 1",
    "stock eq 1e999999",
    `stock eq ${"9".repeat(3_000)}`,
    `${"(".repeat(40)}stock eq 1${")".repeat(40)}`,
    `${"not ".repeat(40)}(stock eq 1)`,
    Array.from({ length: 101 }, (_, at) => `stock eq ${at}`).join(" or "),
    `stock in (${Array.from({ length: 1_001 }, (_, at) => at).join(",")})`,
    `name eq '${"x".repeat(9_000)}'`,
    "%2527",
    "name eq %27%00%27",
    "name eq '%ff'",
  ];
  test.each(filters.map((filter) => [filter.slice(0, 60), filter]))(
    "%s in $filter",
    async (_, filter) => {
      const { status, body } = await get(`goods?$filter=${filter}`);
      expect([200, 400, 501]).toContain(status);
      if (status === 200) expect(body.value.length).toBeLessThanOrEqual(2);
      else expect(body.error.message).not.toMatch(/select|syntax|sqlite|\/work|Error:/i);
    },
  );

  test.each([
    "goods('",
    "goods(1",
    "goods(1))",
    "goods()",
    "goods(1,2)",
    "goods(id=1,id=2)",
    "goods(id=)",
    "goods(%00)",
    "goods(%ff)",
    "goods(1)(2)",
    "goods(1)/lines/x/y",
    "constructor",
    "__proto__(1)",
    `goods('${"a".repeat(5_000)}')`,
  ])("%s as a path", async (path) => {
    const { status, body } = await open.request(`/odata/test/${path}`);
    expect([400, 404, 501]).toContain(status);
    expect(body.error.code).toEqual(expect.any(String));
  });

  test.each([
    "goods($expand=x)",
    "goods(",
    "*(",
    "*($top=1)",
    "goods;",
    "(((((",
    "goods'",
    "__proto__",
    Array.from({ length: 200 }, () => "x").join(","),
  ])("%s in $expand", async (expand) => {
    const { status } = await get(`goods?$expand=${expand}`);
    expect([400, 501]).toContain(status);
  });
});

describe("clients", () => {
  const powerQuery = {
    "odata-version": "4.0",
    "odata-maxversion": "4.0",
    maxdataserviceversion: "3.0",
    accept:
      "application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9,application/atomsvc+xml;q=0.8,application/xml;q=0.7,text/plain;q=0.7",
  };
  const requests: [name: string, path: string, headers: object, found: unknown][] = [
    ["Excel looks at the address", "", powerQuery, { value: [{ name: "goods" }] }],
    ["Excel shows a preview", "goods?$top=1000", powerQuery, { value: [{ id: 1 }, { id: 2 }] }],
    [
      "Power BI filters and selects",
      "goods?$filter=stock ge 6 and stock lt 100 and startswith(name, 'I')&$select=id,name&$top=1000",
      powerQuery,
      { value: [{ id: 2, name: "Ink" }] },
    ],
    [
      "Power BI skips and sorts",
      "goods?$orderby=name desc,id&$skip=1&$top=200",
      powerQuery,
      { value: [{ id: 2 }] },
    ],
    [
      "Kendo filters and counts",
      "goods?%24format=json&%24top=20&%24count=true&%24filter=(contains(name%2C'n')+and+indexof(name,'k')+eq+-1)&%24orderby=name",
      { accept: "application/json, text/javascript, */*; q=0.01" },
      { "@odata.count": 1, value: [{ id: 1 }] },
    ],
    [
      "Kendo asks for empty texts",
      "goods?$count=true&$filter=(name ne null and name ne '')&$format=json",
      {},
      { "@odata.count": 2 },
    ],
    [
      "Syncfusion searches",
      "goods/?$count=true&$search=Pen OR nothing&$skip=0&$top=12",
      {},
      { "@odata.count": 1 },
    ],
    [
      "Syncfusion filters",
      "goods/?$count=true&$filter=(startswith(tolower(name),'p')) and (stock eq 5)",
      {},
      { "@odata.count": 1 },
    ],
    [
      "DevExtreme counts",
      "goods?$top=0&$count=true&$filter=not (stock eq 5)",
      {},
      { "@odata.count": 1, value: [] },
    ],
    [
      "DevExtreme combines",
      "goods?$filter=(contains(tolower(name),'e')) and ((stock eq 5) or (stock eq 7))",
      {},
      { value: [{ id: 1 }] },
    ],
  ];
  test.each(requests)("%s", async (_, path, headers, found) => {
    const response = await open.request(
      `/odata/test/${path.includes("%24") ? path : encodeURI(path)}`,
      { headers: headers as Record<string, string> },
    );
    expect([response.status, response.body]).toMatchObject([200, found]);
    expect(response.headers.get("odata-version")).toBe("4.0");
  });
});

test("the metrics count requests as those of read and first", async () => {
  await get("goods?$filter=nobody eq 1");
  await get("goods(1)");
  await get("nothing");
  const { body } = await open.request("/metrics", {
    headers: { authorization: "Bearer a-token-of-the-metrics" },
  });
  const counted = (labels: string) =>
    expect(body).toContain(`rowgate_http_requests_total{${labels}}`);
  counted('project="test",endpoint="goods",action="read",status="400"');
  counted('project="test",endpoint="goods",action="first",status="200"');
  counted('project="test",endpoint="",action="",status="404"');
});

test("pages of allowed origins may read the answers", async () => {
  const origin = { origin: "https://grid.example" };
  const { headers } = await get("goods?$top=1", origin);
  expect(headers.get("access-control-allow-origin")).toBe(origin.origin);
  const preflight = await open.fetch("/odata/test/goods", {
    method: "OPTIONS",
    headers: {
      ...origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "odata-version,authorization",
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-headers")).toMatch(
    /Authorization.*OData-Version,OData-MaxVersion/,
  );
  const other = await get("goods?$top=1", { origin: "https://other.example" });
  expect(other.headers.get("access-control-allow-origin")).toBeNull();
});

test("addresses are those of the client behind a proxy, and a faulty endpoint is unavailable", async () => {
  const behind = await openFixture({
    tables,
    setUp,
    endpoints: {
      goods: { tableName: "goods", action: { read: true } },
      "lost-goods": { tableName: "nowhere", action: { read: true } },
    },
    project: { odata: true, onFault: "skip" },
    env: { TRUST_PROXY: "1" },
  });
  const ask = (path: string) =>
    behind.request(`/odata/test/${path}`, {
      headers: { "x-forwarded-proto": "https", prefer: "odata.maxpagesize=1" },
    });
  const { body } = await ask("goods");
  expect(body["@odata.context"]).toBe("https://localhost/odata/test/$metadata#goods");
  expect(body["@odata.nextLink"]).toMatch(/^https:\/\/localhost\/odata\/test\/goods\?\$skiptoken=/);
  expect((await ask("lost_goods")).status).toBe(503);
  expect((await ask("lost_good")).status).toBe(404);
  await behind.close();
});

test("a caller without credentials is asked for them where it has no set", async () => {
  const guarded = await openFixture({
    tables,
    setUp,
    endpoints: {
      goods: { tableName: "goods", action: { read: true }, access: { clerk: ["read"] } },
      open: {
        tableName: "goods",
        action: { read: true, first: true },
        access: { guest: ["first"] },
      },
    },
    project: { odata: true, auth: { anonymous: { roles: ["nobody"] } } },
  });
  for (const path of ["", "$metadata", "goods", "goods(1)", "open"]) {
    const { status, headers } = await guarded.request(`/odata/test/${path}`);
    expect([status, headers.get("www-authenticate")]).toEqual([401, challenge]);
  }
  await guarded.close();
});

describe("a project without OData", () => {
  const plain = openForTests(openFixture, {
    tables,
    endpoints: { goods: { tableName: "goods", action: { read: true } } },
  });

  test("says how it is switched on", async () => {
    const { status, body } = await plain.request("/odata/test/");
    expect(status).toBe(404);
    expect(body.error.message).toContain('{"odata": true}');
  });

  test.each(["/odata/tost/", "/odata/tost/goods", "/odata/", "/odata"])(
    "%s is not found",
    async (path) => {
      expect((await plain.request(path)).status).toBe(404);
    },
  );
});
