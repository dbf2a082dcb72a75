/**
 * SearchBuilder, SearchPanes and ColumnControl with the demo's products: what a user sets, compared with the database.
 */
import { describe, expect, test } from "vitest";
import { openDemo } from "./demo.ts";
import type { Locator, Page } from "./playwright.ts";

const demo = openDemo();
const active = "FROM product_overview WHERE is_active";
const categories = `SELECT DISTINCT category_name ${active} ORDER BY category_name`;
/** How DataTables sends its parameters: each version in one of its ways. */
const ways: Readonly<Record<2 | 3, Record<string, string>>> = {
  2: {},
  3: { 'type: "POST" }': 'type: "POST", submitAs: "json" }' },
};

/** Condition, title and field of the column, values, and what that is in SQL. */
const conditions: [string, string, string, string[], string][] = [
  ["=", "SKU", "sku", ["HAND-0004"], "sku = 'HAND-0004'"],
  ["!=", "SKU", "sku", ["ADHS-0001"], "sku <> 'ADHS-0001'"],
  ["!contains", "Product", "name", ["glue"], "name NOT LIKE '%glue%'"],
  ["starts", "Product", "name", ["Brandt"], "name LIKE 'Brandt%'"],
  ["!starts", "SKU", "sku", ["ADHS"], "sku NOT LIKE 'ADHS%'"],
  ["ends", "SKU", "sku", ["0004"], "sku LIKE '%0004'"],
  ["!ends", "SKU", "sku", ["1"], "sku NOT LIKE '%1'"],
  ["=", "Launched", "launched_on", ["2025-05-10"], "launched_on = '2025-05-10'"],
  ["starts", "Launched", "launched_on", ["2025-05"], "launched_on LIKE '2025-05-%'"],
  ["null", "Launched", "launched_on", [], "launched_on IS NULL"],
  ["!null", "Launched", "launched_on", [], "launched_on IS NOT NULL"],
  ["starts", "Supplier", "supplier.name", ["Brandt"], "supplier_name LIKE 'Brandt%'"],
  ["<", "Price", "price", ["3.39"], "price < 3.39"],
  ["<=", "Price", "price", ["3.39"], "price <= 3.39"],
  [">", "In stock", "stock", ["480"], "stock > 480"],
  [">=", "In stock", "stock", ["480"], "stock >= 480"],
  ["!between", "Price", "price", ["3", "300"], "price NOT BETWEEN 3 AND 300"],
];

/** Waits until the grid shows the first ten of the products for which the SQL holds. */
async function expectProducts(page: Page, condition: string): Promise<void> {
  const skus = page.locator("#products tbody td:first-child:not(.dt-empty)");
  const rows = demo.column(`SELECT sku ${active} AND ${condition} ORDER BY sku LIMIT 10`);
  const [count] = demo.column(`SELECT count(*) ${active} AND ${condition}`) as [number];
  await expect.poll(() => skus.allTextContents()).toEqual(rows);
  // The rows alone can still be those of the previous page.
  const shown = () => page.locator(".dt-info").innerText();
  await expect.poll(shown).toContain(`of ${count.toLocaleString("en-US")} entr`);
}

describe.each([2, 3] as const)("with DataTables %i, SearchBuilder", (version) => {
  const file = "search-builder.html";
  const change = ways[version];
  const criterion = (page: Page, at: number): Locator => page.locator(".dtsb-criteria").nth(at);

  async function pick(on: Locator, field: string, condition: string): Promise<void> {
    await on.locator("select.dtsb-data").selectOption(field);
    await on.locator("select.dtsb-condition").selectOption(condition);
  }

  test("narrows by conditions that a person picks", async () => {
    const page = await demo.visit({ version, page: file, change });
    await expectProducts(page, "TRUE");
    await page.locator(".dtsb-add").click();
    await pick(criterion(page, 0), "1", "contains");
    await criterion(page, 0).locator("input.dtsb-value").fill("hammer");
    await expectProducts(page, "name LIKE '%hammer%'");

    await page.locator(".dtsb-add").click();
    await pick(criterion(page, 1), "4", "between");
    const values = criterion(page, 1).locator("input.dtsb-value");
    await values.nth(0).fill("20");
    await values.nth(1).fill("150");
    await expectProducts(page, "name LIKE '%hammer%' AND price BETWEEN 20 AND 150");
    await demo.picture(`search-builder-${version}`);
  });

  test("compares whole numbers with a fraction that is typed letter by letter", async () => {
    const page = await demo.visit({ version, page: file, change });
    await expectProducts(page, "TRUE");
    await page.locator(".dtsb-add").click();
    await pick(criterion(page, 0), "5", "<");
    await criterion(page, 0).locator("input.dtsb-value").pressSequentially("1.5");
    await expectProducts(page, "stock < 1.5");
  });

  test("offers the values of a field in a list", async () => {
    const page = await demo.visit({ version, page: file, change });
    await expectProducts(page, "TRUE");
    await page.locator(".dtsb-add").click();
    await pick(criterion(page, 0), "2", "=");
    const value = criterion(page, 0).locator("select.dtsb-value").first();
    // The first option is a placeholder.
    const offered = (await value.locator("option").allTextContents()).slice(1);
    expect(offered).toEqual(demo.column(categories));
    await value.selectOption("Cleaning");
    await expectProducts(page, "category_name = 'Cleaning'");
    await demo.picture(`search-builder-list-${version}`);
  });

  test("means by each condition what the database says", async () => {
    const page = await demo.visit({ version, page: file, change });
    await expectProducts(page, "TRUE");
    for (const [condition, data, origData, value, sql] of conditions) {
      await rebuild(page, { logic: "AND", criteria: [{ condition, data, origData, value }] });
      await expectProducts(page, sql);
    }
  });

  test("joins groups by OR within AND", async () => {
    const page = await demo.visit({ version, page: file, change });
    await expectProducts(page, "TRUE");
    const isOut = { condition: "=", data: "In stock", origData: "stock", value: ["0"] };
    const isHammer = {
      condition: "contains",
      data: "Product",
      origData: "name",
      value: ["hammer"],
    };
    const isCheap = { condition: "<", data: "Price", origData: "price", value: ["5"] };
    const group = { logic: "OR", criteria: [isHammer, isCheap] };
    await rebuild(page, { logic: "AND", criteria: [isOut, group] });
    await expectProducts(page, "stock = 0 AND (name LIKE '%hammer%' OR price < 5)");
  });
});

async function rebuild(page: Page, details: object): Promise<void> {
  await page.evaluate(`void table.searchBuilder.rebuild(${JSON.stringify(details)})`);
}

describe.each([2, 3] as const)("with DataTables %i, ColumnControl", (version) => {
  const file = "column-control.html";
  const change = ways[version];

  async function openBox(page: Page, column: number): Promise<Locator> {
    const header = page.locator(`thead [data-dt-column="${column}"]`);
    await header.locator("button.dtcc-button_dropdown").click();
    return page.locator(".dtcc-dropdown").last();
  }

  test.each([
    { type: "text", column: 1, logic: "notContains", value: "glue", sql: "name NOT LIKE '%glue%'" },
    { type: "number", column: 4, logic: "less", value: "5", sql: "price < 5" },
    {
      type: "date",
      column: 6,
      logic: "greater",
      value: "2026-01-01",
      sql: "launched_on > '2026-01-01'",
    },
  ])("searches in a column of type $type", async ({ type, column, logic, value, sql }) => {
    const page = await demo.visit({ version, page: file, change });
    await expectProducts(page, "TRUE");
    const box = await openBox(page, column);
    await box.locator("select").selectOption(logic);
    await box.locator("input").first().fill(value);
    await expectProducts(page, sql);
    await demo.picture(`column-control-${version}-${type}`);
  });

  test("takes a date letter by letter without an alert", async () => {
    const page = await demo.visit({ version, page: file, change });
    await expectProducts(page, "TRUE");
    const box = await openBox(page, 6);
    await box.locator("select").selectOption("greater");
    await box.locator("input").first().pressSequentially("2026-0");
    await expectProducts(page, "TRUE");
    await box.locator("input").first().pressSequentially("1-01");
    await expectProducts(page, "launched_on > '2026-01-01'");
  });

  test("takes a number letter by letter without an alert", async () => {
    const page = await demo.visit({ version, page: file, change });
    await expectProducts(page, "TRUE");
    const box = await openBox(page, 5);
    await box.locator("select").selectOption("less");
    await box.locator("input").first().pressSequentially("-2.x");
    await expectProducts(page, "FALSE");
    await box.locator("input").first().fill("2.5");
    await expectProducts(page, "stock < 2.5");
  });

  test("narrows to what is picked from the list of a column", async () => {
    const page = await demo.visit({ version, page: file, change });
    await expectProducts(page, "TRUE");
    const options = (await openBox(page, 2)).locator(".dtcc-list-buttons button");
    expect((await options.allTextContents()).map((text) => text.trim())).toEqual(
      demo.column(categories),
    );
    await options.filter({ hasText: "Cleaning" }).click();
    await options.filter({ hasText: "Paint" }).click();
    await expectProducts(page, "category_name IN ('Cleaning', 'Paint')");
    await demo.picture(`column-control-${version}-list`);
  });
});

// It has no version for DataTables 3.
describe("with DataTables 2, SearchPanes", () => {
  test.each([
    { way: "a form", change: ways[2] },
    { way: "JSON", change: ways[3] },
  ])(
    "shows values with their counts, and narrows to those that are picked, sent as $way",
    async ({ way, change }) => {
      const page = await demo.visit({ version: 2, page: "search-panes.html", change });
      const row = (pane: number, name: string): Locator =>
        panes.nth(pane).locator("tbody tr").filter({ hasText: name });
      const panes = page.locator(".dtsp-searchPane:not(.dtsp-hidden)");
      await expectProducts(page, "TRUE");
      await expect
        .poll(() => panes.nth(0).locator(".dtsp-name").allTextContents())
        .toEqual(demo.column(categories));
      const count = (condition: string): unknown =>
        demo.column(`SELECT count(*) ${active} AND ${condition}`)[0];
      const isHand = "category_name = 'Hand tools'";
      const isBrandt = "supplier_name = 'Brandt GmbH'";
      expect(await row(0, "Hand tools").locator(".dtsp-pill").innerText()).toBe(
        String(count(isHand)),
      );

      await row(0, "Hand tools").click();
      await expectProducts(page, isHand);
      expect(await row(1, "Brandt GmbH").locator(".dtsp-pill").innerText()).toBe(
        `${count(`${isHand} AND ${isBrandt}`)} (${count(isBrandt)})`,
      );
      expect(await panes.nth(1).locator(".dtsp-name").allTextContents()).toEqual(
        demo.column(`SELECT DISTINCT supplier_name ${active} AND ${isHand} ORDER BY supplier_name`),
      );

      await row(1, "Brandt GmbH").click();
      await expectProducts(page, `${isHand} AND ${isBrandt}`);
      await demo.picture(`search-panes-${way}`);
    },
  );
});
