/** Lists of the console as grids: what stays in sight, columns as people want them, keys, and ranges of cells. */
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Locator, Page } from "./playwright.ts";

const place = openConsole();

const heading = (page: Page, text: string): Locator =>
  page.locator(".grid thead th").filter({ hasText: text });
const headings = (page: Page): Promise<string[]> =>
  page
    .locator(".grid thead th:not(.pick)")
    .evaluateAll((all) => all.map((one) => one.innerText.trim()));
const boxOf = async (one: Locator) => (await one.boundingBox())!;
const left = async (one: Locator): Promise<number> => Math.round((await boxOf(one)).x);
const width = async (one: Locator): Promise<number> => Math.round((await boxOf(one)).width);
const scroll = (page: Page, place: string): Promise<unknown> =>
  page.evaluate(`document.querySelector(".scroller").scrollTo(${place})`);

/** From the middle of one element to a point of another one, as a part of its width. */
async function drag(page: Page, from: Locator, to: Locator, part = 0.5): Promise<void> {
  const [start, end] = [await boxOf(from), await boxOf(to)];
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
  await page.mouse.down();
  await page.mouse.move(end.x + end.width * part, end.y + end.height / 2, { steps: 4 });
  await page.mouse.up();
}

/** The row and the column of the cell with the focus, as assistive technology is told them, and its text. */
const focused = (page: Page): Promise<unknown> =>
  page.evaluate(
    "(({ parentElement: line, ariaColIndex, innerText }) => [Number(line?.ariaRowIndex), Number(ariaColIndex), innerText])(document.activeElement.closest('td, th') ?? {})",
  );
const copied = (page: Page): Promise<unknown> =>
  page.evaluate(`{
    const clipboardData = new DataTransfer();
    document.activeElement.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }));
    clipboardData.getData("text/plain");
  }`);

test("headings and pages stay in sight while the rows scroll", async () => {
  const page = await place.visit("#/demo/products?size=100&f.name=e");
  await expect.poll(() => page.locator(".grid tbody tr").count()).toBe(100);
  const before = [await boxOf(heading(page, "SKU")), await boxOf(page.locator(".pager"))];
  const filter = await boxOf(page.locator("[aria-label='Filter by Product']"));
  await scroll(page, "0, 100000");
  await expect
    .poll(async () => (await boxOf(page.locator(".grid tbody tr").first())).y)
    .toBeLessThan(0);
  expect([await boxOf(heading(page, "SKU")), await boxOf(page.locator(".pager"))]).toEqual(before);
  expect(await boxOf(page.locator("[aria-label='Filter by Product']"))).toEqual(filter);
  expect(filter.y).toBeGreaterThan(before[0]!.y);
  expect(before[1]!.y + before[1]!.height).toBeLessThanOrEqual(850);
  expect(await page.evaluate("document.documentElement.scrollHeight <= innerHeight")).toBe(true);
});

test("columns are resized, moved and kept at the left, and the browser keeps that until it is reset", async () => {
  const page = await place.visit("#/demo/products");
  await expect.poll(() => page.locator(".grid tbody tr").count()).toBe(25);
  const usual = await headings(page);
  const wide = await width(heading(page, "Product"));

  await drag(page, heading(page, "Product").locator(".edge"), heading(page, "Product"), 0.7);
  await expect.poll(() => width(heading(page, "Product"))).toBe(Math.round(wide * 0.7));
  await drag(page, heading(page, "Price"), heading(page, "Product"), 0.2);
  const moved = ["SKU", "Price", "Product", "Category", "Supplier", "In stock", "Launched"];
  await expect.poll(() => headings(page)).toEqual(moved);
  // A heading that was dragged does not sort.
  expect(page.url()).not.toContain("sort=");
  expect(await page.locator(".grid tbody td:nth-child(3)").first().innerText()).toMatch(
    /^\d+\.\d\d$/,
  );

  const row = (text: string) => page.locator(".columns-menu li").filter({ hasText: text });
  await page.locator(".columns-menu summary").click();
  await row("Supplier").locator("input").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(async () => (await headings(page))[0]).toBe("Supplier");
  // It is the first one now: the next button moves it down, and goes with it.
  await page.keyboard.press("Tab");
  for (let at = 0; at < 2; at += 1) await page.keyboard.press("Enter");
  await expect
    .poll(() => headings(page).then((all) => all.slice(0, 3)))
    .toEqual(["SKU", "Supplier", "Price"]);
  expect(await row("Supplier").locator("[aria-pressed]").getAttribute("aria-pressed")).toBe(
    "false",
  );
  await row("SKU").locator("input").focus();
  await row("SKU").locator("[aria-pressed]").click();
  await row("Launched").locator("input").click();
  expect(await page.locator(".columns-menu summary").innerText()).toBe("6 of 8 columns");
  await place.picture(page, "columns-menu");
  await page.keyboard.press("Escape");

  const arranged = ["SKU", "Supplier", "Price", "Product", "Category", "In stock"];
  const other = page.locator(".side a");
  await other.filter({ hasText: "Suppliers" }).click();
  await expect.poll(() => page.locator("h1").innerText()).toBe("Suppliers");
  await other.filter({ hasText: "Products" }).click();
  await expect.poll(() => headings(page)).toEqual(arranged);
  await expect.poll(() => width(heading(page, "Product"))).toBe(Math.round(wide * 0.7));
  // Wide enough to scroll.
  await drag(page, heading(page, "Category").locator(".edge"), page.locator(".scroller"), 0.99);
  const [pinned, free] = [await left(heading(page, "SKU")), await left(heading(page, "Supplier"))];
  await scroll(page, "150, 300");
  await expect.poll(() => left(heading(page, "Supplier"))).toBeLessThan(free);
  expect(await left(heading(page, "SKU"))).toBe(pinned);
  expect(await left(page.locator(".grid tbody td.pinned-end").nth(12))).toBe(pinned);
  await place.picture(page, "grid-pinned");

  await heading(page, "Price").click();
  await expect.poll(() => page.url()).toContain("sort=price");
  await heading(page, "Product").locator(".edge").dblclick();
  await expect.poll(() => width(heading(page, "Product"))).toBeGreaterThan(wide * 0.75);
  expect(page.url()).not.toContain("sort=name");

  await page.locator(".columns-menu summary").click();
  await page.locator(".columns-menu button").filter({ hasText: "Reset columns" }).click();
  await expect.poll(() => headings(page)).toEqual(usual);
  expect(await page.locator(".grid.sized").count()).toBe(0);
  expect(await page.evaluate("Object.keys(localStorage)")).toEqual([]);
  expect(page.url()).not.toContain("cols=");
});

test("Shift and the arrow keys resize the column of a heading, say how wide it is, and the browser keeps it", async () => {
  const page = await place.visit("#/demo/suppliers?cols=code,name,city");
  await expect.poll(() => page.locator(".grid tbody tr").count()).toBe(25);
  const [code, name, city] = ["Code", "Supplier", "City"].map((text) => heading(page, text));
  const before = await width(name!);
  const said = () => page.locator(".unseen[role=status]").allTextContents();
  await page.locator(".columns-menu summary").focus();
  for (const key of ["Tab", "ArrowUp", "ArrowRight"]) await page.keyboard.press(key);
  for (let at = 0; at < 3; at += 1) await page.keyboard.press("Shift+ArrowLeft");
  expect(await width(name!)).toBe(before - 48);
  expect(await said()).toContain(`Supplier: ${before - 48} pixels wide`);
  await page.keyboard.press("Shift+ArrowRight");
  expect(await width(name!)).toBe(before - 32);
  // The focus stayed, nothing was sorted, and arrows alone still move.
  expect(page.url()).not.toContain("sort=");
  await page.keyboard.press("ArrowLeft");
  for (let at = 0; at < 20; at += 1) await page.keyboard.press("Shift+ArrowLeft");
  expect([await width(code!), await said()]).toEqual([
    56,
    expect.arrayContaining(["Code: 56 pixels wide"]),
  ]);
  expect(await width(city!)).toBeGreaterThan(56);
  await place.picture(page, "grid-widths-by-keys");
  await page.reload();
  await expect.poll(() => width(name!)).toBe(before - 32);
  expect(await width(code!)).toBe(56);
  await page.evaluate("localStorage.clear()");
});

test("keys move between the cells as in a spreadsheet, and a range of them is copied", async () => {
  const page = await place.visit("#/demo/suppliers?cols=code,name,city&size=50&sort=code");
  await expect.poll(() => page.locator(".grid tbody tr").count()).toBe(50);
  const rows = (
    await place.sql("SELECT code, name, city FROM suppliers WHERE is_active ORDER BY code LIMIT 60")
  ).map((row) => Object.values(row).map(String));
  const grid = page.locator("table.grid");
  expect(await grid.getAttribute("aria-rowcount")).toMatch(/^\d{3}$/);
  expect(Number(await grid.getAttribute("aria-colcount"))).toBeGreaterThan(5);
  // One stop of Tab, with its headings.
  expect(await page.locator(".scroller [tabindex='0'], .scroller a:not([tabindex])").count()).toBe(
    1,
  );

  await page.locator(".columns-menu summary").focus();
  await page.keyboard.press("Tab");
  const at = (await page.evaluate(
    "[...document.querySelectorAll('.grid thead th')].map(({ ariaColIndex }) => Number(ariaColIndex))",
  )) as number[];
  const [code = 0, name = 0, city = 0] = at;
  expect(await focused(page)).toEqual([2, code, rows[0]![0]]);
  const steps: [string, number, number][] = [
    ["ArrowRight", 2, name],
    ["ArrowDown", 3, name],
    ["End", 3, city],
    ["ArrowRight", 3, city],
    ["Home", 3, code],
    ["Control+End", 51, city],
    ["ArrowDown", 51, city],
    ["Control+Home", 2, code],
    ["ArrowUp", 1, code],
    ["ArrowDown", 2, code],
  ];
  for (const [key, row, column] of steps) {
    await page.keyboard.press(key);
    expect([key, ...((await focused(page)) as number[]).slice(0, 2)]).toEqual([key, row, column]);
  }
  await page.keyboard.press("PageDown");
  const [screen] = (await focused(page)) as [number];
  expect(screen).toBeGreaterThan(8);
  expect(screen).toBeLessThan(30);
  await page.keyboard.press("PageUp");
  expect(await focused(page)).toEqual([2, code, rows[0]![0]]);

  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+End");
  expect(await page.locator("td[aria-selected=true]").count()).toBe(4);
  expect(await copied(page)).toBe(
    rows
      .slice(0, 2)
      .map(([, ...cells]) => cells.join("\t"))
      .join("\n"),
  );
  await place.picture(page, "grid-range");
  await page.keyboard.press("Escape");
  expect(await page.locator("td[aria-selected]").count()).toBe(0);
  expect(await copied(page)).toBe(rows[1]![2]);

  const cell = (row: number, column: number) =>
    page.locator(".grid tbody tr").nth(row).locator("td").nth(column);
  await drag(page, cell(4, 0), cell(2, 1));
  expect(await copied(page)).toBe(
    rows
      .slice(2, 5)
      .map((cells) => cells.slice(0, 2).join("\t"))
      .join("\n"),
  );
  // Neither the drag nor a click with Shift opened a record.
  await cell(6, 1).click({ modifiers: ["Shift"] });
  expect(await page.locator("td.in-range").count()).toBe(6);
  expect(page.url()).toContain("#/demo/suppliers?");

  // Headings sort by Enter; the last row leads to the next page.
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toContain("sort=city");
  await expect.poll(() => page.locator(".grid-holder[aria-busy]").count()).toBe(0);
  await page.keyboard.press("Control+End");
  await page.keyboard.press("PageDown");
  await expect.poll(async () => ((await focused(page)) as number[])[0]).toBe(52);
  await page.keyboard.press("Enter");
  await page.waitForURL(/suppliers\/record\//);
});

test.each(["suppliers", "products"])(
  "Tab goes through the cells of %s and leaves at their ends, or after Escape, as the line below says",
  async (endpoint) => {
    const page = await place.visit(`#/demo/${endpoint}?size=10`);
    const cells = page.locator(".grid tbody tr:last-child td:not(.pick)");
    await expect.poll(() => page.locator(".grid tbody tr").count()).toBe(10);
    const keys = page.locator("#grid-keys");
    const isSeen = async () => (await keys.boundingBox())!.height > 8;
    expect(await isSeen()).toBe(false);
    const columns = await cells.count();
    const at = (): Promise<unknown> =>
      page.evaluate(
        `(({ parentElement: line, cellIndex }) => line && [line.sectionRowIndex, cellIndex - ${endpoint === "products" ? 1 : 0}])(document.activeElement.closest("tbody td") ?? {})`,
      );
    const press = async (key: string): Promise<unknown> => {
      await page.keyboard.press(key);
      return (await at()) ?? null;
    };
    await page.locator(".columns-menu summary").focus();
    expect(await press("Tab")).toEqual([0, 0]);
    expect(await isSeen()).toBe(true);
    expect(await keys.innerText()).toContain("Escape and then Tab leave the list.");
    expect(await press("Tab")).toEqual([0, 1]);
    expect(await press("End")).toEqual([0, columns - 1]);
    expect(await press("Tab")).toEqual([1, 0]);
    expect(await press("Shift+Tab")).toEqual([0, columns - 1]);
    await place.picture(page, `grid-tab-${endpoint}`);
    // With Escape in between, both directions lead out.
    await page.keyboard.press("Escape");
    expect(await press("Shift+Tab")).toBe(null);
    expect(await press("Tab")).toEqual([0, columns - 1]);
    await page.keyboard.press("Escape");
    expect(await press("Tab")).toBe(null);
    const isIn = (selector: string): Promise<unknown> =>
      page.evaluate(`document.activeElement.closest("${selector}") !== null`);
    expect(await isIn(".pager")).toBe(true);
    expect(await press("Shift+Tab")).toEqual([0, columns - 1]);
    // The ends of the page lead out by themselves.
    await page.keyboard.press("Control+End");
    expect(await press("Tab")).toBe(null);
    expect(await isIn(".pager")).toBe(true);
    await press("Shift+Tab");
    await page.keyboard.press("Control+Home");
    expect(await press(endpoint === "products" ? "Tab" : "Shift")).toEqual([0, 0]);
    expect(await press("Shift+Tab")).toBe(null);
    expect(await isIn(".columns-menu")).toBe(true);
    // Filters, which stand between the headings and the cells, are reached as before.
    await page.locator(".filters-button").click();
    const last = page.locator(".filters :is(input, select)").last();
    await last.focus();
    expect(await press("Tab")).toEqual([0, 0]);
    expect(await press("Shift+Tab")).toBe(null);
    expect(await isIn(".filters")).toBe(true);
  },
);

test("a list begins with the columns and the order of its endpoint's file, and the menu has its groups", async () => {
  const page = await place.visit("#/demo/stock-receipts");
  const country = () => page.locator(".grid tbody td:nth-child(8)").first().innerText();
  const first = async (order: string) =>
    (
      await place.sql(
        `SELECT receipt_number, country FROM stock_receipts JOIN suppliers USING (supplier_id) ORDER BY ${order} LIMIT 1`,
      )
    )[0]!;
  const numbers = () => page.locator(".grid tbody td:nth-child(2)").first().innerText();
  const newest = await first("receipt_date DESC, receipt_number DESC, receipt_id");
  // A draft has no number yet.
  await expect.poll(numbers).toBe(newest["receipt_number"] ?? "–");
  expect(await country()).toBe(newest["country"]);
  expect(page.url()).toMatch(/stock-receipts$/);
  expect(await headings(page)).toEqual([
    "Date",
    "Receipt",
    "Supplier",
    "Warehouse",
    "Status",
    "Lines",
    "Amount",
    "Supplier country",
  ]);
  // A column of another record sorts and filters as an own one.
  await heading(page, "Supplier country").click();
  const sorted = await first("country, receipt_id");
  await expect.poll(country).toBe(sorted["country"]);
  await page.locator(".filters-button").click();
  await page.locator("[aria-label='Filter by Supplier country']").fill("Spain");
  await expect.poll(country).toBe("Spain");
  // Taking the order away is kept in the address too.
  await heading(page, "Supplier country").click();
  await heading(page, "Supplier country").click();
  await expect.poll(() => page.url()).toMatch(/[?&]sort=(&|$)/);
  expect(await page.locator(".side section li > a, .side-group").allTextContents()).toEqual([
    "Stock",
    "Purchasing",
    "Receipts by supplier",
    "Stock receipts",
    "Stock receipt lines",
    "Suppliers",
    "Stock",
    "Categories",
    "Products",
    "Warehouses",
  ]);
  expect(await page.locator(".side-lines a").allTextContents()).toEqual(["Stock receipt lines"]);
});
