/**
 * Stored values that contain HTML, in the grid and in the lists of its extensions. No script runs, the value is shown
 * as stored, and picking it finds its rows. `demo.ts` reports every alert and every request that a tag makes.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { openDemo } from "./demo.ts";
import type { Page } from "./playwright.ts";

const demo = openDemo();

/** Categories, each of one product. */
const hostile = [
  { name: "<img src=x onerror=alert(1)>", sku: "HTML-0001" },
  { name: '"><svg onload=alert(2)></svg>', sku: "HTML-0002" },
  { name: `" onmouseover="alert(3)" x='`, sku: "HTML-0003" },
  { name: "&amp; &lt;b&gt;", sku: "HTML-0004" },
  { name: "Nuts & <b>bolts</b>", sku: "HTML-0005" },
];

beforeAll(async () => {
  const [supplier_id] = demo.column("SELECT supplier_id FROM suppliers WHERE is_active LIMIT 1");
  for (const { name, sku } of hostile) {
    const { data } = await demo.call("categories/create", { code: sku, name });
    const { category_id } = data as { category_id: string };
    const product = { sku, name, price: 1, cost: 1, category_id, supplier_id };
    await demo.call("products/create", product);
  }
});

/** Waits until the grid shows only this product, and checks that its values are text. */
async function expectAlone(page: Page, { name, sku }: (typeof hostile)[number]): Promise<void> {
  const cells = page.locator("#products tbody tr td");
  await expect
    .poll(async () => (await cells.allTextContents()).slice(0, 3))
    .toEqual([sku, name, name]);
  expect(await page.locator("img, [onerror], [onload], [onmouseover], #products b").count()).toBe(
    0,
  );
}

describe.each([1, 2, 3] as const)("with DataTables %i", (version) => {
  test("the grid shows them as text", async () => {
    const page = await demo.visit({ version, page: "grid.html" });
    for (const row of hostile) {
      await page.locator("input[type=search]").fill(row.sku);
      await expectAlone(page, row);
    }
  });

  test("SearchBuilder offers them as text, and finds their rows", async () => {
    const page = await demo.visit({ version, page: "search-builder.html" });
    await page.locator(".dtsb-add").click();
    await page.locator("select.dtsb-data").selectOption("2");
    await page.locator("select.dtsb-condition").selectOption("=");
    const list = page.locator("select.dtsb-value").first();
    const offered = await list.locator("option").allTextContents();
    expect(offered).toEqual(expect.arrayContaining(hostile.map(({ name }) => name)));
    // SearchBuilder 1 takes entities that are stored for its own, and sends other text.
    const found = version === 3 ? hostile : hostile.filter(({ name }) => !name.includes("&amp;"));
    for (const row of found) {
      await list.selectOption(row.name);
      await expectAlone(page, row);
    }
    await demo.picture(`hostile-search-builder-${version}`);
  });
});

// It has no version for DataTables 3.
describe.each([1, 2] as const)("with DataTables %i", (version) => {
  test("SearchPanes offers them as text, and finds their rows", async () => {
    const page = await demo.visit({ version, page: "search-panes.html" });
    const names = page.locator(".dtsp-searchPane:not(.dtsp-hidden)").nth(0).locator(".dtsp-name");
    await expect
      .poll(() => names.allTextContents())
      .toEqual(expect.arrayContaining(hostile.map(({ name }) => name)));
    for (const row of hostile) {
      const at = (await names.allTextContents()).indexOf(row.name);
      expect(await names.nth(at).getAttribute("title")).toBe(row.name);
      await names.nth(at).click();
      await expectAlone(page, row);
    }
    await demo.picture(`hostile-search-panes-${version}`);
  });
});

// It has no version for DataTables 1.13.
describe.each([2, 3] as const)("with DataTables %i", (version) => {
  test("ColumnControl offers them as text, and finds their rows", async () => {
    const page = await demo.visit({ version, page: "column-control.html" });
    const header = page.locator('thead [data-dt-column="2"]');
    await header.locator("button.dtcc-button_dropdown").click();
    const options = page.locator(".dtcc-dropdown").last().locator(".dtcc-list-buttons button");
    const shown = async () => (await options.allTextContents()).map((text) => text.trim());
    await expect.poll(shown).toEqual(expect.arrayContaining(hostile.map(({ name }) => name)));
    for (const row of hostile) {
      const option = options.nth((await shown()).indexOf(row.name));
      await option.click();
      await expectAlone(page, row);
      await option.click();
    }
    await demo.picture(`hostile-column-control-${version}`);
  });
});
