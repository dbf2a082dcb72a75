/** The service's pages `/` and `/docs` in a real browser: they contact no other host and obey their security policy. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { createLog } from "../../app/start/observing/log.ts";
import type { Listening } from "../../app/start/servers/listening.ts";
import { listen } from "../../app/start/servers/node.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { createDemo } from "../../configs/demo/create.ts";
import { type Browser, launchChromium, type Page } from "./playwright.ts";

const folder = mkdtempSync(join(tmpdir(), "rowgate-test-pages-"));
const configs = join(import.meta.dirname, "../../configs");
const key = "key of the clerk";

let open: Listening;
let closed: Listening;
let browser: Browser;
beforeAll(async () => {
  createDemo(join(folder, "demo.db"));
  open = await serve({}, {});
  const sha256 = createHash("sha256").update(key).digest("hex");
  closed = await serve(
    { auth: { apiKeys: [{ id: "clerk", sha256, roles: ["clerk"] }] } },
    { access: { clerk: ["first"] } },
  );
  browser = await launchChromium(inject("chromium") ?? "");
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await Promise.all([open?.stop(), closed?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** The demo, with these properties in its project.json and in its products.json. */
async function serve(project: object, products: object): Promise<Listening> {
  const files = new Map(await readConfigFiles(configs));
  for (const [path, change] of [
    ["demo/project.json", project],
    ["demo/products.json", products],
  ] as const)
    files.set(path, JSON.stringify({ ...JSON.parse(files.get(path) ?? "{}"), ...change }));
  const env = {
    DEMO_DATABASE_URL: `sqlite:${join(folder, "demo.db")}`,
    STORAGE_URL: `file:${join(folder, Object.keys(project).join() || "files")}`,
    PORT: "0",
  };
  const importComponent = importFrom(configs);
  return listen(await openService({ files, env, log: createLog("silent"), importComponent }));
}

let page: Page;
let faults: string[];
beforeEach(async () => {
  faults = [];
  page = await browser.newPage({ viewport: { width: 390, height: 800 } });
  page.setDefaultTimeout(40_000);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => {
    const isOwn = [open.url, closed.url, "data:"].some((own) => request.url().startsWith(own));
    if (!isOwn) faults.push(`asked for ${request.url()}`);
  });
});
afterEach(async () => {
  await page.close();
  expect(faults).toEqual([]);
});

/** A page of this size takes a busy machine some seconds. */
const patiently = { timeout: 40_000 };
const texts = (selector: string): Promise<string[]> => page.locator(selector).allTextContents();
const endpoints = [
  "categories",
  "products",
  "receipts-by-supplier",
  "stock-receipt-lines",
  "stock-receipts",
  "suppliers",
  "warehouses",
];

test("/ lists the endpoints, fits a narrow screen, and leads to /docs", async () => {
  await page.goto(open.url);
  expect((await texts("h3")).map((text) => text.trim())).toEqual(endpoints);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  // The style was applied.
  expect(await page.evaluate("getComputedStyle(document.querySelector('.actions')).display")).toBe(
    "flex",
  );
  await page.locator(".links a").filter({ hasText: "Documentation" }).click();
  await expect.poll(() => texts("h1"), patiently).toEqual(["Documentation"]);
});

test("/ leads from an endpoint to its documentation", async () => {
  await page.goto(open.url);
  await page.locator("h3 a").nth(1).click();
  await expect.poll(() => texts(".endpoint[open] > summary h3"), patiently).toEqual(["products"]);
  await expect
    .poll(() => texts(".endpoint[open] .opblock-summary-path"), patiently)
    .toContain("/api/demo/products/first");
  expect(await texts(".endpoint > summary h3")).toEqual(endpoints);
}, 90_000);

test("/docs loads the document of an endpoint when it is opened, and of no other", async () => {
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("openapi.json")) asked.push(new URL(request.url()).pathname);
  });
  await page.goto(`${open.url}/docs`);
  await expect.poll(() => texts(".endpoint > summary h3"), patiently).toEqual(endpoints);
  expect(asked).toEqual([]);
  await page.locator(".endpoint > summary").nth(1).click();
  await expect.poll(() => texts(".opblock-summary-path"), patiently).not.toEqual([]);
  expect(asked).toEqual(["/api/demo/products/openapi.json"]);
}, 90_000);

test("/docs of a project with auth shows what a key may use once it is entered, and sends requests with it", async () => {
  await page.goto(`${closed.url}/docs`);
  await page.locator("#sign-in").waitFor();
  expect(await texts(".endpoint > summary h3")).toEqual([]);
  await page.locator("#secret").fill(key);
  await page.locator("#secret").press("Enter");
  await expect.poll(() => texts(".endpoint > summary h3"), patiently).toEqual(["products"]);
  await page.locator(".endpoint > summary").first().click();
  await expect
    .poll(() => texts(".opblock-summary-path"), patiently)
    .toEqual(["/api/demo/products/first"]);
  await page.locator(".opblock-summary-control").first().click();
  await page.locator(".try-out__btn").click();
  await page.locator(".body-param__text").fill('{"where": {"key": "sku", "value": "HAND-0004"}}');
  await page.locator(".execute").click();
  const answer = page.locator(".live-responses-table");
  await answer.waitFor();
  expect(await answer.innerText()).toContain("Brandt claw hammer 450 g");
}, 90_000);

test("/docs says when a key is wrong", async () => {
  await page.goto(`${closed.url}/docs?project=demo`);
  await page.locator("#secret").fill("another key");
  await page.locator("#secret").press("Enter");
  await expect
    .poll(() => page.locator("#message").innerText(), patiently)
    .toBe("The list could not be loaded: Credentials are missing or invalid");
  // The browser reports the status 401 of the request.
  expect(faults.splice(0)).toEqual([expect.stringContaining("401")]);
}, 60_000);
