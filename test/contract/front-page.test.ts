/** `GET /`: what runs here, as JSON and as a page for browsers, each limited to what the caller can use. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiKey, by } from "./api-keys.ts";
import { type Answer, type Fixture, openFixture } from "./harness.ts";

const tables = [{ name: "goods", columns: { good_id: "key", name: "text(40)" } }] as const;
const goods = { tableName: "goods", fieldNameLookup: { id: "good_id", text: "name" } };
/** As Chromium sends it. */
const browser = {
  accept:
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
};

const endpoints = {
  products: {
    ...goods,
    action: { read: true, lookup: true },
    access: { clerk: ["read"], guest: ["lookup"], admin: "*" },
  },
  kinds: { ...goods, action: { read: true, lock: true }, access: { admin: "*" } },
};

/** An endpoint as the answer shows it. */
const shown = (name: string, ...actions: string[]): object => ({
  name,
  path: `/api/test/${name}`,
  actions,
});

describe("without auth", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    const { products, kinds } = endpoints;
    const open = { products: { ...products, access: {} }, kinds: { ...kinds, access: {} } };
    fixture = await openFixture({ tables, endpoints: open });
  });
  afterAll(() => fixture?.close());

  test("programs get JSON with every endpoint and its actions", async () => {
    const { status, body, headers } = await fixture.request("/");
    expect(status).toBe(200);
    expect(headers.get("Vary")).toBe("Accept");
    expect(body).toEqual({
      success: true,
      service: "rowgate",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      projects: [
        {
          name: "test",
          status: "ready",
          endpoints: [
            shown("kinds", "read", "lock/acquire", "lock/release", "lock/status"),
            shown("products", "read", "lookup"),
          ],
        },
      ],
      links: {
        console: "/console",
        docs: "/docs",
        openapi: "/openapi.json",
        ready: "/health/ready",
      },
      timestamp: expect.any(String),
    });
  });

  test.each([
    ["anything", { accept: "*/*" }],
    ["JSON rather than HTML", { accept: "application/json, text/html;q=0.5" }],
    ["no HTML", { accept: "text/html;q=0, */*" }],
  ])("who accepts %s gets JSON", async (_, headers) => {
    const answer = await fixture.request("/", { headers });
    expect(answer.headers.get("Content-Type")).toBe("application/json; charset=utf-8");
  });

  test("a browser gets a page with every endpoint and its actions", async () => {
    const { status, headers, body } = await fixture.request("/", { headers: browser });
    expect([status, headers.get("Content-Type"), headers.get("Vary")]).toEqual([
      200,
      "text/html; charset=utf-8",
      "Accept, Accept-Encoding",
    ]);
    for (const text of ["products", "kinds", "lock/acquire", "lookup", "health/ready"])
      expect(body).toContain(text);
  });

  test("the page may load styles and pictures of the service, and nothing else", async () => {
    const { headers, body } = await fixture.request("/", { headers: browser });
    expect(headers.get("Content-Security-Policy")).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(body).not.toMatch(/<script|<style| style=| on\w+=|https?:\/\/(?!localhost)/);
  });

  test("the files of the page may be kept for a year, as their names change with their text", async () => {
    const { body } = await fixture.request("/", { headers: browser });
    const names = new Set([...body.matchAll(/"(assets\/[^"]+)"/g)].map(([, name]) => name));
    expect(names.size).toBe(2);
    for (const name of names) {
      const { status, headers } = await fixture.request(`/${name}`);
      expect([status, headers.get("Cache-Control")]).toEqual([
        200,
        "public, max-age=31536000, immutable",
      ]);
    }
    expect((await fixture.request("/assets/nothing.css")).status).toBe(404);
  });

  test("HEAD is answered without a body, and other methods are not", async () => {
    const head = await fixture.fetch("/", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await fixture.request("/", { method: "POST" })).status).toBe(405);
  });

  test("the example request of the page works as it stands", async () => {
    const { body } = await fixture.request("/", { headers: browser });
    const [, path = "", sent = ""] =
      /curl -s http:\/\/localhost(\S+)[^]*-d &#39;(.*)&#39;/.exec(body) ?? [];
    const request = { method: "POST", headers: { "content-type": "application/json" } };
    const answer = await fixture.request(path, {
      ...request,
      body: sent.replaceAll("&quot;", '"'),
    });
    expect([path, answer.status]).toEqual(["/api/test/kinds/read", 200]);
  });

  test.each([
    { title: "no proxy counts", proxies: "0", sent: "https", scheme: "http" },
    { title: "a proxy says so", proxies: "1", sent: "https", scheme: "https" },
    { title: "a proxy says it was asked without", proxies: "1", sent: "http", scheme: "http" },
    { title: "a proxy says something else", proxies: "1", sent: "ftp", scheme: "http" },
  ])("the example request begins with $scheme where $title", async ({ proxies, sent, scheme }) => {
    const own = await openFixture({
      tables,
      endpoints: { products: { ...goods, action: { read: true } } },
      env: { TRUST_PROXY: proxies },
    });
    const headers = { ...browser, "x-forwarded-proto": sent };
    const { body } = await own.request("/", { headers });
    await own.close();
    expect(/curl -s (\w+):/.exec(body)?.[1]).toBe(scheme);
  });
});

describe("with auth", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture({
      tables,
      endpoints,
      project: {
        auth: { apiKeys: ["clerk", "admin", "stranger"].map((id) => apiKey(id, [id])) },
        rateLimit: { max: 1000 },
      },
    });
  });
  afterAll(() => fixture?.close());
  const get = (headers?: Record<string, string>): Promise<Answer> =>
    fixture.request("/", headers ? { headers } : {});

  const signIn =
    "Send an API key in the header X-Api-Key, or a token in the header Authorization: Bearer";

  test("nobody learns more than that the service is there, and how to sign in", async () => {
    const { status, body } = await get();
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        service: "rowgate",
        projects: [],
        sign_in: signIn,
        links: {
          console: "/console",
          docs: "/docs",
          openapi: "/openapi.json",
          ready: "/health/ready",
        },
        timestamp: expect.any(String),
      },
    ]);
    const page = (await get(browser)).body;
    expect(page).toContain("X-Api-Key");
    expect(page).not.toMatch(/products|kinds|test/);
  });

  test.each([
    ["clerk", [shown("products", "read")]],
    [
      "admin",
      [
        shown("kinds", "read", "lock/acquire", "lock/release", "lock/status"),
        shown("products", "read", "lookup"),
      ],
    ],
  ])("%s sees what it may use", async (id, expected) => {
    const { body } = await get(by(id));
    expect(body.projects.map((project: { endpoints: object[] }) => project.endpoints)).toEqual([
      expected,
    ]);
    expect(body).not.toHaveProperty("sign_in");
  });

  test("a caller without rights sees no name", async () => {
    const { status, body } = await get(by("stranger"));
    expect([status, body.projects]).toEqual([200, []]);
  });

  test("a key that does not exist is refused", async () => {
    const { status, body, headers } = await get(by("nobody"));
    expect([status, body.error]).toEqual([401, "Unauthorized"]);
    expect(headers.get("WWW-Authenticate")).toContain("X-Api-Key");
  });
});

describe("with auth and anonymous callers", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture({
      tables,
      endpoints,
      project: {
        auth: { apiKeys: [apiKey("clerk", ["clerk"])], anonymous: { roles: ["guest"] } },
        rateLimit: { max: 2 },
      },
    });
  });
  afterAll(() => fixture?.close());

  test("who sends no credentials sees what everybody may use, and counts for the rate limit", async () => {
    const { body } = await fixture.request("/");
    expect(body.projects[0].endpoints).toEqual([shown("products", "lookup")]);
    expect(body.sign_in).toMatch(/X-Api-Key/);
    await fixture.request("/");
    const { status, body: refused } = await fixture.request("/");
    expect([status, refused.error]).toEqual([429, "Too many requests"]);
  });
});
