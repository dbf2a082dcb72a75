/** Lines of documents whose key is that of the header and another record's, such as the products of an order. */
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";

const place = openConsole({
  prepare: `create table orders (order_id integer primary key, note text, status text default 'open');
    insert into orders (order_id, note) values (900, 'Final');
    create table order_products (
      order_id integer not null references orders(order_id),
      product_id varchar(36) not null references products(product_id),
      quantity integer not null, primary key (order_id, product_id))`,
  changes: {
    "orders.json": {
      tableName: "orders",
      action: {
        create: true,
        read: true,
        first: true,
        datatables: true,
        "create-composite": true,
        "read-composite": true,
        "update-composite": true,
        "change-status": true,
      },
      workflow: { transitions: { open: ["sent"], sent: ["open", "lost"], lost: [] } },
      masterDetail: {
        detailTable: "order_products",
        foreignKey: "order_id",
        detailConfig: {
          primaryKey: ["order_id", "product_id"],
          fieldName: ["product_id", "quantity"],
        },
      },
    },
    "order-products.json": { tableName: "order_products", action: { read: true, first: true } },
  },
});

test("the other part of a line's key is chosen in new lines, and stays in those that are stored", async () => {
  const page = await place.visit("#/demo/orders/new");
  const lines = page.locator(".lines tbody tr");
  await lines.first().locator(".ts-control").click();
  await lines.first().locator(".ts-control input").pressSequentially("HAND-0002");
  await page.locator(".ts-dropdown .option").filter({ hasText: "HAND-0002" }).first().click();
  await lines.first().locator("[name=quantity]").fill("3");
  await page.locator("button").filter({ hasText: "Create" }).click();
  await page.waitForURL(/#\/demo\/orders\/record\//);
  const stored =
    "select quantity from order_products p join products using (product_id) where sku = 'HAND-0002'";
  expect(await place.sql(stored)).toEqual([{ quantity: 3 }]);

  await expect.poll(() => lines.first().locator(".ts-control").count()).toBe(0);
  await expect.poll(() => lines.first().innerText()).toContain("HAND-0002");
  await lines.first().locator("[name=quantity]").fill("4");
  await page.locator("button").filter({ hasText: "Save" }).click();
  await expect.poll(() => place.sql(stored)).toEqual([{ quantity: 4 }]);
});

test("a step without a way back is asked first, also where its status does not close the record", async () => {
  const page = await place.visit("#/demo/orders/record/900");
  const step = (text: string) => page.locator(".status-step").filter({ hasText: text });
  const status = () => page.locator(".head .status").innerText();
  await step("Sent").click();
  await expect.poll(status).toBe("Sent");
  await step("Lost").click();
  const dialog = page.locator(".dialog");
  expect(await dialog.locator("p").first().innerText()).toBe(
    "No other status can follow. This cannot be undone.",
  );
  await dialog.locator(".danger").click();
  await expect.poll(status).toBe("Lost");
});

test("a document with ten lines is entered, corrected and saved by keyboard alone", async () => {
  const page = await place.visit("#/demo/stock-receipts/new");
  const lines = page.locator(".lines tbody tr");
  const keys = page.keyboard;
  const focused = (selector: string) => page.locator(`${selector}:focus`).waitFor();
  /** Types into the drop-down that has the focus. */
  const choose = async (text: string) => {
    await keys.type(text);
    await page.locator(".ts-dropdown .option.active").filter({ hasText: text }).waitFor();
    await keys.press("Enter");
  };
  await focused("[name=receipt_date]");
  await page.locator("[name=receipt_date]").fill("2026-11-02");
  await page.locator("[data-field=supplier_id] .ts-control input").focus();
  await focused("[data-field=supplier_id] .ts-control input");
  await choose("Calder");
  await keys.press("Tab");
  await focused("[data-field=warehouse_id] .ts-control input");
  await choose("Hamburg");
  await page.locator("[name=line_number]").focus();
  await keys.press("Enter");
  for (let at = 0; at < 10; at++) {
    await focused(`.lines tbody tr:nth-child(${at + 1}) .ts-control input`);
    await choose(`HAND-00${10 + at}`);
    await focused(`.lines tbody tr:nth-child(${at + 1}) [name=qty_received]`);
    await keys.type(String(at + 1));
    await keys.press("Enter");
    await focused(`.lines tbody tr:nth-child(${at + 1}) [name=unit_price]`);
    await keys.type("0.10");
    await keys.press("Enter");
  }
  // Enter in a list in which nothing was looked for chooses nothing, and Enter in an untouched line adds no other.
  await focused(".lines tbody tr:nth-child(11) .ts-control input");
  await keys.press("Enter");
  await focused(".lines tbody tr:nth-child(11) [name=qty_received]");
  await keys.press("Enter");
  await keys.press("Enter");
  expect(await lines.count()).toBe(11);
  // The arrows go to the line above, in the same field.
  await keys.press("ArrowUp");
  await focused(".lines tbody tr:nth-child(10) [name=unit_price]");
  await keys.type("0.20");
  await keys.press("ArrowUp");
  await keys.press("Control+Delete");
  await focused(".lines tbody tr:nth-child(9) [name=line_number]");
  expect(await lines.count()).toBe(10);
  await place.picture(page, "lines-by-keyboard");
  // The line that Enter began and nobody filled in is not sent.
  await keys.press("Control+Enter");
  await page.waitForURL(/#\/demo\/stock-receipts\/record\//);
  const receipt = page.url().split("/").at(-1);
  expect(
    await place.sql(
      `select line_number, qty_received, unit_price from stock_receipt_lines where receipt_id = '${receipt}' order by line_number`,
    ),
  ).toEqual([
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((at) => ({
      line_number: at,
      qty_received: at,
      unit_price: 0.1,
    })),
    { line_number: 10, qty_received: 10, unit_price: 0.2 },
  ]);

  await expect.poll(() => page.locator("h1").innerText()).toMatch(/^2 Nov 2026 · Calder/);
  const stored = lines.first().locator("[name=qty_received]");
  await stored.focus();
  await keys.type("7");
  await keys.press("Control+Enter");
  await expect.poll(() => page.locator(".notice").allTextContents()).toContain("Saved");
  // Some two hundred keys, each of which a busy machine answers late.
}, 90_000);
