/** Exports, imports, jobs and charts in the console. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ExcelJs from "exceljs";
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const place = openConsole();

const button = (page: Page, text: string) => page.locator("button").filter({ hasText: text });
const info = (page: Page): Promise<string> => page.locator(".info[role=status]").innerText();
/** A job on a busy machine takes its time. */
const patiently = { timeout: 20_000 };
const counts = async (page: Page): Promise<string[]> =>
  (await page.locator(".counts div").allTextContents()).map((text) => text.trim());

test("an export has what the list shows, and the job is in the list of jobs", async () => {
  const page = await place.visit("#/demo/products?q=hammer&f.price=<20&sort=-price");
  await expect.poll(() => info(page)).toContain("records of");
  await button(page, "Export").click();
  await page.locator("#export-format").selectOption("csv");
  const downloading = page.waitForEvent("download");
  await page.locator(".dialog .primary").click();
  const file = await downloading;
  expect(file.suggestedFilename()).toMatch(/^products-export-.*\.csv$/);
  const [, ...rows] = readFileSync(await file.path(), "utf8")
    .trim()
    .split(/\r?\n/);
  const found = await place.sql(
    "SELECT sku FROM product_overview WHERE is_active AND name LIKE '%hammer%' AND price < 20 ORDER BY price DESC, sku",
  );
  expect(rows.map((row) => row.replace(/^\uFEFF/, "").split(",")[0]).toSorted()).toEqual(
    found.map(({ sku }) => sku).toSorted(),
  );
  const prices = rows.map((row) => Number(row.split(",")[5]));
  expect(prices).toEqual(prices.toSorted((a, b) => b - a));
  await button(page, "Done").click();

  await page.locator(".side a").filter({ hasText: "Jobs" }).click();
  await expect.poll(() => page.locator(".plain .status").allTextContents()).toEqual(["Completed"]);
  await place.picture(page, "jobs");
  const again = page.waitForEvent("download");
  await button(page, "Download").click();
  expect((await again).suggestedFilename()).toBe(file.suggestedFilename());
});

test("an export that runs can be cancelled, and is no longer running in the list of jobs", async () => {
  await place.sql(
    `INSERT OR IGNORE INTO suppliers (supplier_id, code, name, city, country, created_at, created_by) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT 's' || i, 'S' || i, 'Supplier ' || i, 'Oslo', 'Norway', '2026-01-01T00:00:00.000Z', 'test' FROM n`,
  );
  const page = await place.visit("#/demo/suppliers");
  await button(page, "Export").click();
  await page.locator(".dialog .primary").click();
  await page.locator(".dialog button").filter({ hasText: "Cancel" }).click();
  await expect
    .poll(() => page.locator(".dialog [role=alert]").allTextContents(), patiently)
    .toEqual(["The job was cancelled"]);
  await page.keyboard.press("Escape");
  await page.locator(".side a").filter({ hasText: "Jobs" }).click();
  await expect.poll(() => page.locator(".plain .status").allTextContents()).toEqual(["Failed"]);
  expect(await button(page, "Cancel").count()).toBe(0);
  await button(page, "Remove from the list").click();
  await expect.poll(() => page.locator(".plain .status").count()).toBe(0);
  await place.sql("DELETE FROM suppliers WHERE code LIKE 'S%' AND city = 'Oslo'");
});

async function workbook(name: string, rows: readonly (readonly unknown[])[]): Promise<string> {
  const book = new ExcelJs.Workbook();
  const sheet = book.addWorksheet("Products");
  sheet.addRows([["SKU", "Product", "Category", "Supplier code", "Price", "Cost"], ...rows]);
  const path = join(place.folder, name);
  await book.xlsx.writeFile(path);
  return path;
}

test("an import shows errors row by row and stores nothing, and stores the corrected file", async () => {
  const good = ["HAND-9601", "Brandt sledgehammer", "Hand tools", "GB-003", 39.9, 24.1];
  const page = await place.visit("#/demo/products/import");
  const template = page.waitForEvent("download");
  await button(page, "Download the template").click();
  expect((await template).suggestedFilename()).toMatch(/\.xlsx$/);

  await page
    .locator("#import-file")
    .setInputFiles(
      await workbook("wrong.xlsx", [
        good,
        ["HAND-9602", "<b>No price</b>", "No such", "GB-003", "cheap", 1],
      ]),
    );
  await expect
    .poll(() => counts(page), patiently)
    .toEqual(["New1", "Changed0", "Skipped0", "With errors1"]);
  const [row = ""] = await page.locator(".plain tbody tr").allTextContents();
  expect(row).toMatch(/^3/);
  expect(row).toContain("<b>No price</b>");
  await place.picture(page, "import-errors");
  const errors = page.waitForEvent("download");
  await button(page, "Download the rows with errors").click();
  expect((await errors).suggestedFilename()).toMatch(/\.xlsx$/);

  await button(page, "Choose another file").click();
  await page
    .locator("#import-file")
    .setInputFiles(
      await workbook("right.xlsx", [
        good,
        ["HAND-0002", "Aalsmeer hammer", "Hand tools", "NL-001", 11, 6],
      ]),
    );
  await expect
    .poll(() => counts(page), patiently)
    .toEqual(["New1", "Changed1", "Skipped0", "With errors0"]);
  await place.picture(page, "import-check");
  await button(page, "Store 2 rows").click();
  await expect
    .poll(() => counts(page), patiently)
    .toEqual(["New1", "Changed1", "Skipped0", "Refused0"]);
  expect(
    await place.sql(
      "SELECT sku, name FROM products WHERE sku IN ('HAND-0002', 'HAND-9601') ORDER BY sku",
    ),
  ).toEqual([
    { sku: "HAND-0002", name: "Aalsmeer hammer" },
    { sku: "HAND-9601", name: "Brandt sledgehammer" },
  ]);
});

test("a file that is no workbook is refused with a sentence", async () => {
  const page = await place.visit("#/demo/products/import");
  await page.locator("#import-file").setInputFiles(join(import.meta.dirname, "console.ts"));
  await expect.poll(() => page.locator(".fault-text").innerText()).toContain("xlsx");
  expect(place.takeFaults()).toEqual([expect.stringContaining("400")]);
});

test("a chart on a phone has letters of their full size", async () => {
  const page = await place.visit("#/demo/stock-receipts/chart", { width: 390 });
  await page.locator(".chart").waitFor();
  const scale = await page.evaluate(
    "document.querySelector('.chart').clientWidth / document.querySelector('.chart').viewBox.baseVal.width",
  );
  expect(scale).toBeGreaterThan(0.9);
});

test("a chart counts and adds up by a field, as bars and over time", async () => {
  const page = await place.visit("#/demo/stock-receipts/chart");
  const values = () => page.locator(".chart .value-text").allTextContents();
  const byStatus = await place.sql(
    "SELECT count(*) AS n FROM stock_receipts GROUP BY status ORDER BY n DESC",
  );
  await expect.poll(values).toEqual(byStatus.map(({ n }) => Number(n).toLocaleString("en-GB")));

  await page.locator("#chart-measure").selectOption("sum:total_amount");
  const sums = await place.sql(
    "SELECT sum(total_amount) AS n FROM stock_receipts GROUP BY status ORDER BY n DESC",
  );
  await expect
    .poll(values)
    .toEqual(
      sums.map(({ n }) =>
        Number(n).toLocaleString("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
      ),
    );
  await place.picture(page, "chart-bars");

  await page.locator("#chart-group-by").selectOption("receipt_date");
  const months = await place.sql(
    "SELECT count(DISTINCT substr(receipt_date, 1, 7)) AS n FROM stock_receipts",
  );
  await expect.poll(() => page.locator(".chart circle").count()).toBe(Number(months[0]!["n"]));
  expect(page.url()).toContain("by=receipt_date&in=month&measure=sum%3Atotal_amount&as=line");
  await place.picture(page, "chart-line");
});
