/** `GET /docs` and its files. What the page shows in a browser is in `test/browser/own-pages.test.ts`. */
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fixture, openFixture } from "./harness.ts";

const options = {
  tables: [{ name: "goods", columns: { id: "key" } }],
  endpoints: { goods: { tableName: "goods", action: { read: true } } },
} as const;

let fixture: Fixture;
let off: Fixture;
beforeAll(async () => {
  fixture = await openFixture(options);
  off = await openFixture({ ...options, env: { DOCS: "off" } });
});
afterAll(() => Promise.all([fixture?.close(), off?.close()]));

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
    "swagger-ui-bundle.js",
    "docs.js",
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
