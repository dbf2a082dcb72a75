/** The grids of docs/odata.md load the demo's receipts by OData alone, with the adapters of their own libraries. */
import { describe, expect, test } from "vitest";
import { openDemo } from "../browser/demo.ts";
import type { Page } from "../browser/playwright.ts";

const demo = openDemo();

/** Keys of the receipts that match, in an order, as the database has them: drafts have no number yet. */
const keys = (rest: string): unknown[] =>
  demo.column(
    `SELECT receipt_id FROM (SELECT r.*, s.name AS supplier FROM stock_receipts r JOIN suppliers s USING (supplier_id)) ${rest}`,
  );
const total = (where: string): unknown =>
  demo.column(
    `SELECT count(*) FROM (SELECT r.*, s.name AS supplier FROM stock_receipts r JOIN suppliers s USING (supplier_id)) ${where}`,
  )[0];

interface Shown {
  readonly name: string;
  readonly page: string;
  /** Scripts in the page. */
  readonly rows: string;
  readonly count: string;
  readonly goTo: (page: number) => string;
  readonly filter: (field: string, operator: string, value: unknown) => string;
  readonly clear: string;
  readonly sort: (field: string) => string;
}

const grids: Shown[] = [
  {
    name: "DevExtreme",
    page: "odata-devextreme.html",
    rows: "grid.getVisibleRows().map(({ data }) => data.receipt_id)",
    count: "grid.totalCount()",
    goTo: (page) => `grid.pageIndex(${page - 1})`,
    filter: (field, operator, value) => `grid.filter(${JSON.stringify([field, operator, value])})`,
    clear: "grid.clearFilter()",
    sort: (field) => `(grid.clearSorting(), grid.columnOption("${field}", "sortOrder", "desc"))`,
  },
  {
    name: "Syncfusion",
    page: "odata-syncfusion.html",
    rows: "grid.getCurrentViewRecords().map(({ receipt_id }) => receipt_id)",
    count: "grid.pageSettings.totalRecordsCount",
    goTo: (page) => `grid.goToPage(${page})`,
    filter: (field, operator, value) =>
      `grid.filterByColumn("${field}", "${{ contains: "contains", ">": "greaterthan" }[operator]}", ${JSON.stringify(value)})`,
    clear: "grid.clearFiltering()",
    sort: (field) => `grid.sortColumn("${field}", "Descending")`,
  },
];

describe.each(grids)("$name", ({ page: file, rows, count, goTo, filter, clear, sort, name }) => {
  const shown = async (page: Page, expected: unknown[], all: unknown) => {
    await expect.poll(() => page.evaluate(rows)).toEqual(expected);
    await expect.poll(() => page.evaluate(count)).toBe(all);
  };

  test("pages, sorts and filters by the records and their related ones", async () => {
    const page = await demo.visit({ page: file });
    await shown(page, keys("ORDER BY receipt_number, receipt_id LIMIT 20"), total(""));
    await page.evaluate(`void ${goTo(3)}`);
    await shown(page, keys("ORDER BY receipt_number, receipt_id LIMIT 20 OFFSET 40"), total(""));
    await page.evaluate(`void ${goTo(1)}`);
    const gmbh = "WHERE supplier LIKE '%gmbh%'";
    await page.evaluate(`void ${filter("supplier.name", "contains", "GMBH")}`);
    await shown(page, keys(`${gmbh} ORDER BY receipt_number, receipt_id LIMIT 20`), total(gmbh));
    await page.evaluate(`void ${clear}`);
    const large = "WHERE total_amount > 5000.5";
    await page.evaluate(`void ${filter("total_amount", ">", 5000.5)}`);
    await shown(page, keys(`${large} ORDER BY receipt_number, receipt_id LIMIT 20`), total(large));
    await page.evaluate(`void ${sort("total_amount")}`);
    await shown(
      page,
      keys(`${large} ORDER BY total_amount DESC, receipt_id LIMIT 20`),
      total(large),
    );
    await demo.picture(`odata-${name}`);
    const sent = demo.requests().map((request) => request.url());
    expect(sent.length).toBeGreaterThan(4);
    const others = sent.filter((url) => !/\/odata\/demo\/stock_receipts\/?\?/.test(url));
    expect(others).toEqual([]);
  });
});

test("DevExtreme reads a record by its key, and combined filters", async () => {
  const page = await demo.visit({ page: "odata-devextreme.html" });
  const [id] = demo.column("SELECT receipt_id FROM stock_receipts ORDER BY receipt_number");
  expect(
    await page.evaluate(
      `grid.getDataSource().store().byKey("${String(id)}", { expand: ["supplier"] }).then(({ receipt_id }) => String(receipt_id))`,
    ),
  ).toBe(id);
  const found = await page.evaluate(`grid.getDataSource().store().totalCount({
    filter: [["!", ["supplier.name", "startswith", "A"]], "and", [["status", "=", "draft"], "or", ["remarks", "=", null]],
      "and", ["receipt_date", ">=", new Date(Date.UTC(2025, 0, 1))], "and", ["receipt_number", "notcontains", "99"]],
  })`);
  expect(found).toBe(
    total(
      "WHERE supplier NOT LIKE 'a%' AND (status = 'draft' OR remarks IS NULL) AND receipt_date >= '2025-01-01' AND receipt_number NOT LIKE '%99%'",
    ),
  );
});
