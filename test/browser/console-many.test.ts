/** The console of a project with three hundred endpoints. Numbers of requests and bytes stand for the time they take. */
import { expect, test } from "vitest";
import { openConsole } from "./console.ts";

const actions = ["create", "read", "first", "update", "lookup", "datatables", "bulk-update"];
const endpoint = {
  tableName: "items",
  action: Object.fromEntries(actions.map((action) => [action, true])),
  fieldNameLookup: { id: "item_id", text: "name" },
};
const names = Array.from({ length: 300 }, (_, at) => `items-${String(at + 1).padStart(3, "0")}`);

const place = openConsole({
  prepare: `create table items (item_id integer primary key, name varchar(80) not null, price decimal(12, 2));
    insert into items (name, price) with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
      select 'Part ' || i, i / 4.0 from n`,
  changes: Object.fromEntries(names.map((name) => [`${name}.json`, endpoint])),
});

test("the first list takes one answer for the menu and one for its endpoint, whose modules come with them", async () => {
  const page = await place.visit("#/demo/items-250");
  const rows = page.locator(".grid tbody .open");
  await expect.poll(() => rows.count()).toBe(25);
  const sizes = (await page.evaluate(
    "performance.getEntriesByType('resource').map(({ transferSize }) => transferSize)",
  )) as number[];
  expect(sizes.length).toBeLessThan(80);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(250_000);
  // The menu is longer than the page.
  const link = (await page.locator(".side a[aria-current]").boundingBox())!;
  expect(link.y + link.height).toBeLessThan(850);
  await place.picture(page, "many");

  const asked: string[] = [];
  page.on("request", (request) => {
    const path = new URL(request.url()).pathname;
    asked.push(path.replace(/^\/console\/files\/\w+/, ""));
  });
  let free = (): void => {};
  await page.route(`${place.url}/`, async (route) => {
    await new Promise<void>((resolve) => (free = resolve));
    await route.continue();
  });
  await page.reload();
  // The index has not been answered.
  for (const path of ["/views/grid.js", "/vendor/datatables.js", "/editing/cell-editor.js"])
    await expect.poll(() => asked).toContain(path);
  const ofData = (): string[] =>
    asked.filter((path) => path === "/" || path.startsWith("/api/")).toSorted();
  expect(ofData()).toEqual(["/", "/api/demo/items-250/openapi.json"]);
  free();
  await expect.poll(() => rows.count()).toBe(25);
  expect(ofData()).toEqual([
    "/",
    "/api/demo/items-250/datatables",
    "/api/demo/items-250/openapi.json",
  ]);
});

test("the home page counts only the cards in sight, and its search finds lists by their names", async () => {
  const page = await place.visit("");
  await expect.poll(() => page.locator(".count:not(:empty)").count()).toBeGreaterThan(5);
  expect(await page.locator(".card").count()).toBe(306);
  expect(await page.locator(".count:not(:empty)").count()).toBeLessThan(40);
  await page.locator(".home-search input").fill("items 25");
  const found = page.locator(".hit-list").first();
  await expect
    .poll(() => found.locator("li").allTextContents())
    .toEqual(Array.from({ length: 10 }, (_, at) => `Items 25${at}`));
  expect(await found.locator("h2").innerText()).toBe("Lists");
  await place.picture(page, "many-search");
  await found.locator("a").nth(3).click();
  await expect.poll(() => page.locator("h1").innerText()).toBe("Items 253");
});
