/** Many records at once in the lists of the console: selected rows, cells that are edited, the clipboard. */
import { describe, expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const place = openConsole();

const bar = (page: Page) => page.locator(".edit-bar");
const button = (page: Page, text: string) =>
  page.locator(".edit-bar button").filter({ hasText: text });
const cell = (page: Page, row: number, column: number) =>
  page.locator(".grid tbody tr").nth(row).locator("td").nth(column);
const focused = (page: Page): Promise<unknown> =>
  page.evaluate(
    "(({ parentElement: line, cellIndex }) => `${line?.sectionRowIndex} ${cellIndex}`)(document.activeElement.closest('td') ?? {})",
  );
const notices = (page: Page): Promise<string[]> => page.locator(".notice p").allTextContents();
const stored = async (sku: string): Promise<Record<string, unknown>> =>
  (await place.sql(`SELECT * FROM products WHERE sku = '${sku}'`))[0]!;
const paste = (page: Page, text: string): Promise<unknown> =>
  page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", ${JSON.stringify(text)});
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }`);

/** Columns of the list of products, behind the boxes. */
const [sku, name, category, price, stock, launched] = [1, 2, 3, 5, 6, 7];

/** Products of this test only, which nothing refers to. */
async function openProducts(prefix: string, count: number): Promise<Page> {
  // A test that is repeated finds the products of its first run.
  await place.sql(`DELETE FROM products WHERE sku LIKE '${prefix}-%'`);
  const [other] = await place.sql("SELECT category_id, supplier_id FROM products LIMIT 1");
  for (let at = 1; at <= count; at += 1)
    await place.call("products/create", {
      sku: `${prefix}-000${at}`,
      name: `${prefix} product ${at}`,
      price: at,
      cost: 1,
      stock: 10 * at,
      launched_on: "2026-03-14",
      ...other,
    });
  const page = await place.visit(`#/demo/products?q=${prefix}-&sort=sku`);
  await expect.poll(() => page.locator(".grid tbody tr .pick input").count()).toBe(count);
  return page;
}

test("cells are edited with the keyboard and saved together", async () => {
  const page = await openProducts("EDIT", 3);
  await cell(page, 0, name).dblclick();
  const input = page.locator(".cell-editor input");
  await expect.poll(() => input.inputValue()).toBe("EDIT product 1");
  await page.keyboard.type("First");
  await page.keyboard.press("Tab");
  expect(await cell(page, 0, name).innerText()).toBe("First");
  // Category and supplier are columns of a view.
  await expect.poll(() => focused(page)).toBe(`0 ${price}`);
  await page.keyboard.press("Enter");
  await page.keyboard.type("12,75");
  await page.keyboard.press("Enter");
  await expect.poll(() => focused(page)).toBe(`1 ${price}`);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.type("77");
  await page.keyboard.press("Enter");
  await page.keyboard.press("F2");
  await page.keyboard.type("5");
  await page.keyboard.press("Escape");
  expect(await cell(page, 2, stock).innerText()).toBe("30");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Delete");
  expect(await cell(page, 2, launched).innerText()).toBe("–");
  expect(await page.locator("td.changed").count()).toBe(4);
  expect(await cell(page, 0, price).getAttribute("title")).toBe("Was: 1.00");
  expect(await bar(page).innerText()).toContain("4 changes in 3 records");
  expect((await stored("EDIT-0001"))["name"]).toBe("EDIT product 1");
  await place.picture(page, "editing");
  await button(page, "Save all").click();
  await expect.poll(() => notices(page)).toEqual(["3 records saved"]);
  expect(await bar(page).isVisible()).toBe(false);
  expect(await stored("EDIT-0001")).toMatchObject({ name: "First", price: 12.75 });
  expect(await stored("EDIT-0002")).toMatchObject({ stock: 77 });
  expect(await stored("EDIT-0003")).toMatchObject({ stock: 30, launched_on: null });
  await expect.poll(() => cell(page, 0, price).innerText()).toBe("12.75");
  expect(await page.locator("td.changed").count()).toBe(0);
});

/** A cell that leads to a record is chosen at its edge. */
const besideItsLink = { position: { x: 2, y: 2 } };

test("the list is a grid of cells for assistive technology, with one place that Tab comes to", async () => {
  const page = await openProducts("ARIA", 2);
  expect(await page.locator("table.grid").getAttribute("role")).toBe("grid");
  expect(await page.locator(".grid tbody [tabindex='0']").count()).toBe(1);
  expect(await cell(page, 0, category).getAttribute("aria-readonly")).toBe("true");
  expect(await cell(page, 0, price).getAttribute("aria-readonly")).toBe(null);
  await cell(page, 0, category).click(besideItsLink);
  await page.keyboard.type("x");
  expect(await page.locator(".cell-editor").count()).toBe(0);
  await page.keyboard.press("Home");
  await expect.poll(() => focused(page)).toBe("0 0");
  await page.keyboard.press(" ");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  await expect.poll(() => focused(page)).toBe(`1 ${launched}`);
  expect(
    await page.locator(".grid tbody tr").evaluateAll((all) => all.map((one) => one.ariaSelected)),
  ).toEqual(["true", "false"]);
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/products\/record\//);
});

test("faults of a saved selection stand at their cells, and nothing is stored", async () => {
  const page = await openProducts("FALT", 3);
  await cell(page, 1, price).click();
  await page.keyboard.type("-4");
  await page.keyboard.press("Enter");
  await cell(page, 0, name).click();
  await page.keyboard.press("Delete");
  await cell(page, 2, stock).click();
  await page.keyboard.type("9");
  await page.keyboard.press("Enter");
  await button(page, "Save all").click();
  await expect.poll(() => page.locator("td.faulty").count()).toBe(2);
  expect(place.takeFaults()).toEqual([expect.stringContaining("400")]);
  expect(await cell(page, 1, price).locator(".fault-text").innerText()).toMatch(/0/);
  expect(await cell(page, 0, name).locator(".fault-text").innerText()).toMatch(/required|empty/i);
  expect(await cell(page, 1, price).getAttribute("aria-invalid")).toBe("true");
  expect(await stored("FALT-0003")).toMatchObject({ stock: 30 });
  await place.picture(page, "editing-faults");

  // Faults of records on other pages are told below the list.
  await page.locator(".search input").fill("FALT-0003");
  await expect.poll(() => page.locator(".grid tbody tr .pick input").count()).toBe(1);
  expect(await page.locator(".edit-faults li").count()).toBe(2);
  expect(await page.locator(".edit-faults").innerText()).toContain("FALT product 2, Price: ");
  await page.locator(".search input").fill("FALT-");
  await expect.poll(() => page.locator("td.faulty").count()).toBe(2);

  await cell(page, 1, price).click();
  await page.keyboard.type("abc");
  await page.keyboard.press("Enter");
  await expect
    .poll(() => page.locator(".cell-editor .fault-text").innerText())
    .toContain("This is not a number");
  await page.locator(".search input").click();
  await expect.poll(() => cell(page, 1, price).innerText()).toContain("abc");
  await button(page, "Save all").click();
  await expect
    .poll(() => notices(page).then((all) => all.join()))
    .toContain("Correct 1 marked cell");
  await button(page, "Discard").click();
  expect(await page.locator("td.changed, td.faulty").count()).toBe(0);
  expect(await cell(page, 1, price).innerText()).toBe("2.00");
});

test("rows and columns of a spreadsheet are pasted from the focused cell on", async () => {
  const page = await openProducts("PAST", 3);
  await cell(page, 1, price).click();
  await paste(page, '1,234.50\t5\t14/03/2025\r\n"2.25"\tmany\t2025-02-30\r\n7\t8\t\r\n');
  await expect.poll(() => page.locator("td.changed").count()).toBe(6);
  expect(await cell(page, 1, price).innerText()).toBe("1,234.50");
  expect(await cell(page, 1, launched).innerText()).toBe("14 Mar 2025");
  expect(await page.locator("td.faulty").allInnerTexts()).toEqual([
    expect.stringMatching(/^many\s+This is not a number/),
    expect.stringMatching(/^2025-02-30\s+This is not a date/),
  ]);
  expect(await notices(page)).toEqual(["3 values did not fit on this page."]);
  await place.picture(page, "editing-pasted");
  await cell(page, 2, stock).click();
  await paste(page, "6\t2025-02-28");
  await expect.poll(() => page.locator("td.faulty").count()).toBe(0);
  await cell(page, 1, category).click(besideItsLink);
  await paste(page, "Hand tools\tSomebody\t3.5");
  await expect
    .poll(() => notices(page))
    .toContain("Category, Supplier cannot be changed here and stayed as before.");
  await cell(page, 0, sku).click(besideItsLink);
  await page.keyboard.press("Control+s");
  await expect.poll(() => notices(page)).toContain("2 records saved");
  expect(await stored("PAST-0002")).toMatchObject({
    price: 3.5,
    stock: 5,
    launched_on: "2025-03-14",
  });
  expect(await stored("PAST-0003")).toMatchObject({
    price: 2.25,
    stock: 6,
    launched_on: "2025-02-28",
  });
});

test("selected rows are copied as a spreadsheet takes them", async () => {
  const page = await openProducts("COPY", 3);
  await place.call("products/update", {
    product_id: (await stored("COPY-0002"))["product_id"],
    name: 'A "quoted" name',
  });
  await page.reload();
  await expect.poll(() => page.locator(".grid tbody tr .pick input").count()).toBe(3);
  await page.locator(".pick input").nth(1).click();
  await page.locator(".pick input").nth(2).click();
  const text = await page.evaluate(`new Promise((resolve) => {
    const clipboardData = new DataTransfer();
    document.querySelector(".grid tbody td:nth-child(2)").dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }));
    resolve(clipboardData.getData("text/plain"));
  })`);
  const [product] = await place.sql(
    "SELECT category_name, supplier_name FROM product_overview WHERE sku = 'COPY-0001'",
  );
  const between = `${String(product!["category_name"])}\t${String(product!["supplier_name"])}`;
  expect(text).toBe(
    `COPY-0001\tCOPY product 1\t${between}\t1.00\t10\t2026-03-14\nCOPY-0002\t"A ""quoted"" name"\t${between}\t2.00\t20\t2026-03-14`,
  );
});

test("selected rows are changed and deleted together, and a bar says how many they are", async () => {
  const page = await openProducts("MANY", 4);
  const boxes = page.locator(".grid tbody .pick input");
  await boxes.nth(0).click();
  await boxes.nth(2).click({ modifiers: ["Shift"] });
  expect(await bar(page).innerText()).toContain("3 rows selected");
  expect(await page.locator("tr.chosen").count()).toBe(3);
  await place.picture(page, "editing-selected");

  await button(page, "Change").click();
  const dialog = page.locator(".dialog");
  await dialog.locator("#change-field").selectOption("price");
  await dialog.locator("[name=price]").fill("-1");
  await dialog.locator("button[type=submit]").click();
  await expect.poll(() => dialog.locator(".field .fault-text").innerText()).toMatch(/0/);
  expect(place.takeFaults()).toEqual([expect.stringContaining("400")]);
  await place.picture(page, "editing-change");
  await dialog.locator("[name=price]").fill("99.5");
  await dialog.locator("button[type=submit]").click();
  await expect.poll(() => notices(page)).toContain("3 records changed");
  await expect.poll(() => cell(page, 2, price).innerText()).toBe("99.50");
  expect(await stored("MANY-0004")).toMatchObject({ price: 4 });

  const receipts = await place.sql("SELECT product_id FROM stock_receipt_lines LIMIT 1");
  await place.sql(
    `UPDATE stock_receipt_lines SET product_id = (SELECT product_id FROM products WHERE sku = 'MANY-0002') WHERE line_id = (SELECT line_id FROM stock_receipt_lines WHERE product_id = '${String(receipts[0]!["product_id"])}' LIMIT 1)`,
  );
  await button(page, "Delete").click();
  expect(await dialog.locator("h2").innerText()).toBe("Delete 3 records?");
  await dialog.locator(".danger").click();
  await expect.poll(() => notices(page)).toContain("2 records deleted, 1 not. The list says why.");
  await expect.poll(() => page.locator(".grid tbody tr").count()).toBe(2);
  expect(await cell(page, 0, sku).locator(".fault-text").count()).toBe(1);
  expect(await bar(page).innerText()).toContain("1 row selected");
  await place.picture(page, "editing-refused");
  await button(page, "Clear").click();
  expect(await bar(page).isVisible()).toBe(false);
  await page.locator("thead .pick input").click();
  expect(await bar(page).innerText()).toContain("2 rows selected");
});

test("of a record that somebody else saved meanwhile, people keep their values or take the others", async () => {
  const page = await openProducts("SAME", 3);
  for (const row of [0, 1, 2]) {
    await cell(page, row, stock).click();
    await page.keyboard.type("500");
    await page.keyboard.press("Enter");
  }
  for (const one of ["SAME-0001", "SAME-0002"])
    await place.call("products/update", {
      product_id: (await stored(one))["product_id"],
      stock: 1,
      price: 8,
    });
  await button(page, "Save all").click();
  const dialog = page.locator(".dialog");
  await expect.poll(() => dialog.locator("h2").innerText()).toBe("Somebody else changed 2 records");
  expect(place.takeFaults()).toEqual([expect.stringContaining("412")]);
  expect(await dialog.locator("fieldset tbody tr").allInnerTexts()).toEqual([
    "In stock\t1\t500",
    "Price\t8.00\tnot changed",
    "In stock\t1\t500",
    "Price\t8.00\tnot changed",
  ]);
  await place.picture(page, "editing-conflict");
  await dialog.locator(".conflict").nth(1).locator("[value=stored]").click();
  await dialog.locator("button[type=submit]").click();
  await expect.poll(() => notices(page)).toContain("2 records saved");
  expect(await stored("SAME-0001")).toMatchObject({ stock: 500, price: 8 });
  expect(await stored("SAME-0002")).toMatchObject({ stock: 1, price: 8 });
  expect(await stored("SAME-0003")).toMatchObject({ stock: 500 });
});

test("leaving with changes that are not saved asks first", async () => {
  const page = await openProducts("LEAV", 1);
  await cell(page, 0, stock).click();
  await page.keyboard.type("3");
  await page.keyboard.press("Enter");
  await page.locator(".side a").filter({ hasText: "Suppliers" }).click();
  await expect.poll(() => place.takeFaults()).toEqual(["alert: Leave without saving?"]);
  await expect.poll(() => page.url()).toContain("/demo/products");
  expect(await cell(page, 0, stock).innerText()).toBe("3");
  await button(page, "Discard").click();
  await page.locator(".side a").filter({ hasText: "Suppliers" }).click();
  await expect.poll(() => page.locator("h1").innerText()).toBe("Suppliers");
  // No bulk actions: a list as before, whose rows open their records.
  expect(await page.locator(".pick").count()).toBe(0);
  await page.locator(".grid tbody td").nth(1).click();
  await page.waitForURL(/suppliers\/record\//);
});

describe("what is being saved takes no input, which the answer would replace", () => {
  /** Requests to this action wait until the result is called. */
  async function held(page: Page, action: string): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route(`**/products/${action}`, async (route) => {
      await promise;
      await route.continue();
    });
    return resolve;
  }

  test("a record", async () => {
    await openProducts("WAIT", 1);
    const { product_id: id } = await stored("WAIT-0001");
    const page = await place.visit(`#/demo/products/record/${id}`);
    const answer = await held(page, "update");
    const input = page.locator("form [name=name]");
    await input.fill("first");
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => page.locator("form[inert]").count()).toBe(1);
    await page.keyboard.type(" and lost");
    expect(await input.inputValue()).toBe("first");
    answer();
    await expect.poll(() => page.locator(".save-bar").isVisible()).toBe(false);
    expect(await page.locator("form[inert]").count()).toBe(0);
    // A refused one can be corrected where the keys were.
    await input.fill("x".repeat(500));
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => page.locator("form .fault-text:visible").count()).toBeGreaterThan(0);
    place.takeFaults();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("second");
    await page.keyboard.press("Control+Enter");
    await expect.poll(async () => (await stored("WAIT-0001"))["name"]).toBe("second");
  });

  test("a list", async () => {
    const page = await openProducts("HOLD", 1);
    const answer = await held(page, "bulk-update");
    await cell(page, 0, name).dblclick();
    await page.keyboard.type("first");
    await page.keyboard.press("Enter");
    await button(page, "Save all").click();
    await expect.poll(() => page.locator(".grid[inert]").count()).toBe(1);
    answer();
    await expect.poll(() => notices(page)).toEqual(["1 record saved"]);
    expect(await page.locator(".grid[inert]").count()).toBe(0);
  });
});
