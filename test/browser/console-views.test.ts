/** Views of a list by name: the project's own, and those that people keep in the browser. */
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const hostile = `<img src=x onerror="alert('name')">`;
const place = openConsole({
  changes: {
    "products.json": {
      console: {
        views: {
          "Almost out": {
            where: [{ key: "stock", operator: "<", value: 10 }],
            order: ["stock", "-name"],
            columns: ["sku", "category.name", "stock"],
          },
          [hostile]: {
            search_value: "hammer",
            where: [{ key: "price", operator: "BETWEEN", value: [5, 90] }],
          },
        },
      },
    },
  },
});

const info = (page: Page): Promise<string> => page.locator(".info[role=status]").innerText();
const menu = (page: Page) => page.locator(".views-menu");
const names = (page: Page): Promise<string[]> => menu(page).locator("li a").allInnerTexts();
const title = (page: Page): Promise<string> => menu(page).locator("summary").innerText();
const open = async (page: Page): Promise<void> => {
  if ((await menu(page).getAttribute("open")) === null) await menu(page).locator("summary").click();
};
const act = (page: Page, text: string): Promise<void> =>
  menu(page).locator(`[aria-label='${text}']`).click();
const queryIn = (page: Page): URLSearchParams => new URLSearchParams(page.url().split("?")[1]);
const headings = async (page: Page): Promise<string[]> =>
  (await page.locator(".grid thead tr:first-child th:not(.pick)").allTextContents()).map((one) =>
    one.trim(),
  );
const count = async (condition: string): Promise<string> => {
  const [row] = await place.sql(
    `SELECT count(*) AS found FROM product_overview WHERE is_active AND ${condition}`,
  );
  return `${Number(row!["found"]).toLocaleString("en")} records of 2,273`;
};

async function keep(page: Page, name: string): Promise<void> {
  await menu(page).locator(".menu-end input").fill(name);
  await menu(page).locator(".menu-end button").click();
}

test("a view of the project opens with its conditions, order and columns", async () => {
  const page = await place.visit("#/demo/products");
  await expect.poll(() => info(page)).toBe("2,273 records");
  expect(await title(page)).toBe("Views");
  await open(page);
  expect(await names(page)).toEqual(["Almost out", hostile]);
  await place.picture(page, "views-shared");
  await menu(page).locator("li a").first().click();
  await expect.poll(() => title(page)).toBe("Almost out");
  // The title comes with the address, and the records after it.
  const few = await count("stock < 10");
  await expect.poll(() => info(page)).toBe(few);
  expect(await headings(page)).toEqual(["SKU", "Category", "In stock"]);
  expect(Object.fromEntries(queryIn(page))).toEqual({
    "f.stock": "< 10",
    sort: "stock,-name",
    cols: "sku,category.name,stock",
  });
  await open(page);
  expect(await menu(page).locator("[aria-current]").innerText()).toBe("Almost out");
  expect(await menu(page).locator(".mini").count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.locator("[aria-label='Filter by In stock']").fill("> 5");
  await expect.poll(() => title(page)).toBe("Views");
  await open(page);
  await menu(page).locator("li a").nth(1).click();
  await expect
    .poll(() => info(page))
    .toBe(await count("name LIKE '%hammer%' AND price BETWEEN 5 AND 90"));
});

test("people keep a view, open it, replace, rename and delete it", async () => {
  const page = await place.visit("#/demo/products?f.price=>+100&sort=-price&cols=name,price");
  await expect.poll(() => info(page)).toBe(await count("price > 100"));
  await open(page);
  await keep(page, "   ");
  await keep(page, " Dear   ones ");
  expect(await names(page)).toEqual(["Almost out", hostile, "Dear ones"]);
  expect(await title(page)).toBe("Dear ones");
  await place.picture(page, "views-own");

  const [second] = [await place.other("#/demo/products")];
  await expect.poll(() => info(second)).toBe("2,273 records");
  await open(page);
  await page.locator(".search input").fill("hammer");
  await expect.poll(() => info(page)).toBe(await count("price > 100 AND name LIKE '%hammer%'"));
  expect(await title(page)).toBe("Views");
  await open(page);
  await act(page, "Replace: Dear ones");
  await expect.poll(() => title(page)).toBe("Dear ones");
  await page.reload();
  await expect.poll(() => title(page)).toBe("Dear ones");

  await open(page);
  await act(page, "Rename: Dear ones");
  const input = menu(page).locator("li input");
  await input.fill(hostile);
  await input.press("Enter");
  expect(await names(page)).toEqual(["Almost out", hostile, hostile]);
  await keep(page, "Other");
  await act(page, `Rename: Other`);
  await input.fill(hostile);
  await input.press("Enter");
  expect(await page.locator(".notice.fault").innerText()).toContain("already");
  await input.press("Escape");
  expect(await names(page)).toEqual(["Almost out", hostile, hostile, "Other"]);

  await act(page, "Delete: Other");
  expect(await names(page)).toEqual(["Almost out", hostile, hostile]);
  await page.locator(".notice button").last().click();
  await open(page);
  await expect.poll(() => names(page)).toEqual(["Almost out", hostile, hostile, "Other"]);
  await page.locator("#app a[href='#/demo/suppliers']").first().click();
  await page.locator("h1").filter({ hasText: "Suppliers" }).waitFor();
  await open(page);
  expect(await names(page)).toEqual([]);
});

test("saving under a name that there is replaces the view", async () => {
  const page = await place.visit("#/demo/products?q=saw");
  await open(page);
  await keep(page, "Mine");
  await page.locator(".search input").fill("hammer");
  await expect.poll(() => title(page)).toBe("Views");
  await open(page);
  await menu(page).locator(".menu-end input").fill("Mine");
  expect(await menu(page).locator(".menu-end button").innerText()).toBe("Replace");
  await menu(page).locator(".menu-end button").click();
  expect(await names(page)).toEqual(["Almost out", hostile, "Mine"]);
  expect(await menu(page).locator("li a").last().getAttribute("href")).toContain("q=hammer");
});

const unreadable: [about: string, stored: string, shown: string[]][] = [
  [
    "fields that the caller does not see",
    '[["A","f.secret=1"],["B","sort=-secret"],["C","cols=secret"]]',
    [],
  ],
  ["parameters that there are none of", '[["A","p.from=2026-01-01"],["B","q=a"]]', ["B"]],
  ["markup", '[["<script>alert(1)</script>","q=a"]]', ["<script>alert(1)</script>"]],
  [
    "names of all objects",
    '[["__proto__","q=a"],["constructor","q=b"]]',
    ["__proto__", "constructor"],
  ],
  ["another form", '{"a": 1}', []],
  ["no texts", '[[1,2],["A"],null]', []],
  ["no JSON", "views", []],
];

test.each(unreadable)("kept views with %s", async (_, stored, shown) => {
  const page = await place.visit("#/demo/products");
  await expect.poll(() => info(page)).toBe("2,273 records");
  await page.evaluate(
    `localStorage.setItem("rowgate.views.api/demo/products", ${JSON.stringify(stored)})`,
  );
  await page.reload();
  await expect.poll(() => info(page)).toBe("2,273 records");
  await open(page);
  expect((await names(page)).slice(2)).toEqual(shown);
  await keep(page, "New one");
  expect(await names(page)).toContain("New one");
});
