/**
 * A 404 for a path without an action: it suggests a similar path and names actions that are switched off. It shows a
 * caller only names that the caller has access to.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiKey, by } from "./api-keys.ts";
import { type Answer, type Fixture, openFixture } from "./harness.ts";

const tables = [{ name: "goods", columns: { good_id: "key", name: "text(40)" } }] as const;
const goods = { tableName: "goods", fieldNameLookup: { id: "good_id", text: "name" } };

const gist = ({ status, body }: Answer): unknown[] => [status, body.error, body.message];
const notFound = (message: string): unknown[] => [404, "Not found", message];

describe("without credentials", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture({
      tables,
      endpoints: {
        products: {
          ...goods,
          action: { read: true, lookup: true, lock: true, "export-cancel": false, export: true },
        },
        product_kinds: { ...goods, action: { read: true, export: true } },
      },
    });
  });
  afterAll(() => fixture?.close());

  test.each([
    ["products/raed", 'Unknown action "raed"; did you mean "read"?'],
    ["products/READ", 'Unknown action "READ"; did you mean "read"?'],
    ["products/locks/acquire", 'Unknown action "locks/acquire"; did you mean "lock/acquire"?'],
    ["products/something-else", "Unknown action"],
    ["products/toString", "Unknown action"],
    ["prodcuts/read", 'Unknown endpoint "prodcuts"; did you mean "products"?'],
    ["Products/read", 'Unknown endpoint "Products"; did you mean "products"?'],
    ["product-kinds/read", 'Unknown endpoint "product-kinds"; did you mean "product_kinds"?'],
    ["lock/aquire", 'Unknown action "lock/aquire"; did you mean "lock/acquire"?'],
    ["customers/read", "Unknown endpoint"],
    [`${"products".repeat(9)}/read`, "Unknown endpoint"],
    [
      "product_kinds/aggregate",
      'The action aggregate is switched off for product_kinds; the operator switches it on with {"action": {"aggregate": true}} in the file of the endpoint',
    ],
    [
      "product_kinds/lock/status",
      'The action lock/status is switched off for product_kinds; the operator switches it on with {"action": {"lock": true}} in the file of the endpoint',
    ],
    [
      "products/export-cancel",
      'The action export-cancel is switched off for products; the operator switches it on with {"action": {"export-cancel": true}} in the file of the endpoint',
    ],
    [
      "products/next-statuses",
      'The action next-statuses is switched off for products; the operator switches it on with {"action": {"next-statuses": true}} in the file of the endpoint',
    ],
    [
      "products/print",
      "The action print is planned but not available yet: an export writes the records into a file",
    ],
  ])("%s says: %s", async (path, message) => {
    expect(gist(await fixture.post(path, {}))).toEqual(notFound(message));
  });

  test.each([
    ["tset", 'Unknown project "tset"; did you mean "test"?'],
    ["shop", "Unknown project"],
  ])("a project named %s says: %s", async (project, message) => {
    const answer = await fixture.request(`/api/${project}/products/read`, { method: "POST" });
    expect(gist(answer)).toEqual(notFound(message));
  });

  test.each(["/api/test/products", "/nothing", "/api/test/products/read/"])(
    "the path %s is told where the API is listed",
    async (path) => {
      expect(gist(await fixture.request(path, { method: "POST" }))).toEqual(
        notFound(
          "No resource exists at this path; the actions are at /api/{project}/{endpoint}/{action}, and GET / lists them",
        ),
      );
    },
  );
});

describe("with credentials", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture({
      tables,
      project: {
        auth: { apiKeys: [apiKey("clerk", ["clerk"]), apiKey("stranger", ["unheard-of"])] },
        rateLimit: { max: 1000 },
      },
      endpoints: {
        products: {
          ...goods,
          action: { read: true, lookup: true, lock: true },
          access: { clerk: ["read"], admin: "*" },
        },
        secrets: { ...goods, action: { read: true }, access: { admin: "*" } },
      },
    });
  });
  afterAll(() => fixture?.close());

  const as = (id: string, path: string): Promise<Answer> => fixture.post(path, {}, by(id));

  test.each([
    ["an endpoint that the caller may use", "prodcuts/read", "products"],
    ["an action that the caller may use", "products/raed", "read"],
  ])("%s is named", async (_, path, near) => {
    expect((await as("clerk", path)).body.message).toContain(`did you mean "${near}"?`);
  });

  test.each([
    ["an endpoint that the caller may not use", "secretss/read", "Unknown endpoint"],
    ["an action that the caller may not use", "products/lokup", "Unknown action"],
    [
      "an action for a whole project that the caller may not use",
      "lock/aquire",
      "Unknown endpoint",
    ],
    ["a switched off action of an endpoint of others", "secrets/aggregate", "Unknown action"],
  ])("%s is not named", async (_, path, message) => {
    expect(gist(await as("clerk", path))).toEqual(notFound(message));
  });

  test("a switched off action is named to who may use another one of the endpoint", async () => {
    expect((await as("clerk", "products/aggregate")).body.message).toMatch(/is switched off/);
    expect(gist(await as("stranger", "products/aggregate"))).toEqual(notFound("Unknown action"));
  });

  test.each([
    ["the key of a caller with rights", "clerk", 'Unknown project "tset"; did you mean "test"?'],
    ["the key of a caller without rights", "stranger", "Unknown project"],
  ])("a mistyped project and %s", async (_, id, message) => {
    const headers = by(id);
    const answer = await fixture.request("/api/tset/products/read", { method: "POST", headers });
    expect(gist(answer)).toEqual(notFound(message));
    // They would reveal that a project of a similar name exists.
    expect(answer.headers.get("RateLimit")).toBeNull();
  });

  test("a mistyped project and a key that does not exist are refused as at one that exists", async () => {
    const headers = { "x-api-key": "key of nobody" };
    const ask = (project: string) =>
      fixture.request(`/api/${project}/products/read`, { method: "POST", headers });
    const unauthorized = [401, "Unauthorized", "Credentials are missing or invalid"];
    expect(gist(await ask("tset"))).toEqual(unauthorized);
    expect(gist(await ask("test"))).toEqual(unauthorized);
  });
});

describe("guesses of keys at a mistyped project", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture({
      tables,
      project: { auth: { apiKeys: [apiKey("clerk", ["clerk"])] }, rateLimit: { max: 3 } },
      endpoints: { products: { ...goods, action: { read: true }, access: { clerk: "*" } } },
    });
  });
  afterAll(() => fixture?.close());

  test("count for the limit of the project that is meant", async () => {
    const guess = (project: string): Promise<Answer> =>
      fixture.request(`/api/${project}/products/read`, {
        method: "POST",
        headers: { "x-api-key": "a guess" },
      });
    for (let at = 0; at < 3; at++) expect((await guess("tset")).status).toBe(401);
    expect((await guess("test")).status).toBe(429);
    expect((await guess("tset")).status).toBe(429);
  });
});

describe("where all projects ask for credentials", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture({
      tables,
      endpoints: { products: { ...goods, action: { read: true }, access: { clerk: ["read"] } } },
      project: {
        auth: { apiKeys: [apiKey("clerk", ["clerk"])] },
        rateLimit: { windowSeconds: 600, max: 12 },
      },
      env: { TRUST_PROXY: "1" },
    });
  });
  afterAll(() => fixture?.close());

  const requests: readonly (readonly [string, RequestInit])[] = [
    ["products/read", { method: "POST", body: "{}" }],
    ["products/read", { method: "POST", body: "{", headers: { "x-api-key": "wrong" } }],
    ["products/read", { method: "POST", headers: { authorization: "Bearer a.b.c" } }],
    ["products/read", { method: "PUT" }],
    ["nothing/read", { method: "GET" }],
    ["lock/acquire", { method: "POST", body: "{}" }],
    ["a/b/c/d", { method: "GET" }],
    ["", { method: "GET" }],
    ["openapi.json", { method: "GET" }],
    ["products/openapi.json", { method: "GET" }],
    ["openapi.json", { method: "GET", headers: { "x-api-key": "wrong" } }],
    ...Array.from({ length: 8 }, () => ["products/read", { method: "POST" }] as const),
  ];

  /** The answers to the requests, sent one after the other from this address. */
  async function told(project: string, address: string): Promise<unknown[]> {
    const answers: unknown[] = [];
    for (const [path, init] of requests) {
      const headers = { "X-Forwarded-For": address, ...init.headers };
      const answer = await fixture.request(`/api/${project}/${path}`, { ...init, headers });
      const kept = [...answer.headers].filter(([name]) => !/request-id|etag|length/.test(name));
      const text = JSON.stringify([answer.status, kept, { ...answer.body, timestamp: "" }]);
      answers.push(text.replaceAll(project, "<name>").replace(/(t=|in |after",")\d+/g, "$1"));
    }
    return answers;
  }

  test("no answer without credentials tells whether a name is that of one", async () => {
    const known = await told("test", "192.0.2.1");
    expect(known.some((answer) => String(answer).startsWith("[429"))).toBe(true);
    expect(await told("tesk", "192.0.2.2")).toEqual(known);
    expect(await told("qqqq", "192.0.2.3")).toEqual(known);
  });

  test("a caller whom some project knows is told that there is none", async () => {
    const headers = { "x-api-key": "key of clerk", "X-Forwarded-For": "192.0.2.4" };
    const ask = async (project: string) =>
      gist(await fixture.request(`/api/${project}/products/read`, { method: "POST", headers }));
    expect(await ask("tesk")).toEqual(notFound('Unknown project "tesk"; did you mean "test"?'));
    expect(await ask("qqqq")).toEqual(notFound("Unknown project"));
  });
});
