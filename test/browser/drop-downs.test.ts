/** Select2 and Tom Select over the lookup of the demo's suppliers, as a person uses them. */
import { beforeAll, describe, expect, test } from "vitest";
import { openDemo } from "./demo.ts";
import type { Page } from "./playwright.ts";

const demo = openDemo();

const markup = `<img src=x onerror=alert(1)> & "Sons"`;
beforeAll(() =>
  demo.call("suppliers/create", { code: "ZZ-999", name: markup, city: "Graz", country: "Austria" }),
);

/** Labels of the lookup, by SQL. */
const labels = (more: string): unknown[] =>
  demo.column(
    `SELECT code || ' - ' || name AS label FROM suppliers WHERE is_active AND label LIKE '%${more}%' ORDER BY label, supplier_id`,
  );
const idOf = (label: unknown): unknown =>
  demo.column(
    `SELECT supplier_id FROM suppliers WHERE code || ' - ' || name = '${String(label)}'`,
  )[0];

describe("Select2", () => {
  const shown = (page: Page) =>
    page
      .locator(".select2-results__option[role=option]:not(.select2-results__option--load-more)")
      .allTextContents();
  const chosen = (page: Page) => page.evaluate('document.querySelector("#supplier").value');

  test("with no more than a URL and the header shows the list, and searches it", async () => {
    const change = { "?limit=20": "", "delay: 250,": "" };
    const page = await demo.visit({ page: "select2.html", change });
    await page.locator(".select2-selection").click();
    await expect.poll(() => shown(page)).toEqual(labels(""));

    await page.locator(".select2-search__field").pressSequentially("gmbh");
    const found = labels("gmbh");
    await expect.poll(() => shown(page)).toEqual(found);
    await demo.picture("select2-search");

    await page.locator(".select2-results__option").nth(1).click();
    expect(await page.locator(".select2-selection__rendered").innerText()).toContain(found[1]);
    expect(await chosen(page)).toBe(idOf(found[1]));
  });

  test("gets the second page when a person scrolls, and no third one behind the last", async () => {
    const page = await demo.visit({ page: "select2.html" });
    await page.locator(".select2-selection").click();
    const all = labels("");
    await expect.poll(() => shown(page)).toEqual(all.slice(0, 20));
    for (let count = 40; count < all.length + 20; count += 20) {
      await page.locator(".select2-results__option").last().scrollIntoViewIfNeeded();
      await expect.poll(() => shown(page)).toEqual(all.slice(0, count));
    }
    await demo.picture("select2-scrolled");
    expect(await page.locator(".select2-results__option--load-more").count()).toBe(0);
    const last = demo.requests().at(-1)?.url() ?? "";
    expect(new URL(last).searchParams.get("_type")).toBe("query:append");

    await page.locator(".select2-results__option").last().click();
    expect(await chosen(page)).toBe(idOf(all.at(-1)));
  });

  test("shows markup in a label as text", async () => {
    const page = await demo.visit({ page: "select2.html" });
    await page.locator(".select2-selection").click();
    await page.locator(".select2-search__field").pressSequentially("onerror");
    await expect.poll(() => shown(page)).toEqual([`ZZ-999 - ${markup}`]);
    await page.locator(".select2-results__option").first().click();
    expect(await page.locator(".select2-selection__rendered").innerText()).toContain(markup);
    expect(await page.locator("img").count()).toBe(0);
  });

  test("says that there is nothing where nothing fits", async () => {
    const page = await demo.visit({ page: "select2.html" });
    await page.locator(".select2-selection").click();
    await page.locator(".select2-search__field").pressSequentially("100%");
    await expect
      .poll(() => page.locator(".select2-results__message").allTextContents())
      .toEqual(["No results found"]);
  });

  test("is refused without the header", async () => {
    const change = { 'headers: { "X-Request-Mode": "dynamic" },': "" };
    const page = await demo.visit({ page: "select2.html", change });
    await page.locator(".select2-selection").click();
    await expect
      .poll(() => page.locator(".select2-results__message").allTextContents())
      .toEqual(["The results could not be loaded."]);
    expect(demo.takeFaults()).toEqual([expect.stringContaining("400")]);
  });
});

describe("Tom Select", () => {
  const shown = (page: Page) => page.locator(".ts-dropdown .option").allTextContents();
  const input = ".ts-control input";

  test("searches as a person types, forgets the search before, and chooses", async () => {
    const page = await demo.visit({ page: "tom-select.html" });
    await page.locator(input).click();
    await page.locator(input).pressSequentially("gmbh");
    const found = labels("gmbh");
    await expect.poll(() => shown(page)).toEqual(found);
    await demo.picture("tom-select-search");

    await page.locator(input).fill("s.r.o");
    await expect.poll(() => shown(page)).toEqual(labels("s.r.o"));
    await page.locator(input).fill("gmbh");
    await expect.poll(() => shown(page)).toEqual(found);

    await page.locator(".ts-dropdown .option").nth(2).click();
    expect(await page.locator(".ts-control .item").allTextContents()).toEqual([found[2]]);
    expect(await page.evaluate("supplier.getValue()")).toBe(idOf(found[2]));
  });

  test("shows the label of a value that a record has already", async () => {
    const page = await demo.visit({ page: "tom-select.html" });
    const label = labels("")[7];
    await page.evaluate(`show(${JSON.stringify(idOf(label))})`);
    expect(await page.locator(".ts-control .item").allTextContents()).toEqual([label]);
    expect(await page.evaluate("supplier.getValue()")).toBe(idOf(label));
    await demo.picture("tom-select-value");
  });

  test("shows markup in a label as text", async () => {
    const page = await demo.visit({ page: "tom-select.html" });
    await page.locator(input).click();
    await page.locator(input).pressSequentially("onerror");
    await expect.poll(() => shown(page)).toEqual([`ZZ-999 - ${markup}`]);
    await page.locator(".ts-dropdown .option").first().click();
    expect(await page.locator(".ts-control .item").allTextContents()).toEqual([
      `ZZ-999 - ${markup}`,
    ]);
    expect(await page.locator("img").count()).toBe(0);
  });

  test("shows nothing, and no fault, for a search that is too long", async () => {
    const page = await demo.visit({ page: "tom-select.html" });
    await page.evaluate(`supplier.load("x".repeat(101))`);
    await expect.poll(() => demo.takeFaults()).toEqual([expect.stringContaining("400")]);
    expect(await shown(page)).toEqual([]);
  });
});

describe("Tom Select with pages", () => {
  const shown = (page: Page) =>
    page
      .locator(".ts-dropdown .option:not(.loading-more-results, .no-more-results)")
      .allTextContents();
  const products = (more: string): unknown[] =>
    demo.column(
      `SELECT sku || ' - ' || name AS label FROM products WHERE is_active AND label LIKE '%${more}%' ORDER BY label, product_id`,
    );

  test.each(["", "hammer"])(
    "gets each next page when a person scrolls, searching for %j",
    async (text) => {
      const page = await demo.visit({ page: "tom-select-pages.html" });
      await page.locator(".ts-control input").click();
      await page.locator(".ts-control input").pressSequentially(text);
      const all = products(text);
      expect(all.length).toBeGreaterThan(20);
      for (const count of [20, 40, 60]) {
        await expect.poll(() => shown(page)).toEqual(all.slice(0, count));
        await page.locator(".ts-dropdown .option").last().scrollIntoViewIfNeeded();
      }
    },
  );
});

/** A product, and the label that its lookup has. */
const [productId, supplierId, productLabel, supplierLabel] = ["product_id", "supplier_id"].concat(
  "sku || ' - ' || name",
  "(SELECT code || ' - ' || name FROM suppliers WHERE supplier_id = products.supplier_id)",
);
const chosenProduct = (expression: string | undefined): unknown =>
  demo.column(
    `SELECT ${expression} FROM products WHERE is_active ORDER BY sku LIMIT 1 OFFSET 40`,
  )[0];
const productLabels = (more: string): unknown[] =>
  demo.column(
    `SELECT sku || ' - ' || name AS label FROM products WHERE is_active AND supplier_id = '${String(chosenProduct(supplierId))}' AND label LIKE '%${more}%' ORDER BY label, product_id`,
  );

describe("Select2 with a field that depends on another", () => {
  const file = "select2-dependent.html";
  const box = "#product + .select2 .select2-selection";
  const shown = (page: Page) =>
    page
      .locator(".select2-results__option[role=option]:not(.select2-results__option--load-more)")
      .allTextContents();
  const record = () =>
    JSON.stringify({
      supplier_id: chosenProduct(supplierId),
      product_id: chosenProduct(productId),
    });

  test("shows the labels of a record, and offers what belongs to its supplier", async () => {
    const page = await demo.visit({ page: file });
    await page.evaluate(`show(${record()})`);
    const rendered = page.locator(".select2-selection__rendered");
    expect(await rendered.nth(0).innerText()).toContain(chosenProduct(supplierLabel));
    expect(await rendered.nth(1).innerText()).toContain(chosenProduct(productLabel));
    await page.locator(box).click();
    await expect.poll(() => shown(page)).toEqual(productLabels("").slice(0, 20));
    const [word] = /[a-z]{4,}/.exec(String(chosenProduct(productLabel)))!;
    await page.locator(".select2-search__field").pressSequentially(word);
    await expect.poll(() => shown(page)).toEqual(productLabels(word).slice(0, 20));
    await demo.picture("select2-dependent");
  });

  test("offers nothing before a supplier is chosen", async () => {
    const page = await demo.visit({ page: file });
    await page.locator(box).click();
    await expect
      .poll(() => page.locator(".select2-results__message").allTextContents())
      .toEqual(["No results found"]);
  });
});

describe("Tom Select with a field that depends on another", () => {
  const file = "tom-select-dependent.html";
  const shown = (page: Page) =>
    page.locator("#product + .ts-wrapper .ts-dropdown .option").allTextContents();
  const record = () =>
    JSON.stringify({
      supplier_id: chosenProduct(supplierId),
      product_id: chosenProduct(productId),
    });

  test("shows the labels of a record, and offers what belongs to its supplier", async () => {
    const page = await demo.visit({ page: file });
    await page.evaluate(`show(${record()})`);
    const items = page.locator(".ts-control .item");
    expect(await items.allTextContents()).toEqual([
      chosenProduct(supplierLabel),
      chosenProduct(productLabel),
    ]);
    await page.locator("#product + .ts-wrapper .ts-control").click();
    await expect.poll(() => shown(page)).toEqual(productLabels("").slice(0, 50));
    await demo.picture("tom-select-dependent");
  });

  test("offers nothing before a supplier is chosen", async () => {
    const page = await demo.visit({ page: file });
    await page.evaluate('product.load("a")');
    await expect.poll(() => demo.requests().length).toBe(1);
    expect(await shown(page)).toEqual([]);
  });
});
