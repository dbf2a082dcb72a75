/** The programs of docs/admin-pages.md and docs/grids.md in Chromium, with the real libraries, over the demo. */
import { beforeEach, describe, expect, test } from "vitest";
import { openDemo } from "../browser/demo.ts";
import type { Page } from "../browser/playwright.ts";
import { bundled, programWith } from "./page-programs.ts";

const demo = openDemo({
  scripts: async () => ({
    "react-admin": await bundled(programWith("rowgate/react-admin")),
    refine: await bundled(programWith("rowgate/refine")),
    // The same as `grid` of the other pages.
    mui: await bundled(
      `const grid = (globalThis.grid = { current: null });
      ${programWith("@mui/x-data-grid", "docs/grids.md").replace("<DataGrid", "<DataGrid apiRef={grid}")}`,
    ),
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

describe("MUI X Data Grid", () => {
  /** The products that the list has, and what is said of them below it. */
  const shown = (page: Page) =>
    page.evaluate(
      `[document.querySelector("#totals").textContent, ...[...document.querySelectorAll('.MuiDataGrid-cell[data-field="sku"]')].map((cell) => cell.textContent)]`,
    );
  const found = (condition = "TRUE", order = "product_id", offset = 0) => {
    const from = `FROM products p JOIN categories c USING (category_id) JOIN suppliers s USING (supplier_id)
      WHERE p.is_active AND (${condition})`;
    const price = "CAST(printf('%.6f', avg(price)) AS NUMERIC)";
    return demo.column(
      `SELECT count(*) || ' products, ' || ifnull(sum(stock), 0) || ' in stock, average price ' || iif(count(*), ${price}, '–') ${from}
      UNION ALL SELECT * FROM (SELECT sku ${from} ORDER BY ${order}, product_id LIMIT 10 OFFSET ${offset})`,
    );
  };
  const filter = (page: Page, field: string, operator: string, value?: unknown) =>
    page.evaluate(
      `grid.current.setFilterModel(${JSON.stringify({ items: [{ id: 1, field, operator, value }] })})`,
    );
  const fault = (page: Page) => page.locator("[role=alert]").first().innerText();
  const open = async () => {
    const page = await demo.visit({ page: "mui.html" });
    await expect.poll(() => shown(page)).toEqual(found());
    return page;
  };

  test("filters by all operators, searches, sorts and pages, with figures of what is found", async () => {
    const page = await open();
    const [hammer, drill] = demo.column(
      "SELECT name FROM products WHERE is_active AND sku IN ('HAND-0002', 'POWR-0072')",
    ) as [string, string];
    const day = "2025-10-26";
    const cases: [field: string, operator: string, value: unknown, condition: string][] = [
      ["name", "contains", "HAMMER", "p.name LIKE '%hammer%'"],
      ["name", "contains", "%", "p.name LIKE '%|%%' ESCAPE '|'"],
      ["name", "doesNotContain", "hammer", "p.name NOT LIKE '%hammer%'"],
      ["name", "equals", hammer.toUpperCase(), `p.name = '${hammer}'`],
      ["name", "doesNotEqual", hammer, `p.name <> '${hammer}'`],
      ["name", "startsWith", "aal", "p.name LIKE 'aal%'"],
      ["name", "endsWith", "MM", "p.name LIKE '%mm'"],
      ["name", "isEmpty", undefined, "p.name = ''"],
      ["name", "isNotEmpty", undefined, "p.name <> ''"],
      ["name", "isAnyOf", [hammer, drill], `p.name IN ('${hammer}', '${drill}')`],
      ["price", "=", "10.9", "price = 10.9"],
      ["price", "!=", "10.9", "price <> 10.9"],
      ["price", ">", "10.9", "price > 10.9"],
      ["price", ">=", "10.9", "price >= 10.9"],
      ["price", "<", "10.9", "price < 10.9"],
      ["price", "<=", "10.9", "price <= 10.9"],
      ["price", "isEmpty", undefined, "price IS NULL"],
      ["price", "isNotEmpty", undefined, "price IS NOT NULL"],
      ["price", "isAnyOf", ["10.9", "12.9"], "price IN (10.9, 12.9)"],
      ["launched_on", "is", day, `launched_on = '${day}'`],
      ["launched_on", "not", day, `launched_on IS NOT '${day}'`],
      ["launched_on", "after", day, `launched_on > '${day}'`],
      ["launched_on", "onOrAfter", day, `launched_on >= '${day}'`],
      ["launched_on", "before", day, `launched_on < '${day}'`],
      ["launched_on", "onOrBefore", day, `launched_on <= '${day}'`],
      ["launched_on", "isEmpty", undefined, "launched_on IS NULL"],
      ["launched_on", "isNotEmpty", undefined, "launched_on IS NOT NULL"],
      ["supplier.is_active", "is", true, "s.is_active"],
      ["supplier.is_active", "is", false, "NOT s.is_active"],
      ["category.name", "is", "Paint", "c.name = 'Paint'"],
      ["category.name", "not", "Paint", "c.name <> 'Paint'"],
      ["category.name", "isAnyOf", ["Paint", "Lighting"], "c.name IN ('Paint', 'Lighting')"],
      // No value yet: no filter.
      ["category.name", "isAnyOf", [], "TRUE"],
    ];
    for (const [field, operator, value, condition] of cases) {
      await filter(page, field, operator, value);
      const message = `${field} ${operator} ${String(value)}`;
      await expect.poll(() => shown(page), { message }).toEqual(found(condition));
    }

    // A person finds the same: a day from the picker, words in the search.
    await filter(page, "launched_on", "onOrAfter");
    await page.locator('[aria-label="Filters"]').click();
    await page.locator(".MuiDataGrid-filterForm input[type=date]").fill(day);
    await expect.poll(() => shown(page)).toEqual(found(`launched_on >= '${day}'`));
    await page.keyboard.press("Escape");
    await page.locator('.MuiDataGrid-toolbar [aria-label="Search"]').first().click();
    await page.locator(".MuiDataGrid-toolbar input").fill("HAMMER power");
    const words = `launched_on >= '${day}' AND p.name LIKE '%hammer%' AND c.name LIKE '%power%'`;
    await expect.poll(() => shown(page)).toEqual(found(words));
    await demo.picture("mui");
    await page.evaluate("grid.current.setFilterModel({ items: [] })");
    await page.locator('.MuiDataGrid-columnHeader[data-field="category.name"]').click();
    await expect.poll(() => shown(page)).toEqual(found("TRUE", "c.name"));
    await page.locator('[aria-label="Go to next page"]').click();
    await expect.poll(() => shown(page)).toEqual(found("TRUE", "c.name", 10));
    const asked = demo.requests().map((request) => request.postData());
    expect(asked.join()).not.toContain("cost");
  });

  test("saves cells, and shows what the service refuses", async () => {
    const page = await open();
    const [product_id] = demo.column("SELECT product_id FROM products WHERE sku = 'AAAA-0001'");
    const price = () => demo.column("SELECT price FROM products WHERE sku = 'AAAA-0001'")[0];
    await filter(page, "price", "=", "many");
    await expect.poll(() => fault(page)).toMatch(/"price" must be a number/);
    await filter(page, "sku", "equals", "AAAA-0001");
    await expect.poll(() => shown(page)).toEqual(found("sku = 'AAAA-0001'"));
    expect(await fault(page)).toBe("");

    const type = async (text: string) => {
      await page.locator('.MuiDataGrid-cell[data-field="price"]').dblclick();
      await page.locator(".MuiDataGrid-cell--editing input").fill(text);
      await page.keyboard.press("Enter");
    };
    await type("-5");
    await expect.poll(() => fault(page)).toBe("Invalid data; price must be at least 0");
    await page.keyboard.press("Escape");
    for (const value of [9.25, 9.75]) {
      await type(String(value));
      await expect
        .poll(() => shown(page))
        .toEqual([`1 products, 0 in stock, average price ${value}`, "AAAA-0001"]);
      expect(price()).toBe(value);
    }
    await demo.call("products/update", { product_id, price: 11 });
    await type("12");
    await expect.poll(() => fault(page)).toMatch(/^The record was changed/);
    expect(price()).toBe(11);
    await demo.picture("mui-fault");
    // The refused filter was asked twice, by read and aggregate.
    expect(demo.takeFaults().join()).toMatch(/^(.* 400 .*){3} 412 /);
  });
});
