/** Every view of the console, and what opens in it, can be used without eyes or a mouse: wide, narrow, light, dark. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { problems } from "./axe.ts";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const place = openConsole();

const oneOf = async (sql: string): Promise<string> =>
  String(Object.values((await place.sql(sql))[0] ?? {})[0]);
const productAt = async (end: string): Promise<string> =>
  `#/demo/products/record/${await oneOf("SELECT product_id FROM products WHERE sku = 'HAND-0013'")}${end}`;
const receiptAt = async (status: string): Promise<string> =>
  `#/demo/stock-receipts/record/${await oneOf(`SELECT receipt_id FROM stock_receipts WHERE status = '${status}' AND total_items > 2 LIMIT 1`)}`;
const at = (hash: string) => async (): Promise<string> => hash;

beforeAll(async () => {
  const product_id = await oneOf("SELECT product_id FROM products WHERE sku = 'HAND-0013'");
  await place.call("products/update", { product_id, price: 12.34 });
  const rows =
    "SKU,Product,Category,Supplier code,Price,Cost\nhammer,Hammer,Nowhere,GB-003,cheap,1";
  writeFileSync(join(place.folder, "faults.csv"), rows);
});

interface Shown {
  readonly hash: () => Promise<string>;
  /** What has to be there before anything is done. */
  readonly landmark: string;
  /** What a person does then, and what comes of it. */
  readonly act?: (page: Page) => Promise<unknown>;
  readonly result?: string;
}

const views: Readonly<Record<string, Shown>> = {
  home: { hash: at("#/"), landmark: ".card" },
  "home while it searches": {
    hash: at("#/"),
    landmark: ".card",
    act: (page) => page.locator(".home-search input").fill("hammer"),
    result: ".hit-list",
  },
  dashboard: { hash: at("#/demo"), landmark: ".tile svg rect" },
  list: { hash: at("#/demo/products?f.price=>10"), landmark: ".grid tbody .open" },
  "list with the menu of columns": {
    hash: at("#/demo/products?f.price=>10"),
    landmark: ".grid tbody .open",
    act: (page) => page.locator(".columns-menu summary").click(),
    result: ".columns-menu[open]",
  },
  "list with faults": {
    hash: at("#/demo/products?f.price=cheap"),
    landmark: ".filters .fault-text:not(:empty)",
    async act(page) {
      await page.locator(".grid tbody .pick input").first().click();
      await page.locator(".grid tbody td.number").first().click();
      await page.keyboard.type("-4");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Control+s");
    },
    result: "td.faulty",
  },
  "list with requests": {
    hash: at("#/demo/products"),
    landmark: ".grid tbody .open",
    act: (page) =>
      page
        .locator(".bar .button")
        .filter({ hasText: /Requests|Anfragen/ })
        .click(),
    result: ".drawer pre",
  },
  record: { hash: () => productAt(""), landmark: ".related" },
  history: { hash: () => productAt("?tab=-history"), landmark: ".change" },
  "undoing a change": {
    hash: () => productAt("?tab=-history"),
    landmark: ".change",
    act: (page) => page.locator(".change button").first().click(),
    result: "dialog[open]",
  },
  document: { hash: () => receiptAt("draft"), landmark: ".totals" },
  "closed document": { hash: () => receiptAt("posted"), landmark: ".totals" },
  form: {
    hash: at("#/demo/stock-receipts/new"),
    landmark: ".lines .ts-control",
    act: (page) => page.locator("[data-field=supplier_id] .ts-control").click(),
    result: ".ts-dropdown .option",
  },
  "form with faults": {
    hash: at("#/demo/stock-receipts/new"),
    landmark: ".lines .ts-control",
    act: (page) => page.locator("button.primary[type=submit]").click(),
    result: ".fault-text:not(:empty)",
  },
  import: { hash: at("#/demo/products/import"), landmark: ".drop" },
  "import with faults": {
    hash: at("#/demo/products/import"),
    landmark: ".drop",
    act: (page) => page.locator("#import-file").setInputFiles(join(place.folder, "faults.csv")),
    result: ".plain tbody tr",
  },
  export: {
    hash: at("#/demo/products"),
    landmark: ".grid tbody .open",
    act: (page) =>
      page
        .locator(".head .button")
        .filter({ hasText: /^Export/ })
        .click(),
    result: "dialog[open] select",
  },
  chart: { hash: at("#/demo/stock-receipts/chart"), landmark: ".chart rect" },
  jobs: { hash: at("#/jobs"), landmark: ".note" },
};

const looks = [
  { theme: "light", width: 1280, locale: "en-GB" },
  { theme: "dark", width: 390, locale: "de-DE" },
] as const;

test.each(Object.entries(views))(
  "axe finds nothing serious in %s, wide in light and narrow in dark",
  async (name, { hash, landmark, act, result }) => {
    for (const look of looks) {
      const page = await place.visit(await hash(), look);
      await page.locator(landmark).first().waitFor();
      await act?.(page);
      if (result !== undefined) await page.locator(result).first().waitFor();
      await place.picture(page, `axe-${name.replaceAll(" ", "-")}-${look.theme}`);
      expect([look.theme, await problems(page)]).toEqual([look.theme, []]);
      const isWithin = await page.evaluate("document.documentElement.scrollWidth <= innerWidth");
      expect([look.theme, isWithin]).toEqual([look.theme, true]);
    }
    // Refused forms and cells are told on the console too.
    expect(place.takeFaults().filter((fault) => !fault.includes("400"))).toEqual([]);
  },
);
