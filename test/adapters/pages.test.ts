/** The two programs of docs/admin-pages.md in Chromium, with the real react-admin and Refine, over the demo. */
import { beforeEach, describe, expect, test } from "vitest";
import { openDemo } from "../browser/demo.ts";
import type { Page } from "../browser/playwright.ts";
import { bundled, programWith } from "./page-programs.ts";

const demo = openDemo({
  scripts: async () => ({
    "react-admin": await bundled(programWith("rowgate/react-admin")),
    refine: await bundled(programWith("rowgate/refine")),
  }),
});

/** The first ten of the active products. */
const products = (columns: string, order: string, condition = "TRUE") =>
  demo.column(
    `SELECT ${columns} FROM product_overview WHERE is_active AND ${condition} ORDER BY ${order}, product_id LIMIT 10`,
  );

/** Products that nothing refers to, which can be deleted. */
const ours = ["AAAA-0001", "AAAA-0002", "AAAA-0003"];
beforeEach(async () => {
  const [category_id] = demo.column("SELECT category_id FROM categories WHERE code = 'HAND'");
  const [supplier_id] = demo.column("SELECT supplier_id FROM suppliers WHERE is_active LIMIT 1");
  const skus = demo.column("SELECT sku FROM products WHERE sku LIKE 'AAAA-%'");
  for (const sku of ours)
    if (!skus.includes(sku))
      await demo.call("products/create", {
        sku,
        name: `0 ${sku}`,
        price: 1,
        cost: 1,
        category_id,
        supplier_id,
      });
});

describe("react-admin", () => {
  const open = () => demo.visit({ page: "react-admin.html" });
  const cells = (page: Page, column: string) =>
    page.locator(`tbody td[class*="column-${column}"]`).allTextContents();
  const header = (page: Page, column: string) =>
    page.locator(`th[class*="column-${column}"] .MuiTableSortLabel-root`);
  const input = (page: Page, name: string) => page.locator(`input[name="${name}"]`);
  const save = (page: Page) => page.locator('button[type="submit"]').click();

  test("shows a list with related names, sorted by a click, searched and filtered", async () => {
    const page = await open();
    await expect.poll(() => cells(page, "sku")).toEqual(products("sku", "name"));
    expect(await cells(page, "category.name")).toEqual(products("category_name", "name"));
    await header(page, "category.name").click();
    await expect.poll(() => cells(page, "sku")).toEqual(products("sku", "category_name"));
    await input(page, "q").fill("hammer");
    const hammers = "name LIKE '%hammer%'";
    await expect.poll(() => cells(page, "sku")).toEqual(products("sku", "category_name", hammers));
    await input(page, "category.name_contains").fill("power");
    const power = `${hammers} AND category_name LIKE '%power%'`;
    await expect.poll(() => cells(page, "sku")).toEqual(products("sku", "category_name", power));
    await input(page, "price_gte").fill("300");
    const dear = `${power} AND price >= 300`;
    await expect.poll(() => cells(page, "sku")).toEqual(products("sku", "category_name", dear));
    await demo.picture("react-admin-list");
  });

  test("shows what the service refuses at its field, and saves what was changed", async () => {
    const page = await open();
    await page
      .locator("td")
      .filter({ hasText: /^AAAA-0001$/ })
      .click();
    await input(page, "sku").fill("wrong");
    await input(page, "price").fill("-1");
    await save(page);
    const message = (name: string) =>
      page.locator(`.ra-input-${name} .Mui-error`).allTextContents();
    await expect.poll(() => message("sku")).toContain("must look like HAND-0001");
    expect((await message("price")).join()).toMatch(/at least 0|greater/);
    expect(await page.locator(".ra-input-category_id input").inputValue()).toBe("Hand tools");
    await demo.picture("react-admin-fault");
    await input(page, "sku").fill("AAAA-0001");
    await input(page, "price").fill("7.5");
    await save(page);
    await expect.poll(() => cells(page, "price")).toContain("7.5");
    const update = demo.requests().findLast((one) => one.url().endsWith("/update"))!;
    const [id] = demo.column("SELECT product_id FROM products WHERE sku = 'AAAA-0001'");
    expect(JSON.parse(update.postData()!)).toEqual({ price: 7.5, product_id: id });
    expect(demo.takeFaults().join()).toMatch(/^console: Failed to load resource: .* 400 /);
  });

  test("does not overwrite what somebody else has changed meanwhile", async () => {
    const page = await open();
    await page
      .locator("td")
      .filter({ hasText: /^AAAA-0002$/ })
      .click();
    await input(page, "name").fill("0 mine");
    const [product_id] = demo.column("SELECT product_id FROM products WHERE sku = 'AAAA-0002'");
    await demo.call("products/update", { product_id, name: "0 AAAA-0002, theirs" });
    await save(page);
    await page.locator(".MuiSnackbar-root").filter({ hasText: "changed" }).waitFor();
    expect(demo.column("SELECT name FROM products WHERE sku = 'AAAA-0002'")).toEqual([
      "0 AAAA-0002, theirs",
    ]);
    expect(demo.takeFaults().join()).toMatch(/412/);
  });

  test("deletes the chosen records", async () => {
    const page = await open();
    await input(page, "q").fill("AAAA");
    await expect.poll(() => cells(page, "sku")).toEqual(ours);
    for (const at of [0, 2]) await page.locator("tbody input[type=checkbox]").nth(at).click();
    await page.locator('button[aria-label="Delete"]').click();
    await page.locator(".ra-confirm").click();
    await expect.poll(() => cells(page, "sku")).toEqual(["AAAA-0002"]);
    expect(demo.column("SELECT sku FROM products WHERE sku LIKE 'AAAA-%'")).toEqual(["AAAA-0002"]);
  });
});

describe("Refine", () => {
  const open = () => demo.visit({ page: "refine.html" });
  const cells = (page: Page, at: number) =>
    page.locator(`tbody td:nth-child(${at})`).allTextContents();
  const input = (page: Page, name: string) => page.locator(`input[name="${name}"]`);
  const button = (page: Page, text: string) => page.locator("button").filter({ hasText: text });

  test("shows a list with related names, sorted by a click, paged and searched", async () => {
    const page = await open();
    await expect.poll(() => cells(page, 2)).toEqual(products("sku", "name"));
    expect(await cells(page, 4)).toEqual(products("category_name", "name"));
    await page.locator("th").filter({ hasText: "Category" }).click();
    await expect.poll(() => cells(page, 2)).toEqual(products("sku", "category_name"));
    await button(page, "Next").click();
    await expect.poll(() => page.locator("body").innerText()).toContain("Page 2 of");
    await page.locator("input[type=search]").fill("hammer");
    const hammers = "name LIKE '%hammer%'";
    await expect.poll(() => cells(page, 2)).toEqual(products("sku", "category_name", hammers));
    await demo.picture("refine-list");
  });

  test("shows what the service refuses at its field, and saves", async () => {
    const page = await open();
    await page
      .locator("td")
      .filter({ hasText: /^AAAA-0001$/ })
      .click();
    await expect.poll(() => input(page, "sku").inputValue()).toBe("AAAA-0001");
    await input(page, "sku").fill("wrong");
    await button(page, "Save").click();
    const messages = () => page.locator("label").allTextContents();
    await expect.poll(messages).toEqual(["sku must look like HAND-0001", "name ", "price "]);
    await demo.picture("refine-fault");
    await input(page, "sku").fill("AAAA-0001");
    await input(page, "price").fill("8.5");
    await button(page, "Save").click();
    await expect.poll(() => cells(page, 5)).toContain("8.5");
    expect(demo.column("SELECT price FROM products WHERE sku = 'AAAA-0001'")).toEqual([8.5]);
    expect(demo.takeFaults().join()).toMatch(/400/);
  });

  test("deletes the chosen records", async () => {
    const page = await open();
    await page.locator("input[type=search]").fill("AAAA");
    await expect.poll(() => cells(page, 2)).toEqual(ours);
    for (const at of [0, 2]) await page.locator("tbody input[type=checkbox]").nth(at).click();
    await button(page, "Delete").click();
    await expect.poll(() => cells(page, 2)).toEqual(["AAAA-0002"]);
    expect(demo.column("SELECT sku FROM products WHERE sku LIKE 'AAAA-%'")).toEqual(["AAAA-0002"]);
  });
});
