/** How people edit records and documents in the console: the same on every database. */
import { expect, test } from "vitest";
import type { ConsolePlace } from "./console.ts";
import type { Page } from "./playwright.ts";

/** Chooses from a drop-down over a lookup by what its label contains. */
async function choose(page: Page, field: string, text: string): Promise<void> {
  const box = page.locator(`[data-field=${field}] .ts-control`);
  await box.click();
  await box.locator("input").pressSequentially(text);
  await page.locator(".ts-dropdown .option").filter({ hasText: text }).first().click();
}

const faultOf = (page: Page, field: string): Promise<string> =>
  page.locator(`[data-field=${field}] .fault-text`).innerText();
const title = (page: Page): Promise<string> => page.locator("h1").innerText();
const notices = (page: Page): Promise<string[]> => page.locator(".notice").allTextContents();
const button = (page: Page, text: string) => page.locator("button").filter({ hasText: text });

const reader =
  (place: ConsolePlace) =>
  async (sql: string): Promise<any> =>
    Object.values((await place.sql(sql))[0] ?? {})[0];

/** What most people do most of the time. */
export function describeMainFlows(place: ConsolePlace): void {
  const one = reader(place);

  test("a record is created in a form that shows errors beside their fields, changed, and deleted", async () => {
    // A second try would find the record of the first.
    await place.sql("DELETE FROM products WHERE sku = 'HAND-9901'");
    const page = await place.visit("#/demo/products/new");
    await page.locator("[name=sku]").fill("hammer");
    await button(page, "Create").click();
    await expect.poll(() => faultOf(page, "sku")).toBe("Must look like HAND-0001.");
    expect(await faultOf(page, "category_id")).toBe("Is required.");
    expect(await page.locator("[name=sku]").getAttribute("aria-invalid")).toBe("true");
    expect(await page.evaluate("document.activeElement.name")).toBe("sku");
    expect(place.takeFaults()).toEqual([expect.stringContaining("400")]);

    await page.locator("[name=sku]").fill("HAND-9901");
    await page.locator("[name=name]").fill("Brandt club hammer");
    await choose(page, "category_id", "Hand tools");
    await choose(page, "supplier_id", "Calder");
    await page.locator("[name=price]").fill("12,50");
    await page.locator("[name=cost]").fill("8.25");
    await page.locator("[name=launched_on]").fill("2026-03-14");
    await place.picture(page, "form");
    await button(page, "Create").click();
    await expect.poll(() => title(page)).toBe("Brandt club hammer");
    expect(await one("SELECT price FROM products WHERE sku = 'HAND-9901'").then(Number)).toBe(12.5);
    expect(await page.locator("[name=price]").inputValue()).toBe("12.50");

    await page.locator("[name=price]").fill("13.10");
    await page.locator("[name=launched_on]").fill("");
    await button(page, "Save").click();
    await expect.poll(() => notices(page)).toContain("Saved");
    expect(
      await place
        .sql("SELECT price, launched_on FROM products WHERE sku = 'HAND-9901'")
        .then(([row]) => [Number(row!["price"]), row!["launched_on"]]),
    ).toEqual([13.1, null]);

    await button(page, "Delete").first().click();
    await page.locator(".dialog .danger").click();
    await page.waitForURL(/#\/demo\/products$/);
    expect(await one("SELECT count(*) FROM products WHERE sku = 'HAND-9901'").then(Number)).toBe(0);
  });

  test("a document and its lines are saved together, and the totals follow", async () => {
    const id = await one(
      "SELECT receipt_id FROM stock_receipts WHERE status = 'draft' AND total_items > 2 ORDER BY receipt_id LIMIT 1",
    );
    const page = await place.visit(`#/demo/stock-receipts/record/${id}`);
    const lines = page.locator(".lines tbody tr");
    await lines.first().waitFor();
    const before = await lines.count();
    await lines.first().locator("[name=qty_received]").fill("1000");
    await lines.first().locator("[name=unit_price]").fill("2.50");
    await lines.nth(1).locator("button").click();
    await button(page, "Add a line").click();
    await button(page, "Save").click();
    await expect
      .poll(() => lines.last().locator(".fault-text").allTextContents())
      .toContain("Is required.");
    await lines.last().locator(".ts-control").click();
    await lines.last().locator(".ts-control input").pressSequentially("HAND-0002");
    await page.locator(".ts-dropdown .option").filter({ hasText: "HAND-0002" }).first().click();
    await lines.last().locator("[name=qty_received]").fill("4");
    await lines.last().locator("[name=unit_price]").fill("10");
    expect(place.takeFaults()).toEqual([expect.stringContaining("400")]);
    await place.picture(page, "document");
    await button(page, "Save").click();
    await expect.poll(() => notices(page)).toContain("Saved");
    await expect.poll(() => lines.count()).toBe(before);
    const sum = await one(`SELECT sum(amount) FROM stock_receipt_lines WHERE receipt_id = '${id}'`);
    const shown = await page.locator("[data-total=total_amount]").innerText();
    expect(Number(shown.replaceAll(",", ""))).toBe(Number(sum));
    expect(
      Number(await one(`SELECT total_amount FROM stock_receipts WHERE receipt_id = '${id}'`)),
    ).toBe(Number(sum));
    expect(await page.locator("[data-total=total_items]").innerText()).toBe(String(before));
  });

  test("whoever edits a record holds its lock, and others see it", async () => {
    const id = await one("SELECT product_id FROM products WHERE sku = 'HAND-0013'");
    const first = await place.visit(`#/demo/products/record/${id}`);
    await first.locator("[name=name]").fill("Something else");
    await first.locator(".save-bar").waitFor();
    const status = () =>
      place
        .call("products/lock/status", { lock_keys: [{ key: "product_id", value: id }] })
        .then(({ data }) => data.keys[0].locked);
    await expect.poll(status).toBe(true);

    const second = await place.other(`#/demo/products/record/${id}`);
    await expect
      .poll(() => second.locator(".banner").first().innerText())
      .toContain("Somebody in the console is editing this record");
    await second.locator("[name=name]").fill("Mine");
    await button(second, "Save").click();
    await expect
      .poll(() => second.locator(".banner.fault").innerText())
      .toContain("locked by another client");
    expect(place.takeFaults().every((fault) => fault.includes("409"))).toBe(true);

    await button(first, "Discard").click();
    await expect.poll(status).toBe(false);
    await button(second, "Save").click();
    await expect.poll(() => title(second)).toBe("Mine");
  });
}

export function describeFurtherFlows(place: ConsolePlace): void {
  const one = reader(place);

  test("what somebody else changed meanwhile is kept on saving; a field that both changed is asked", async () => {
    const id = await one("SELECT product_id FROM products WHERE sku = 'HAND-0010'");
    const page = await place.visit(`#/demo/products/record/${id}`);
    const stored = () =>
      place
        .sql(`SELECT reorder_level, cost FROM products WHERE product_id = '${id}'`)
        .then(([row]) => [Number(row!["reorder_level"]), Number(row!["cost"])]);
    // The person's lock would keep this out, so it comes from beside the service.
    const change = (set: string, minute: number) =>
      place.sql(
        `UPDATE products SET ${set}, updated_at = '2026-11-22T10:0${minute}:00.000Z' WHERE product_id = '${id}'`,
      );
    await page.locator("[name=reorder_level]").fill("77");
    await page.locator(".save-bar").waitFor();
    await change("cost = 5.55", 0);
    await button(page, "Save").click();
    await expect
      .poll(() => notices(page).then(([text]) => text))
      .toBe("Saved. Changed by somebody else at 11:00: Cost");
    expect(place.takeFaults()).toEqual([expect.stringContaining("412")]);
    expect(await stored()).toEqual([77, 5.55]);

    await page.locator("[name=reorder_level]").fill("78");
    await page.locator(".save-bar").waitFor();
    await change("reorder_level = 5, cost = 6", 1);
    await button(page, "Save").click();
    const question = page.locator(".both-changed");
    await question.waitFor();
    expect(place.takeFaults()).toEqual([expect.stringContaining("412")]);
    expect(await question.locator("p").innerText()).toBe("Changed by Update from API at 11:01: 5");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Keep mine");
    expect(await page.locator("[name=reorder_level]").inputValue()).toBe("78");
    expect(await page.locator("[name=cost]").inputValue()).toBe("6.00");
    await place.picture(page, "conflict");
    expect(await stored()).toEqual([5, 6]);
    await button(page, "Keep mine").click();
    await button(page, "Save").click();
    await expect.poll(stored).toEqual([78, 6]);
  });

  test("a new document is created with its lines", async () => {
    const page = await place.visit("#/demo/stock-receipts/new");
    await choose(page, "supplier_id", "Calder");
    await choose(page, "warehouse_id", "Hamburg");
    await page.locator("[name=receipt_date]").fill("2026-11-02");
    const line = page.locator(".lines tbody tr").first();
    await line.locator(".ts-control").click();
    await line.locator(".ts-control input").pressSequentially("HAND-0010");
    await page.locator(".ts-dropdown .option").filter({ hasText: "HAND-0010" }).first().click();
    await line.locator("[name=qty_received]").fill("3");
    await line.locator("[name=unit_price]").fill("1.10");
    await button(page, "Create").click();
    await expect.poll(() => title(page)).toMatch(/^2 Nov 2026 · Calder/);
    expect(await page.locator("[data-total=total_amount]").innerText()).toBe("3.30");
  });

  test("the statuses that may follow are buttons; a receipt that is posted has its number and is closed", async () => {
    const id = await one(
      "SELECT receipt_id FROM stock_receipts WHERE status = 'received' ORDER BY receipt_id LIMIT 1",
    );
    const next = await place.call("stock-receipts/next-number", { receipt_date: "2026-10-20" });
    const page = await place.visit(`#/demo/stock-receipts/record/${id}`);
    await expect.poll(() => title(page)).toMatch(/^\d+ Oct 2026 · \D/);
    await expect
      .poll(async () =>
        (await page.locator(".status-step").allTextContents()).map((text) => text.trim()),
      )
      .toEqual(["Post", "Cancel receipt"]);
    await page.locator(".status-step").first().click();
    // A step into a closed status is asked first.
    const dialog = page.locator(".dialog");
    expect(await dialog.locator("h2").innerText()).toBe("Post?");
    expect(await dialog.locator("p").first().innerText()).toMatch(/no longer be changed/);
    await dialog.locator(".actions button").first().click();
    expect(await one(`SELECT status FROM stock_receipts WHERE receipt_id = '${id}'`)).toBe(
      "received",
    );
    await page.locator(".status-step").first().click();
    await dialog.locator(".danger").click();
    await expect.poll(() => page.locator(".head .status").innerText()).toBe("Posted");
    expect(await one(`SELECT status FROM stock_receipts WHERE receipt_id = '${id}'`)).toBe(
      "posted",
    );
    expect(await title(page)).toBe(next.data.receipt_number);
    expect(await page.locator(".status-step").count()).toBe(0);
    expect(await page.locator(".banner.closed").innerText()).toBe(
      "This record is closed (status: Posted). Its values and lines can no longer be changed. This status is final.",
    );
    expect(await page.locator("main input, main select, main textarea").count()).toBe(0);
    expect(await page.locator("[aria-label=Delete]").count()).toBe(0);
  });

  test("an adjustment adds to the stored value, and says why it may not", async () => {
    const id = await one("SELECT product_id FROM products WHERE sku = 'HAND-0012'");
    const before = Number(await one(`SELECT stock FROM products WHERE product_id = '${id}'`));
    const page = await place.visit(`#/demo/products/record/${id}`);
    await button(page, "Adjust").first().click();
    await page.locator("#adjust-amount").fill("-100000");
    await page.locator("#adjust-reason").fill("inventory");
    await page.locator(".dialog .primary").click();
    await expect
      .poll(() => page.locator(".dialog .fault-text").innerText())
      .toContain("exceed a limit");
    expect(place.takeFaults()).toEqual([expect.stringContaining("409")]);
    await page.locator("#adjust-amount").fill("-5");
    await page.locator(".dialog .primary").click();
    await expect.poll(() => page.locator("[name=stock]").inputValue()).toBe(String(before - 5));
  });
}
