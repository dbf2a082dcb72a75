/** `GET /docs` and its files. `test/browser/own-pages.test.ts` tests the page in a browser. */
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";

const options = {
  tables: [{ name: "goods", columns: { id: "key" } }],
  endpoints: { goods: { tableName: "goods", action: { read: true } } },
} as const;

const fixture = openForTests(openFixture, options);
const off = openForTests(openFixture, { ...options, env: { DOCS: "off" } });

const filesOf = (html: string): string[] =>
  [...html.matchAll(/(?:href|src)="((?:docs\/files|assets)\/[^"]+)"/g)].map(([, path]) => path!);

test("the page may load files of the service, and no script or style stands in it", async () => {
  const { status, headers, body } = await fixture.request("/docs");
  expect(status).toBe(200);
  expect(headers.get("Content-Type")).toBe("text/html; charset=utf-8");
  expect(headers.get("Content-Security-Policy")).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(body).not.toMatch(/<script(?! src="docs\/files\/)|<style| style=| on\w+=|https?:/);
});

test("its files are there, and may be kept for a year", async () => {
  const { body } = await fixture.request("/docs");
  const paths = filesOf(body);
  expect(paths.map((path) => path.replace(/^.*\//, "").replace(/^(rowgate)-\w+/, "$1"))).toEqual([
    "rowgate.svg",
    "swagger-ui.css",
    "rowgate.css",
    "docs.js",
    "swagger-ui-bundle.js",
    "rowgate.svg",
  ]);
  for (const path of paths) {
    const { status, headers } = await fixture.fetch(`/${path}`);
    expect([path, status, headers.get("Cache-Control")]).toEqual([
      path,
      200,
      "public, max-age=31536000, immutable",
    ]);
  }
});

test("a large file is compressed for who takes gzip", async () => {
  const { body } = await fixture.request("/docs");
  const path = filesOf(body).find((one) => one.endsWith("bundle.js"));
  const plain = await fixture.fetch(`/${path}`);
  const small = await fixture.fetch(`/${path}`, { headers: { "Accept-Encoding": "gzip, br" } });
  expect([plain.headers.get("Content-Encoding"), small.headers.get("Content-Encoding")]).toEqual([
    null,
    "gzip",
  ]);
  const [whole, packed] = await Promise.all([plain.bytes(), small.bytes()]);
  expect(packed.length).toBeLessThan(whole.length / 2);
  expect(gunzipSync(packed).equals(whole)).toBe(true);
});

const gzipped = { "Accept-Encoding": "br, gzip;q=0.8" };

test.each([
  "/docs",
  "/console",
  "/openapi.json",
  "/api/test/openapi.json",
  "/api/test/goods/openapi.json",
  "style sheet",
])("%s is compressed for who takes gzip, and says so", async (named) => {
  const { body } = await fixture.request("/docs");
  const style = filesOf(body).find((one) => one.endsWith(".css") && one.includes("assets"));
  const path = named === "style sheet" ? `/${style}` : named;
  const [plain, small] = await Promise.all(
    [{}, gzipped].map((headers) => fixture.fetch(path, { headers })),
  );
  for (const { headers } of [plain!, small!]) {
    expect(headers.get("Vary")).toMatch(/(^|, )Accept-Encoding$/);
    expect(headers.get("Content-Type")).toBe(plain!.headers.get("Content-Type"));
  }
  expect(plain!.headers.get("Content-Encoding")).toBeNull();
  expect(small!.headers.get("Content-Encoding")).toBe("gzip");
  const [whole, packed] = [Buffer.from(await plain!.bytes()), await small!.bytes()];
  expect(packed.length).toBeLessThan(whole.length);
  expect(gunzipSync(packed).equals(whole)).toBe(true);
});

test.each([
  ["no header", undefined],
  ["another coding", "br, deflate"],
  ["gzip refused", "gzip;q=0, *"],
  ["everything refused", "*;q=0"],
  ["a quality that is no number", "gzip;q=much"],
  ["a longer name", "xgzip, gzip2"],
])("a text stays as it is for: %s", async (_, coding) => {
  const headers: Record<string, string> = coding === undefined ? {} : { "Accept-Encoding": coding };
  for (const path of ["/docs", "/api/test/goods/openapi.json"]) {
    const answer = await fixture.fetch(path, { headers });
    expect([path, answer.headers.get("Content-Encoding")]).toEqual([path, null]);
  }
});

test("what is short is sent as it is", async () => {
  for (const path of ["/health/live", "/api/test/openapi.jso"]) {
    const { headers } = await fixture.fetch(path, { headers: gzipped });
    expect([headers.get("Content-Encoding"), headers.get("Vary")]).toEqual([null, null]);
  }
});

test("a document has another ETag when it is compressed, and each of them is known again", async () => {
  const path = "/api/test/goods/openapi.json";
  const [plain, small] = await Promise.all([
    fixture.fetch(path),
    fixture.fetch(path, { headers: gzipped }),
  ]);
  const tags = [plain, small].map(({ headers }) => headers.get("ETag")!);
  expect(new Set(tags).size).toBe(2);
  for (const tag of tags) {
    const headers = { ...gzipped, "If-None-Match": tag };
    const again = await fixture.fetch(path, { headers });
    expect([again.status, await again.text(), again.headers.get("Content-Encoding")]).toEqual([
      304,
      "",
      null,
    ]);
  }
});

test.each([
  "docs/files/swagger-ui-0.0.0/swagger-ui.css",
  "docs/files/swagger-ui-5.35.0/package.json",
  "docs/files/swagger-ui-5.35.0/..%2Fpackage.json",
  "docs/files/swagger-ui-5.35.0",
])("%s is not there", async (path) => {
  expect((await fixture.request(`/${path}`)).status).toBe(404);
});

test("DOCS=off switches the page off, and nothing links to it", async () => {
  expect((await off.request("/docs")).status).toBe(404);
  expect((await off.request("/")).body.links).not.toHaveProperty("docs");
});
