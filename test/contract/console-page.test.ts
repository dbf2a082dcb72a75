/** `GET /console` and its files. `test/browser/console-*.test.ts` tests its use in a browser. */
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";

const options = {
  tables: [{ name: "goods", columns: { id: "key" } }],
  endpoints: { goods: { tableName: "goods", action: { read: true } } },
} as const;

const fixture = openForTests(openFixture, options);
const off = openForTests(openFixture, { ...options, env: { CONSOLE: "off" } });
const signIn = openForTests(openFixture, {
  ...options,
  project: {
    auth: {
      jwt: {
        jwksUri: "https://keys.example/jwks",
        issuer: "https://id.example/realm",
        clientId: "console",
      },
    },
  },
});

const policyWith = (connect: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src ${connect}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

test("the page may load files of the service, and no script or style stands in it", async () => {
  const { status, headers, body } = await fixture.request("/console");
  expect(status).toBe(200);
  expect(headers.get("Content-Type")).toBe("text/html; charset=utf-8");
  expect(headers.get("Content-Security-Policy")).toBe(policyWith("'self'"));
  expect(body).not.toMatch(
    /<script(?! type="module" src="console\/files\/)|<style| style=| on\w+=|https?:/,
  );
});

test("the page may ask the issuer at which people sign in", async () => {
  const { headers } = await signIn.request("/console");
  expect(headers.get("Content-Security-Policy")).toBe(
    policyWith("'self' https://id.example https://keys.example"),
  );
  const { body } = await signIn.request("/openapi.json");
  expect(body.components.securitySchemes.openId).toEqual({
    type: "openIdConnect",
    openIdConnectUrl: "https://id.example/realm/.well-known/openid-configuration",
    "x-client-id": "console",
    "x-scope": "openid profile",
  });
});

/** Every file that the page and its modules load, including later ones. */
async function allFiles(): Promise<Map<string, string>> {
  const { body } = await fixture.request("/console");
  const texts = new Map<string, string>();
  const waiting = [...body.matchAll(/(?:href|src)="(console\/files\/[^"]+)"/g)].map(
    ([, path]) => path!,
  );
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (texts.has(path)) continue;
    const response = await fixture.fetch(`/${path}`);
    expect([path, response.status, response.headers.get("Cache-Control")]).toEqual([
      path,
      200,
      "public, max-age=31536000, immutable",
    ]);
    const text = await response.text();
    texts.set(path, text);
    if (path.includes("/vendor/")) continue;
    for (const [, other] of text.matchAll(/(?:\bfrom|\bimport\(|^import) ?"(\.[^"]+\.js)"/gm))
      waiting.push(new URL(other!, `http://x/${path}`).pathname.slice(1));
  }
  return texts;
}

test("its files are there, may be kept for a year, and weigh less than 250 kB compressed", async () => {
  const texts = await allFiles();
  const names = [...texts.keys()].map((path) => path.replace(/^console\/files\/\w+\//, ""));
  expect(names).toEqual(
    expect.arrayContaining([
      "styles/base.css",
      "main.js",
      "views/grid.js",
      "vendor/datatables.js",
      "vendor/tom-select.js",
    ]),
  );
  const bytes = [...texts.values()].reduce((sum, text) => sum + gzipSync(text).length, 0);
  expect(bytes).toBeLessThan(250_000);
});

test("no module contains what the policy forbids, or names another server", async () => {
  for (const [path, text] of await allFiles()) {
    if (path.includes("/vendor/")) continue;
    expect([
      path,
      /innerHTML|insertAdjacentHTML|\beval\(|new Function\(|document\.write/.exec(text),
    ]).toEqual([path, null]);
    expect([path, /https?:\/\/(?!www\.w3\.org\/2000\/svg)[a-z]/.exec(text)]).toEqual([path, null]);
  }
});

test.each(["console/files/0/main.js", "console/files/0/views/grid.js", "console/files/main.js"])(
  "%s is not there",
  async (path) => {
    expect((await fixture.request(`/${path}`)).status).toBe(404);
  },
);

test("CONSOLE=off switches the page off, and nothing links to it", async () => {
  expect((await off.request("/console")).status).toBe(404);
  expect((await off.request("/")).body.links).not.toHaveProperty("console");
  expect((await fixture.request("/")).body.links).toHaveProperty("console", "/console");
});
