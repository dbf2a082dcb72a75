/**
 * The grids of docs/grids.md that group and sum, over the demo's receipts, with the real libraries: every group, figure
 * and page is that of the database.
 */
import { describe, expect, test } from "vitest";
import { openDemo } from "../browser/demo.ts";
import type { Page } from "../browser/playwright.ts";

const demo = openDemo();

/** One text for each row of a query on the receipts, columns between bars. */
const rows = (columns: string[], rest: string): unknown[] =>
  demo.column(
    `SELECT ${columns.join(" || '|' || ")} FROM (
      SELECT r.*, w.name AS warehouse, s.name AS supplier FROM stock_receipts r
      JOIN warehouses w USING (warehouse_id) JOIN suppliers s USING (supplier_id)) ${rest}`,
  );

/** An amount as JavaScript writes it. */
const amount = (of: string) => `CAST(printf('%.2f', ${of}) AS NUMERIC)`;
const figures = ["count(*)", "sum(total_qty)", amount("sum(total_amount)")];

describe("AG Grid", () => {
  /** What the grid has loaded on a level, as `rows` writes it. */
  const level = (page: Page, at: number, columns: string[]) =>
    page.evaluate(`(() => {
      const rows = [];
      grid.forEachNode(({ level, data }) => {
        if (level === ${at} && data) rows.push(${JSON.stringify(columns)}.map((name) => data[name]).join("|"));
      });
      return rows;
    })()`);
  const groups = (page: Page, name = "warehouse.name", at = 0) =>
    level(page, at, [name, "receipts", "total_qty", "total_amount"]);
  const total = (page: Page) =>
    page.evaluate(
      `((data) => [data.receipts, data.total_qty, data.total_amount].join("|"))(grid.getPinnedBottomRow(0).data)`,
    );
  const open = async (): Promise<Page> => {
    const page = await demo.visit({ page: "ag-grid-groups.html" });
    await expect
      .poll(() => groups(page))
      .toEqual(rows(["warehouse", ...figures], "GROUP BY warehouse ORDER BY warehouse"));
    // Without a licence, the library says so in the console.
    const faults = demo.takeFaults();
    expect(faults.filter((fault) => !/^console: \*.*\*$/.test(fault))).toEqual([]);
    return page;
  };

  test("groups and sums, with a grand total, and opens groups down to the records", async () => {
    const page = await open();
    expect(await total(page)).toBe(rows(figures, "")[0]);
    const opener = (text: string) =>
      page.locator(".ag-row").filter({ hasText: text }).locator(".ag-group-contracted");
    await opener("Leeds Depot").click();
    const leeds = "WHERE warehouse = 'Leeds Depot'";
    const suppliers = rows(
      ["supplier", ...figures],
      `${leeds} GROUP BY supplier ORDER BY supplier`,
    );
    await expect.poll(() => groups(page, "supplier.name", 1)).toEqual(suppliers.slice(0, 100));
    const [first] = rows(["supplier"], `${leeds} ORDER BY supplier LIMIT 1`);
    await opener(String(first)).click();
    await expect
      .poll(() => level(page, 2, ["receipt_number", "receipt_date", "status", "total_amount"]))
      .toEqual(
        rows(
          ["receipt_number", "receipt_date", "status", amount("total_amount")],
          `${leeds} AND supplier = '${String(first)}' ORDER BY receipt_id`,
        ),
      );
    await demo.picture("ag-grid-groups");
  });

  test("sorts groups by their sums, filters, and groups by other columns or none", async () => {
    const page = await open();
    await page.locator('.ag-header-cell[col-id="total_amount"] .ag-header-cell-label').click();
    const byAmount = "GROUP BY warehouse ORDER BY sum(total_amount)";
    const names = ["warehouse", ...figures];
    await expect.poll(() => groups(page)).toEqual(rows(names, byAmount));

    const filter = {
      status: { filterType: "set", values: ["draft", "received"] },
      total_amount: { filterType: "number", type: "greaterThan", filter: 1000 },
    };
    const found = "WHERE status IN ('draft', 'received') AND total_amount > 1000";
    await page.evaluate(`grid.setFilterModel(${JSON.stringify(filter)})`);
    await expect.poll(() => groups(page)).toEqual(rows(names, `${found} ${byAmount}`));
    await expect.poll(() => total(page)).toBe(rows(figures, found)[0]);

    await page.evaluate('grid.setRowGroupColumns(["status"])');
    await expect
      .poll(() => groups(page, "status"))
      .toEqual(rows(["status", ...figures], `${found} GROUP BY status ORDER BY sum(total_amount)`));
    await page.evaluate("grid.setRowGroupColumns([])");
    await expect
      .poll(() => level(page, 0, ["receipt_number", "supplier.name"]))
      .toEqual(
        rows(
          ["receipt_number", "supplier"],
          `${found} ORDER BY total_amount, receipt_id LIMIT 100`,
        ),
      );
    expect(await total(page)).toBe(rows(figures, found)[0]);
  });
});

describe("DevExtreme", () => {
  /** What the grid shows on a page: the groups with their figures, or cells of the records. */
  const shown = (page: Page, columns: string[] = []) =>
    page.evaluate(`grid.getVisibleRows()
      .filter(({ rowType }) => rowType === ${columns.length ? '"data"' : '"group"'})
      .map(({ data, key, groupIndex }) => ${JSON.stringify(columns)}.length
        ? ${JSON.stringify(columns)}.map((path) => path.split(".").reduce((at, name) => at[name], data)).join("|")
        : [key[groupIndex], ...data.summary].join("|"))`);
  const totals = (page: Page) =>
    page.evaluate(
      `["receipt_number", "total_qty", "total_amount"].map(grid.getTotalSummaryValue, grid).join("|")`,
    );
  const byWarehouse = (condition = "TRUE") =>
    rows(["warehouse", ...figures], `WHERE ${condition} GROUP BY warehouse ORDER BY warehouse`);
  const expectFound = async (page: Page, condition = "TRUE") => {
    await expect.poll(() => shown(page)).toEqual(byWarehouse(condition));
    expect(await totals(page)).toBe(rows(figures, `WHERE ${condition}`)[0]);
  };

  test("groups, sums and filters, by years, months and days too", async () => {
    const page = await demo.visit({ page: "devextreme.html" });
    await expectFound(page);
    const filterValues = (column: string, values: unknown[], type = "include") =>
      page.evaluate(
        `grid.columnOption("${column}", { filterValues: ${JSON.stringify(values)}, filterType: "${type}" })`,
      );
    const months = "(receipt_date LIKE '2025-03-%' OR receipt_date = '2024-11-05')";
    await filterValues("receipt_date", ["2025/3", "2024/11/5"]);
    await expectFound(page, months);
    await filterValues("status", ["posted"], "exclude");
    await expectFound(page, `${months} AND status <> 'posted'`);
    await filterValues("receipt_date", []);
    await filterValues("total_qty", [0]);
    await expectFound(page, "status <> 'posted' AND total_qty BETWEEN 0 AND 499");
    await page.evaluate(
      'grid.filter([["supplier.name", "contains", "GMBH"], "and", ["total_amount", ">", 1000]])',
    );
    await expectFound(
      page,
      "status <> 'posted' AND total_qty BETWEEN 0 AND 499 AND supplier LIKE '%gmbh%' AND total_amount > 1000",
    );

    await page.locator(`[aria-label="Show filter options for column 'Date'"]`).click();
    const years = page.locator(".dx-header-filter-menu .dx-treeview-item");
    await expect.poll(() => years.allTextContents()).toEqual(["2024", "2025", "2026"]);
    await demo.picture("devextreme");
  });

  test("opens groups down to the records, over pages", async () => {
    const page = await demo.visit({ page: "devextreme.html" });
    await expectFound(page);
    await page.evaluate('grid.expandRow(["Leeds Depot"])');
    const columns = ["receipt_number", "supplier.name"];
    // Three groups are before them on the first page, and the open one comes again on each.
    const leeds = rows(
      ["receipt_number", "supplier"],
      "WHERE warehouse = 'Leeds Depot' ORDER BY receipt_id",
    );
    await expect.poll(() => shown(page, columns)).toEqual(leeds.slice(0, 17));
    // 19 of them are on each of the next pages: these lie on two pages of the service.
    await page.evaluate("grid.pageIndex(5)");
    await expect.poll(() => shown(page, columns)).toEqual(leeds.slice(93, 112));

    await page.evaluate('grid.columnOption("supplier.name", "groupIndex", 1)');
    await page.evaluate("grid.pageIndex(0)");
    const suppliers = rows(
      ["supplier", ...figures],
      "WHERE warehouse = 'Leeds Depot' GROUP BY supplier ORDER BY supplier",
    );
    await expect
      .poll(() => shown(page))
      .toEqual([...byWarehouse().slice(0, 3), ...suppliers.slice(0, 17)]);
    await demo.picture("devextreme-groups");
  });
});
