/** Workbooks of other programs (samples/make.py, samples/make.ts) give the same rows. Their imports: `contract`. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CellValue } from "../../jobs/workbook/sheet-cells.ts";
import { openWorkbook } from "../../jobs/workbook/open-workbook.ts";
import { rowsOf } from "./files.ts";

const headings = "name born seen_at opens price code stock active double note broken".split(" ");
/** The number of each row, and its columns up to `active`. */
const plain: CellValue[][] = [
  [2, "Ann", "1999-12-31", "2024-02-29T12:34:56.000Z", "08:30:00", 19.99, "007", 5, true],
  [3, "Bob & <Co>", "1900-03-01", "2038-01-19T03:14:08.000Z", "23:59:59", 0.1, "00", -3, false],
  [
    5,
    "Zoë 😀",
    "9999-12-31",
    "1970-01-01T00:00:00.000Z",
    "00:00:01",
    123_456_789.012_345,
    "1e5",
    0,
    true,
  ],
];
const sample = (name: string): string => join(import.meta.dirname, "samples", name);
const all = ["xlsxwriter.xlsx", "libreoffice.xlsx", "openpyxl.xlsx", "exceljs.xlsx"];

describe.each(all)("%s", (name) => {
  test("gives its headings, from the first sheet that is not hidden", async () => {
    const workbook = await openWorkbook(sample(name));
    expect([workbook.sheetName, workbook.headingIndex]).toEqual(["Things", 1]);
    expect(workbook.headings).toEqual(headings);
  });

  test("gives the records, and neither its empty rows nor those with formats alone", async () => {
    const { rows } = await rowsOf(sample(name));
    expect(rows.map((row) => row.slice(0, 9))).toEqual(plain);
    expect(rows.map((row) => row[10])).toEqual(["plain", "two\nlines", "a bold end "]);
  });
});

describe.each(all.filter((name) => name !== "openpyxl.xlsx"))("%s", (name) => {
  test("gives results of formulas, zero included, and errors", async () => {
    const { rows } = await rowsOf(sample(name));
    expect(rows.map((row) => row[9])).toEqual([10, -6, 0]);
    expect(rows[2]![11]).toEqual({ error: "#DIV/0!" });
  });
});

test("openpyxl.xlsx, whose formulas were never computed, says so in each of them", async () => {
  const { rows } = await rowsOf(sample("openpyxl.xlsx"));
  expect(rows.map((row) => row[9])).toEqual(Array(3).fill({ error: "a formula without a result" }));
});
