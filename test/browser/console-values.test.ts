/** Console forms with values of every type, on PostgreSQL: what input they refuse, and that no value is lost. */
import { beforeEach, expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const columns = {
  doc: "jsonb",
  tags: "integer[]",
  amount: "numeric(38, 12)",
  strict_amount: "numeric(38, 12)",
  total: "bigint",
  day: "date",
  moment: "timestamptz(6)",
  hour: "time(6)",
  address: "varchar(80)",
};

const place = openConsole({
  engine: "postgres",
  prepare: `CREATE TABLE samples (id integer PRIMARY KEY, label text, ${Object.entries(columns)
    .map((column) => column.join(" "))
    .join(", ")});
    CREATE TABLE pictures (id integer PRIMARY KEY, name text, picture bytea);
    INSERT INTO pictures VALUES (1, 'Saw', '\\x0102')`,
  changes: {
    "samples.json": {
      tableName: "samples",
      primaryKey: "id",
      fieldName: ["id", "label", ...Object.keys(columns)],
      fieldValidation: [{ name: "strict_amount", type: "decimal" }],
      action: { read: true, first: true, create: true, update: true, adjust: true },
      adjustConfig: { fields: { amount: { type: "decimal" } } },
      console: {
        views: { Afternoon: { where: [{ key: "hour", operator: ">", value: "12:00" }] } },
      },
    },
    "pictures.json": {
      tableName: "pictures",
      primaryKey: "id",
      fieldName: ["id", "name", "picture"],
      action: { read: true, datatables: true },
    },
  },
});

beforeEach(async () => {
  await place.sql("DELETE FROM samples");
  await place.sql(
    `INSERT INTO samples VALUES (1, 'First', '{"name": "saw", "id": 12345678901234567890, "ratio": 0.12345678901234567890}',
     '{1,2}', 12345678901234567890.123456789012, 1.5, 9223372036854775807, '2026-03-14', '2026-03-14T10:00:00.123456Z', '10:00:00.123456', E'Main street 1\\nGraz')`,
  );
});

const stored = async (column: string): Promise<unknown> =>
  (
    await place.sql(
      `SELECT (${column === "moment" ? "moment AT TIME ZONE 'UTC'" : column})::text AS value FROM samples WHERE id = 1`,
    )
  )[0]!["value"];
const input = (page: Page, name: string) => page.locator(`form [name=${name}]`);
const fault = (page: Page, name: string): Promise<string> =>
  page.locator(`[data-field=${name}] .fault-text`).innerText();
const notices = (page: Page): Promise<string[]> => page.locator(".notice").allTextContents();
const button = (page: Page, text: string) => page.locator("button").filter({ hasText: text });

/** Paths of the writes that the page sends from now on. */
function writesOf(page: Page): string[] {
  const paths: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (/\/(create|update|adjust)$/.test(pathname)) paths.push(pathname);
  });
  return paths;
}

const unreadable: [column: string, text: string, message: RegExp][] = [
  ["doc", '{"name": "saw"', /^This is not JSON\. Line 1, column 15: a comma or } is missing\.$/],
  ["doc", "saw", /^This is not JSON\. Line 1, /],
  ["tags", "1, 2", /^This is not JSON\. Line 1, /],
  ["amount", "a dozen", /^This is not a number. Write it as 1234.5.$/],
  ["strict_amount", "1,23,45", /^This is not a number/],
  ["total", "12 34", /^This is not a number/],
];

test("what a field cannot read is refused beside it, and nothing is sent", async () => {
  const page = await place.visit("#/demo/samples/record/1");
  const writes = writesOf(page);
  await input(page, "label").fill("Second");
  for (const [name, text, message] of unreadable) {
    const before = await input(page, name).inputValue();
    await input(page, name).fill(text);
    await button(page, "Save").click();
    await expect.poll(() => fault(page, name)).toMatch(message);
    expect(await input(page, name).getAttribute("aria-invalid")).toBe("true");
    expect(await page.evaluate("document.activeElement.name")).toBe(name);
    expect(await input(page, name).inputValue()).toBe(text);
    await input(page, name).fill(before);
  }
  expect(writes).toEqual([]);
  expect(await stored("label")).toBe("First");
});

test("a date that is only half written is refused, and not stored as empty", async () => {
  const page = await place.visit("#/demo/samples/record/1");
  const writes = writesOf(page);
  await input(page, "day").focus();
  await page.keyboard.press("Delete");
  await button(page, "Save").click();
  await expect.poll(() => fault(page, "day")).toBe("This date is not complete.");
  expect(writes).toEqual([]);
});

test("a new record with a value that cannot be read is not created", async () => {
  const page = await place.visit("#/demo/samples/new");
  const writes = writesOf(page);
  await input(page, "id").fill("2");
  await input(page, "doc").fill("saw");
  await button(page, "Create").click();
  await expect.poll(() => fault(page, "doc")).toMatch(/^This is not JSON/);
  expect(writes).toEqual([]);
  await input(page, "doc").fill('"saw"');
  await button(page, "Create").click();
  await expect.poll(() => notices(page)).toContain("Created");
  expect(await place.sql("SELECT doc::text FROM samples WHERE id = 2")).toEqual([{ doc: '"saw"' }]);
});

const changes: [column: string, before: string, after: string, stored: string][] = [
  [
    "doc",
    '{\n  "id": 12345678901234567890,\n  "name": "saw",\n  "ratio": 0.12345678901234567890\n}',
    '{"name": "axe", "id": 12345678901234567890, "ratio": 0.12345678901234567890}',
    '{"id": 12345678901234567890, "name": "axe", "ratio": 0.12345678901234567890}',
  ],
  ["tags", "[\n  1,\n  2\n]", "[3]", "{3}"],
  [
    "amount",
    "12345678901234567890.123456789012",
    "12345678901234567891.123456789012",
    "12345678901234567891.123456789012",
  ],
  ["strict_amount", "1.5", "12345678901234567891.5", "12345678901234567891.500000000000"],
  ["total", "9223372036854775807", "9223372036854775806", "9223372036854775806"],
  ["day", "2026-03-14", "2026-03-15", "2026-03-15"],
  ["moment", "2026-03-14T11:00:00.123", "2026-03-15T11:00:00.123", "2026-03-15 10:00:00.123456"],
  ["hour", "10:00:00.123456", "10:00:00.123457", "10:00:00.123457"],
  ["address", "Main street 1\nGraz", "Main street 2\nGraz", "Main street 2\nGraz"],
];

test("values keep all that they have, whether they are changed or others are", async () => {
  const page = await place.visit("#/demo/samples/record/1");
  const all = async () => Promise.all(changes.map(([name]) => stored(name)));
  const before = await all();
  await input(page, "label").fill("Second");
  await button(page, "Save").click();
  await expect.poll(() => stored("label")).toBe("Second");
  expect(await all()).toEqual(before);
  for (const [name, shown, typed] of changes) {
    expect(await input(page, name).inputValue()).toBe(shown);
    await input(page, name).fill(typed);
  }
  await button(page, "Save").click();
  await expect.poll(all).toEqual(changes.map(([, , , expected]) => expected));
});

const numbers: [locale: string, shown: string, typed: [text: string, stored: string][]][] = [
  [
    "de-DE",
    "1,5",
    [
      ["1.234,25", "1234.250000000000"],
      ["1.234", "1234.000000000000"],
      ["12.5", "12.500000000000"],
    ],
  ],
  ["fr-FR", "1,5", [["1\u202f234,25", "1234.250000000000"]]],
  ["de-CH", "1.5", [["1’234.25", "1234.250000000000"]]],
  [
    "en-GB",
    "1.5",
    [
      ["1,234.25", "1234.250000000000"],
      ["1,234", "1234.000000000000"],
      ["12,5", "12.500000000000"],
      ["−.5", "-0.500000000000"],
    ],
  ],
  ["ar-EG", "١٫٥", [["١٢٫٥", "12.500000000000"]]],
];

test.each(numbers)("for %s a form has %s, and takes numbers in that form", async (...row) => {
  const [locale, shown, typed] = row;
  const page = await place.visit("#/demo/samples/record/1", { locale });
  expect(await input(page, "strict_amount").inputValue()).toBe(shown);
  for (const [text, expected] of typed) {
    await input(page, "strict_amount").fill(text);
    await page.locator(".save-bar .primary").click();
    await expect.poll(async () => [text, await stored("strict_amount")]).toEqual([text, expected]);
    // The form is made anew after it was saved, without what is typed before that.
    await expect.poll(() => page.locator(".save-bar").isVisible()).toBe(false);
  }
});

test("an adjustment keeps every digit, and says when its amount is no number", async () => {
  const page = await place.visit("#/demo/samples/record/1");
  const writes = writesOf(page);
  await button(page, "Adjust").first().click();
  await page.locator("#adjust-amount").fill("five");
  await page.locator(".dialog .primary").click();
  await expect.poll(() => page.locator(".dialog .fault-text").innerText()).toMatch(/not a number/);
  expect(writes).toEqual([]);
  await page.locator("#adjust-amount").fill("0.000000000001");
  await page.locator(".dialog .primary").click();
  await expect.poll(() => stored("amount")).toBe("12345678901234567890.123456789013");
});

test("a list does not load bytes that it does not show", async () => {
  const page = await place.visit("");
  const asked: unknown[] = [];
  page.on("request", (request) => {
    if (/pictures\/(read|datatables)$/.test(request.url()))
      asked.push((JSON.parse(request.postData() ?? "{}") as { select?: unknown }).select);
  });
  const cells = page.locator(".grid tbody td");
  await page.goto(`${place.url}/console#/demo/pictures?cols=name`);
  await expect.poll(() => cells.allTextContents()).toEqual(["Saw"]);
  await page.locator("summary").filter({ hasText: "columns" }).click();
  await page.locator(".menu-list input[name=picture]").click();
  await expect.poll(() => cells.allTextContents()).toEqual(["Saw", "2 byte"]);
  expect(asked).toEqual([["id", "name"], undefined]);
});

test("a list that cannot be read says so in the place of its records", async () => {
  const page = await place.visit("#/demo/samples?f.tags=saw&cols=label%2Ctags");
  const empty = page.locator(".grid .dt-empty");
  await expect
    .poll(() => empty.allInnerTexts())
    .toEqual([expect.stringMatching(/must be a whole number.*Try again/s)]);
  await page.locator('input[aria-label="Filter by Tags"]').fill("5");
  await expect
    .poll(() => empty.allInnerTexts())
    .toEqual(["No record fits the search and the filters"]);
  expect(place.takeFaults().join()).toMatch(/^console: Failed to load resource: .* 400 /);
});

test("a list that could not be read is read again by a button", async () => {
  const page = await place.visit("#/demo/samples?f.tags=5&cols=label%2Ctags");
  const filter = page.locator('input[aria-label="Filter by Tags"]');
  await filter.waitFor();
  let asked = 0;
  const fails = { contentType: "text/plain", body: "no JSON" };
  await page.route("**/samples/read", (route) =>
    asked++ === 0 ? route.fulfill(fails) : route.continue(),
  );
  await filter.fill("1");
  await page.locator(".grid .dt-empty button").click();
  await expect.poll(() => page.locator(".grid tbody .open").allTextContents()).toEqual(["First"]);
});

test("lists find JSON and arrays by an element", async () => {
  await place.sql(
    `INSERT INTO samples (id, label, doc, tags) VALUES (2, 'Second', '["saw", 7, true, "8", "[1]"]', '{7}')`,
  );
  const page = await place.visit("#/demo/samples?f.tags=7&cols=label%2Cdoc%2Ctags%2Chour");
  const found = () => page.locator(".grid tbody .open").allTextContents();
  await expect.poll(found).toEqual(["Second"]);
  const filter = (field: string) => page.locator(`input[aria-label="Filter by ${field}"]`);
  expect(await filter("Hour").getAttribute("placeholder")).toBe("> 14:30, 08:00..12:00");
  await filter("Tags").fill("2");
  await expect.poll(found).toEqual(["First"]);
  await filter("Tags").fill("");
  await expect.poll(found).toEqual(["First", "Second"]);
  for (const text of ["saw", "7", "true", '"8"', "[1]"]) {
    await filter("Doc").fill(text);
    await expect.poll(found, { message: text }).toEqual(["Second"]);
    await filter("Doc").fill('{"name": "saw"}');
    await expect.poll(found).toEqual(["First"]);
  }
});

test("lists find times by ranges, and moments up to the end of their day", async () => {
  await place.sql(
    `INSERT INTO samples (id, label, moment, hour) VALUES
      (2, 'Second', '2026-03-14T22:59:59.999999Z', '12:00:00'), (3, 'Third', '2026-03-14T23:00:00Z', '13:30:00')`,
  );
  const page = await place.visit("#/demo/samples?f.hour=10:00..12:00&cols=label%2Cmoment%2Chour");
  const found = () => page.locator(".grid tbody .open").allTextContents();
  await expect.poll(found).toEqual(["First", "Second"]);
  const filter = (field: string) => page.locator(`input[aria-label="Filter by ${field}"]`);
  expect(await filter("Hour").getAttribute("placeholder")).toBe("> 14:30, 08:00..12:00");
  const cases: [field: string, text: string, labels: string[]][] = [
    ["Hour", "> 12:00", ["Third"]],
    ["Hour", "<= 12:00", ["First", "Second"]],
    ["Hour", "13:30", ["Third"]],
    ["Hour", ">= 10:00", ["First", "Second", "Third"]],
    // The days of the browser, which is in Berlin.
    ["Moment", "2026-03-14", ["First", "Second"]],
    ["Moment", "> 2026-03-14", ["Third"]],
    ["Moment", "<= 2026-03-14", ["First", "Second"]],
    ["Moment", ">= 2026-03-15", ["Third"]],
    ["Moment", "2026-03-13..2026-03-14", ["First", "Second"]],
    ["Moment", "2026..9999", ["First", "Second", "Third"]],
  ];
  for (const [field, text, labels] of cases) {
    await filter(field).fill(text);
    await expect.poll(found, { message: `${field} ${text}` }).toEqual(labels);
  }
  await page.locator(".views-menu summary").click();
  await page.locator(".views-menu li a").filter({ hasText: "Afternoon" }).click();
  await expect.poll(found).toEqual(["Third"]);
});
