/** Fields with JSON, bytes, addresses and long texts in lists and forms of the console, hostile values among them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
const files: Record<string, Buffer> = {
  png,
  jpg: Buffer.from("ffd8ffe000104a464946", "hex"),
  gif: Buffer.from("GIF89a\x01\x00\x01\x00", "latin1"),
  webp: Buffer.from("RIFF\x24\x00\x00\x00WEBPVP8 ", "latin1"),
  pdf: Buffer.from("%PDF-1.7\n", "latin1"),
  svg: Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" onload="alert('svg')"><script>alert(1)</script></svg>`,
  ),
  html: Buffer.from("<script>alert('html')</script>"),
  text: Buffer.from("hello"),
};
const deep = (levels: number): string => `${'{"a":['.repeat(levels)}1${"]}".repeat(levels)}`;

const place = openConsole({
  prepare: `CREATE TABLE notes (id INTEGER PRIMARY KEY, label TEXT, doc JSON, body TEXT, picture BLOB, site TEXT);
    CREATE TABLE parts (id INTEGER PRIMARY KEY, category_id TEXT REFERENCES categories (category_id), label TEXT)`,
  changes: {
    "notes.json": {
      tableName: "notes",
      primaryKey: "id",
      fieldName: ["id", "label", "doc", "body", "picture", "site"],
      fieldValidation: [{ name: "body", type: "text" }],
      action: { read: true, first: true, create: true, update: true },
      console: { columns: ["id", "label", "doc", "picture", "site"] },
    },
    "readings.json": {
      tableName: "notes",
      primaryKey: "id",
      fieldName: ["id", "label", "doc", "picture", "site"],
      action: { read: true, first: true },
      console: { columns: ["site", "label", "doc", "picture"] },
    },
    "parts.json": {
      tableName: "parts",
      primaryKey: "id",
      fieldName: ["category_id", "label"],
      fieldValidation: [{ name: "label", constraints: { required: true } }],
      action: { read: true, first: true, create: true },
    },
  },
});

const note = (values: Record<string, string>): Promise<unknown> => {
  const names = Object.keys(values);
  return place.sql(`INSERT INTO notes (${names.join()}) VALUES (${Object.values(values).join()})`);
};
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const hex = (bytes: Buffer): string => `X'${bytes.toString("hex")}'`;
const input = (page: Page, name: string) => page.locator(`form [name=${name}]`);
const field = (page: Page, name: string) => page.locator(`[data-field=${name}]`);
const fault = (page: Page, name: string): Promise<string> =>
  field(page, name).locator(".fault-text").innerText();
const button = (page: Page, text: string) => page.locator("button").filter({ hasText: text });
const saved = async (page: Page): Promise<void> => {
  await button(page, "Save").click();
  await expect.poll(() => page.locator(".notice").allTextContents()).toContain("Saved");
};

beforeEach(async () => {
  // A write over the service, after which no list is kept.
  await place.call("notes/create", { label: "None" });
  await place.sql("DELETE FROM notes");
});

const unread: [text: string, place: string, reason: string][] = [
  ['{"a": 1', "Line 1, column 8", "a comma or } is missing"],
  ['{"a": 1\n "b": 2}', "Line 2, column 2", "a comma or } is missing"],
  ["[1 2]", "Line 1, column 4", "a comma or ] is missing"],
  ["[1,\n\n]", "Line 3, column 1", "the comma before this must go"],
  ['{"a" 1}', "Line 1, column 6", "a colon is missing"],
  ["{a: 1}", "Line 1, column 2", "a name in double quotes is missing"],
  ["saw", "Line 1, column 1", "texts need double quotes"],
  ["{'a': 1}", "Line 1, column 2", "a name in double quotes is missing"],
  [
    '["a\nb"]',
    "Line 1, column 2",
    "this text has no end, or a line break or single backslash in it",
  ],
  ['"\\x"', "Line 1, column 1", "this text has no end, or a line break or single backslash in it"],
  ["[01]", "Line 1, column 2", "JSON does not write numbers like this"],
  ["1 2", "Line 1, column 3", "nothing can follow the value"],
  ['{"a":}', "Line 1, column 6", "a value is missing"],
];

test("JSON is checked while it is typed, and its fault has line and column in words", async () => {
  await note({ id: "1", label: "'One'", doc: `'{"a":[1,{"b":12345678901234567890}]}'` });
  const page = await place.visit("#/demo/notes/record/1");
  for (const [text, at, reason] of unread) {
    await input(page, "doc").fill(text);
    await expect.poll(() => fault(page, "doc")).toBe(`This is not JSON. ${at}: ${reason}.`);
    await input(page, "doc").fill("{}");
    expect(await fault(page, "doc")).toBe("");
  }
  await input(page, "doc").fill('{"a": [1, 2}');
  await button(page, "Format").click();
  expect(await fault(page, "doc")).toContain("Line 1, column 12");
  const selected = "[document.activeElement.name, document.activeElement.selectionStart]";
  expect(await page.evaluate(selected)).toEqual(["doc", 11]);
  await place.picture(page, "fields-json-fault");
  await input(page, "doc").fill(
    '{"a":[1,{"b":12345678901234567890}],"__proto__":"<img src=x onerror=alert(1)>"}',
  );
  await button(page, "Format").click();
  expect(await input(page, "doc").inputValue()).toBe(
    '{\n  "a": [\n    1,\n    {\n      "b": 12345678901234567890\n    }\n  ],\n  "__proto__": "<img src=x onerror=alert(1)>"\n}',
  );
  await page.locator(".json-view > summary").click();
  const leaf = page.locator(".json-leaf").filter({ hasText: "__proto__" });
  expect(await leaf.innerText()).toBe('__proto__: "<img src=x onerror=alert(1)>"');
  await place.picture(page, "fields-json-tree");
});

test("what the console takes for JSON is what the engine takes for it", async () => {
  const page = await place.visit("#/demo/notes/new");
  await input(page, "doc").waitFor();
  const differing = await page.evaluate(`(async () => {
    const { href } = document.querySelector("link[href$='/json.js']");
    const { jsonFault } = await import(href);
    const parses = (text) => { try { JSON.parse(text); return true; } catch { return false; } };
    const base = '{"a": [1, -2.5e+3, true, null, "x\\\\u00e9\\\\n"], "b": {}, "": [[], ""]}';
    const signs = ["", "{", "}", "[", "]", ",", ":", '"', "0", "-", ".", "e", "\\\\", "u", " ", "\\n", "\\u00a0", "true", "\\u0001"];
    const texts = [base, "", " ", "\\ufeff1", "-", "1.", ".5", "1e", "+1", "NaN", "truer", "nulll", "\\u2028"];
    for (let at = 0; at < base.length; at++)
      for (const sign of signs) texts.push(base.slice(0, at) + sign + base.slice(at + 1), base.slice(0, at) + sign + base.slice(at));
    texts.push("[".repeat(100000), '"' + "a".repeat(3000000) + '"', '["' + "\\\\n".repeat(500000) + '"]');
    return texts.filter((text) => parses(text) !== (jsonFault(text) === null)).map((text) => text.slice(0, 100));
  })()`);
  expect(differing).toEqual([]);
});

test("records for reading show JSON as a tree that folds, deep and long values too", async () => {
  const long = JSON.stringify(Array.from({ length: 450 }, (_, at) => ({ at })));
  await note({
    id: "1",
    label: "'Plain'",
    doc: `'{"name":"saw","sizes":[1,2],"none":null,"empty":{}}'`,
  });
  await note({ id: "2", label: "'Deep'", doc: quoted(deep(450)) });
  await note({ id: "3", label: "'Long'", doc: quoted(long) });
  await note({ id: "4", label: "'Scalar'", doc: "'\"<b>x</b>\"'" });
  let page = await place.visit("#/demo/readings/record/1");
  const leaves = () => page.locator(".json-leaf").allTextContents();
  await expect.poll(leaves).toEqual(['name: "saw"', "none: null", "empty: {}"]);
  await page
    .locator(".json-branch summary")
    .filter({ hasText: /^sizes/ })
    .click();
  await expect.poll(leaves).toEqual(['name: "saw"', "0: 1", "1: 2", "none: null", "empty: {}"]);
  await place.picture(page, "fields-json-record");
  page = await place.visit("#/demo/readings/record/2");
  await expect.poll(() => page.locator(".json-branch").count()).toBe(2);
  await page.locator(".json-branch summary").last().click();
  await expect.poll(() => page.locator(".json-branch").count()).toBe(3);
  page = await place.visit("#/demo/readings/record/3");
  await expect.poll(() => page.locator(".json-members > .json-branch").count()).toBe(200);
  await button(page, "250 more").click();
  await button(page, "50 more").click();
  await expect.poll(() => page.locator(".json-members > .json-branch").count()).toBe(450);
  page = await place.visit("#/demo/readings/record/4");
  await expect
    .poll(() => page.locator(".value .text, .json-leaf").allTextContents())
    .toContain("<b>x</b>");
  // The form, too, opens what is deep.
  page = await place.visit("#/demo/notes/record/2");
  await expect
    .poll(async () => (await input(page, "doc").inputValue()).length)
    .toBeGreaterThan(900);
});

test.each(Object.entries(files))(
  "bytes of the kind %s have a size, a download and at most a picture",
  async (kind, bytes) => {
    await note({ id: "1", label: "'One'", picture: hex(bytes) });
    const page = await place.visit("#/demo/readings/record/1");
    const known = ["png", "jpg", "gif", "webp", "pdf"].includes(kind);
    const shown = page.locator(".value .bytes");
    await expect
      .poll(() => shown.innerText())
      .toBe(`${known ? `${kind.toUpperCase()}, ` : ""}${bytes.length} byte`);
    expect(await shown.locator("img").count()).toBe(known && kind !== "pdf" ? 1 : 0);
    expect(await page.locator("svg script, iframe, object, embed").count()).toBe(0);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      shown.locator("button").click(),
    ]);
    expect(download.suggestedFilename()).toBe(`Picture.${known ? kind : "bin"}`);
    expect(readFileSync(await download.path()).equals(bytes)).toBe(true);
  },
);

test("lists show pictures small, and load bytes only for their column", async () => {
  await note({ id: "1", label: "'One'", picture: hex(png), site: "'https://example.com/'" });
  const page = await place.visit("#/demo/notes");
  const picture = page.locator(".grid img.small-picture");
  await picture.waitFor();
  expect(await picture.getAttribute("src")).toBe(`data:image/png;base64,${png.toString("base64")}`);
  expect(await page.locator(".grid .download").innerText()).toBe(`PNG, ${png.length} byte`);
  await place.picture(page, "fields-list");
});

test("a file is put into a field, replaced and removed", async () => {
  await note({ id: "1", label: "'One'" });
  const page = await place.visit("#/demo/notes/record/1");
  const path = join(place.folder, "given.png");
  writeFileSync(path, png);
  await input(page, "picture").setInputFiles(path);
  await field(page, "picture").locator("img").waitFor();
  await place.picture(page, "fields-file");
  await saved(page);
  expect(await place.sql("SELECT hex(picture) AS stored FROM notes")).toEqual([
    { stored: png.toString("hex").toUpperCase() },
  ]);
  await field(page, "picture").locator("img").waitFor();
  await field(page, "picture").locator("button").filter({ hasText: "Remove" }).click();
  await saved(page);
  expect(await place.sql("SELECT picture FROM notes")).toEqual([{ picture: null }]);
});

const addresses: [text: string, href: string | null][] = [
  ["https://example.com/a?b=c", "https://example.com/a?b=c"],
  ["HTTP://EXAMPLE.COM", "http://example.com/"],
  ["https://example.com/saw.png", "https://example.com/saw.png"],
  ["javascript:alert(1)", null],
  ["JavaScript:alert('https://example.com')", null],
  ["data:text/html,<script>alert(1)</script>", null],
  [" https://example.com", null],
  ["https://example.com javascript:alert(1)", null],
  ["https://", null],
  [
    `https://example.com/"><img/src=x/onerror=alert(1)>`,
    "https://example.com/%22%3E%3Cimg/src=x/onerror=alert(1)%3E",
  ],
];

test("addresses of the web are links, and nothing else is", async () => {
  for (const [at, [text]] of addresses.entries())
    await note({ id: String(at + 1), label: quoted(`No ${at + 1}`), site: quoted(text) });
  const page = await place.visit("#/demo/notes");
  const cells = page.locator(".grid tbody td:last-child");
  await expect.poll(async () => (await cells.allTextContents()).length).toBe(addresses.length);
  const links = (await cells.evaluateAll((all) =>
    all.map((cell) => {
      const link = cell.querySelector("a");
      return [cell.textContent, link && link.getAttribute("href"), link && link.rel];
    }),
  )) as unknown[];
  expect(links.toReversed().length).toBe(addresses.length);
  for (const [text, href] of addresses)
    expect(links).toContainEqual([text, href, href && "noopener noreferrer"]);
  expect(await page.locator(".grid img").count()).toBe(0);
  // In the first column, the link to the record goes before it.
  const other = await place.visit("#/demo/readings");
  const first = other.locator(".grid tbody td:first-child a").first();
  await first.waitFor();
  expect(await first.getAttribute("href")).toMatch(/^#\/demo\/readings\/record\//);
  const record = await place.visit("#/demo/notes/record/1");
  await record.locator(".open-address").waitFor();
  expect(await record.locator(".open-address").getAttribute("href")).toBe(addresses[0]![1]);
});

test("pictures of the same host are shown small, and those that are missing as their address", async () => {
  const known = `${place.url}/missing.png`;
  await note({ id: "1", label: "'One'", site: quoted(known) });
  const page = await place.visit("#/demo/notes");
  await expect.poll(() => page.locator(".grid a.web").allTextContents()).toEqual([known]);
  expect(await page.locator(".grid a.web img").count()).toBe(0);
  expect(place.takeFaults().join()).toContain("404");
});

test("a long text opens large, and keeps what is typed", async () => {
  await note({ id: "1", label: "'One'", body: "'Short'" });
  const page = await place.visit("#/demo/notes/record/1");
  const box = async () => (await input(page, "body").boundingBox())!.height;
  await input(page, "body").waitFor();
  const before = await box();
  await input(page, "body").fill("line\n".repeat(12));
  expect(await box()).toBeGreaterThan(before);
  await field(page, "body").locator("button").click();
  expect(await box()).toBeGreaterThan(500);
  await place.picture(page, "fields-large");
  await field(page, "body").locator("button").click();
  await input(page, "body").fill("Longer");
  await saved(page);
  expect(await place.sql("SELECT body FROM notes")).toEqual([{ body: "Longer" }]);
});

test("a new form in which nothing is filled in says what is missing", async () => {
  let page = await place.visit("#/demo/notes/new");
  await button(page, "Create").click();
  await expect
    .poll(() => page.locator(".banner.fault").allInnerTexts())
    .toEqual(["Fill in at least one field."]);
  await input(page, "label").fill("Filled in");
  await button(page, "Create").click();
  await expect.poll(() => place.sql("SELECT label FROM notes")).toEqual([{ label: "Filled in" }]);

  page = await place.visit("#/demo/parts/new");
  await button(page, "Create").click();
  await expect.poll(() => fault(page, "label")).toBe("Is required.");
  expect(place.takeFaults().join()).toMatch(/^console: Failed to load resource: .* 400 /);
});

test("the first drop-down of a new form opens only when somebody uses it", async () => {
  const page = await place.visit("#/demo/parts/new");
  const list = page.locator(".ts-dropdown");
  await expect.poll(() => page.evaluate("document.activeElement.id")).toMatch(/ts-control$/);
  await page.evaluate("new Promise((done) => setTimeout(done, 600))");
  expect(await list.isVisible()).toBe(false);
  await place.picture(page, "fields-new");
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => list.isVisible()).toBe(true);
  await page.keyboard.press("Escape");
  await page.reload();
  await expect.poll(() => page.evaluate("document.activeElement.id")).toMatch(/ts-control$/);
  await page.keyboard.type("Hand");
  await expect.poll(() => list.locator(".option").allTextContents()).not.toEqual([]);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.reload();
  await expect.poll(() => page.evaluate("document.activeElement.id")).toMatch(/ts-control$/);
  await page.locator(".ts-control").click();
  await expect.poll(() => list.isVisible()).toBe(true);
});
