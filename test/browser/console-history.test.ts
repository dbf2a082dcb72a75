/** The history of a record in the console, and undoing a change. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const place = openConsole({
  changes: {
    "project.json": {
      auth: {
        apiKeys: [
          { id: "owner", sha256: hashOf("owner"), roles: ["owner"] },
          { id: "reader", sha256: hashOf("reader"), roles: ["reader"] },
          { id: "clerk", sha256: hashOf("clerk"), roles: ["clerk"] },
        ],
      },
    },
    "products.json": {
      access: {
        owner: "*",
        clerk: ["read", "first", "datatables"],
        reader: ["read", "first", "datatables", "history"],
      },
      hiddenFields: { reader: ["cost"] },
    },
  },
});

async function write(path: string, body: object): Promise<void> {
  const response = await fetch(`${place.url}/api/demo/products/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "owner" },
    body: JSON.stringify(body),
  });
  expect(response.status, await response.text()).toBeLessThan(300);
}

/** The id of a product whose price and cost were changed. */
async function changed(sku: string): Promise<string> {
  const [row] = await place.sql(`SELECT product_id FROM products WHERE sku = '${sku}'`);
  const product_id = String(row?.["product_id"]);
  await write("update", { product_id, price: 11 });
  await write("update", { product_id, price: 1234.5, cost: 7 });
  return product_id;
}

async function opened(id: string, key: string): Promise<Page> {
  const page = await place.visit(`#/demo/products/record/${id}?tab=-history`);
  await page.locator("#secret").fill(key);
  await page.keyboard.press("Enter");
  await page.locator("h1").waitFor();
  return page;
}

test("history is a tab, newest change first, with values as people write them", async () => {
  const page = await opened(await changed("HAND-0001"), "owner");
  const first = page.locator(".change").first();
  await first.waitFor();
  expect(await first.locator("[data-field=price] td").allTextContents()).toEqual([
    "11.00",
    "1,234.50",
  ]);
  expect(await first.locator(".change-head").innerText()).toMatch(/Changed\s+owner/);
  await place.picture(page, "history");
});

test("a change is shown before it is undone, and then undone", async () => {
  const id = await changed("HAND-0002");
  const page = await opened(id, "owner");
  await page.locator(".change").first().locator("button").click();
  const dialog = page.locator("dialog");
  expect(await dialog.locator("[data-field=price] td").allTextContents()).toEqual([
    "1,234.50",
    "11.00",
  ]);
  const stored = async (): Promise<unknown> =>
    (await place.sql(`SELECT price FROM products WHERE product_id = '${id}'`))[0]?.["price"];
  expect(Number(await stored())).toBe(1234.5);
  await place.picture(page, "history-preview");
  await dialog.locator(".primary").click();
  await expect.poll(() => page.locator("dialog").count()).toBe(0);
  expect(Number(await stored())).toBe(11);
  await page.locator("text=Undone").first().waitFor();
});

test("a change is not undone over a change of somebody else", async () => {
  const id = await changed("HAND-0003");
  const page = await opened(id, "owner");
  await page.locator(".change").first().locator("button").click();
  await write("update", { product_id: id, price: 99 });
  await page.locator("dialog .primary").click();
  await page.locator("text=Somebody else has changed this record").waitFor();
  const [row] = await place.sql(`SELECT price FROM products WHERE product_id = '${id}'`);
  expect(Number(row?.["price"])).toBe(99);
  place.takeFaults();
});

test("history has no hidden columns, and no button for who may not undo", async () => {
  const page = await opened(await changed("HAND-0004"), "reader");
  await page.locator(".change").first().waitFor();
  expect(await page.locator("[data-field=price]").count()).toBeGreaterThan(0);
  expect(await page.locator("[data-field=cost]").count()).toBe(0);
  expect(await page.locator(".change button").count()).toBe(0);
});

test("without the right to history there is no tab", async () => {
  const page = await opened(await changed("HAND-0005"), "clerk");
  await page.locator(".facts").waitFor();
  expect(await page.locator("#related--history").count()).toBe(0);
});
