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
    `SELECT ${columns.map((one) => `ifnull(${one}, '')`).join(" || '|' || ")} FROM (
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

describe("Syncfusion", () => {
  /** Texts of the page, numbers as SQL writes them. */
  const read = (page: Page, script: string) =>
    page.evaluate(
      `((cells) => ${script})((row, selector) => [...row.querySelectorAll(selector)].flatMap((cell) => {
        const text = cell.textContent.replace(/^\\w+: /, "").replace(/(?<=\\d),(?=\\d{3})/g, "").replace(/\\.00$|(?<=\\.\\d)0$/, "");
        return text.trim() ? [text] : [];
      }).join("|"))`,
    );
  const groups = (page: Page, field = "Warehouse") =>
    read(
      page,
      `[...document.querySelectorAll("tr:has(.e-groupcaption)")]
        .filter((row) => row.querySelector(".e-groupcaption").textContent.startsWith("${field}"))
        .map((row) => cells(row, ".e-groupcaption, .e-summarycell"))`,
    );
  const total = (page: Page) =>
    read(page, 'cells(document.querySelector(".e-gridfooter"), ".e-summarycell")');
  const records = (page: Page) =>
    read(
      page,
      '[...document.querySelectorAll(".e-gridcontent .e-row")].map((row) => cells(row, ".e-rowcell:not(.e-hide)"))',
    );
  const filter = (page: Page, field: string, operator: string, value: unknown) =>
    page.evaluate(`grid.filterByColumn("${field}", "${operator}", ${JSON.stringify(value)})`);
  const byWarehouse = (condition = "TRUE") =>
    rows(["warehouse", ...figures], `WHERE ${condition} GROUP BY warehouse ORDER BY warehouse`);
  const open = async () => {
    const page = await demo.visit({ page: "syncfusion.html" });
    await expect.poll(() => groups(page)).toEqual(byWarehouse());
    return page;
  };

  test("groups and sums, opens groups down to the records, and shows what the service refuses", async () => {
    const page = await open();
    expect(await total(page)).toBe(rows(figures, "")[0]);
    const opener = (text: string) =>
      page.locator("tr").filter({ hasText: text }).locator(".e-recordpluscollapse").first();
    await opener("Leeds Depot").click();
    const columns = ["supplier", "receipt_date", "status", "receipt_number", "total_qty"];
    const leeds = rows(
      [...columns, amount("total_amount")],
      "WHERE warehouse = 'Leeds Depot' ORDER BY receipt_id LIMIT 78",
    );
    await expect.poll(() => records(page)).toEqual(leeds.slice(0, 39));
    // More are read on the way.
    await expect
      .poll(async () => {
        await page.evaluate('document.querySelector(".e-gridcontent .e-content").scrollBy(0, 300)');
        return records(page);
      })
      .toEqual(leeds);

    await page.evaluate('grid.groupColumn("supplier.name")');
    await expect.poll(() => groups(page)).toHaveLength(8);
    await opener("Leeds Depot").click();
    const suppliers = rows(
      ["supplier", ...figures],
      "WHERE warehouse = 'Leeds Depot' GROUP BY supplier ORDER BY supplier LIMIT 39",
    );
    await expect.poll(() => groups(page, "Supplier")).toEqual(suppliers);
    await demo.picture("syncfusion");

    await filter(page, "total_qty", "equal", "many");
    await expect
      .poll(() => page.locator("#fault").innerText())
      .toBe('The value for column "total_qty" must be a whole number');
    expect(demo.takeFaults().join()).toContain("400");
    await filter(page, "total_qty", "equal", 100);
    await expect.poll(() => total(page)).toBe(rows(figures, "WHERE total_qty = 100")[0]);
    expect(await page.locator("#fault").innerText()).toBe("");
  });

  test("filters, searches, sorts and pages, and asks for the shown columns only", async () => {
    const page = await open();
    const cases: [field: string, operator: string, value: unknown, condition: string][] = [
      ["supplier.name", "contains", "GMBH", "supplier LIKE '%gmbh%'"],
      ["supplier.name", "startswith", "a", "supplier LIKE 'a%'"],
      ["supplier.name", "endswith", ".", "supplier LIKE '%.'"],
      ["supplier.name", "equal", "ahjola oy", "supplier = 'Ahjola Oy'"],
      ["supplier.name", "notequal", "ahjola oy", "supplier <> 'Ahjola Oy'"],
      ["supplier.name", "doesnotcontain", "_", "TRUE"],
      ["supplier.name", "wildcard", "a*y", "supplier LIKE 'a%y'"],
      ["supplier.name", "isnotempty", "", "supplier <> ''"],
      ["status", "in", ["draft", "received"], "status IN ('draft', 'received')"],
      ["total_qty", "lessthan", 100, "total_qty < 100"],
      ["total_qty", "greaterthanorequal", 100, "total_qty >= 100"],
      ["total_qty", "isnotnull", null, "TRUE"],
      ["receipt_date", "equal", "2025-03-03", "receipt_date = '2025-03-03'"],
      ["receipt_date", "lessthanorequal", "2025-03-03", "receipt_date <= '2025-03-03'"],
    ];
    for (const [field, operator, value, condition] of cases) {
      await filter(page, field, operator, value);
      await expect
        .poll(() => groups(page), { message: `${field} ${operator}` })
        .toEqual(byWarehouse(condition));
      expect(await total(page)).toBe(rows(figures, `WHERE ${condition}`)[0]);
      await page.evaluate("grid.setProperties({ filterSettings: { columns: [] } }, true)");
    }

    // The list has the values of what is found; clearing a box negates.
    await page.evaluate('grid.search("25-013")');
    await expect.poll(() => groups(page)).toEqual(byWarehouse("receipt_number LIKE '%25-013%'"));
    await page.evaluate('grid.search("GMBH")');
    const searched = "supplier LIKE '%gmbh%'";
    await expect.poll(() => groups(page)).toEqual(byWarehouse(searched));
    await page
      .locator(".e-headercell")
      .filter({ hasText: "Status" })
      .locator(".e-filtermenudiv")
      .click();
    const choices = page.locator(".e-checkboxlist .e-ftrchk");
    const statuses = rows(["status"], `WHERE ${searched} GROUP BY status ORDER BY status`);
    await expect.poll(() => choices.allTextContents()).toEqual(["Select All", ...statuses]);
    await choices.filter({ hasText: "posted" }).click();
    await page.locator(".e-checkboxfilter button").filter({ hasText: "Filter" }).click();
    const found = `${searched} AND status <> 'posted'`;
    await expect.poll(() => groups(page)).toEqual(byWarehouse(found));

    await page.evaluate("grid.clearFiltering()");
    await expect.poll(() => groups(page)).toEqual(byWarehouse(searched));
    await page.evaluate("grid.clearGrouping()");
    await page.evaluate('grid.sortColumn("status", "Descending")');
    await page.evaluate('grid.sortColumn("total_amount", "Ascending", true)');
    await expect.poll(() => records(page)).toHaveLength(20);
    await page.evaluate("grid.goToPage(2)");
    const columns = ["warehouse", "supplier", "receipt_date", "status", "receipt_number"];
    const secondPage = `WHERE ${searched} ORDER BY status DESC, total_amount, receipt_id LIMIT 20 OFFSET 20`;
    await expect
      .poll(() => records(page))
      .toEqual(rows([...columns, "total_qty", amount("total_amount")], secondPage));
    expect(await total(page)).toBe(rows(figures, `WHERE ${searched}`)[0]);
    const asked = demo.requests().map((request) => request.postData());
    for (const hidden of ["remarks", "total_items"]) expect(asked.join()).not.toContain(hidden);
  });
});
