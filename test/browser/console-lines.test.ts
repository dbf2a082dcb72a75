/** Lines of documents whose key is that of the header and another record's, such as the products of an order. */
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";

const place = openConsole({
  prepare: `create table orders (order_id integer primary key, note text);
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
      },
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
