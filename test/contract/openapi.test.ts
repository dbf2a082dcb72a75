/**
 * The document of `/openapi.json` against the service: its operations for each caller, and examples that match their
 * schemas. `openapi-fuzz.test.ts` checks real answers, with requests generated from the document.
 */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonSchema } from "../../core/values/json-schema.ts";
import { faultsIn } from "../openapi/lint.ts";
import { openDocument, type OpenedDocument } from "../openapi/openapi-document.ts";
import { everyAction, possibleActions } from "./every-action.ts";
import { type Fixture, type FixtureOptions, openFixture, openForTests } from "./harness.ts";
import { openTrade } from "./trade.ts";

async function documentOf(
  { request }: Pick<Fixture, "request">,
  path = "/api/test/openapi.json",
  headers: Record<string, string> = {},
): Promise<OpenedDocument> {
  const { status, body } = await request(path, { headers });
  expect(status).toBe(200);
  return openDocument(body);
}

/** With whole responses in the place of references, whose names have numbers. */
const pathsOf = ({ json }: OpenedDocument, endpoint: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(json.paths)
      .filter(([path]) => path.startsWith(`/api/test/${endpoint}/`))
      .map(([path, methods]) => [
        path,
        JSON.parse(JSON.stringify(methods), (_, value) => {
          const name = /^#\/components\/responses\/(.+)/.exec(value?.$ref ?? "")?.[1];
          return name === undefined ? value : json.components.responses[name];
        }),
      ]),
  );

const idsOf = ({ operations }: OpenedDocument): string[] => operations.map(({ id }) => id).sort();

describe("the document of a project without credentials", () => {
  let fixture: Fixture;
  let document: OpenedDocument;
  beforeAll(async () => {
    fixture = await openFixture(everyAction);
    document = await documentOf(fixture);
  });
  afterAll(() => fixture?.close());

  test("has every action that is switched on, by each of its methods", () => {
    const switched = possibleActions.flatMap(({ name, methods }) =>
      methods.map((one) => [name, one]),
    );
    const described = new Set(
      document.operations.map(
        ({ path, method }) => `${method} ${path.split("/").slice(4).join("/")}`,
      ),
    );
    for (const [name, method] of switched) expect(described).toContain(`${method} ${name}`);
  });

  test("has names in camel case, and calls GET of lookup a search", () => {
    expect(idsOf(document)).toEqual(
      expect.arrayContaining([
        "documentsCreateComposite",
        "kindsLookup",
        "kindsLookupSearch",
        "kindsLockAcquire",
        "lockAcquire",
        "ordersChangeStatus",
      ]),
    );
    expect(Object.keys(document.json.components.schemas)).toEqual(
      expect.arrayContaining(["Kinds", "KindsCreate", "KindsUpdate", "Pagination", "Error"]),
    );
  });

  test("has examples that its schemas take", () => {
    const faults: string[] = [];
    let examples = 0;
    const check = (
      where: string,
      media: { schema: object; example?: unknown; examples?: object },
    ) => {
      const named = Object.values(media.examples ?? {}) as { value: unknown }[];
      const all = [
        ...(media.example === undefined ? [] : [media.example]),
        ...named.map((one) => one.value),
      ];
      for (const example of all) {
        examples++;
        const fault = document.faultOf(media.schema, example);
        if (fault !== null) faults.push(`${where}: ${fault} ${JSON.stringify(example)}`);
      }
    };
    for (const { id, requestBody, responses } of document.operations) {
      for (const [type, media] of Object.entries(requestBody?.content ?? {}))
        check(`${id} ${type}`, media as never);
      for (const [status, { content = {} }] of Object.entries(responses))
        for (const media of Object.values(content)) check(`${id} ${status}`, media as never);
    }
    expect(faults).toEqual([]);
    expect(examples).toBeGreaterThan(document.operations.length);
  });

  test("says of every body, and of every schema with members, that it is an object", () => {
    const faults: string[] = [];
    const isOfMembers = (type: string): boolean => /[/](json|x-www-form|form-data)/.test(type);
    let bodies = 0;
    for (const { id, requestBody, responses } of document.operations)
      for (const [part, { content = {} } = {}] of Object.entries({ requestBody, ...responses }))
        for (const [type, { schema }] of Object.entries<{ schema: object }>(content)) {
          if (!isOfMembers(type)) continue;
          bodies++;
          if (document.whole(schema).type !== "object") faults.push(`${id} ${part} ${type}`);
        }
    expect(bodies).toBeGreaterThan(document.operations.length);
    for (const [name, schema] of Object.entries(document.json.components.schemas))
      collect(document.whole(schema), name);
    expect(faults).toEqual([]);

    /** A branch is as the schema that it stands in. */
    function collect(schema: JsonSchema, where: string, isObject = false): void {
      const { properties, required, items, anyOf = [], allOf = [] } = schema;
      const says = isObject || [schema.type].flat().includes("object");
      if (!says && (properties ?? required) !== undefined) faults.push(where);
      for (const [name, member] of Object.entries(properties ?? {}))
        collect(member, `${where}.${name}`);
      if (items !== undefined) collect(items, `${where}[]`);
      for (const branch of [...anyOf, ...allOf]) collect(branch, `${where} (a branch)`, says);
    }
  });

  test("has an example of each body", () => {
    const without = document.operations
      .filter(({ requestBody }) => requestBody?.content["application/json"])
      .filter(({ requestBody }) => requestBody.content["application/json"].example === undefined)
      .map(({ id }) => id);
    expect(without).toEqual(["lockAcquire", "lockRelease", "lockStatus"]);
  });

  test("says the type, length, labels and nullability of a field", () => {
    const { Kinds, KindsCreate } = document.json.components.schemas;
    expect(KindsCreate.properties.short).toMatchObject({ minLength: 2, maxLength: 6 });
    expect(KindsCreate.properties.note.enum).toEqual(["a", "b", "some text", null]);
    expect(KindsCreate.required).toContain("whole");
    expect(Kinds.properties.moment).toMatchObject({
      type: ["string", "null"],
      format: "date-time",
    });
  });

  test("is valid as version 3.0 too, which has its own ETag", async () => {
    const path = "/api/test/openapi.json";
    const { status, body, headers } = await fixture.request(`${path}?version=3.0`);
    expect([status, body.openapi]).toEqual([200, "3.0.3"]);
    expect(await faultsIn(JSON.stringify(body))).toEqual([]);
    const now = await fixture.request(`${path}?version=3.1`);
    expect(now.body.openapi).toBe("3.1.0");
    expect(now.headers.get("etag")).not.toBe(headers.get("etag"));
    expect(Object.keys(now.body.paths)).toEqual(Object.keys(body.paths));
  });

  test.each(["2.0", "3", "3.0.3", "", "3.1&version=3.0x"])(
    "as version %s is an error, unless a known one stands first",
    async (version) => {
      const answer = await fixture.request(`/api/test/openapi.json?version=${version}`);
      expect(answer.status).toBe(version.startsWith("3.1") ? 200 : 400);
      if (answer.status === 400) expect(answer.body.error).toBe("Invalid parameter");
    },
  );

  test("has an ETag, and is not sent again to who has it", async () => {
    const first = await fixture.request("/api/test/openapi.json");
    const etag = first.headers.get("etag")!;
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    const again = await fixture.fetch("/api/test/openapi.json", {
      headers: { "If-None-Match": `"other", W/${etag}` },
    });
    expect({ status: again.status, body: await again.text() }).toEqual({ status: 304, body: "" });
    expect(again.headers.get("etag")).toBe(etag);
  });

  test("is the same from another service over the same files", async () => {
    const other = await openFixture(everyAction);
    const { body } = await other.request("/api/test/openapi.json");
    await other.close();
    expect(body).toEqual(document.json);
  });

  test("is a part of the document of all projects, where the project's name stands first", async () => {
    const all = await documentOf(fixture, "/openapi.json");
    expect(idsOf(all)).toEqual(
      [
        ...idsOf(document).map((id) => `test${id[0]!.toUpperCase()}${id.slice(1)}`),
        "healthLive",
        "healthReady",
      ].sort(),
    );
    expect(Object.keys(all.json.components.schemas)).toContain("TestKindsCreate");
    for (const [id, path] of [
      ["healthLive", "/health/live"],
      ["healthReady", "/health/ready"],
    ] as const) {
      const { status, body } = await fixture.request(path);
      const { schema } = all.operation(id).responses[status]!.content["application/json"];
      expect(all.faultOf(schema, body)).toBeNull();
    }
  });

  test("of a project that does not exist is 404", async () => {
    expect((await fixture.request("/api/other/openapi.json")).status).toBe(404);
  });

  test("of one endpoint has its part of the document, and what that refers to", async () => {
    const one = await documentOf(fixture, "/api/test/kinds/openapi.json");
    expect(pathsOf(one, "kinds")).toEqual(pathsOf(document, "kinds"));
    expect(Object.keys(one.json.paths)).toEqual(Object.keys(pathsOf(one, "kinds")));
    expect(one.json.tags).toEqual([
      document.json.tags.find((tag: { name: string }) => tag.name === "kinds"),
    ]);
    expect(one.json.info.title).toBe("test/kinds");
    const { schemas } = document.json.components;
    for (const [name, schema] of Object.entries(one.json.components.schemas))
      expect({ name, schema }).toEqual({ name, schema: schemas[name] });
    const text = JSON.stringify(one.json);
    for (const [reference] of text.matchAll(/(?<=#\/components\/)[^"]+/g)) {
      const [kind, name] = reference.split("/");
      expect(one.json.components[kind as "schemas"]).toHaveProperty([name!]);
    }
  });

  test.each([
    ["an endpoint that does not exist", "/api/test/kindz/openapi.json", 404, "GET"],
    ["an endpoint of another project", "/api/other/kinds/openapi.json", 404, "GET"],
    ["a name with a percent sign", "/api/test/kin%64s/openapi.json", 404, "GET"],
    ["a part of an endpoint", "/api/test/kinds/lock/openapi.json", 404, "GET"],
    ["an endpoint by POST", "/api/test/kinds/openapi.json", 405, "POST"],
  ])("of %s is refused", async (_, path, status, method) => {
    expect((await fixture.request(path, { method })).status).toBe(status);
  });
});

const hashOf = (key: string): string => createHash("sha256").update(key).digest("hex");
const secured: FixtureOptions = {
  tables: [
    {
      name: "items",
      columns: { item_id: "key", name: "text(40)", cost: "integer", secret: "text(20)" },
    },
    { name: "places", columns: { place_id: "key", name: "text(40)" } },
  ],
  endpoints: {
    items: {
      tableName: "items",
      action: { create: true, read: true, update: true, delete: true, lock: true },
      access: { admin: "*", clerk: ["read", "update", "lock"], guest: ["read"] },
      hiddenFields: { clerk: ["secret"], guest: ["secret", "cost"] },
      readOnlyFields: { clerk: ["cost"] },
    },
    places: { tableName: "places", action: { read: true }, access: { admin: "*" } },
  },
  project: {
    auth: {
      apiKeys: ["admin", "clerk", "stranger"].map((id) => ({
        id,
        sha256: hashOf(id),
        roles: [id],
      })),
      anonymous: { roles: ["guest"] },
    },
    rateLimit: { max: 10_000 },
    cors: { origins: ["https://shop.example"] },
  },
};

describe("the document of a project with credentials", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture(secured);
  });
  afterAll(() => fixture?.close());
  const asRole = (role: string) =>
    documentOf(fixture, "/api/test/openapi.json", { "X-Api-Key": role });

  test.each([
    [
      "admin",
      [
        "itemsCreate",
        "itemsDelete",
        "itemsLockAcquire",
        "itemsLockRelease",
        "itemsLockStatus",
        "itemsRead",
        "itemsUpdate",
        "lockAcquire",
        "lockRelease",
        "lockStatus",
        "placesRead",
      ],
    ],
    [
      "clerk",
      [
        "itemsLockAcquire",
        "itemsLockRelease",
        "itemsLockStatus",
        "itemsRead",
        "itemsUpdate",
        "lockAcquire",
        "lockRelease",
        "lockStatus",
      ],
    ],
    ["stranger", []],
  ])("shows %s what its role may use", async (role, ids) => {
    expect(idsOf(await asRole(role))).toEqual(ids);
  });

  test("shows who sends no credentials what everybody may use, and how to send some", async () => {
    const document = await documentOf(fixture);
    expect(idsOf(document)).toEqual(["itemsRead"]);
    const { components, paths } = document.json;
    expect(components.securitySchemes).toEqual({
      apiKey: { type: "apiKey", in: "header", name: "X-Api-Key" },
    });
    expect(paths["/api/test/items/read"].post.security).toEqual([{ apiKey: [] }, {}]);
  });

  test("has the fields of the caller, and says which of them are only read", async () => {
    const [whole, own] = [await asRole("admin"), await asRole("clerk")];
    expect(Object.keys(whole.json.components.schemas.ItemsSelected.properties)).toEqual([
      "item_id",
      "name",
      "cost",
      "secret",
      "_version",
    ]);
    expect(Object.keys(own.json.components.schemas.ItemsSelected.properties)).toEqual([
      "item_id",
      "name",
      "cost",
      "_version",
    ]);
    const { name, cost, secret } = own.json.components.schemas.ItemsUpdate.properties;
    expect({ name, cost, secret }).toEqual({
      name: whole.json.components.schemas.ItemsUpdate.properties.name,
      cost: { readOnly: true },
      secret: undefined,
    });
  });

  test("says that credentials may be missing, and that requests are limited", async () => {
    const { responses } = (await asRole("clerk")).operation("itemsUpdate");
    expect(Object.keys(responses["401"].headers)).toEqual(
      expect.arrayContaining(["WWW-Authenticate", "RateLimit"]),
    );
    expect(Object.keys(responses["429"].headers)).toContain("Retry-After");
    expect(Object.keys(responses["200"].headers)).toEqual(
      expect.arrayContaining(["ETag", "RateLimit-Policy"]),
    );
  });

  test("refuses credentials that are wrong, and shows nothing of the project in the document of all", async () => {
    const headers = { "X-Api-Key": "made up" };
    expect((await fixture.request("/api/test/openapi.json", { headers })).status).toBe(401);
    const all = await documentOf(fixture, "/openapi.json", headers);
    expect(idsOf(all)).toEqual(["healthLive", "healthReady"]);
    expect(JSON.stringify(all.json)).not.toContain("items");
  });

  test.each([
    ["admin", "items", 200],
    ["admin", "places", 200],
    ["clerk", "items", 200],
    ["clerk", "places", 404],
    ["stranger", "items", 404],
    [null, "items", 200],
    [null, "places", 404],
    ["made up", "items", 401],
    ["made up", "nothing", 401],
  ])("of one endpoint: %s asks for %s and gets %d", async (role, endpoint, expected) => {
    const headers: Record<string, string> = role === null ? {} : { "X-Api-Key": role };
    const path = `/api/test/${endpoint}/openapi.json`;
    const { status, body } = await fixture.request(path, { headers });
    expect(status).toBe(expected);
    if (status !== 200) {
      expect(JSON.stringify(body)).not.toContain("places");
      return;
    }
    const whole = await documentOf(fixture, "/api/test/openapi.json", headers);
    const paths = Object.keys(whole.json.paths).filter((one) => one.split("/")[3] === endpoint);
    expect(Object.keys(body.paths)).toEqual(paths);
    const etags = ["admin", "clerk"].map(async (one) => {
      const answer = await fixture.fetch("/api/test/items/openapi.json", {
        headers: { "X-Api-Key": one },
      });
      return answer.headers.get("etag");
    });
    expect(new Set(await Promise.all(etags)).size).toBe(2);
  });

  test.each(["/api/test/openapi.json", "/api/test/items/openapi.json", "/openapi.json"])(
    "lets pages of allowed origins read %s",
    async (path) => {
      const answers = ["https://shop.example", "https://other.example"].map(async (Origin) => {
        const { headers } = await fixture.request(path, { headers: { Origin } });
        return headers.get("access-control-allow-origin");
      });
      expect(await Promise.all(answers)).toEqual(["https://shop.example", null]);
    },
  );
});

test("a project that lets nobody in without credentials shows its frame alone", async () => {
  const { anonymous: _, ...auth } = secured.project!["auth" as never] as Record<string, unknown>;
  const fixture = await openFixture({ ...secured, project: { auth } });
  const { json } = await documentOf(fixture);
  for (const endpoint of ["items", "nothing"]) {
    const one = await documentOf(fixture, `/api/test/${endpoint}/openapi.json`);
    expect(one.json).toEqual({ ...json, info: { ...json.info, title: `test/${endpoint}` } });
  }
  await fixture.close();
  expect(json).toEqual({
    openapi: "3.1.0",
    info: { title: "test", version: "1" },
    servers: [{ url: "/" }],
    security: [],
    tags: [],
    paths: {},
    components: {
      securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-Api-Key" } },
    },
  });
});

test("names that are the same in camel case get numbers, in schemas and operations alike", async () => {
  const endpoint = { tableName: "items", action: { create: true, read: true } };
  const fixture = await openFixture({
    ...secured,
    project: {},
    endpoints: { "item-list": endpoint, item_list: endpoint, "item-list-create": endpoint },
  });
  const document = await documentOf(fixture);
  await fixture.close();
  expect(idsOf(document)).toEqual([
    "itemList2Create",
    "itemList2Read",
    "itemListCreate",
    "itemListCreateCreate",
    "itemListCreateRead",
    "itemListRead",
  ]);
  const byBody = document.operations.map(({ requestBody }) =>
    JSON.stringify(requestBody.content["application/json"].schema),
  );
  expect(new Set(byBody).size).toBe(6);
});

describe("related records", () => {
  const trade = openForTests(openTrade);

  const known = new Map<string, ReturnType<typeof readAs>>();
  const read = (role: string): ReturnType<typeof readAs> => {
    if (!known.has(role)) known.set(role, readAs(role));
    return known.get(role)!;
  };
  const readAs = async (role: string) => {
    const document = await documentOf(trade, "/openapi.json", { "x-role": role });
    const found = document.operations.find(({ path }) => path.endsWith("/orders/read"))!;
    const { schema } = found.requestBody!.content["application/json"]!;
    const answer = found.responses[200]!.content!["application/json"]!.schema;
    return {
      takes: (body: object) => document.faultOf(schema, body) === null,
      answers: (record: object) =>
        document.faultOf(answer, { success: true, data: [record], count: 1, timestamp: now }) ===
        null,
    };
  };
  const now = "2026-01-01T00:00:00.000Z";
  const named = (name: string) => ({
    select: [name],
    sort_columns: [{ column: name }],
    where: { conditions: [{ key: name, operator: "=", value: "x" }] },
    search_by: name,
  });
  const ofMany = (key: string, more: object = {}) => ({
    where: { conditions: [{ key, operator: "ANY", ...more }] },
  });
  const whole = { conditions: [{ key: "note", operator: "=", value: "x" }] };

  test.each<[request: object, roles: string[]]>([
    [named("customer.name"), ["operator", "blind", "north"]],
    [named("customer.email"), ["operator", "north"]],
    [named("customer.nothing"), []],
    [named("lines.note"), []],
    [{ select: ["*", "customer.*"] }, ["operator", "blind", "north"]],
    [{ select: ["lines.*"] }, []],
    [ofMany("lines"), ["operator", "blind", "north", "outsider"]],
    [ofMany("lines", { where: whole }), ["operator", "blind", "north", "outsider"]],
    [ofMany("customer"), ["operator", "blind", "north"]],
    [ofMany("customer", { where: whole }), []],
    [ofMany("amount"), []],
  ])("%j fits the document of those who may ask it", async (request, roles) => {
    for (const role of ["operator", "blind", "north", "outsider"]) {
      const { takes } = await read(role);
      expect(takes(request), role).toBe(roles.includes(role));
      const { status } = await trade.post("orders/read", request, { "x-role": role });
      expect(status, role).toBe(roles.includes(role) ? 200 : 400);
    }
  });

  test("are members of records in answers, for those who may see them", async () => {
    const nested = {
      order_no: "A1",
      customer: { name: "Ada", city: { name: "Oslo" } },
      lines: [{ note: "x" }],
    };
    expect((await read("operator")).answers(nested)).toBe(true);
    expect((await read("operator")).answers({ ...nested, customer: null })).toBe(true);
    expect((await read("operator")).answers({ ...nested, customer: "Ada" })).toBe(false);
    expect((await read("operator")).answers({ ...nested, other: {} })).toBe(false);
    expect((await read("outsider")).answers({ lines: [], order_no: "A1" })).toBe(true);
    expect((await read("outsider")).answers(nested)).toBe(false);
  });
});
