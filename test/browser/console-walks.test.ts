/**
 * What people who know other tables for databases do without looking anything up. The other files of the console's
 * tests have the rest of these walks: history and undoing, exports, imports, the way back.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const place = openConsole();

const info = (page: Page): Promise<string> => page.locator(".info[role=status]").innerText();
const notices = (page: Page): Promise<string[]> => page.locator(".notice").allTextContents();
const numberOf = async (sql: string): Promise<number> =>
  Number(Object.values((await place.sql(sql))[0] ?? {})[0]);
const filter = (page: Page, label: string) => page.locator(`.filters [aria-label='${label}']`);
/** Types into the drop-down that has the focus, until the list has it. */
async function choose(page: Page, text: string): Promise<void> {
  await page.keyboard.type(text);
  await page.locator(".ts-dropdown .option.active").filter({ hasText: text }).waitFor();
  await page.keyboard.press("Enter");
}
const receiptsOf = (name: string): string =>
  `SELECT count(*) FROM stock_receipts JOIN suppliers s USING (supplier_id) WHERE s.name LIKE '%${name}%'`;

test("the open documents of one name are found with the search and one filter", async () => {
  const page = await place.visit("#/demo/stock-receipts");
  await page.locator(".search input").fill("calder");
  await expect.poll(() => info(page)).toBe(`${await numberOf(receiptsOf("Calder"))} records`);
  await page.locator(".filters-button").click();
  // The frame of the first filter, which has the focus, is not cut off by the headings.
  const [headings, input] = [
    page.locator(".grid thead th").first(),
    filter(page, "Filter by Date"),
  ];
  const [above, below] = [await headings.boundingBox(), await input.boundingBox()];
  expect(below!.y - (above!.y + above!.height)).toBeGreaterThan(3);
  await filter(page, "Filter by Status").selectOption("=draft|=received");
  expect(await filter(page, "Filter by Status").locator("option:checked").innerText()).toBe(
    "Not closed",
  );
  const open = await numberOf(`${receiptsOf("Calder")} AND status IN ('draft', 'received')`);
  expect(open).toBeGreaterThan(0);
  await expect.poll(() => info(page)).toBe(`${open} record${open === 1 ? "" : "s"}`);
  await place.picture(page, "walk-open");
  await page.reload();
  await expect.poll(() => page.locator(".grid tbody .open").count()).toBe(open);
});

test("fifty prices are pasted at once and saved", async () => {
  const page = await place.visit("#/demo/products?size=50&sort=sku");
  const price = page.locator(".grid tbody tr td.number");
  await expect.poll(() => price.count()).toBeGreaterThan(50);
  await price.first().click();
  const prices = Array.from({ length: 50 }, (_, at) => 1000 + at / 4);
  await page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", ${JSON.stringify(prices.map((one) => one.toFixed(2)).join("\n"))});
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }`);
  await expect
    .poll(() => page.locator(".edit-bar").innerText())
    .toContain("50 changes in 50 records");
  await place.picture(page, "walk-paste");
  await page.locator(".edit-bar .primary").click();
  await expect.poll(() => notices(page)).toEqual(["50 records saved"]);
  // The pages can be turned at once.
  const [told, pages] = await Promise.all(
    [".notice", ".dt-paging"].map((one) => page.locator(one).boundingBox()),
  );
  expect(told!.x + told!.width).toBeLessThan(pages!.x);
  const stored = await place.sql(
    "SELECT price FROM products WHERE is_active ORDER BY sku LIMIT 50",
  );
  expect(stored.map((row) => Number(row["price"]))).toEqual(prices);
});

test("a list of choices stands below its box, and Control and Enter saves instead of choosing its first", async () => {
  const page = await place.visit("#/demo/stock-receipts/new");
  const box = page.locator("[data-field=supplier_id] .ts-control");
  const list = page.locator(".ts-dropdown:has(.option)").filter({ hasText: "Calder" });
  await box.locator("input").focus();
  await page.keyboard.type("Calder");
  await list.waitFor();
  const [above, below] = [await box.boundingBox(), await list.boundingBox()];
  expect(Math.abs(below!.x - above!.x)).toBeLessThan(2);
  expect(Math.abs(below!.y - (above!.y + above!.height))).toBeLessThan(8);
  await page.keyboard.press("Enter");
  await page.locator("[data-field=warehouse_id] .ts-control input").focus();
  await choose(page, "Hamburg");
  await page.locator("[name=receipt_date]").fill("2026-11-02");
  await page.locator("[name=line_number]").focus();
  await page.keyboard.press("Enter");
  await choose(page, "HAND-0010");
  await page.keyboard.type("3");
  await page.keyboard.press("Enter");
  await page.keyboard.type("0.10");
  await page.keyboard.press("Enter");
  // The new line has the focus, and the list of its products is open.
  await page.locator(".lines tr:nth-child(2) .ts-wrapper.dropdown-active").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/#\/demo\/stock-receipts\/record\//);
  const id = page.url().split("/").at(-1)!;
  expect(
    await numberOf(`SELECT count(*) FROM stock_receipt_lines WHERE receipt_id = '${id}'`),
  ).toBe(1);

  // And the document is posted.
  const step = (text: string) => page.locator(".status-step").filter({ hasText: text });
  await step("Receive goods").click();
  await step("Post").click();
  await page.locator(".dialog .danger").click();
  await expect.poll(() => page.locator("h1").innerText()).toMatch(/^GR-2026-\d{5}$/);
  await place.picture(page, "walk-posted");
});

test("from a supplier through its receipts, their lines and a product, and back to the same place", async () => {
  const page = await place.visit("#/demo/suppliers?page=2");
  await page.locator(".grid tbody .open").nth(4).click();
  const title = () => page.locator("h1").innerText();
  await page.locator(".related [role=tab]").filter({ hasText: "Stock receipts" }).click();
  const receipt = page.locator(".related tbody tr").first();
  await receipt.waitFor();
  const supplier = await title();
  // Sooner than a person could, so that nothing has time to notice the scroll.
  const scrolled = await page.evaluate(
    "scrollTo(0, 300), document.querySelector('.related tbody a').click(), scrollY",
  );
  await page.locator(".lines tbody tr").first().waitFor();
  const number = await title();
  await page.locator(".lines tbody a").first().click();
  await page.waitForURL(/#\/demo\/products\/record\//);
  await page.locator(".crumb a").first().click();
  await expect.poll(title).toBe(number);
  await page.locator(".crumb a").first().click();
  await expect.poll(title).toBe(supplier);
  await expect.poll(() => page.evaluate("scrollY")).toBe(scrolled);
  expect(await page.locator("[role=tab][aria-selected=true]").innerText()).toContain(
    "Stock receipts",
  );
  await page.locator(".crumb a").first().click();
  await expect.poll(() => page.url()).toMatch(/#\/demo\/suppliers\?page=2$/);
});

test("an export has the columns that a person chose for the list", async () => {
  const page = await place.visit("#/demo/products?q=hammer&cols=sku,supplier.name,price&sort=sku");
  await page.locator(".grid tbody .open").first().waitFor();
  await page.locator(".head .button").filter({ hasText: "Export" }).click();
  await page.locator("#export-format").selectOption("csv");
  expect(await page.locator("#export-columns option:checked").innerText()).toBe(
    "As the list shows them",
  );
  await place.picture(page, "walk-export");
  const downloading = page.waitForEvent("download");
  await page.locator(".dialog .primary").click();
  const [head, first] = readFileSync(await (await downloading).path(), "utf8").split(/\r?\n/);
  expect(head?.replace("\uFEFF", "")).toBe("SKU,Supplier,Price");
  const [row] = await place.sql(
    "SELECT sku, supplier_name, price FROM product_overview WHERE is_active AND name LIKE '%hammer%' ORDER BY sku LIMIT 1",
  );
  expect(first?.split(",").slice(0, 2)).toEqual([row!["sku"], row!["supplier_name"]]);
});

const filters: [locale: string, label: string, typed: string, address: string, sql: string][] = [
  ["de-DE", "Filtern nach Preis", "> 1.000", "f.price=> 1000", "price > 1000"],
  [
    "de-DE",
    "Filtern nach Preis",
    "10,5..1.000,5",
    "f.price=10.5..1000.5",
    "price BETWEEN 10.5 AND 1000.5",
  ],
  ["en-GB", "Filter by Price", "> 1,000", "f.price=> 1000", "price > 1000"],
  [
    "en-GB",
    "Filter by Launched",
    "< 14/3/2026",
    "f.launched_on=< 2026-03-14",
    "launched_on < '2026-03-14'",
  ],
  ["en-GB", "Filter by Launched", "-", "f.launched_on=-", "launched_on IS NULL"],
];

test.each(filters)(
  "for %s, %s takes %s, and its address is the same for everybody",
  async (...row) => {
    const [locale, label, typed, address, sql] = row;
    await place.sql("UPDATE products SET price = 1000.5 WHERE sku = 'HAND-0002'");
    const count = await numberOf(`SELECT count(*) FROM products WHERE is_active AND ${sql}`);
    const found = (page: Page) =>
      info(page).then((text) => text.replaceAll(/[.,]/g, "").split(" ")[0]);
    const page = await place.visit("#/demo/products", { locale });
    await page.locator(".filters-button").click();
    await filter(page, label).fill(typed);
    await expect.poll(() => decodeURIComponent(page.url()).replace("+", " ")).toContain(address);
    await expect.poll(() => found(page)).toBe(String(count));
    for (const other of ["en-GB", "de-DE"]) {
      const sent = await place.visit(`#${page.url().split("#")[1]}`, { locale: other });
      await expect.poll(() => found(sent)).toBe(String(count));
      if (other === locale && typed.includes(".."))
        expect(await filter(sent, label).inputValue()).toBe("10,5..1000,5");
    }
  },
);

test("a filter by a day or a month is read as the person's language writes it", async () => {
  const page = await place.visit("#/demo/stock-receipts", { locale: "de-DE" });
  await page.locator(".filters-button").click();
  const date = page.locator(".filters input").first();
  for (const [typed, sql] of [
    ["03.2026", "BETWEEN '2026-03-01' AND '2026-03-31'"],
    ["1.3.2026..15.3.26", "BETWEEN '2026-03-01' AND '2026-03-15'"],
  ] as const) {
    await date.fill(typed);
    const count = await numberOf(`SELECT count(*) FROM stock_receipts WHERE receipt_date ${sql}`);
    await expect.poll(() => info(page)).toBe(`${count} Datensätze`);
  }
  await date.fill("31.02.2026");
  await expect.poll(() => date.getAttribute("aria-invalid")).toBe("true");
});

test("on a phone a list, a form and a document with its lines stay within the page, and all is reached", async () => {
  const phone = { width: 390, height: 844 };
  const isWithin = (page: Page) =>
    page.evaluate("document.documentElement.scrollWidth <= innerWidth");
  let page = await place.visit("#/demo/stock-receipts", phone);
  await page.locator(".grid tbody .open").first().waitFor();
  // All of the buttons stand beside the heading; that of a new record keeps its name.
  const boxes = await Promise.all(
    [page.locator("h1"), page.locator(".head .button").last()].map((one) => one.boundingBox()),
  );
  expect(Math.abs(boxes[0]!.y - boxes[1]!.y)).toBeLessThan(20);
  expect(await page.locator(".head .primary").allTextContents()).toEqual(["New"]);

  const id = Object.values(
    (
      await place.sql(
        "SELECT receipt_id FROM stock_receipts WHERE status = 'draft' AND total_items > 2 LIMIT 1",
      )
    )[0]!,
  )[0];
  page = await place.visit(`#/demo/stock-receipts/record/${id}`, phone);
  const lines = page.locator(".lines tbody tr");
  await lines.first().locator(".ts-control").waitFor();
  expect(await isWithin(page)).toBe(true);
  const price = lines.first().locator("[name=unit_price]");
  await price.fill("12.50");
  // The lines scroll within their frame.
  await price.scrollIntoViewIfNeeded();
  const [box, frame] = await Promise.all([
    price.boundingBox(),
    page.locator(".table-holder:has(.lines)").boundingBox(),
  ]);
  expect(box!.x).toBeGreaterThanOrEqual(frame!.x);
  expect(box!.x + box!.width).toBeLessThanOrEqual(frame!.x + frame!.width + 1);
  await page.locator(".lines-head button").click();
  await page.locator(".lines tr:last-child .ts-wrapper.focus").waitFor();
  await choose(page, "HAND-0010");
  await lines.last().locator("[name=qty_received]").fill("2");
  await lines.last().locator("[name=unit_price]").fill("1");
  await place.picture(page, "walk-phone");
  await page.locator(".save-bar .primary").click();
  await expect.poll(() => notices(page)).toContain("Saved");
  expect(await isWithin(page)).toBe(true);
  expect(
    await place.sql(
      `SELECT qty_received, unit_price FROM stock_receipt_lines WHERE receipt_id = '${id}' ORDER BY line_number DESC LIMIT 1`,
    ),
  ).toEqual([{ qty_received: 2, unit_price: 1 }]);
});

const places: readonly [string, string, string][] = [
  ["home", "#/", ".card"],
  ["a list with filters", "#/demo/suppliers?f.country=a&size=10", ".grid tbody .open"],
  ["a list that is edited", "#/demo/products?size=10", ".grid tbody .open"],
  ["an import", "#/demo/products/import", ".drop"],
  ["a chart", "#/demo/stock-receipts/chart", ".chart rect"],
  ["the dashboard", "#/demo", ".tile svg rect"],
  ["jobs", "#/jobs", ".note"],
];

test.each(places)("Tab alone reaches everything in %s, and shows where it is", async (...row) => {
  const page = await place.visit(row[1]);
  await page.locator(row[2]).first().waitFor();
  // Cells, which the arrow keys reach, and pages that there are not.
  await page.evaluate(`{
    window.left = new Set(
      [...document.querySelectorAll("a[href], button, input, select, summary, textarea")].filter(
        (one) => one.checkVisibility({ checkVisibilityCSS: true }) && one.tabIndex >= 0 &&
          one.ariaDisabled !== "true" && !one.disabled && !one.closest(".grid :is(th, tbody)"),
      ),
    );
    window.hidden = [];
    addEventListener("focusin", ({ target }) => {
      left.delete(target);
      const { outlineStyle } = getComputedStyle(target);
      if (outlineStyle === "none" || target.getBoundingClientRect().width < 5) hidden.push(target.outerHTML);
    });
  }`);
  for (let steps = 0; steps < 120; steps++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate("document.activeElement.tagName");
    if (at === "BODY") break;
    if (at === "TD") await page.keyboard.press("Escape");
  }
  expect(await page.evaluate("[...left].map(({ outerHTML }) => outerHTML.slice(0, 200))")).toEqual(
    [],
  );
  expect(await page.evaluate("hidden")).toEqual([]);
});
