/** Headers for browsers in every answer, errors too: against sniffing, framing and foreign resources, and for CORS. */
import { describe, expect, test } from "vitest";
import { type Fixture, openFixture, openForTests } from "./harness.ts";

const options = {
  tables: [{ name: "goods", columns: { id: "key" } }],
  setUp: () => ["insert into goods values ('a')"],
  endpoints: { goods: { tableName: "goods", action: { read: true, export: true } } },
} as const;
const shop = "https://shop.example";

const listed = openForTests(openFixture, { ...options, project: { cors: { origins: [shop] } } });
const open = openForTests(openFixture, { ...options, project: { cors: { origins: ["*"] } } });

const json = { "Content-Type": "application/json" };
const read = { method: "POST", headers: json, body: '{"limit":1}' };

const answers: [name: string, status: number, path: string, init?: RequestInit][] = [
  ["a list", 200, "/api/test/goods/read", read],
  ["a refusal", 400, "/api/test/goods/read", { ...read, body: "{" }],
  ["a wrong method", 405, "/api/test/goods/read"],
  ["an unknown path", 404, "/nothing"],
  ["health", 200, "/health/live"],
  [
    "a preflight",
    204,
    "/api/test/goods/read",
    { method: "OPTIONS", headers: { Origin: shop, "Access-Control-Request-Method": "POST" } },
  ],
];

const secure = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};
const pick = (headers: Headers) =>
  Object.fromEntries(Object.keys(secure).map((name) => [name, headers.get(name)]));

test.each(answers)("%s has the secure headers", async (_, status, path, init) => {
  const response = await listed.fetch(path, init);
  await response.text();
  expect([response.status, pick(response.headers)]).toEqual([status, secure]);
});

test("a download has the secure headers", async () => {
  const { job_id: id } = (await listed.post("goods/export", {})).body;
  await expect
    .poll(async () => (await listed.request(`/api/test/goods/export-status?job_id=${id}`)).body, {
      timeout: 20_000,
    })
    .toMatchObject({ status: "completed" });
  const response = await listed.fetch(`/api/test/goods/export-download?job_id=${id}`);
  await response.arrayBuffer();
  expect([response.status, pick(response.headers)]).toEqual([200, secure]);
});

describe("CORS", () => {
  const from = (of: Fixture, origin: string, init: RequestInit = read) =>
    of.fetch("/api/test/goods/read", {
      ...init,
      headers: { ...json, ...init.headers, Origin: origin },
    });
  const preflight = { method: "OPTIONS", headers: { "Access-Control-Request-Method": "POST" } };

  test.each([
    ["a listed origin", shop, shop],
    ["another origin", "https://evil.example", null],
    ["an origin that begins alike", `${shop}.evil.example`, null],
    ["no origin", "null", null],
  ])("names %s as it is listed, or nothing", async (_, origin, expected) => {
    for (const init of [read, preflight]) {
      const { headers } = await from(listed, origin, init);
      expect(headers.get("Access-Control-Allow-Origin")).toBe(expected);
      expect(headers.get("Access-Control-Allow-Credentials")).toBeNull();
      expect(headers.get("Vary")).toContain("Origin");
    }
  });

  test.each(["https://any.example", "null"])(
    "with * says * to %s, and repeats no origin",
    async (origin) => {
      const { headers, status } = await from(open, origin);
      expect([status, headers.get("Access-Control-Allow-Origin")]).toEqual([200, "*"]);
      expect(headers.get("Access-Control-Allow-Credentials")).toBeNull();
    },
  );

  const corsOf = ({ headers }: Response) =>
    Object.fromEntries([...headers].filter(([name]) => /^access-control-|^vary$/.test(name)));
  const answered = {
    "access-control-allow-origin": shop,
    "access-control-expose-headers":
      "ETag,X-Request-Id,Retry-After,Idempotency-Replayed,Preference-Applied,Content-Disposition,Content-Range,X-Next-Cursor,RateLimit,RateLimit-Policy,Server-Timing",
    vary: "Origin",
  };

  test.each([
    ["a list", read, "Accept, Origin"],
    ["a refusal", { ...read, body: "{" }, "Accept, Origin"],
    ["a wrong method", { method: "PUT" }, "Origin"],
    ["HEAD", { method: "HEAD" }, "Origin"],
  ])("adds to %s what a page may read of it", async (_, init, vary) => {
    expect(corsOf(await from(listed, shop, init))).toEqual({ ...answered, vary });
  });

  test.each(["/openapi.json", "/api/test/openapi.json"])(
    "adds the same to %s, beside what it varies by anyway",
    async (path) => {
      const response = await listed.fetch(path, { headers: { Origin: shop } });
      const vary = "X-Api-Key, Authorization, Accept-Encoding, Origin";
      expect(corsOf(response)).toEqual({ ...answered, vary });
    },
  );

  test("answers a preflight with all that a page may send, for ten minutes", async () => {
    const response = await from(listed, shop, preflight);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(response.headers.get("X-Request-Id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(corsOf(response)).toEqual({
      ...answered,
      "access-control-allow-headers":
        "Content-Type,If-Match,If-None-Match,If-Range,Range,Last-Event-ID,X-Request-Id,X-Request-Mode,Idempotency-Key,Prefer,X-Lock-Token,Authorization,X-Api-Key,traceparent,tracestate",
      "access-control-allow-methods": "GET,POST",
      "access-control-max-age": "600",
      vary: "Origin, Access-Control-Request-Headers",
    });
  });

  test("lets pages send their credentials in the headers of the service", async () => {
    const { headers } = await from(listed, shop, preflight);
    expect(headers.get("Access-Control-Allow-Headers")?.split(",")).toEqual(
      expect.arrayContaining(["Authorization", "X-Api-Key"]),
    );
  });
});
