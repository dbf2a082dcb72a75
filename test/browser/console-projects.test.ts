/** The console where an open project stands beside one with `auth`: addresses of what only a person who signs in sees. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";

const sha256 = createHash("sha256").update("key of the clerk").digest("hex");
const apiKeys = [{ id: "clerk", sha256, roles: ["clerk"] }];
const database = { url: "${DEMO_DATABASE_URL}" };
const warehouses = { tableName: "warehouses", action: { read: true, first: true } };
const place = openConsole({
  changes: {
    "project.json": { auth: { apiKeys, anonymous: { roles: ["visitor"] } } },
    "products.json": { access: { clerk: ["read", "first", "datatables"] } },
    "categories.json": { access: { clerk: "*", visitor: ["read"] } },
  },
  files: {
    "open/project.json": { database },
    "open/warehouses.json": warehouses,
    "closed/project.json": { database, auth: { apiKeys } },
    "closed/warehouses.json": { ...warehouses, access: { clerk: "*" } },
  },
});

const heading = "main h1";

test.each([
  ["a list", "#/demo/products?q=hammer", ["Products"]],
  ["a list of a hidden project", "#/closed/warehouses", ["Warehouses"]],
  ["a hidden project", "#/closed", ["Closed", "Demo", "Open"]],
  ["a list that nobody has", "#/demo/suppliers", ["There is no such list"]],
])("the address of %s asks for a sign-in, and then is shown", async (_what, hash, titles) => {
  const page = await place.visit(hash);
  await page.locator("#secret").fill("key of the clerk");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(heading).allTextContents()).toEqual(titles);
  expect(page.url()).toBe(`${place.url}/console${hash}`);
  // The list is asked for before it is known who sees it.
  for (const fault of place.takeFaults()) expect(fault).toMatch(/ 404 /);
});

test.each([
  ["the open project", "#/open/warehouses", ["Warehouses"]],
  ["a list that needs no key", "#/demo/categories", ["Categories"]],
  ["the home page", "", ["Demo", "Open"]],
])("the address of %s asks for nothing", async (_what, hash, titles) => {
  const page = await place.visit(hash);
  await expect.poll(() => page.locator(heading).allTextContents()).toEqual(titles);
});
