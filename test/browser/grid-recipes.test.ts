/**
 * Tabulator, AG Grid, Grid.js and TanStack Table over `read` of the demo's products, with the names of their categories
 * and suppliers. Pages, order, filters and search are compared with the database. A stored tag is shown as text.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { openDemo } from "./demo.ts";
import type { Page } from "./playwright.ts";

const demo = openDemo();

/** Also what LIKE takes for its own. */
const markup = `<img src=x onerror=alert(1)> & "50%" _\\`;
beforeAll(async () => {
  const [category_id] = demo.column("SELECT category_id FROM categories ORDER BY code LIMIT 1");
  const [supplier_id] = demo.column("SELECT supplier_id FROM suppliers WHERE is_active LIMIT 1");
  const product = { sku: "HTML-0001", name: markup, price: 1, cost: 1 };
  await demo.call("products/create", { ...product, category_id, supplier_id });
});

/** The SKUs of active products, in the order of the service where none is given. */
const skus = (condition?: string, part?: Parameters<typeof values>[2]) =>
  values("sku", condition, part);
const values = (
  column: string,
  condition = "TRUE",
  { order = "product_id", limit = 10, offset = 0 } = {},
) =>
  demo.column(
    `SELECT ${column} FROM product_overview WHERE is_active AND ${condition} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`,
  );
const count = (condition = "TRUE"): number =>
  demo.column(
    `SELECT count(*) FROM product_overview WHERE is_active AND ${condition}`,
  )[0] as number;

async function expectText(page: Page, cells: string): Promise<void> {
  await expect.poll(() => page.locator(cells).allTextContents()).toEqual([markup]);
  expect(await page.locator("img, [onerror]").count()).toBe(0);
}

describe("Tabulator", () => {
  const rows = (page: Page) =>
    page.locator('.tabulator-row [tabulator-field="sku"]').allTextContents();
  const column = (field: string) => `.tabulator-col[tabulator-field="${field}"]`;

  test("shows pages, in the order of a column", async () => {
    const page = await demo.visit({ page: "tabulator.html" });
    await expect.poll(() => rows(page)).toEqual(skus());
    await page.locator('.tabulator-page[data-page="3"]').click();
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { offset: 20 }));
    await page.locator(`${column("price")} .tabulator-col-title`).click();
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { order: "price, product_id" }));
    await page.locator(`${column("price")} .tabulator-col-title`).click();
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { order: "price DESC, product_id" }));
    expect(await page.evaluate("table.getPageMax()")).toBe(Math.ceil(count() / 10));
    await demo.picture("tabulator");
  });

  test("filters by text and by numbers", async () => {
    const page = await demo.visit({ page: "tabulator.html" });
    await expect.poll(() => rows(page)).toEqual(skus());
    await page.locator(`${column("name")} input`).pressSequentially("HAMMER");
    await expect.poll(() => rows(page)).toEqual(skus("name LIKE '%hammer%'"));
    await page.locator(`${column("price")} input`).pressSequentially("20");
    await expect.poll(() => rows(page)).toEqual(skus("name LIKE '%hammer%' AND price <= 20"));
    await demo.picture("tabulator-filtered");
  });

  test("sorts and filters by related names, and shows them", async () => {
    const page = await demo.visit({ page: "tabulator.html" });
    await expect.poll(() => rows(page)).toEqual(skus());
    await page.locator(`${column("supplier.name")} .tabulator-col-title`).click();
    const order = "supplier_name, product_id";
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { order }));
    await page.locator(`${column("category.name")} input`).pressSequentially("TOOLS");
    const found = "category_name LIKE '%tools%'";
    await expect.poll(() => rows(page)).toEqual(skus(found, { order }));
    const shown = page.locator('.tabulator-row [tabulator-field="supplier.name"]');
    expect(await shown.allTextContents()).toEqual(values("supplier_name", found, { order }));
    expect(await page.evaluate("table.getPageMax()")).toBe(Math.ceil(count(found) / 10));
    await demo.picture("tabulator-related");
  });

  test("shows markup as text, and finds what LIKE takes for its own", async () => {
    const page = await demo.visit({ page: "tabulator.html" });
    await expect.poll(() => rows(page)).toEqual(skus());
    await page.locator(`${column("name")} input`).pressSequentially('50%" _\\');
    await expectText(page, '.tabulator-row [tabulator-field="name"]');
  });
});

describe("AG Grid", () => {
  /** AG Grid's rows are in the document in any order. */
  const rows = async (page: Page) =>
    page.evaluate(
      `[...Array(10).keys()].flatMap((at) => document.querySelector('[row-index="' + at + '"] [col-id="sku"]')?.textContent ?? [])`,
    );
  const open = async (): Promise<Page> => {
    const page = await demo.visit({ page: "ag-grid.html" });
    await expect.poll(() => rows(page)).toEqual(skus());
    return page;
  };

  test("gets further rows as a person scrolls, in the order of columns", async () => {
    const page = await open();
    expect(await page.evaluate("grid.getDisplayedRowCount()")).toBe(count());
    await page.evaluate('grid.ensureIndexVisible(250, "top")');
    await expect
      .poll(() => page.locator('[row-index="250"] [col-id="sku"]').allTextContents())
      .toEqual(skus("TRUE", { limit: 1, offset: 250 }));
    await page.evaluate('grid.ensureIndexVisible(0, "top")');
    await page.locator('.ag-header-cell[col-id="category.name"] .ag-header-cell-label').click();
    await page
      .locator('.ag-header-cell[col-id="price"] .ag-header-cell-label')
      .click({ modifiers: ["Shift"] });
    const order = "category_name, price, product_id";
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { order }));
    const cell = '[row-index="0"] [col-id="category.name"]';
    expect(await page.locator(cell).allTextContents()).toEqual(
      values("category_name", "TRUE", { order, limit: 1 }),
    );
    await demo.picture("ag-grid");
  });

  test("filters by what a person types", async () => {
    const page = await open();
    await page.locator('input[aria-label="Product Filter Input"]').fill("hammer");
    await expect.poll(() => rows(page)).toEqual(skus("name LIKE '%hammer%'"));
    await page.locator('input[aria-label="Category Filter Input"]').fill("power");
    const found = "name LIKE '%hammer%' AND category_name LIKE '%power%'";
    await expect.poll(() => rows(page)).toEqual(skus(found));
    await demo.picture("ag-grid-filtered");
  });

  const text = (type: string, filter: string) => ({ filterType: "text", type, filter });
  const number = (type: string, filter?: number, filterTo?: number) => ({
    filterType: "number",
    type,
    filter,
    filterTo,
  });
  const date = (type: string, from: string, to: string | null = null) => ({
    filterType: "date",
    type,
    dateFrom: `${from} 00:00:00`,
    dateTo: to && `${to} 00:00:00`,
  });

  /** A filter of the grid, and what it is in SQL. */
  const filters: [string, object, string][] = [
    ["contains", { name: text("contains", "Glue") }, "name LIKE '%glue%'"],
    ["notContains", { name: text("notContains", "glue") }, "name NOT LIKE '%glue%'"],
    ["startsWith", { name: text("startsWith", "brandt") }, "name LIKE 'Brandt%'"],
    ["endsWith", { sku: text("endsWith", "0004") }, "sku LIKE '%0004'"],
    ["equals", { sku: text("equals", "HAND-0004") }, "sku = 'HAND-0004'"],
    [
      "a related name",
      { "category.name": text("startsWith", "paint"), "supplier.name": text("contains", "gmbh") },
      "category_name LIKE 'paint%' AND supplier_name LIKE '%gmbh%'",
    ],
    [
      "no such related name",
      { "supplier.name": text("notContains", "a") },
      "supplier_name NOT LIKE '%a%'",
    ],
    ["notEqual", { sku: text("notEqual", "HAND-0004") }, "sku <> 'HAND-0004'"],
    ["lessThan", { price: number("lessThan", 3.39) }, "price < 3.39"],
    ["lessThanOrEqual", { price: number("lessThanOrEqual", 3.39) }, "price <= 3.39"],
    ["greaterThan", { stock: number("greaterThan", 480) }, "stock > 480"],
    ["greaterThanOrEqual", { stock: number("greaterThanOrEqual", 480) }, "stock >= 480"],
    ["inRange", { price: number("inRange", 20, 25) }, "price BETWEEN 20 AND 25"],
    ["blank", { launched_on: { filterType: "date", type: "blank" } }, "launched_on IS NULL"],
    ["notBlank", { launched_on: { filterType: "date", type: "notBlank" } }, "launched_on NOT NULL"],
    ["a day", { launched_on: date("equals", "2025-05-10") }, "launched_on = '2025-05-10'"],
    [
      "another day",
      { launched_on: date("notEqual", "2025-05-10") },
      "(launched_on <> '2025-05-10' OR launched_on IS NULL)",
    ],
    [
      "days",
      { launched_on: date("inRange", "2025-05-01", "2025-05-31") },
      "launched_on BETWEEN '2025-05-01' AND '2025-05-31'",
    ],
    [
      "one or the other",
      {
        name: {
          filterType: "text",
          operator: "OR",
          conditions: [text("contains", "glue"), text("contains", "hammer")],
        },
        price: number("lessThan", 10),
      },
      "(name LIKE '%glue%' OR name LIKE '%hammer%') AND price < 10",
    ],
  ];

  test("means by each filter what the database says", async () => {
    const page = await open();
    for (const [name, model, sql] of filters) {
      await page.evaluate(`grid.setFilterModel(${JSON.stringify(model)})`);
      await expect.poll(() => rows(page), { message: name }).toEqual(skus(sql));
      await expect
        .poll(() => page.evaluate("grid.getDisplayedRowCount()"), { message: name })
        .toBe(count(sql));
    }
  });

  test("shows markup as text, and finds what LIKE takes for its own", async () => {
    const page = await open();
    await page.locator('input[aria-label="Product Filter Input"]').fill('50%" _\\');
    await expectText(page, '.ag-row [col-id="name"]');
  });
});

describe("Grid.js", () => {
  const rows = (page: Page) => page.locator('td[data-column-id="sku"]').allTextContents();

  test("shows pages, in the order of a column", async () => {
    const page = await demo.visit({ page: "gridjs.html" });
    await expect.poll(() => rows(page)).toEqual(skus());
    await page.locator(".gridjs-pages button").filter({ hasText: /^3$/ }).click();
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { offset: 20 }));
    expect(await page.locator(".gridjs-summary").innerText()).toContain(`of ${count()} results`);
    await page.locator('th[data-column-id="price"]').click();
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { order: "price, product_id" }));
    await page.locator('th[data-column-id="price"]').click();
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { order: "price DESC, product_id" }));
    await page.locator('th[data-column-id="category.name"]').click();
    const order = "category_name, product_id";
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { order }));
    const shown = page.locator('td[data-column-id="category.name"]');
    expect(await shown.allTextContents()).toEqual(values("category_name", "TRUE", { order }));
    await demo.picture("gridjs");
  });

  test("searches all columns, and shows markup as text", async () => {
    const page = await demo.visit({ page: "gridjs.html" });
    await expect.poll(() => rows(page)).toEqual(skus());
    const search = page.locator(".gridjs-search-input");
    await search.pressSequentially("hammer");
    await expect.poll(() => rows(page)).toEqual(skus("name LIKE '%hammer%'"));
    await search.fill("sealants");
    await expect.poll(() => rows(page)).toEqual(skus("category_name LIKE '%sealants%'"));
    await search.fill("");
    await search.pressSequentially('50%" _\\');
    await expectText(page, 'td[data-column-id="name"]');
    await demo.picture("gridjs-search");
  });
});

describe("TanStack Table", () => {
  const rows = (page: Page) => page.locator("#products tbody td:first-child").allTextContents();

  test("shows pages, in the order of columns", async () => {
    const page = await demo.visit({ page: "tanstack-table.html" });
    await expect.poll(() => rows(page)).toEqual(skus());
    await page.locator("#next").click();
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { offset: 10 }));
    const pages = page.locator("#pages");
    expect(await pages.innerText()).toBe(`Page 2 of ${Math.ceil(count() / 10)}`);
    await page.locator("#previous").click();
    await expect.poll(() => rows(page)).toEqual(skus());
    await page.locator("#products th").filter({ hasText: "Category" }).click();
    await page
      .locator("#products th")
      .filter({ hasText: "Price" })
      .click({ modifiers: ["Shift"] });
    const order = "category_name, price, product_id";
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { order }));
    await demo.picture("tanstack-table");
  });

  test("filters by a column, from the first page on, and searches all of them", async () => {
    const page = await demo.visit({ page: "tanstack-table.html" });
    await expect.poll(() => rows(page)).toEqual(skus());
    await page.locator("#next").click();
    await expect.poll(() => rows(page)).toEqual(skus("TRUE", { offset: 10 }));
    await page.locator("#products thead input").nth(2).pressSequentially("Power");
    await expect.poll(() => rows(page)).toEqual(skus("category_name LIKE '%power%'"));
    await page.locator("#search").pressSequentially("hammer");
    await expect
      .poll(() => rows(page))
      .toEqual(skus("category_name LIKE '%power%' AND name LIKE '%hammer%'"));
    await demo.picture("tanstack-table-filtered");
  });

  test("searches, sorts and shows related names", async () => {
    const page = await demo.visit({ page: "tanstack-table.html" });
    await expect.poll(() => rows(page)).toEqual(skus());
    await page.locator("#products th").filter({ hasText: "Supplier" }).click();
    await page.locator("#search").pressSequentially("sealants");
    const found = "category_name LIKE '%sealants%'";
    const order = "supplier_name, product_id";
    await expect.poll(() => rows(page)).toEqual(skus(found, { order }));
    const shown = page.locator("#products tbody td:nth-child(4)");
    expect(await shown.allTextContents()).toEqual(values("supplier_name", found, { order }));
    expect(await page.locator("#pages").innerText()).toBe(
      `Page 1 of ${Math.ceil(count(found) / 10)}`,
    );
  });

  test("shows markup as text, and finds what LIKE takes for its own", async () => {
    const page = await demo.visit({ page: "tanstack-table.html" });
    await expect.poll(() => rows(page)).toEqual(skus());
    await page.locator("#products thead input").nth(1).pressSequentially('50%" _\\');
    await expectText(page, "#products tbody td:nth-child(2)");
  });
});
