/**
 * A plain grid of DataTables 2 and 3 with the demo's products, in every mode in which the library sends its parameters.
 * What the page shows is compared with the database.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { openDemo } from "./demo.ts";
import type { Page } from "./playwright.ts";

const demo = openDemo();
const file = "grid.html";
const post = 'type: "POST" }';

/** Replacements for `type: "POST" }` in the page. */
const ways: Record<string, { transport: string; method: string; isJson: boolean }> = {
  "the library's own transport": { transport: "}", method: "GET", isJson: false },
  "a form": { transport: post, method: "POST", isJson: false },
  "JSON by submitAs": {
    transport: 'type: "POST", submitAs: "json" }',
    method: "POST",
    isJson: true,
  },
  "JSON of its own": {
    transport: 'type: "POST", contentType: "application/json", data: (d) => JSON.stringify(d) }',
    method: "POST",
    isJson: true,
  },
};

const active = "FROM product_overview WHERE is_active";

async function skus(page: Page): Promise<string[]> {
  return page.locator("#products tbody td:first-child").allTextContents();
}

/** What the library shows in place of the first row. */
const noRows = "No matching records found";

/** Waits until the grid shows the result of the query. */
async function expectRows(page: Page, sql: string): Promise<void> {
  await expect.poll(() => skus(page)).toEqual(demo.column(sql));
}

describe.each([2, 3] as const)("DataTables %i", (version) => {
  // Both send the same: of the older one, a query string and JSON are enough.
  const own = Object.entries(ways).filter((_, at) => version === 3 || at % 3 === 0);
  describe.each(own)("with %s", (_name, { transport, method, isJson }) => {
    const visit = { version, page: file, change: { [post]: transport } };

    test("pages, sorts and searches over rows of the database", async () => {
      const page = await demo.visit(visit);
      await expectRows(page, `SELECT sku ${active} ORDER BY sku LIMIT 10`);
      const [total] = demo.column(`SELECT count(*) ${active}`) as [number];
      const info = page.locator(".dt-info");
      expect(await info.innerText()).toContain(`of ${total.toLocaleString("en-US")} entries`);

      await page.locator("button.dt-paging-button").filter({ hasText: /^3$/ }).click();
      await expectRows(page, `SELECT sku ${active} ORDER BY sku LIMIT 10 OFFSET 20`);

      await page.locator("th").filter({ hasText: "Category" }).click();
      await page
        .locator("th")
        .filter({ hasText: "Price" })
        .click({ modifiers: ["Shift"] });
      await expectRows(
        page,
        `SELECT sku ${active} ORDER BY category_name, price, product_id LIMIT 10`,
      );

      await page.locator("input[type=search]").fill("hammer");
      await expectRows(
        page,
        `SELECT sku ${active} AND name LIKE '%hammer%' ORDER BY category_name, price, product_id LIMIT 10`,
      );
      expect(await info.innerText()).toContain(`filtered from ${total.toLocaleString("en-US")}`);

      const last = demo.requests().at(-1);
      expect(last?.method()).toBe(method);
      expect(last?.postData()?.startsWith("{") ?? false).toBe(isJson);
      const key = `${version}-${method}${isJson ? "-json" : ""}`;
      await demo.picture(`grid-${key}`);
    });
  });

  test("joins the search of a column with the search of all", async () => {
    const page = await demo.visit({ version, page: file });
    await page.evaluate('table.search("hammer").column(2).search("power").draw()');
    await expectRows(
      page,
      `SELECT sku ${active} AND name LIKE '%hammer%' AND category_name LIKE '%power%' ORDER BY sku LIMIT 10`,
    );
  });

  test.each(["a form", "JSON by submitAs"])(
    "filters nothing by a fixed RegExp, which can run in the page alone, sent as %s",
    async (way) => {
      const change = { [post]: ways[way]!.transport };
      const page = await demo.visit({ version, page: file, change });
      await page.evaluate('table.search.fixed("mine", /glue/).draw()');
      await expect.poll(() => demo.requests().length).toBe(2);
      await expectRows(page, `SELECT sku ${active} ORDER BY sku LIMIT 10`);
    },
  );

  test("searches for the text of a RegExp, which nothing tells from typed text", async () => {
    const page = await demo.visit({ version, page: file });
    await page.evaluate("table.search(/hammer/).draw()");
    await expect.poll(() => skus(page)).toEqual([noRows]);
  });

  test("sorts by the key when its order is cleared", async () => {
    const page = await demo.visit({ version, page: file });
    await page.evaluate("table.order([]).draw()");
    await expectRows(page, `SELECT sku ${active} ORDER BY product_id LIMIT 10`);
  });

  test("gets its draws back as numbers, one higher each time", async () => {
    const page = await demo.visit({ version, page: file });
    await page.evaluate("table.draw(); table.draw()");
    await expectRows(page, `SELECT sku ${active} ORDER BY sku LIMIT 10`);
    const sent = demo.requests().map((request) => new URLSearchParams(request.postData() ?? ""));
    expect(sent.map((form) => form.get("draw"))).toEqual(["1", "2", "3"]);
    await expect.poll(() => page.evaluate("table.ajax.json()?.draw")).toBe(3);
  });

  test("drops an answer that comes after that of a later draw", async () => {
    const page = await demo.visit({ version, page: file });
    await expectRows(page, `SELECT sku ${active} ORDER BY sku LIMIT 10`);
    let isLateDone = false;
    await page.route(`${demo.url}/**`, async (route) => {
      const isLate = route.request().postData()?.includes("hammer") ?? false;
      if (isLate) await sleep(600);
      await route.continue();
      isLateDone ||= isLate;
    });
    await page.evaluate('table.search("hammer").draw(); table.search("saw").draw()');
    const saws = `SELECT sku ${active} AND name LIKE '%saw%' ORDER BY sku LIMIT 10`;
    await expectRows(page, saws);
    await expect.poll(() => isLateDone).toBe(true);
    await sleep(200);
    await expectRows(page, saws);
  });

  test("keeps its page and its order in a grid of sixty columns", async () => {
    const many = 'columns: [...Array(60).fill({ data: "stock" }), ';
    const page = await demo.visit({ version, page: file, change: { "columns: [": many } });
    const cells = page.locator("#products tbody td:nth-child(61)");
    await expect.poll(() => cells.count()).toBe(10);
    await page.evaluate('table.order([[63, "desc"]]).draw().page(4).draw("page")');
    await expect
      .poll(() => cells.allTextContents())
      .toEqual(
        demo.column(`SELECT sku ${active} ORDER BY price DESC, product_id LIMIT 10 OFFSET 40`),
      );
  });

  test("may have columns that are no fields", async () => {
    const computed =
      '{ data: null, defaultContent: "Edit" }, { data: (row) => row.sku.slice(0, 4) }, { data: "sku"';
    const page = await demo.visit({ version, page: file, change: { '{ data: "sku"': computed } });
    await page.evaluate('table.order([[2, "desc"]]).search("hammer").draw()');
    const cells = page.locator("#products tbody td:nth-child(3)");
    await expect
      .poll(() => cells.allTextContents())
      .toEqual(
        demo.column(`SELECT sku ${active} AND name LIKE '%hammer%' ORDER BY sku DESC LIMIT 10`),
      );
  });

  test("has no fault to tell of columns that no record has", async () => {
    const change = {
      'errMode = "none"': "errMode = (settings, id, fault) => { document.title = fault; }",
      '{ data: "name"': '{ data: "nope" }, { data: "boss.name" }, { data: "name"',
      '{ data: "price"': '{ data: "category.boss.name" }, { data: "price"',
    };
    const page = await demo.visit({ version, page: file, change });
    const rows = page.locator("#products tbody tr");
    await expect.poll(() => rows.count()).toBe(10);
    expect(await page.evaluate("document.title")).toBe("Products");
    const [sku, ...cells] = await rows.first().locator("td").allTextContents();
    expect(demo.column(`SELECT sku ${active} ORDER BY sku LIMIT 1`)).toEqual([sku]);
    expect([cells[0], cells[1], cells[4]]).toEqual(["", "", ""]);
  });

  test("shows markup in a value as text", async () => {
    const markup = '<img src="none" onerror="alert(1)">';
    const body = { code: `XSS${version}`, name: markup };
    const category = await demo.call("categories/create", body);
    const page = await demo.visit({ version, page: file });
    const { category_id } = category["data"] as Record<string, string>;
    const [supplier_id] = demo.column("SELECT supplier_id FROM suppliers LIMIT 1");
    const product = { sku: `XSSX-000${version}`, name: markup, price: 1, cost: 1 };
    await demo.call("products/create", { ...product, category_id, supplier_id });
    await page.evaluate('table.search("XSSX-").draw()');
    const row = page.locator("#products tbody tr").filter({ hasText: product.sku });
    await expect
      .poll(() => row.locator("td").allTextContents())
      .toEqual([product.sku, markup, markup, "1", "0"]);
    expect(await page.locator("#products img").count()).toBe(0);
    await demo.picture(`markup-${version}`);
  });

  test("hears of a fault what the service says about it", async () => {
    const page = await demo.visit({ version, page: file });
    await expectRows(page, `SELECT sku ${active} ORDER BY sku LIMIT 10`);
    await page.evaluate("table.page.len(-1).draw()");
    const alert = page.locator("#fault");
    await expect.poll(() => alert.innerText()).toBe("length must be a whole number from 1 to 1000");
    await demo.picture(`fault-${version}`);
    await page.evaluate("table.page.len(25).draw()");
    await expectRows(page, `SELECT sku ${active} ORDER BY sku LIMIT 25`);
    expect(await alert.innerText()).toBe("");
    expect(demo.takeFaults()).toEqual([expect.stringContaining("400")]);
  });
});

describe("DataTables 3 alone", () => {
  const either = "(name LIKE '%power%' OR category_name LIKE '%power%')";

  test.each(["the library's own transport", "JSON by submitAs"])(
    "searches columns together, sent with %s",
    async (way) => {
      const change = { [post]: ways[way]!.transport };
      const page = await demo.visit({ version: 3, page: file, change });
      await page.evaluate('table.columns([1, 2]).search("power").draw()');
      await expectRows(page, `SELECT sku ${active} AND ${either} ORDER BY sku LIMIT 10`);
      await page.evaluate('table.columns([0, 1]).search.fixed("mine", "hammer").draw()');
      const both = `${either} AND (sku LIKE '%hammer%' OR name LIKE '%hammer%')`;
      await expectRows(page, `SELECT sku ${active} AND ${both} ORDER BY sku LIMIT 10`);
      await page.evaluate('table.columns([1, 2]).search("").draw()');
      const left = "(sku LIKE '%hammer%' OR name LIKE '%hammer%')";
      await expectRows(page, `SELECT sku ${active} AND ${left} ORDER BY sku LIMIT 10`);
    },
  );

  test("filters nothing by a fixed function, and searches for the word that is sent for another one", async () => {
    const page = await demo.visit({ version: 3, page: file });
    await page.evaluate('table.search.fixed("mine", () => false).draw()');
    await expect.poll(() => demo.requests().length).toBe(2);
    await expectRows(page, `SELECT sku ${active} ORDER BY sku LIMIT 10`);
    await page.evaluate("table.search(() => false).draw()");
    await expect.poll(() => skus(page)).toEqual([noRows]);
  });
});
