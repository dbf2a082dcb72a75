/** The console where a project has `auth`: signing in, and what each role finds there. */
import { createHash } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { problems } from "./axe.ts";
import { openConsole } from "./console.ts";
import { startConsoleIssuer } from "./console-issuer.ts";
import type { Page } from "./playwright.ts";

const issuer = await startConsoleIssuer();
afterAll(() => issuer.close());

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const place = openConsole({
  origins: () => [issuer.url],
  prepare: `ALTER TABLE suppliers ADD COLUMN is_deleted BOOLEAN;
    INSERT INTO suppliers (supplier_id, code, name, city, country, payment_days, is_active, created_at, created_by)
    VALUES ('s1', 'XX-001', 'Nobody sells for it', 'Graz', 'Austria', 30, TRUE, '2026-01-01T00:00:00.000Z', 'test')`,
  changes: {
    "project.json": {
      auth: {
        apiKeys: [
          { id: "owner", sha256: hashOf("key of the owner"), roles: ["owner"] },
          { id: "clerk", sha256: hashOf("key of the clerk"), roles: ["clerk"] },
        ],
        jwt: {
          jwksUri: `${issuer.url}/keys`,
          issuer: issuer.url,
          audience: "rowgate",
          algorithms: ["ES256"],
          clientId: "console",
        },
      },
    },
    "products.json": {
      access: { owner: "*", clerk: ["read", "first", "datatables"] },
      hiddenFields: { clerk: ["cost"] },
    },
    "suppliers.json": {
      access: { owner: "*" },
      softDelete: true,
      action: { read: true, first: true, create: true, update: true, delete: true, restore: true },
      components: {},
    },
  },
});

const entities = (page: Page): Promise<string[]> =>
  page.locator(".side section a").allTextContents();

async function signIn(page: Page, key: string): Promise<void> {
  await page.locator("#secret").fill(key);
  await page.keyboard.press("Enter");
}

test("nobody sees anything before signing in, and a wrong key says so", async () => {
  const page = await place.visit("#/demo/products");
  await page.locator("#secret").waitFor();
  expect(await entities(page)).toEqual([]);
  await place.picture(page, "sign-in");
  await signIn(page, "another key");
  await expect.poll(() => page.locator(".fault-text").innerText()).toBe("This key is not valid.");
  expect(await problems(page)).toEqual([]);
  expect(place.takeFaults()).toEqual([expect.stringContaining("401")]);
});

test("a clerk finds what a clerk may use, until signing out", async () => {
  const page = await place.visit("");
  await page.locator("#secret").waitFor();
  await signIn(page, "key of the clerk");
  await expect.poll(() => entities(page)).toEqual(["Stock", "Products"]);
  await page.locator(".side section a").nth(1).click();
  await page.locator(".grid tbody .open").first().waitFor();
  expect(
    (await page.locator(".head button, .head a").allTextContents()).map((text) => text.trim()),
  ).toEqual(["Filters"]);
  await page.locator(".grid tbody .open").first().click();
  await page.locator(".facts").waitFor();
  expect(await page.locator("form input").count()).toBe(0);
  expect(await page.locator(".sheet .label").allTextContents()).not.toContain("Cost");
  expect(await page.locator(".sheet .label").allTextContents()).toContain("Price");

  // What was opened goes with the tab, and with the credentials.
  const opened = () => page.evaluate("sessionStorage.getItem('rowgate.recent')");
  expect(await opened()).toContain('"products"');
  expect(await page.evaluate("localStorage.getItem('rowgate.recent')")).toBe(null);
  await page.locator(".person button").click();
  await page.locator("#secret").waitFor();
  expect(await page.evaluate("sessionStorage.getItem('rowgate.credentials')")).toBe(null);
  expect(await opened()).toBe(null);
});

test("an owner finds everything, and the requests show a variable in place of the key", async () => {
  const page = await place.visit("");
  await page.locator("#secret").waitFor();
  await signIn(page, "key of the owner");
  await expect.poll(() => entities(page)).toEqual(["Stock", "Suppliers", "Products"]);
  await page.locator(".side section a").nth(1).click();
  await page.locator(".grid tbody .open").first().waitFor();
  await page.locator("button").filter({ hasText: "Requests" }).click();
  const curl = await page.locator(".requests code").first().innerText();
  expect(curl).toContain('-H "X-Api-Key: $API_KEY"');
  expect(curl).not.toContain("key of the owner");
});

test("a person signs in at the issuer, and comes back with a token", async () => {
  const page = await place.visit("#/demo/products?q=hammer");
  await page.locator("#secret").waitFor();
  await page
    .locator("button")
    .filter({ hasText: `Continue with ${issuer.host}` })
    .click();
  await expect.poll(() => page.locator(".person-name").allTextContents()).toEqual(["Anna Example"]);
  expect(await entities(page)).toEqual(["Stock", "Products"]);
  expect(page.url()).toBe(`${place.url}/console#/demo/products?q=hammer`);
});

const ended = JSON.stringify({ header: "X-Api-Key", value: "an old key", name: "Key" });

test.each([
  ["in a list", "#/demo/products?q=hammer", ".grid thead th:not(.pick)"],
  ["in a new form", "#/demo/suppliers/new", ".save-bar button[type=submit]"],
])("a person whose key has ended %s signs in, and is back", async (_where, hash, pressed) => {
  const page = await place.visit(hash);
  await page.locator("#secret").waitFor();
  await signIn(page, "key of the owner");
  await page.locator(pressed).first().waitFor();
  await page.evaluate(`sessionStorage.setItem("rowgate.credentials", ${JSON.stringify(ended)})`);
  await page.locator(pressed).first().click();
  await page.locator("#secret").waitFor();
  await signIn(page, "key of the owner");
  await page.locator(pressed).first().waitFor();
  expect(page.url().startsWith(`${place.url}/console${hash}`)).toBe(true);
  for (const fault of place.takeFaults()) expect(fault).toMatch(/ 401 /);
});

test.each([
  ["a stored record", "#/demo/suppliers/record/s1", "city", "Vienna"],
  ["a new record", "#/demo/suppliers/new", "code", "XX-002"],
])(
  "the form of %s keeps what was typed when the key has ended",
  async (_what, hash, name, text) => {
    const page = await place.visit(hash);
    await page.locator("#secret").waitFor();
    await signIn(page, "key of the owner");
    const field = page.locator(`form [name=${name}]`);
    await field.fill(text);
    await page.evaluate(`sessionStorage.setItem("rowgate.credentials", ${JSON.stringify(ended)})`);
    await page.locator("form button[type=submit]").click();
    const dialog = page.locator(".dialog");
    await dialog.locator("#secret").waitFor();
    expect(await problems(page)).toEqual([]);
    await place.picture(page, "sign-in-over");
    await dialog.locator("#secret").fill("another key");
    await page.keyboard.press("Enter");
    await expect.poll(() => dialog.locator(".fault-text").innerText()).toMatch(/not valid/);
    await signIn(page, "key of the owner");
    await expect.poll(() => dialog.count()).toBe(0);
    expect(await field.inputValue()).toBe(text);
    await expect.poll(() => page.locator(".person-name").allTextContents()).toEqual(["API key"]);
    for (const one of ["name", "city", "country"])
      if (hash.endsWith("new")) await page.locator(`form [name=${one}]`).fill("Graz");
    await page.locator("form button[type=submit]").click();
    await expect.poll(() => page.locator(".notice.done").count()).toBe(1);
    const stored = await place.sql(`SELECT 1 FROM suppliers WHERE ${name} = '${text}'`);
    expect(stored).toHaveLength(1);
    for (const fault of place.takeFaults()) expect(fault).toMatch(/ 401 /);
  },
);

test("a form keeps what was typed while a person signs in at the issuer again", async () => {
  const page = await place.visit("#/demo/suppliers/record/s1");
  await page.locator("#secret").waitFor();
  await signIn(page, "key of the owner");
  await page.locator("form [name=city]").fill("Linz");
  await page.evaluate(`sessionStorage.setItem("rowgate.credentials", ${JSON.stringify(ended)})`);
  await page.locator("form button[type=submit]").click();
  await page.locator(".dialog button.primary").click();
  await expect.poll(() => page.locator(".person-name").allTextContents()).toEqual(["Anna Example"]);
  expect(await page.locator(".dialog").count()).toBe(0);
  expect(await page.locator("form [name=city]").inputValue()).toBe("Linz");
  for (const fault of place.takeFaults()) expect(fault).toMatch(/ 401 /);
});

test("a list keeps the cells that were changed when the key has ended", async () => {
  const page = await place.visit("#/demo/products?q=HAND-0004&cols=sku%2Cprice");
  await page.locator("#secret").waitFor();
  await signIn(page, "key of the owner");
  const price = page.locator(".grid tbody tr").first().locator("td").last();
  await page.locator(".grid tbody .open").first().waitFor();
  await price.click();
  await page.keyboard.type("77");
  await page.keyboard.press("Enter");
  await page.evaluate(`sessionStorage.setItem("rowgate.credentials", ${JSON.stringify(ended)})`);
  const save = page.locator(".edit-bar .primary");
  await save.click();
  await page.locator(".dialog #secret").waitFor();
  await signIn(page, "key of the owner");
  await expect.poll(() => page.locator(".dialog").count()).toBe(0);
  expect(await price.innerText()).toBe("77.00");
  await save.click();
  const stored = () => place.sql("SELECT price FROM products WHERE sku = 'HAND-0004'");
  await expect.poll(stored).toEqual([{ price: 77 }]);
  for (const fault of place.takeFaults()) expect(fault).toMatch(/ 401 /);
});

test("a key that has ended behind a dialog asks for a sign-in, without the dialog", async () => {
  const page = await place.visit("#/demo/products?q=hammer");
  await page.locator("#secret").waitFor();
  await signIn(page, "key of the owner");
  for (const pressed of ["Download again", "Export"]) {
    await page.locator(".head button").filter({ hasText: "Export" }).click();
    if (pressed !== "Export") await page.locator(".dialog .primary").click();
    await page.locator(".dialog button").filter({ hasText: pressed }).waitFor();
    await page.evaluate(`sessionStorage.setItem("rowgate.credentials", ${JSON.stringify(ended)})`);
    await page.locator(".dialog button").filter({ hasText: pressed }).click();
    await page.locator("#secret").waitFor();
    expect(await page.locator(".dialog").count()).toBe(0);
    await signIn(page, "key of the owner");
    await page.locator(".grid tbody .open").first().waitFor();
  }
  for (const fault of place.takeFaults()) expect(fault).toMatch(/ 401 /);
});

test("the way back closes a dialog, which is about the list before", async () => {
  const page = await place.visit("#/demo/products");
  await page.locator("#secret").waitFor();
  await signIn(page, "key of the owner");
  await page.locator(".grid tbody .open").first().waitFor();
  await page.evaluate(`location.hash = "#/demo/suppliers"`);
  await expect.poll(() => page.locator("main h1").innerText()).toBe("Suppliers");
  await page.evaluate(`location.hash = "#/demo/products"`);
  await page.locator(".head button").filter({ hasText: "Export" }).click();
  await page.locator(".dialog").waitFor();
  await page.evaluate("history.back()");
  await expect.poll(() => page.locator("main h1").innerText()).toBe("Suppliers");
  expect(await page.locator(".dialog").count()).toBe(0);
});

test("a deleted record can be brought back", async () => {
  const page = await place.visit("#/demo/suppliers?q=XX-001");
  await page.locator("#secret").waitFor();
  await signIn(page, "key of the owner");
  await expect.poll(() => page.locator(".info[role=status]").innerText()).toBe("1 record");
  await page.locator(".grid .open").first().click();
  await page.locator(".head button").filter({ hasText: "Delete" }).click();
  expect(await page.locator(".dialog-body p").first().innerText()).toBe(
    "It can be restored later.",
  );
  await page.locator(".dialog .danger").click();
  const deleted = async () =>
    Object.values((await place.sql("SELECT count(*) FROM suppliers WHERE is_deleted"))[0]!)[0];
  await expect.poll(deleted).toBe(1);
  await page.locator(".notice button").click();
  await expect.poll(deleted).toBe(0);
});
