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
  ["de-DE", /^\d\d\.10\.2026 · /, "Ohne Titel"],
  ["en-GB", /^\d\d Oct 2026 · /, "Untitled"],
])(
  "for %s a draft is named by its date and its supplier, and is %s in other lists",
  async (locale, date, untitled) => {
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
    await expect.poll(() => textAt(page, ".grid .reference")).toBe(untitled);
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
