/** What the `datatables` setting of an endpoint changes for a page. */
import { expect, test } from "vitest";
import { openDemo } from "./demo.ts";

const demo = openDemo({
  products: {
    datatables: { errorMode: "inline", rowId: true, search: "words" },
    datatablesQuery:
      "SELECT product_id, sku, name, category_name, price, is_active AS stock FROM product_overview",
    console: {},
  },
});
const rows = "#products tbody tr";

test.each([2, 3] as const)(
  "DataTables %i takes an error that comes inline, and ends the draw",
  async (version) => {
    const change = { "serverSide: true,": "serverSide: true, processing: true," };
    const page = await demo.visit({ version, page: "grid.html", change });
    await expect.poll(() => page.locator(rows).count()).toBe(10);
    await page.evaluate(
      'table.on("dt-error.dt", (event, settings, number, text) => { window.told = text; })',
    );
    await page.evaluate("table.page.len(-1).draw()");
    const message = "length must be a whole number from 1 to 1000";
    await expect.poll(() => page.locator("#fault").innerText()).toBe(message);
    await expect.poll(() => page.evaluate("window.told")).toContain("length");
    await expect.poll(() => page.locator(".dt-processing:visible").count()).toBe(0);
    await demo.picture(`fault-inline-${version}`);
  },
);

test.each([2, 3] as const)("DataTables %i gives its rows the keys as ids", async (version) => {
  const page = await demo.visit({ version, page: "grid.html" });
  const ids = demo.column("SELECT product_id FROM product_overview ORDER BY sku LIMIT 10");
  const script = `[...document.querySelectorAll("${rows}")].map((row) => row.id)`;
  await expect.poll(() => page.evaluate(script)).toEqual(ids);
});

test.each([2, 3] as const)(
  "DataTables %i finds words in any order and column, and truth values by their words",
  async (version) => {
    const page = await demo.visit({ version, page: "grid.html" });
    const shown = () => page.locator(`${rows} td:first-child`).allTextContents();
    const skus = (condition: string) =>
      demo.column(`SELECT sku FROM product_overview WHERE ${condition} ORDER BY sku LIMIT 10`);
    await page.locator("input[type=search]").fill("hand hammer");
    const both =
      "(name LIKE '%hammer%' OR category_name LIKE '%hammer%') AND (sku || name || category_name LIKE '%hand%')";
    await expect.poll(shown).toEqual(skus(both));
    await page.evaluate('table.search("").column(4).search("false").draw()');
    await expect.poll(shown).toEqual(skus("NOT is_active"));
  },
);
