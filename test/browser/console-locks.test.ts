/** Locks of records that are edited in the console: over slow lines, with reloads and with lost requests. */
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";
import { type Page, slowDown } from "./playwright.ts";

const place = openConsole();

const notices = (page: Page): Promise<string[]> => page.locator(".notice").allTextContents();
const button = (page: Page, text: string) => page.locator("button").filter({ hasText: text });
const nameOf = (page: Page) => page.locator("form [name=name]");

async function idOf(sku: string): Promise<string> {
  const [row] = await place.sql(`SELECT product_id FROM products WHERE sku = '${sku}'`);
  return String(row!["product_id"]);
}

const isLocked = async (id: string): Promise<boolean> => {
  const lock_keys = [{ key: "product_id", value: id }];
  return (await place.call("products/lock/status", { lock_keys })).data.keys[0].locked;
};

/** The token that the page holds. */
const tokenOf = (page: Page): Promise<unknown> =>
  page.evaluate("Object.entries(sessionStorage).find(([name]) => name.includes('lock'))?.[1]");

test("a save over a slow line waits for the lock that its first change takes", async () => {
  const page = await place.visit(`#/demo/products/record/${await idOf("HAND-0014")}`);
  await nameOf(page).waitFor();
  await slowDown(page, 300);
  await nameOf(page).fill("Typed and saved at once");
  await button(page, "Save").click();
  await expect.poll(() => notices(page)).toContain("Saved");
});

test("an adjustment over a slow line waits for the lock too", async () => {
  const page = await place.visit(`#/demo/products/record/${await idOf("HAND-0014")}`);
  await nameOf(page).waitFor();
  await button(page, "Adjust").first().click();
  await page.locator("#adjust-amount").fill("5");
  await slowDown(page, 300);
  await page.evaluate(
    "const name = document.querySelector('form [name=name]'); name.value += '!'; name.dispatchEvent(new Event('input')); document.querySelector('.dialog .primary').click()",
  );
  await expect.poll(() => notices(page)).toContain("Adjusted");
});

test("a lock that comes after its record was left is given back", async () => {
  const id = await idOf("HAND-0015");
  const page = await place.visit(`#/demo/products/record/${id}`);
  await nameOf(page).waitFor();
  const before = await nameOf(page).inputValue();
  await slowDown(page, 1500);
  await nameOf(page).fill("Never saved");
  await nameOf(page).fill(before);
  await page.locator(".crumb a").click();
  await expect.poll(() => isLocked(id)).toBe(true);
  await expect.poll(() => isLocked(id)).toBe(false);
  expect(await tokenOf(page)).toBe(undefined);
});

test("a page that is closed or reloaded gives its lock back", async () => {
  const id = await idOf("HAND-0016");
  const page = await place.visit(`#/demo/products/record/${id}`);
  await nameOf(page).fill("Never saved");
  await expect.poll(() => tokenOf(page)).toBeTypeOf("string");
  await page.reload();
  await expect.poll(() => isLocked(id)).toBe(false);
});

test("a lock whose release was lost keeps nobody's own page out", async () => {
  const id = await idOf("HAND-0017");
  const page = await place.visit(`#/demo/products/record/${id}`);
  await nameOf(page).fill("Before the reload");
  await expect.poll(() => tokenOf(page)).toBeTypeOf("string");
  await page.evaluate(
    "const send = fetch; window.fetch = (url, options) => options.keepalive ? Promise.reject(new Error('lost')) : send(url, options); 0",
  );
  await page.reload();
  await nameOf(page).fill("After the reload");
  await button(page, "Save").click();
  await expect.poll(() => notices(page)).toContain("Saved");
  expect(await page.locator(".banner").first().isVisible()).toBe(false);
});

test("a save whose lock has ended takes a new one", async () => {
  const id = await idOf("HAND-0018");
  const page = await place.visit(`#/demo/products/record/${id}`);
  await nameOf(page).fill("After a long pause");
  await expect.poll(() => tokenOf(page)).toBeTypeOf("string");
  const lock_keys = [{ key: "product_id", value: id }];
  await place.call("products/lock/release", { lock_keys, lock_token: await tokenOf(page) });
  await button(page, "Save").click();
  await expect.poll(() => notices(page)).toContain("Saved");
  // Of the save, and of the lock that could not be kept on.
  expect(place.takeFaults()).toEqual(Array(2).fill(expect.stringContaining("409")));
  await expect.poll(() => isLocked(id)).toBe(false);
});

test("a record that somebody else locks says who it is, until it is free", async () => {
  const id = await idOf("HAND-0019");
  const lock_keys = [{ key: "product_id", value: id }];
  const { data } = await place.call("products/lock/acquire", { lock_keys, owner: "Anna" });
  const page = await place.visit(`#/demo/products/record/${id}`);
  await expect
    .poll(() => page.locator(".banner").first().innerText())
    .toBe("Anna is editing this record. Your changes may be refused until they have finished.");
  await nameOf(page).fill("Mine");
  await button(page, "Save").click();
  await expect
    .poll(() => page.locator(".banner.fault").innerText())
    .toMatch(/^The record is locked by another client\. Locked by Anna for \d+ more seconds\.$/);
  await button(page, "Delete").first().click();
  await page.locator(".dialog .danger").click();
  await expect
    .poll(() => notices(page))
    .toEqual([expect.stringMatching(/^The record is locked by another client\. Locked by Anna/)]);
  expect(place.takeFaults().every((fault) => fault.includes("409"))).toBe(true);
  await place.call("products/lock/release", { lock_keys, lock_token: data.lock_token });
  await button(page, "Save").click();
  await expect.poll(() => notices(page)).toContain("Saved");
});
