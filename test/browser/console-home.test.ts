/** The home page of the console: counts, what was opened last, and the search over all lists. */
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";
import type { Page } from "./playwright.ts";

const place = openConsole();

const path = (url: string): string => new URL(url).pathname.replace("/api/demo/", "");
const lists = (page: Page): Promise<string[]> => page.locator(".hit-list h2").allTextContents();
const count = async (sql: string): Promise<number> =>
  Number(Object.values((await place.sql(sql))[0]!)[0]);

test("cards count their records when they come in sight, and records that were opened last are links", async () => {
  const page = await place.visit("#/demo/suppliers", { height: 480 });
  const name = await page.locator(".grid .open").nth(2).innerText();
  const link = page.locator(".grid .open").nth(2);
  const address = await link.getAttribute("href");
  await link.click();
  await page.waitForURL(/suppliers\/record\//);
  const title = page.locator("h1");
  await expect.poll(() => page.locator("[name=code]").inputValue()).toBe(name);
  const shown = await title.innerText();

  const asked: string[] = [];
  page.on("request", (request) => void asked.push(path(request.url())));
  await page.locator(".brand").click();
  const counts = () => page.locator(".count:not(:empty)").allTextContents();
  await expect.poll(counts).toHaveLength(2);
  const receipts = await count("SELECT count(*) FROM stock_receipts");
  expect((await counts())[0]).toBe(receipts.toLocaleString("en-GB"));
  // Warehouses are below, and receipts by supplier would be a query of their own.
  expect(asked.filter((one) => one.endsWith("/read"))).toEqual([
    "stock-receipts/read",
    "suppliers/read",
  ]);
  await page.locator(".card").last().scrollIntoViewIfNeeded();
  await expect.poll(counts).toHaveLength(5);
  await place.picture(page, "home-recent");

  expect(await page.locator(".recent a").allTextContents()).toEqual([shown]);
  expect(await page.evaluate("localStorage['rowgate.recent']")).toBe(
    JSON.stringify([
      { parts: decodeURIComponent(address!).replace("#/", "").split("/"), title: shown },
    ]),
  );
  await page.locator(".recent a").click();
  await expect.poll(() => page.locator("[name=code]").inputValue()).toBe(name);
});

test("the search goes through the lists one after the other, and stops when its text changes", async () => {
  const page = await place.visit("#/");
  const asked: string[] = [];
  let free: (() => void) | null = null;
  page.on("request", (request) => {
    const { searchParams } = new URL(request.url());
    const text = searchParams.get("search") ?? JSON.parse(request.postData() ?? "{}").search_value;
    if (text) asked.push(`${path(request.url())} ${text}`);
  });
  await page.route(`${place.url}/api/demo/suppliers/lookup?*search=gruber*`, async (route) => {
    await new Promise<void>((resolve) => (free = resolve));
    await route.continue().catch(() => {});
  });
  const input = page.locator(".home-search input");
  await input.fill("gruber");
  await expect.poll(() => asked.at(-1)).toBe("suppliers/lookup gruber");
  const started = asked.length;
  await input.fill("hammer");
  await expect.poll(() => lists(page)).toEqual(["Products"]);
  await expect
    .poll(() => page.locator("[role=status]").allTextContents())
    .toContain("Found records");
  // Neither the rest of the lists nor the answer that was waited for.
  expect(asked.slice(started).filter((one) => one.includes("gruber"))).toEqual([]);
  free!();
  expect(await page.locator(".hit-list li").count()).toBe(5);
  expect(await page.locator(".cards").first().isVisible()).toBe(false);
  await place.picture(page, "home-search");

  // An endpoint without lookup is searched with read.
  await input.fill("GR-2026-00678");
  await expect.poll(() => lists(page)).toEqual(["Stock receipts"]);
  await page.locator(".hit-list li a").click();
  await expect.poll(() => page.locator("h1").innerText()).toBe("GR-2026-00678");

  await page.locator(".brand").click();
  await input.fill("hammer");
  await page.locator(".hit-list h2 a").click();
  await expect.poll(() => page.url()).toMatch(/#\/demo\/products\?q=hammer$/);
  await page.locator(".brand").click();
  await input.fill("nothing has this name");
  await expect
    .poll(() => page.locator("[role=status]").allTextContents())
    .toContain("No record fits");
  await input.fill("");
  await expect.poll(() => page.locator(".cards").first().isVisible()).toBe(true);
});
