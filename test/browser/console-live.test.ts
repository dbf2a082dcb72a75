/** Lists and forms of the console say that others changed something, and keep what people typed. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { startSilentDoor } from "../jobs/silent-door.ts";
import { openConsole, type VisitOptions } from "./console.ts";
import type { Page } from "./playwright.ts";
import { openForTests } from "../contract/harness.ts";

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const place = openConsole({
  changes: {
    "project.json": {
      auth: {
        apiKeys: [{ id: "clerk", sha256: hashOf("clerk"), roles: ["owner"] }],
        anonymous: { roles: ["owner"] },
      },
    },
    "suppliers.json": { access: { owner: "*" } },
    // Without totals: the receipt does not change with its lines.
    "stock-receipts.json": {
      access: { owner: "*" },
      calculation: { detail: { amount: "qty_received * unit_price" } },
    },
    "stock-receipt-lines.json": { access: { owner: "*" }, live: true },
    // Without locks, which would keep others from changing a record that somebody edits.
    "products.json": {
      access: { owner: "*" },
      action: {
        create: true,
        read: true,
        first: true,
        update: true,
        delete: true,
        datatables: true,
        aggregate: true,
        "bulk-update": true,
        "bulk-delete": true,
      },
    },
  },
  origins: () => [door?.url].filter(Boolean),
});
const door = openForTests(() => startSilentDoor(place.url));

const notice = (page: Page) => page.locator(".view-notice");
const noticeText = async (page: Page): Promise<string> => {
  await notice(page).waitFor();
  return notice(page).locator("span").first().innerText();
};
const show = (page: Page) => notice(page).locator("button").filter({ hasText: "Show" }).click();
const toldBeside = (page: Page, name: string) =>
  page.locator(`[data-field=${name}] .told-note`).innerText();
const field = (page: Page, name: string) => page.locator(`form [name=${name}]`);

/** A change by somebody else. */
async function write(action: string, body: object, endpoint = "products"): Promise<void> {
  const response = await fetch(`${place.url}/api/demo/${endpoint}/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "clerk" },
    body: JSON.stringify(body),
  });
  expect(response.status, await response.text()).toBeLessThan(300);
}

async function productOf(sku: string): Promise<string> {
  const [row] = await place.sql(`SELECT product_id FROM products WHERE sku = '${sku}'`);
  return String(row?.["product_id"]);
}

/** The page of the test before, loaded anew: that takes less time than another one. */
let shared: Page | null = null;

/** A page whose stream has begun. `options`: a page of its own. */
async function listening(hash: string, options?: VisitOptions): Promise<Page> {
  if (shared && !options) {
    await shared.evaluate("history.replaceState(null, '', '#/jobs')");
    await shared.reload();
  } else shared = await place.visit("#/jobs", options);
  const page = shared;
  await page.locator("h1").waitFor();
  const urls = requestsOf(page);
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await expect.poll(() => streamsIn(urls)).toHaveLength(1);
  await page.locator(".grid tbody .open, form .fields").first().waitFor();
  return page;
}

/** The addresses that the page asks for from now on. */
function requestsOf(page: Page): string[] {
  const urls: string[] = [];
  page.on("request", (request) => void urls.push(request.url()));
  return urls;
}

/** To the background, or back. */
const turn = (page: Page, isHidden: boolean) =>
  page.evaluate(
    `Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`,
  );

const streamsIn = (urls: readonly string[]) => urls.filter((url) => url.includes("/changes?"));

const list = "#/demo/products?sort=sku&q=HAND-000";
const priceIn = (page: Page, sku: string) =>
  page.locator(".grid tbody tr").filter({ hasText: sku }).locator("td.number").first();

test("a list says how many records others changed, moves nothing, and shows them when asked", async () => {
  const page = await listening(list);
  const tops = () =>
    page
      .locator(".toolbar, .grid-holder, .grid tbody tr")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  await page.locator(".grid tbody tr").nth(2).locator(".pick input").click();
  await page.locator(".edit-bar").waitFor();
  const before = await tops();
  const old = await priceIn(page, "HAND-0001").innerText();

  await write("update", { product_id: await productOf("HAND-0001"), price: 4321 });
  expect(await noticeText(page)).toBe("1 record changed by others");
  await write("update", { product_id: await productOf("HAND-0001"), stock: 3 });
  await write("update", { product_id: await productOf("HAND-0002"), stock: 3 });
  await expect.poll(() => noticeText(page)).toBe("2 records changed by others");
  expect(await page.locator("p.unseen[role=status]").allTextContents()).toContain(
    "Others changed records of this list",
  );
  expect(await tops()).toEqual(before);
  expect(await priceIn(page, "HAND-0001").innerText()).toBe(old);
  await place.picture(page, "live-list");

  await show(page);
  await expect.poll(() => priceIn(page, "HAND-0001").innerText()).toBe("4,321.00");
  expect(await notice(page).isVisible()).toBe(false);
  expect(await page.locator(".grid tr.told").count()).toBe(2);
  expect(await page.locator(".grid tr.chosen").count()).toBe(1);
  expect(await tops()).toEqual(before);
  await place.picture(page, "live-list-shown");
});

test("what is typed in a list stays when the rows are shown anew", async () => {
  const page = await listening(list);
  await priceIn(page, "HAND-0003").dblclick();
  await page.keyboard.type("77");
  await page.keyboard.press("Enter");
  await write("update", { product_id: await productOf("HAND-0004"), price: 1234 });
  await noticeText(page);
  await show(page);
  await expect.poll(() => priceIn(page, "HAND-0004").innerText()).toBe("1,234.00");
  expect(await priceIn(page, "HAND-0003").innerText()).toContain("77");
  expect(await page.locator(".grid td.changed").count()).toBe(1);
});

test("a list is not told of what its own tab writes", async () => {
  const page = await listening(list);
  await priceIn(page, "HAND-0005").dblclick();
  await page.keyboard.type("55");
  await page.keyboard.press("Enter");
  await page.locator(".edit-bar .primary").click();
  await page.locator(".notice").filter({ hasText: "saved" }).first().waitFor();
  await write("update", { product_id: await productOf("HAND-0006"), price: 66 });
  expect(await noticeText(page)).toBe("1 record changed by others");
  // An event names 100 records at most.
  const rows = await place.sql("SELECT product_id FROM products WHERE is_active LIMIT 101");
  await write("bulk-update", { data: rows.map((row) => ({ ...row, reorder_level: 9 })) });
  await expect.poll(() => noticeText(page)).toBe("Others changed records of this list");
});

test("a form shows the new values of what was not typed at once, and nothing of other records", async () => {
  const id = await productOf("HAND-0008");
  const page = await listening(`#/demo/products/record/${id}`);
  await write("update", { product_id: await productOf("HAND-0009"), price: 12 });
  await write("update", { product_id: id, price: 13 });
  expect(await noticeText(page)).toMatch(/: Price$/);
  await place.picture(page, "live-form");
  expect(await field(page, "price").inputValue()).toBe("13.00");
  expect(await toldBeside(page, "price")).toMatch(/^Changed by clerk at \d\d:\d\d$/);
  expect(await page.locator(".told-note").count()).toBe(1);
  expect(await page.locator(".save-bar").isVisible()).toBe(false);
});

test("a form says that its record was deleted, and asks before it is left", async () => {
  const [row] = await place.sql("SELECT category_id, supplier_id FROM products LIMIT 1");
  await write("create", { ...row, sku: "HAND-9950", name: "Short-lived", price: 1, cost: 1 });
  const id = await productOf("HAND-9950");
  const page = await listening(`#/demo/products/record/${id}`);
  await field(page, "name").fill("Typed here");
  await write("delete", { where: [{ key: "product_id", value: id }] });
  expect(await noticeText(page)).toBe("This record was deleted");
  expect(await field(page, "name").inputValue()).toBe("Typed here");
  await place.picture(page, "live-deleted");
  await notice(page).locator("button").first().click();
  await expect.poll(() => place.takeFaults()).toEqual([expect.stringContaining("alert")]);
  expect(await field(page, "name").inputValue()).toBe("Typed here");
});

test("a form of a document says that others changed, added, moved and deleted its lines", async () => {
  const [first, second] = await place.sql(
    "SELECT receipt_id FROM stock_receipts WHERE status = 'draft' AND total_items > 1 LIMIT 2",
  );
  const id = String(first!["receipt_id"]);
  const linesOf = (receipt: unknown) =>
    place.sql(
      `SELECT line_id, product_id FROM stock_receipt_lines WHERE receipt_id = '${receipt}' ORDER BY line_number`,
    );
  const [mine, others] = [await linesOf(id), await linesOf(second!["receipt_id"])];
  const writeLine = (action: string, body: object) => write(action, body, "stock-receipt-lines");
  const page = await listening(`#/demo/stock-receipts/record/${id}`);
  const numbers = () =>
    page
      .locator(".lines tbody [name=line_number]")
      .evaluateAll((all) => all.map((one) => Number(one.value)).toSorted((a, b) => a - b));
  const before = await numbers();

  const line = { unit_price: 1, qty_received: 7, amount: 7, product_id: mine[0]!["product_id"] };
  const added = "11111111-2222-4333-8444-555555555555";
  const moved = others[0]!["line_id"];
  const changes: [action: string, body: object, by: string, shown: number[]][] = [
    [
      "update",
      { line_id: mine[0]!["line_id"], line_number: 90 },
      "clerk",
      [...before.slice(1), 90],
    ],
    [
      "create",
      { ...line, line_id: added, receipt_id: id, line_number: 91 },
      "somebody else",
      [...before.slice(1), 90, 91],
    ],
    [
      "update",
      { line_id: moved, receipt_id: id, line_number: 92 },
      "clerk",
      [...before.slice(1), 90, 91, 92],
    ],
    [
      "delete",
      { where: [{ key: "line_id", value: added }] },
      "somebody else",
      [...before.slice(1), 90, 92],
    ],
  ];
  await writeLine("update", { line_id: others[1]!["line_id"], qty_received: 8 });
  for (const [action, body, by, shown] of changes) {
    await writeLine(action, body);
    await expect
      .poll(async () => (await noticeText(page)).replace(/\d\d:\d\d/, "…"))
      .toBe(`Changed by ${by} at …: Stock receipt lines`);
    if (action === "create") await place.picture(page, "live-lines");
    await expect.poll(numbers).toEqual(shown);
  }
});

test("lines that others change keep what is typed in them, and ask of what both changed", async () => {
  const [receipt] = await place.sql(
    "SELECT receipt_id FROM stock_receipts WHERE status = 'received' AND total_items > 3 LIMIT 1",
  );
  const id = String(receipt!["receipt_id"]);
  const stored = async () =>
    (
      await place.sql(
        `SELECT line_number, qty_received, unit_price FROM stock_receipt_lines WHERE receipt_id = '${id}' ORDER BY line_number`,
      )
    ).map((row) => Object.values(row).map(Number));
  const ids = await place.sql(
    `SELECT line_id FROM stock_receipt_lines WHERE receipt_id = '${id}' ORDER BY line_number`,
  );
  const writeLine = (at: number, change: object) =>
    write("update", { ...ids[at], ...change }, "stock-receipt-lines");
  const deleteLine = (at: number) =>
    write(
      "delete",
      { where: [{ key: "line_id", value: ids[at]!["line_id"] }] },
      "stock-receipt-lines",
    );
  const before = await stored();
  const page = await listening(`#/demo/stock-receipts/record/${id}`);
  const line = (at: number) => page.locator(".lines tbody tr").nth(at);
  const cell = (at: number, name: string) => line(at).locator(`[name=${name}]`);
  await cell(0, "qty_received").fill("41");
  await cell(1, "qty_received").fill("42");
  await line(2).locator("td:last-child button").click();
  await cell(3, "qty_received").fill("44");
  await cell(3, "qty_received").focus();
  await page.keyboard.press("End");
  // Of a line that is typed in, another field; of one that is, the same; of one that was removed here; and one is gone.
  await writeLine(0, { unit_price: 7.5 });
  await writeLine(1, { qty_received: 9 });
  await writeLine(2, { unit_price: 8.5 });
  await deleteLine(3);
  const questions = page.locator(".lines .both-changed");
  await expect.poll(() => questions.count()).toBe(3);
  expect(await cell(0, "unit_price").inputValue()).toBe("7.50");
  expect(await line(0).locator(".told-note").innerText()).toMatch(/^Changed by clerk at/);
  expect(await cell(1, "qty_received").inputValue()).toBe("42");
  const gone = page.locator(".lines tr").filter({ hasText: "Somebody else deleted this line" });
  expect(await gone.locator("[name=qty_received]").inputValue()).toBe("44");
  await page.keyboard.type("4");
  expect(await gone.locator("[name=qty_received]").inputValue()).toBe("444");
  await place.picture(page, "live-lines-both");

  await page.locator(".save-bar .primary").click();
  await page.locator(".banner.fault").waitFor();
  await line(1).locator(".both-changed button").nth(1).click();
  expect(await cell(1, "qty_received").inputValue()).toBe("9");
  await line(2).locator(".both-changed button").nth(1).click();
  expect(await page.locator(".lines tr.removed").count()).toBe(0);
  await gone.locator(".both-changed button").first().click();
  await expect.poll(() => questions.count()).toBe(0);
  await page.locator(".save-bar .primary").click();
  await expect.poll(() => page.locator(".notice").allTextContents()).toContain("Saved");
  const [first, second, third, fourth, ...rest] = before;
  expect(await stored()).toEqual([
    [first![0], 41, 7.5],
    [second![0], 9, second![2]],
    [third![0], third![1], 8.5],
    [fourth![0], 444, fourth![2]],
    ...rest,
  ]);
});

test("a list that is not live asks for no changes", async () => {
  const page = await listening(list);
  const urls = requestsOf(page);
  await page.evaluate("location.hash = '#/demo/suppliers'");
  await expect.poll(() => page.locator("h1").innerText()).toBe("Suppliers");
  await page.locator(".grid tbody .open").first().click();
  await page.locator("form .fields").waitFor();
  expect(urls.some((url) => url.endsWith("/suppliers/first"))).toBe(true);
  expect(urls.filter((url) => url.includes("/changes"))).toEqual([]);
});

test("a form says who changed which fields, keeps what is typed, and asks of what both changed", async () => {
  const id = await productOf("HAND-0007");
  const page = await listening(`#/demo/products/record/${id}`, { width: 390, theme: "dark" });
  await field(page, "name").fill("Typed here");
  await field(page, "stock").fill("12");
  await page.locator("[name=name]").focus();
  const top = () => field(page, "name").evaluateAll(([one]) => one.getBoundingClientRect().top);
  const before = await top();
  await write("update", { product_id: id, price: 99.5, reorder_level: 8 });
  expect(await noticeText(page)).toMatch(/^Changed by clerk at \d\d:\d\d: Price, Reorder at$/);
  expect(await top()).toBe(before);
  expect(await field(page, "price").inputValue()).toBe("99.50");
  expect(await field(page, "name").inputValue()).toBe("Typed here");
  expect(await page.locator(".both-changed").count()).toBe(0);
  expect(await page.evaluate("document.activeElement.name")).toBe("name");
  await place.picture(page, "live-form-narrow-dark");

  await write("update", { product_id: id, name: "Theirs", stock: 99, price: 98 });
  const questions = page.locator(".both-changed");
  await expect.poll(() => questions.count()).toBe(2);
  expect(await page.locator("[data-field=name] .both-changed p").innerText()).toMatch(
    /^Changed by clerk at \d\d:\d\d: Theirs$/,
  );
  expect([await field(page, "name").inputValue(), await field(page, "stock").inputValue()]).toEqual(
    ["Typed here", "12"],
  );
  await place.picture(page, "live-both");
  // Without a choice, nothing is sent.
  await page.locator(".save-bar .primary").click();
  await expect
    .poll(() => page.locator(".banner.fault").innerText())
    .toBe("Some fields need another look. Nothing was saved yet.");
  await page.locator("[data-field=stock] .both-changed button").nth(1).click();
  expect(await field(page, "stock").inputValue()).toBe("99");
  await page.locator("[data-field=name] .both-changed button").first().click();
  await expect.poll(() => questions.count()).toBe(0);

  await page.locator(".save-bar .primary").click();
  await expect.poll(() => page.locator("h1").innerText()).toBe("Typed here");
  await write("update", { product_id: id, cost: 3 });
  await expect.poll(() => noticeText(page)).toMatch(/: Cost$/);
  const [row] = await place.sql(
    `SELECT name, price, stock FROM products WHERE product_id = '${id}'`,
  );
  expect([row!["name"], Number(row!["price"]), Number(row!["stock"])]).toEqual([
    "Typed here",
    98,
    99,
  ]);
});

test("a drop-down and a box that both changed are asked too, and show what was chosen", async () => {
  const id = await productOf("HAND-0012");
  const suppliers = await place.sql(
    "SELECT supplier_id, name FROM suppliers WHERE is_active ORDER BY code LIMIT 3",
  );
  await write("update", {
    product_id: id,
    supplier_id: suppliers[0]!["supplier_id"],
    is_active: true,
  });
  const page = await listening(`#/demo/products/record/${id}`);
  const supplier = page.locator("[data-field=supplier_id]");
  const shown = () => supplier.locator(".ts-control .item").innerText();
  const change = (at: number) =>
    write("update", { product_id: id, supplier_id: suppliers[at]!["supplier_id"] });
  await supplier.locator(".ts-control").waitFor();
  await change(1);
  await expect.poll(shown).toContain(String(suppliers[1]!["name"]));

  const typed = String(suppliers[2]!["name"]);
  await supplier.locator(".ts-control").click();
  await supplier.locator(".ts-control input").pressSequentially(typed);
  await page.locator(".ts-dropdown .option").filter({ hasText: typed }).first().click();
  await field(page, "is_active").click();
  await write("update", { product_id: id, is_active: false });
  await change(0);
  const question = supplier.locator(".both-changed");
  await expect
    .poll(() => question.locator("p").innerText())
    .toContain(String(suppliers[0]!["name"]));
  expect(await shown()).toContain(typed);
  // Both have done the same.
  expect(await page.locator(".both-changed").count()).toBe(1);
  await question.locator("button").nth(1).click();
  await expect.poll(shown).toContain(String(suppliers[0]!["name"]));
  expect(await page.locator(".save-bar").isVisible()).toBe(false);
});

test("a page that signed in opens its stream with tickets, closes it in the background, and goes on later, also after another sign-in", async () => {
  const page = await place.visit("#/sign-in");
  const urls = requestsOf(page);
  await page.locator("#secret").fill("clerk");
  await page.keyboard.press("Enter");
  await page.locator(".card").first().waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(list)}`);
  await expect.poll(() => streamsIn(urls)).toHaveLength(1);
  await write("update", { product_id: await productOf("HAND-0001"), stock: 8 });
  expect(await noticeText(page)).toBe("1 record changed by others");

  await turn(page, true);
  await new Promise((resolve) => setTimeout(resolve, 5200));
  await write("update", { product_id: await productOf("HAND-0002"), stock: 8 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await noticeText(page)).toBe("1 record changed by others");
  await turn(page, false);
  await expect.poll(() => noticeText(page)).toBe("2 records changed by others");
  expect(new Set(streamsIn(urls).map((url) => new URL(url).searchParams.get("ticket"))).size).toBe(
    2,
  );

  // Credentials end, and others come by a sign-in over the page, which stays.
  const kept = "rowgate.credentials";
  const good = await page.evaluate(`sessionStorage.getItem("${kept}")`);
  const keep = (text: string) =>
    page.evaluate(`sessionStorage.setItem("${kept}", ${JSON.stringify(text)})`);
  await turn(page, true);
  await new Promise((resolve) => setTimeout(resolve, 5200));
  await keep(String(good).replace('"value":"clerk"', '"value":"ended"'));
  const asked = urls.length;
  await turn(page, false);
  await expect.poll(() => urls.slice(asked)).toHaveLength(1);
  await write("update", { product_id: await productOf("HAND-0003"), stock: 8 });
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(urls.slice(asked)).toHaveLength(1);
  expect(await noticeText(page)).toBe("2 records changed by others");
  await keep(String(good));
  await expect.poll(() => noticeText(page)).toBe("3 records changed by others");
  expect(place.takeFaults().every((fault) => fault.includes("401"))).toBe(true);
});

test("a lost stream goes on where it was", async () => {
  const page = await place.visit("", { width: 390, theme: "dark", locale: "de-DE" });
  await page.goto(`${door.url}console${list}`);
  await page.locator(".grid tbody .open").first().waitFor();
  await write("update", { product_id: await productOf("HAND-0001"), stock: 9 });
  expect(await noticeText(page)).toBe("1 Datensatz von anderen geändert");
  await place.picture(page, "live-list-narrow-dark");
  await door.shut();
  await write("update", { product_id: await productOf("HAND-0002"), stock: 9 });
  await write("update", { product_id: await productOf("HAND-0003"), stock: 9 });
  await door.reopen();
  await expect.poll(() => noticeText(page)).toBe("3 Datensätze von anderen geändert");
  expect(place.takeFaults().every((fault) => fault.includes("net::ERR_"))).toBe(true);
});
