/**
 * The pages of DataTables and its extensions with columns of related records: `category.name` in place of a view's
 * `category_name`, as docs/grids.md says it. What they show is compared with the database.
 */
import { describe, expect, test } from "vitest";
import { openDemo } from "./demo.ts";
import type { Locator, Page } from "./playwright.ts";

const lists = ["category.name", "supplier.name"];
const demo = openDemo({
  products: {
    datatablesQuery:
      "SELECT product_id, sku, name, category_id, supplier_id, price, stock, launched_on FROM products WHERE is_active",
    datatables: { searchPanes: lists, searchBuilder: lists, columnControl: lists },
  },
});
const active = "FROM product_overview WHERE is_active";

/** Waits until the grid shows the first ten of the products for which the SQL holds, with their related names. */
async function expectProducts(page: Page, condition: string, order = "sku"): Promise<void> {
  const found = (column: string) =>
    demo.column(`SELECT ${column} ${active} AND ${condition} ORDER BY ${order} LIMIT 10`);
  const cells = (at: number) =>
    page.locator(`#products tbody td:nth-child(${at}):not(.dt-empty)`).allTextContents();
  expect(found("sku")).not.toEqual([]);
  await expect.poll(() => cells(1)).toEqual(found("sku"));
  await expect.poll(() => cells(3)).toEqual(found("category_name"));
  const [count] = demo.column(`SELECT count(*) ${active} AND ${condition}`) as [number];
  const shown = () => page.locator(".dt-info").innerText();
  await expect.poll(shown).toContain(`of ${count.toLocaleString("en-US")} entr`);
}

const names = (column: string, condition = "TRUE") =>
  demo.column(`SELECT DISTINCT ${column} ${active} AND ${condition} ORDER BY ${column}`);

/** Each way of DataTables to send its parameters. */
const ways: [string, Record<string, string>][] = [
  ["a form", {}],
  ["JSON", { 'type: "POST" }': 'type: "POST", submitAs: "json" }' }],
];

describe.each([2, 3] as const)("with DataTables %i", (version) => {
  describe.each(ways)("and %s", (_name, way) => {
    test("a grid shows, sorts and searches related names", async () => {
      const page = await demo.visit({ version, page: "grid.html", change: way });
      await expectProducts(page, "TRUE");
      await page.locator("th").filter({ hasText: "Category" }).click();
      await expectProducts(page, "TRUE", "category_name, product_id");
      await page.locator("input[type=search]").fill("sealants");
      const found = "category_name LIKE '%sealants%'";
      await expectProducts(page, found, "category_name, product_id");
      await page.evaluate(
        'table.order([[0, "asc"]]); table.search("").column(2).search("POWER").draw()',
      );
      await expectProducts(page, "category_name LIKE '%power%'");
    });

    test("SearchBuilder compares related names, and offers them in a list", async () => {
      const change = { ...way };
      const page = await demo.visit({ version, page: "search-builder.html", change });
      await expectProducts(page, "TRUE");
      await page.locator(".dtsb-add").click();
      const criterion = page.locator(".dtsb-criteria").first();
      await criterion.locator("select.dtsb-data").selectOption("2");
      await criterion.locator("select.dtsb-condition").selectOption("=");
      const value = criterion.locator("select.dtsb-value").first();
      const offered = (await value.locator("option").allTextContents()).slice(1);
      expect(offered).toEqual(names("category_name"));
      await value.selectOption("Cleaning");
      await expectProducts(page, "category_name = 'Cleaning'");
      const starts = { condition: "starts", data: "Supplier", origData: "supplier.name" };
      const details = { logic: "AND", criteria: [{ ...starts, value: ["Brandt"] }] };
      await page.evaluate(`void table.searchBuilder.rebuild(${JSON.stringify(details)})`);
      await expectProducts(page, "supplier_name LIKE 'Brandt%'");
    });

    test("ColumnControl narrows to related names from a list", async () => {
      const change = { ...way };
      const page = await demo.visit({ version, page: "column-control.html", change });
      await expectProducts(page, "TRUE");
      await page.locator('thead [data-dt-column="2"] button.dtcc-button_dropdown').click();
      const options = page.locator(".dtcc-dropdown").last().locator(".dtcc-list-buttons button");
      const offered = (await options.allTextContents()).map((text) => text.trim());
      expect(offered).toEqual(names("category_name"));
      await options.filter({ hasText: "Cleaning" }).click();
      await options.filter({ hasText: "Paint" }).click();
      await expectProducts(page, "category_name IN ('Cleaning', 'Paint')");
    });
  });
});

// It has no version for DataTables 3.
test.each(ways)("SearchPanes counts related names and narrows to them, with %s", async (_, way) => {
  const change = { ...way };
  const page = await demo.visit({ version: 2, page: "search-panes.html", change });
  const panes = page.locator(".dtsp-searchPane:not(.dtsp-hidden)");
  const row = (pane: number, name: string): Locator =>
    panes.nth(pane).locator("tbody tr").filter({ hasText: name });
  await expectProducts(page, "TRUE");
  await expect
    .poll(() => panes.nth(0).locator(".dtsp-name").allTextContents())
    .toEqual(names("category_name"));
  const isHand = "category_name = 'Hand tools'";
  const [hands] = demo.column(`SELECT count(*) ${active} AND ${isHand}`);
  expect(await row(0, "Hand tools").locator(".dtsp-pill").innerText()).toBe(String(hands));
  await row(0, "Hand tools").click();
  await expectProducts(page, isHand);
  expect(await panes.nth(1).locator(".dtsp-name").allTextContents()).toEqual(
    names("supplier_name", isHand),
  );
  await row(1, "Brandt GmbH").click();
  await expectProducts(page, `${isHand} AND supplier_name = 'Brandt GmbH'`);
  await demo.picture("related-search-panes");
});
