/** Lists of the console, as people use them, over the demo on SQLite. */
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";
import { type Page, slowDown } from "./playwright.ts";

const place = openConsole();

const firstColumn = (page: Page): Promise<string[]> =>
  page.locator(".grid tbody td:first-child:not(.pick), .grid tbody td.pick + td").allTextContents();
const headings = async (page: Page): Promise<string[]> =>
  (await page.locator(".grid thead tr:first-child th:not(.pick)").allTextContents()).map((one) =>
    one.trim(),
  );
const info = (page: Page): Promise<string> => page.locator(".info[role=status]").innerText();
const column = async (sql: string): Promise<unknown[]> =>
  (await place.sql(sql)).map((row) => Object.values(row)[0]);
const active = "FROM product_overview WHERE is_active";

test("the index lists what there is, with few files, and leads to a list", async () => {
  const page = await place.visit("");
  await page.locator(".card").first().waitFor();
  const sizes = (await page.evaluate(
    "performance.getEntriesByType('resource').map(({ transferSize }) => transferSize)",
  )) as number[];
  expect(sizes.length).toBeLessThan(60);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(120_000);
  // Behind the name stands the number of records.
  const names = page
    .locator(".card strong")
    .evaluateAll((all) => all.map((one) => one.firstChild.textContent));
  expect(await names).toEqual([
    "Receipts by supplier",
    "Stock receipts",
    "Suppliers",
    "Categories",
    "Products",
    "Warehouses",
  ]);
  expect(await page.locator(".group").allTextContents()).toEqual(["Purchasing", "Stock"]);
  expect(await page.locator(".card-lines").allTextContents()).toEqual(["Stock receipt lines"]);
  await place.picture(page, "home");
  await page.locator(".card").filter({ hasText: "Products" }).click();
  await expect.poll(() => info(page)).toBe("2,273 records");
  expect(await page.locator("h1").innerText()).toBe("Products");
});

test("a view asks for the description of its own endpoint alone, and says at once that it is coming", async () => {
  const page = await place.visit("");
  await page.locator(".card").first().waitFor();
  const asked: string[] = [];
  page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
  await slowDown(page, 700);
  await page.locator(".card").filter({ hasText: "Products" }).click();
  const loading = page.locator(".loading");
  await expect.poll(() => loading.innerText()).toBe("Loading products …");
  expect(await page.locator(".side [aria-current]").innerText()).toBe("Products");
  await place.picture(page, "loading");
  await expect.poll(() => info(page)).toBe("2,273 records");
  expect(await loading.isVisible()).toBe(false);
  expect(asked.filter((path) => path.endsWith("openapi.json"))).toEqual([
    "/api/demo/products/openapi.json",
  ]);
});

test("a list searches, filters and sorts by several columns, and keeps all of it in its address", async () => {
  const page = await place.visit("#/demo/products");
  await expect.poll(() => info(page)).toBe("2,273 records");
  await page.locator(".search input").fill("hammer");
  const hammers = `${active} AND name LIKE '%hammer%'`;
  await expect.poll(() => info(page)).toMatch(/^\d+ records of 2,273$/);

  await page.locator(".filters-button").click();
  await page.locator("[aria-label='Filter by Price']").fill("10..30");
  await page.locator("[aria-label='Filter by Supplier']").fill("gmbh");
  const found = `${hammers} AND price BETWEEN 10 AND 30 AND supplier_name LIKE '%gmbh%'`;
  const [count] = await column(`SELECT count(*) ${found}`);
  expect(count).toBeGreaterThan(1);
  await expect.poll(() => info(page)).toBe(`${count} records of 2,273`);

  await page.locator("th").filter({ hasText: "Supplier" }).click();
  await page
    .locator("th")
    .filter({ hasText: "Price" })
    .click({ modifiers: ["Shift"] });
  await page
    .locator("th")
    .filter({ hasText: "Price" })
    .click({ modifiers: ["Shift"] });
  const sorted = await column(`SELECT sku ${found} ORDER BY supplier_name, price DESC, product_id`);
  await expect.poll(() => firstColumn(page)).toEqual(sorted.slice(0, 25));
  await place.picture(page, "list");
  // Answers that came too late are no faults.
  expect(await page.locator(".notice").count()).toBe(0);

  expect(decodeURIComponent(page.url().split("#")[1]!)).toBe(
    "/demo/products?q=hammer&f.price=10..30&f.supplier.name=gmbh&sort=supplier.name,-price",
  );
  await page.reload();
  await expect.poll(() => firstColumn(page)).toEqual(sorted.slice(0, 25));
  expect(await page.locator("[aria-label='Filter by Price']").inputValue()).toBe("10..30");
});

test("a person chooses columns, the number of rows, and the page", async () => {
  const page = await place.visit("#/demo/products");
  await expect.poll(() => info(page)).toBe("2,273 records");
  await page.locator(".columns-menu summary").click();
  await page.locator(".columns-menu [name=stock]").click();
  await page.locator(".columns-menu [name=product_id]").click();
  await page.keyboard.press("Escape");
  expect(await headings(page)).toEqual([
    "Product id",
    "SKU",
    "Product",
    "Category",
    "Supplier",
    "Price",
    "Launched",
  ]);
  await page.locator(".toolbar select").selectOption("10");
  await page.locator(".dt-paging-button").filter({ hasText: "2" }).first().click();
  const skus = await column(`SELECT sku ${active} ORDER BY product_id LIMIT 10 OFFSET 10`);
  const shown = () => page.locator(".grid tbody tr td:nth-child(3)").allTextContents();
  await expect.poll(shown).toEqual(skus);
  expect(page.url()).toMatch(/page=2&size=10&cols=product_id/);
  await page.reload();
  await expect.poll(shown).toEqual(skus);
});

test("a filter that cannot be understood yet is marked, and asks for nothing", async () => {
  const page = await place.visit("#/demo/products");
  await expect.poll(() => info(page)).toBe("2,273 records");
  await page.locator(".filters-button").click();
  const filter = page.locator("[aria-label='Filter by Launched']");
  await filter.fill("next week");
  expect(await filter.getAttribute("aria-invalid")).toBe("true");
  const fault = page.locator(".filters .fault-text:not(:empty)");
  expect(await fault.allTextContents()).toEqual([expect.stringContaining("Write a day, a month")]);
  await filter.fill("2026-13");
  expect(await filter.getAttribute("aria-invalid")).toBe("true");
  const price = await place.visit("#/demo/products?f.price=abc");
  await expect
    .poll(() => price.locator(".filters .fault-text:not(:empty)").allTextContents())
    .toEqual([expect.stringContaining("Write a number")]);
  await price.locator("[aria-label='Filter by Price']").fill("10..20");
  await expect.poll(() => info(price)).toContain("records of");
  expect(await price.locator(".filters .fault-text:not(:empty)").count()).toBe(0);
});

test("a month as a filter finds all its days", async () => {
  const page = await place.visit("#/demo/products");
  await expect.poll(() => info(page)).toBe("2,273 records");
  await page.locator(".filters-button").click();
  const filter = page.locator("[aria-label='Filter by Launched']");
  await filter.fill("2026-02");
  const [count] = await column(
    `SELECT count(*) ${active} AND launched_on BETWEEN '2026-02-01' AND '2026-02-28'`,
  );
  await expect.poll(() => info(page)).toBe(`${count} records of 2,273`);
});

test("search, filters and order are steps back, and a list that is returned to stands where it was left", async () => {
  const page = await place.visit("#/demo/products?size=100");
  await expect.poll(() => info(page)).toBe("2,273 records");
  await page.locator(".search input").fill("hammer");
  await expect.poll(() => page.url()).toContain("q=hammer");
  await page.locator("th").filter({ hasText: "Price" }).click();
  await expect.poll(() => page.url()).toContain("sort=price");
  await expect.poll(() => page.locator(".grid-holder[aria-busy]").count()).toBe(0);
  const sorted = await firstColumn(page);
  await page.evaluate("document.querySelector('.scroller').scrollTop = 300");
  await expect.poll(() => page.evaluate("history.state?.scroll")).toBe(300);
  await page.locator(".grid tbody tr .open").nth(8).click();
  await page.waitForURL(/products\/record\//);
  await expect.poll(() => page.locator("[name=name]").count()).toBe(1);
  expect(await page.evaluate("scrollY")).toBe(0);
  await page.evaluate("history.back()");
  await expect
    .poll(() => page.evaluate("document.querySelector('.scroller')?.scrollTop"))
    .toBe(300);
  expect(await firstColumn(page)).toEqual(sorted);
  await page.evaluate("history.back()");
  await expect.poll(() => page.url()).toMatch(/products\?q=hammer&size=100$/);
  await page.evaluate("history.back()");
  await expect.poll(() => info(page)).toBe("2,273 records");
  expect(await page.locator(".search input").inputValue()).toBe("");
});

test("a list says how many columns it hides, and tells empty texts from missing ones", async () => {
  for (const name of ["YY-1", "YY-2"])
    await place.call("suppliers/create", { code: name, name, city: "Linz", country: "Austria" });
  await place.sql(
    "UPDATE suppliers SET contact_name = CASE name WHEN 'YY-1' THEN '' END WHERE name LIKE 'YY-%'",
  );
  const page = await place.visit("#/demo/suppliers?q=YY-&sort=name&cols=name,contact_name");
  await expect.poll(() => info(page)).toBe("2 records");
  expect(await page.locator(".grid tbody td:nth-child(2)").allTextContents()).toEqual([
    "empty",
    "–",
  ]);
  const button = page.locator(".columns-menu summary");
  expect(await button.innerText()).toMatch(/^2 of \d+ columns$/);
  await page.locator(".columns-menu summary").click();
  await page.locator(".columns-menu [name=city]").click();
  expect(await button.innerText()).toMatch(/^3 of \d+ columns$/);
  await place.picture(page, "list-hidden-columns");
});

test("the menu of endpoints sorts as people do, by their labels, and leaves hidden ones out", async () => {
  const index = (await fetch(`${place.url}/`, { headers: { accept: "application/json" } }).then(
    (answer) => answer.json(),
  )) as any;
  const [project] = index.projects;
  project.endpoints = [
    { name: "list-10" },
    { name: "zones" },
    { name: "list-2" },
    { name: "Areas" },
    { name: "other", console: { label: "List 3" } },
    { name: "list-4", console: { hidden: true } },
    { name: "depots", console: { group: "Places" } },
    { name: "shelves", console: { group: "Places" }, lines_of: "zones" },
  ].map((one) => ({ path: "", actions: ["create"], ...one }));
  const page = await place.visit("");
  await page.route(`${place.url}/`, (route) =>
    route.fulfill({ contentType: "application/json", body: JSON.stringify(index) }),
  );
  await page.reload();
  await expect
    .poll(() => page.locator(".side section a").allTextContents())
    .toEqual(["Stock", "Areas", "List 2", "List 3", "List 10", "Zones", "Shelves", "Depots"]);
});

test("two notices at once become one, which tells both faults", async () => {
  const page = await place.visit("#/demo/products");
  await expect.poll(() => info(page)).toBe("2,273 records");
  const module = `[...performance.getEntriesByType("resource")].map(({ name }) => name).find((name) => name.endsWith("/notices.js"))`;
  await page.evaluate(
    `import(${module}).then(({ tell }) => ["One", "Two", "One"].forEach((text) => tell(text, "fault")))`,
  );
  await expect.poll(() => page.locator(".notice").count()).toBe(1);
  expect(await page.locator(".notice p").allTextContents()).toEqual(["One", "Two"]);
});

test("a reference to a record that drop-downs no longer offer shows its name, in lists and in forms", async () => {
  const [id = "", name = ""] = await column(
    "SELECT supplier_id || '|' || name FROM stock_receipts JOIN suppliers USING (supplier_id) WHERE NOT is_active AND status = 'draft' LIMIT 1",
  ).then(([both]) => String(both).split("|"));
  const page = await place.visit(`#/demo/stock-receipts?f.supplier_id=${id}&f.status=draft`);
  await expect.poll(() => page.locator(".grid .reference").first().innerText()).toBe(name);
  await page.locator(".grid tbody tr td").first().click();
  await page.waitForURL(/stock-receipts\/record\//);
  await expect.poll(() => page.locator(".ts-control .item").first().innerText()).toContain(name);
});

test("an endpoint without datatables is listed with read; references show labels that lead to the record", async () => {
  const page = await place.visit("#/demo/stock-receipts?q=GR-2026-01836");
  await expect.poll(() => info(page)).toBe("1 record");
  const [label] = await column(
    "SELECT name FROM suppliers JOIN stock_receipts USING (supplier_id) WHERE receipt_number = 'GR-2026-01836'",
  );
  await expect.poll(() => page.locator(".grid .reference").first().innerText()).toBe(label);
  expect(await page.locator(".grid .status").innerText()).toBe("Posted");
  expect((await page.locator(".grid tbody tr td").allTextContents())[0]).toBe("26 Oct 2026");
  await page.locator(".grid .reference").first().click();
  await page.waitForURL(/suppliers\/record\//);
  const tabs = page.locator(".related .tab");
  await tabs.nth(1).click();
  await page.locator(".tab-panel .grid").waitFor();
  await page.locator(".tab-panel:not([aria-busy]) a").filter({ hasText: "Open as a list" }).click();
  await page.waitForURL(/stock-receipts\?f\.supplier_id/);
  const [count] = await column(
    "SELECT count(*) FROM stock_receipts WHERE supplier_id = (SELECT supplier_id FROM stock_receipts WHERE receipt_number = 'GR-2026-01836')",
  );
  await expect.poll(() => info(page)).toBe(`${count} records`);
});

test("a list is searched, sorted and filtered by the names that it shows of other records, in one request", async () => {
  const page = await place.visit("#/demo/stock-receipts");
  await page.locator(".search input").fill("Gruber & Sohn");
  const [count] = await column(
    "SELECT count(*) FROM stock_receipts JOIN suppliers USING (supplier_id) WHERE name LIKE '%Gruber & Sohn%'",
  );
  expect(count).toBeGreaterThan(1);
  await expect.poll(() => info(page)).toBe(`${count} records`);

  const asked: string[] = [];
  page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
  await page.locator(".grid thead th").filter({ hasText: "Warehouse" }).click();
  const sorted = await column(
    "SELECT w.name FROM stock_receipts JOIN suppliers s USING (supplier_id) JOIN warehouses w USING (warehouse_id) WHERE s.name LIKE '%Gruber & Sohn%' ORDER BY w.name LIMIT 25",
  );
  const warehouses = () => page.locator(".grid tbody td:nth-child(4)").allTextContents();
  await expect.poll(warehouses).toEqual(sorted);
  expect(asked.filter((path) => path.startsWith("/api/"))).toEqual([
    "/api/demo/stock-receipts/read",
  ]);
  await page.locator(".filters-button").click();
  await page.locator("[aria-label='Filter by Warehouse']").fill("lyon");
  await expect.poll(async () => new Set(await warehouses())).toEqual(new Set(["Lyon East"]));
  await page.locator("[aria-label='Filter by Warehouse']").fill("");
  await expect.poll(() => info(page)).toBe(`${count} records`);

  await page.locator("a.button").filter({ hasText: "Chart" }).click();
  await expect.poll(() => page.locator(".chart-filter").innerText()).toContain("Gruber & Sohn");
  const values = () => page.locator(".chart .value-text").allTextContents();
  const sum = async () => (await values()).reduce((all, one) => all + Number(one), 0);
  await expect.poll(sum).toBe(count);
  await page.locator("#chart-group-by").selectOption("receipt_date");
  await page.locator("#chart-as").selectOption("bars");
  await expect.poll(() => page.url()).toContain("by=receipt_date&in=month");
  const written = async () => (await page.locator(".chart").allTextContents()).join();
  await expect.poll(written).toMatch(/20\d\d/);
  await place.picture(page, "chart-filtered");
  await page.locator(".crumb a").click();
  await expect.poll(() => info(page)).toBe(`${count} records`);
});

test("related records are found by a field that the grid does not show", async () => {
  const [id] = await column(
    "SELECT supplier_id FROM suppliers WHERE is_active ORDER BY code LIMIT 1",
  );
  const page = await place.visit(`#/demo/suppliers/record/${String(id)}`);
  await page.locator(".tab-panel:not([aria-busy]) a").filter({ hasText: "Open as a list" }).click();
  const [count] = await column(`SELECT count(*) ${active} AND supplier_id = '${String(id)}'`);
  await expect.poll(() => info(page)).toMatch(new RegExp(`^${count} records`));
  const [name] = await column(`SELECT name FROM suppliers WHERE supplier_id = '${String(id)}'`);
  await expect.poll(() => page.locator(".chip").innerText()).toContain(String(name));
  await page.locator(".chip button").click();
  await expect.poll(() => info(page)).toBe("2,273 records");
});

test("each view shows its requests, as curl and as fetch", async () => {
  const page = await place.visit("#/demo/products?q=saw");
  await expect.poll(() => info(page)).toContain("records of");
  await page.locator("button").filter({ hasText: "Requests" }).click();
  const code = page.locator(".requests code").first();
  const curl = await code.innerText();
  expect(curl).toContain(`curl -s '${place.url}/api/demo/products/datatables'`);
  expect(curl).toContain(`"search":{"value":"saw"}`);
  await page.locator(".drawer select").selectOption("fetch");
  await expect.poll(() => code.innerText()).toContain("const response = await fetch(");
  await place.picture(page, "requests");
});

test("the keyboard alone opens a list and a record", async () => {
  const page = await place.visit("#/");
  await page.locator(".card").first().waitFor();
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
  await page.keyboard.press("Enter");
  // The search, the dashboard, three endpoints and the lines of one, categories, products.
  for (let at = 0; at < 8; at++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => info(page)).toBe("2,273 records");
  await page.locator(".search input").focus();
  await page.keyboard.type("HAND-0002");
  await expect.poll(() => firstColumn(page)).toEqual(["HAND-0002"]);
  // In a grid of cells that can be edited, Enter alone edits.
  await page.locator(".grid .open").first().focus();
  await page.keyboard.press("Control+Enter");
  await expect.poll(() => page.locator("h1").innerText()).toBe("Aalsmeer claw hammer 300 g");
});

test("a narrow screen has no sideways scrolling, and the list of entities behind a button", async () => {
  const page = await place.visit("#/demo/products", { width: 390, height: 800, theme: "dark" });
  await expect.poll(() => info(page)).toBe("2,273 records");
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(await page.locator(".side").isVisible()).toBe(false);
  await place.picture(page, "list-narrow-dark");
  await page.locator(".menu-button").click();
  await expect.poll(() => page.locator(".side").isVisible()).toBe(true);
  await page.locator(".side a").filter({ hasText: "Suppliers" }).click();
  await expect.poll(() => page.locator("h1").innerText()).toBe("Suppliers");
});

test("values show as text, whatever they contain", async () => {
  const texts = [
    `<script>alert(1)</script>`,
    `<img src=x onerror=alert(1)>`,
    `"'&amp;\`</td>`,
    "‮שלום מחירון",
    "x".repeat(120),
  ];
  for (const [at, name] of texts.entries())
    await place.call("suppliers/create", {
      code: `ZZ-${at}`,
      name,
      city: name.slice(0, 80),
      country: "Austria",
    });
  const [long] = (await place.call("stock-receipts/read", { page: 1, per_page: 1 })).data;
  await place.sql(
    `UPDATE stock_receipts SET remarks = '${"<b>long</b> ".repeat(900)}' WHERE receipt_id = '${long.receipt_id}'`,
  );

  const page = await place.visit("#/demo/suppliers?q=ZZ-&sort=code");
  await expect.poll(() => info(page)).toBe("5 records");
  const names = () => page.locator(".grid tbody tr td:nth-child(2)").allTextContents();
  expect(await names()).toEqual(texts);
  expect(await page.locator(".grid img, .grid script").count()).toBe(0);
  await page.locator(".grid .open").nth(1).click();
  await expect.poll(() => page.locator("h1").innerText()).toBe(texts[1]);
  expect(await page.locator("[name=name]").inputValue()).toBe(texts[1]);

  const wide = await place.visit(
    `#/demo/stock-receipts?q=${long.receipt_number}&cols=receipt_number,remarks`,
  );
  await expect
    .poll(() => wide.locator(".grid tbody").innerText())
    .toContain("<b>long</b> <b>long</b>");
  expect(await wide.locator(".grid b").count()).toBe(0);
});

test("of 50,000 records the browser holds and asks for one page at a time, up to the last", async () => {
  // A repeat finds them there.
  await place.sql(
    `INSERT OR IGNORE INTO categories (category_id, code, name, created_at, created_by) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT 'c' || i, 'C' || i, 'Category ' || i, '2026-01-01T00:00:00.000Z', 'test' FROM n`,
  );
  const page = await place.visit("#/demo/categories?size=100&sort=name");
  await expect.poll(() => info(page)).toBe("50,020 records");
  const rows = page.locator(".grid tbody tr");
  expect(await rows.count()).toBe(100);
  const asked: unknown[] = [];
  page.on("request", (request) => {
    if (!request.url().includes("/categories/")) return;
    const { page: number, per_page: size } = JSON.parse(request.postData() ?? "{}");
    asked.push({ number, size });
  });
  const last = page.locator(".dt-paging-button").filter({ hasText: "501" });
  await last.click();
  await expect.poll(() => rows.count()).toBe(20);
  const [{ name } = {}] = await place.sql("SELECT name FROM categories ORDER BY name DESC LIMIT 1");
  await page.evaluate("document.querySelector('.scroller').scrollTop = 1e6");
  expect(await rows.last().innerText()).toContain(name);
  expect(await rows.last().isVisible()).toBe(true);
  await page.locator(".search input").fill("category 49999");
  await expect.poll(() => info(page)).toMatch(/^1 record/);
  expect(await rows.count()).toBe(1);
  expect(asked).toEqual([
    { number: 501, size: 100 },
    { number: 1, size: 100 },
  ]);
});
