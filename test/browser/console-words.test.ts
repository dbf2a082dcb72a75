/** The console in the language of the browser, or in one that people choose; numbers and messages fit it. */
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";

const place = openConsole();

/** The text of an element, once it is there. */
const textAt = async (page: Awaited<ReturnType<typeof place.visit>>, selector: string) => {
  await page.locator(selector).first().waitFor();
  return page.locator(selector).first().innerText();
};

/** The languages that the requests for the list ask for, from now on. */
function languagesOf(page: Awaited<ReturnType<typeof place.visit>>): (string | undefined)[] {
  const found: (string | undefined)[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/datatables")) found.push(request.headers()["accept-language"]);
  });
  return found;
}

const cases: [locale: string, heading: string, language: string][] = [
  ["de-DE", "Neu", "de"],
  ["de-AT", "Neu", "de"],
  ["en-GB", "New", "en"],
  // There is no file for it.
  ["ja-JP", "New", "en"],
];

test.each(cases)("for %s the button of a new record says %s", async (locale, text, language) => {
  const page = await place.visit("#/demo/products", { locale });
  const asked = languagesOf(page);
  await page.reload();
  expect(await textAt(page, ".head .primary")).toBe(text);
  expect(await page.evaluate("document.documentElement.lang")).toBe(language);
  await expect.poll(() => asked[0]).toMatch(new RegExp(`^${locale}`));
});

test.each([
  ["de-DE", /^\d\d\.10\.2026 · /],
  ["en-GB", /^\d\d Oct 2026 · /],
])(
  "for %s a draft is named by its date and its supplier, in other lists too",
  async (locale, date) => {
    const [draft] = await place.sql(
      "SELECT receipt_id, name FROM stock_receipts JOIN suppliers USING (supplier_id) WHERE status = 'draft' LIMIT 1",
    );
    const page = await place.visit(`#/demo/stock-receipts/record/${draft!["receipt_id"]}`, {
      locale,
    });
    const title = await textAt(page, "h1");
    expect(title).toMatch(date);
    expect(title.replace(date, "")).toBe(draft!["name"]);
    await page.evaluate(
      `location.hash = "#/demo/stock-receipt-lines?f.receipt_id=${draft!["receipt_id"]}"`,
    );
    await expect.poll(() => textAt(page, ".grid .reference")).toBe(title);
  },
);

test("in German, the dashboard, its tiles and the lines of documents have German names", async () => {
  const page = await place.visit("#/demo", { locale: "de-AT" });
  await expect.poll(() => textAt(page, "h1")).toBe("Bestand");
  const titles = await page.locator(".tile h2").allTextContents();
  expect(titles.slice(0, 2)).toEqual(["Gebuchte Wareneingänge", "Noch zu buchen"]);
  expect(await page.locator(".side section a").first().innerText()).toBe("Bestand");
  const headings = page.locator(".tile-table").first().locator("th");
  await expect
    .poll(() => headings.allTextContents())
    .toEqual(["Lieferant", "Wareneingänge", "Betrag, €"]);
  await place.picture(page, "words-dashboard");
  const [receipt] = await place.sql(
    "SELECT receipt_id FROM stock_receipts WHERE status = 'draft' LIMIT 1",
  );
  const record = await place.visit(`#/demo/stock-receipts/record/${receipt!["receipt_id"]}`, {
    locale: "de-AT",
  });
  await record.locator("table.lines th, .lines th").first().waitFor();
  const lines = (await record.locator(".lines th").allInnerTexts()).map((one) => one.trim());
  await place.picture(record, "words-lines");
  expect(lines.slice(0, 5).map((one) => one.replace(/ \*$/, ""))).toEqual([
    "Position",
    "Artikel",
    "Erhaltene Menge",
    "Einzelpreis",
    "Betrag",
  ]);
});

const figures: [measure: string, result: string, least: number, most: number][] = [
  ["avg:total_amount", "avg(total_amount)", 2, 4],
  ["sum:total_amount", "sum(total_amount)", 2, 2],
  ["avg:total_qty", "avg(total_qty)", 0, 2],
  ["sum:total_qty", "sum(total_qty)", 0, 0],
];

test.each(figures)(
  "a chart of %s has the digits of its column, and of an average two more",
  async (measure, result, minimumFractionDigits, maximumFractionDigits) => {
    const page = await place.visit("#/demo/stock-receipts/chart", { locale: "de-DE" });
    await page.locator("#chart-measure").selectOption(measure);
    const rows = await place.sql(
      `SELECT ${result} AS n FROM stock_receipts GROUP BY status HAVING n IS NOT NULL`,
    );
    const digits = { minimumFractionDigits, maximumFractionDigits };
    await expect
      .poll(async () => (await page.locator(".chart .value-text").allTextContents()).toSorted())
      .toEqual(rows.map(({ n }) => Number(n).toLocaleString("de-DE", digits)).toSorted());
  },
);

test.each([
  ["de-DE", ["Ware annehmen", "Stornieren"], "Stornieren?"],
  ["en-GB", ["Receive goods", "Cancel receipt"], "Cancel receipt?"],
])("for %s the buttons of a workflow are the verbs %s", async (locale, verbs, question) => {
  const [draft] = await place.sql(
    "SELECT receipt_id FROM stock_receipts WHERE status = 'draft' LIMIT 1",
  );
  const page = await place.visit(`#/demo/stock-receipts/record/${draft!["receipt_id"]}`, {
    locale,
  });
  const steps = page.locator(".status-step");
  await expect
    .poll(async () => (await steps.allTextContents()).map((text) => text.trim()))
    .toEqual(verbs);
  await place.picture(page, `steps-${locale}`);
  await steps.nth(1).click();
  expect(await textAt(page, ".dialog h2")).toBe(question);
  expect(await textAt(page, ".dialog .danger")).toBe(verbs[1]);
});

test("a person can choose the language, and the browser keeps it", async () => {
  const page = await place.visit("#/demo/products", { locale: "en-GB" });
  const files: string[] = [];
  page.on("request", (request) => {
    if (/words\/\w+\.json$/.test(request.url())) files.push(request.url().split("/").at(-1)!);
  });
  await textAt(page, ".head .primary");
  expect(await page.locator(".language option").allTextContents()).toEqual(["Deutsch", "English"]);
  await page.locator(".language select").selectOption("de");
  await expect.poll(() => textAt(page, ".head .primary")).toBe("Neu");
  const asked = languagesOf(page);
  await page.reload();
  expect(await textAt(page, ".head .primary")).toBe("Neu");
  await expect.poll(() => asked[0]).toBe("de");
  expect(new Set(files)).toEqual(new Set(["de.json"]));
  expect(await textAt(page, ".toolbar .info")).toMatch(/ Datensätze$/);
});

test("a choice that has no file is none", async () => {
  const page = await place.visit("#/demo/products", { locale: "en-GB" });
  await textAt(page, ".head .primary");
  await page.evaluate("localStorage.setItem('rowgate.language', '../../x')");
  await page.reload();
  expect(await textAt(page, ".head .primary")).toBe("New");
});
