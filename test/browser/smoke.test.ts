/** One grid and one drop-down in a real browser, for `npm test`. The other files of this folder test each in depth. */
import { expect, test } from "vitest";
import { openDemo } from "./demo.ts";

const demo = openDemo();

test("the grid of docs/grids.md shows rows of the database, and searches them", async () => {
  const page = await demo.visit({ page: "grid.html" });
  const shown = () => page.locator("#products tbody td:first-child").allTextContents();
  const skus = (more: string) =>
    demo.column(`SELECT sku FROM product_overview WHERE is_active ${more} ORDER BY sku LIMIT 10`);
  await expect.poll(shown).toEqual(skus(""));
  await page.locator("input[type=search]").fill("hammer");
  await expect.poll(shown).toEqual(skus("AND name LIKE '%hammer%'"));
});

test("the drop-down of docs/grids.md shows the label of a value that a record has already", async () => {
  const page = await demo.visit({ page: "tom-select.html" });
  const [label] = demo.column("SELECT code || ' - ' || name FROM suppliers WHERE is_active");
  const [id] = demo.column(
    `SELECT supplier_id FROM suppliers WHERE code || ' - ' || name = '${String(label)}'`,
  );
  await page.evaluate(`show(${JSON.stringify(id)})`);
  expect(await page.locator(".ts-control .item").allTextContents()).toEqual([label]);
});
