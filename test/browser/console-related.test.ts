/** Related records in the console: tabs of a record, what belongs over a table between, and the ways there and back. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const full = { create: true, read: true, first: true, update: true, delete: true, lookup: true };
const place = openConsole({
  prepare: `
    CREATE TABLE labels (label_id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE product_labels (
      product_id TEXT NOT NULL REFERENCES products (product_id),
      label_id TEXT NOT NULL REFERENCES labels (label_id),
      PRIMARY KEY (product_id, label_id));
    INSERT INTO labels VALUES ('l1', 'New'), ('l2', 'Heavy'), ('l3', 'On sale');
    INSERT INTO product_labels SELECT product_id, 'l1' FROM products WHERE sku LIKE 'HAND-000%';
    INSERT INTO product_labels SELECT product_id, 'l2' FROM products WHERE sku = 'HAND-0001'`,
  changes: {
    "project.json": {
      auth: {
        apiKeys: [
          { id: "owner", sha256: hashOf("owner"), roles: ["owner"] },
          { id: "clerk", sha256: hashOf("clerk"), roles: ["clerk"] },
        ],
      },
    },
    "labels.json": {
      action: full,
      tableName: "labels",
      primaryKey: "label_id",
      fieldName: ["label_id", "name"],
      fieldNameLookup: { id: "label_id", text: "name" },
      access: { owner: "*" },
      relations: {
        products: {
          endpoint: "products",
          through: { endpoint: "product-labels", column: "label_id", foreignColumn: "product_id" },
        },
      },
    },
    "product-labels.json": {
      action: { ...full, lookup: false },
      tableName: "product_labels",
      primaryKey: ["product_id", "label_id"],
      fieldName: ["product_id", "label_id"],
      access: { owner: "*", clerk: "*" },
      relations: {
        product: { endpoint: "products", column: "product_id" },
        label: { endpoint: "labels", column: "label_id" },
      },
    },
    "products.json": {
      access: { owner: "*", clerk: ["read", "first", "datatables"] },
      relations: {
        category: { endpoint: "categories", column: "category_id" },
        supplier: { endpoint: "suppliers", column: "supplier_id" },
        receipt_lines: { endpoint: "stock-receipt-lines", foreignColumn: "product_id" },
        labels: {
          endpoint: "labels",
          through: { endpoint: "product-labels", column: "product_id", foreignColumn: "label_id" },
        },
      },
    },
    "suppliers.json": { access: { owner: "*" } },
    "categories.json": { access: { owner: "*", clerk: "*" } },
    "stock-receipts.json": { access: { owner: "*" } },
    "stock-receipt-lines.json": { access: { owner: "*" } },
    "warehouses.json": { access: { owner: "*" } },
  },
});

const tabs = (page: Page): Promise<string[]> => page.locator(".related .tab").allTextContents();
const chosen = (page: Page): Promise<string> =>
  page.locator(".related .tab[aria-selected=true]").innerText();
const title = (page: Page): Promise<string> => page.locator("h1").innerText();
const cells = (page: Page, at: number): Promise<string[]> =>
  page.locator(`.tab-panel tbody td:nth-child(${at})`).allTextContents();
const column = async (sql: string): Promise<unknown[]> =>
  (await place.sql(sql)).map((row) => Object.values(row)[0]);
const one = async (sql: string): Promise<string> => String((await column(sql))[0]);

async function signedIn(hash: string, key: string): Promise<Page> {
  const page = await place.visit(hash);
  await page.locator("#secret").fill(key);
  await page.keyboard.press("Enter");
  return page;
}

/** A supplier of many products and receipts. */
const supplier = () =>
  one(
    "SELECT supplier_id FROM products JOIN suppliers USING (supplier_id) WHERE suppliers.is_active GROUP BY supplier_id HAVING count(*) > 10 ORDER BY suppliers.name LIMIT 1",
  );

test("a record counts what belongs to it in one request, and shows the newest of each", async () => {
  const id = await supplier();
  const page = await signedIn(`#/demo/suppliers/record/${id}`, "owner");
  const [products, receipts] = [
    await one(`SELECT count(*) FROM products WHERE supplier_id = '${id}'`),
    await one(`SELECT count(*) FROM stock_receipts WHERE supplier_id = '${id}'`),
  ];
  await expect.poll(() => tabs(page)).toEqual([`Products${products}`, `Stock receipts${receipts}`]);
  const newest = await column(
    `SELECT sku FROM products WHERE supplier_id = '${id}' ORDER BY launched_on DESC, product_id LIMIT 10`,
  );
  await expect.poll(() => cells(page, 1)).toEqual(newest);
  const asked: (string | null)[] = [];
  page.on("request", (request) => void asked.push(request.postData()));
  await page.reload();
  await expect.poll(() => cells(page, 1)).toEqual(newest);
  expect(asked.filter((body) => body?.includes('"count"'))).toHaveLength(1);
  await place.picture(page, "related");
});

test("a row of a tab is opened, and the way back keeps the tab and the scroll position", async () => {
  const page = await signedIn(`#/demo/suppliers/record/${await supplier()}`, "owner");
  await page.locator(".tab-panel .open").first().waitFor();
  const name = await title(page);
  await page.locator(".related .tab").nth(1).click();
  await expect.poll(() => chosen(page)).toMatch(/^Stock receipts/);
  await expect.poll(() => page.url()).toContain("?tab=stock_receipts");
  await page.locator(".tab-panel tbody tr").nth(4).waitFor();
  await page.evaluate("scrollTo(0, 240)");
  await expect.poll(() => page.evaluate("history.state?.scroll")).toBe(240);
  await page.locator(".tab-panel .open").nth(4).click();
  await page.waitForURL(/stock-receipts\/record\//);
  await expect
    .poll(() => page.locator(".crumb a").allTextContents())
    .toEqual([name, "Stock receipts"]);
  await page.locator(".crumb a").first().click();
  await expect.poll(() => chosen(page)).toMatch(/^Stock receipts/);
  await expect.poll(() => page.evaluate("scrollY")).toBe(240);
});

test("the crumb of a record leads back to the page, the order and the filters of its list", async () => {
  const page = await signedIn("#/demo/products?sort=supplier.name&page=3&size=10", "owner");
  await page.locator(".grid tbody .open").nth(2).waitFor();
  const rows = () => page.locator(".grid tbody td:first-child").allTextContents();
  const before = await rows();
  await page.locator(".grid tbody .reference").nth(3).click();
  await page.waitForURL(/categories|suppliers/);
  await expect.poll(() => page.locator(".crumb a").first().innerText()).toBe("Products");
  await page.locator(".crumb a").first().click();
  await page.waitForURL(/products\?sort=supplier\.name&page=3&size=10$/);
  await expect.poll(rows).toEqual(before);
});

test("a new record of a tab begins with the foreign key, and leads back", async () => {
  const id = await supplier();
  const page = await signedIn(`#/demo/suppliers/record/${id}`, "owner");
  await page.locator(".tab-panel .open").first().waitFor();
  const name = await title(page);
  await page.locator(".tab-panel a").filter({ hasText: "New" }).click();
  await page.waitForURL(/products\/new\?supplier_id=/);
  await expect
    .poll(() => page.locator("[data-field=supplier_id] .item").allTextContents())
    .toEqual([expect.stringContaining(name)]);
  await page.locator(".save-bar a").filter({ hasText: "Cancel" }).click();
  await expect.poll(() => title(page)).toBe(name);
});

test("records over a table between have a tab, whose list is filtered by this record", async () => {
  const id = await one("SELECT product_id FROM products WHERE sku = 'HAND-0001'");
  const page = await signedIn(`#/demo/products/record/${id}?tab=labels`, "owner");
  await expect.poll(() => chosen(page)).toMatch(/^Labels\s*2$/);
  await expect.poll(() => cells(page, 1).then((all) => all.sort())).toEqual(["Heavy", "New"]);
  await page.locator(".tab-panel a").filter({ hasText: "New" }).last().waitFor();
  await page.locator(".tab-panel a").filter({ hasText: "Open as a list" }).click();
  await expect.poll(() => page.locator(".info[role=status]").innerText()).toMatch(/^2 records/);
  expect(await page.locator(".chip").innerText()).toContain("Products:");
});

test("a relation that the caller may not read is not shown, and nothing breaks", async () => {
  const id = await one("SELECT product_id FROM products WHERE sku = 'HAND-0001'");
  const page = await signedIn(`#/demo/products/record/${id}`, "clerk");
  await page.locator(".facts").waitFor();
  await expect
    .poll(() => page.locator(".value .reference").allTextContents())
    .toContain("Hand tools");
  expect(await page.locator(".related .tab").count()).toBe(0);
  await page.locator(".crumb a").first().click();
  await page.locator(".grid tbody .open").first().waitFor();
  const headings = await page.locator(".grid thead tr:first-child th").allTextContents();
  expect(headings.map((text) => text.trim())).toContain("Category");
  expect(await page.locator(".grid .reference").first().innerText()).not.toMatch(/^[0-9a-f]{8}…/);
});
