/** Workbooks that other programs wrote (samples/make.py) import to the same records; exceljs writes its own here. */
import ExcelJS from "exceljs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CellValue } from "../../jobs/workbook/sheet-cells.ts";
import { openWorkbook } from "../../jobs/workbook/open-workbook.ts";
import { fileOf, rowsOf } from "./files.ts";

const headings = "name born seen_at opens price code stock active double note".split(" ");
/** Columns that every program writes alike. */
const plain: CellValue[][] = [
  [2, "Ann", "1999-12-31", "2024-02-29T12:34:56.000Z", "08:30:00", 19.99, "007", 5, true],
  [3, "Bob & <Co>", "1900-03-01", "2038-01-19T03:14:08.000Z", "23:59:59", 0.1, "00", -3, false],
  [
    5,
    "Zoë 😀",
    "9999-12-31",
    "1970-01-01T00:00:00.000Z",
    "00:00:01",
    1_234_567.891,
    "1e5",
    0,
    true,
  ],
];
const notes = ["plain", "two\nlines"];
const sample = (name: string): string => join(import.meta.dirname, "samples", name);
/** Row number and columns up to `active`, without `price` of the last row: two samples have an error there. */
const comparable = (rows: readonly (readonly CellValue[])[]): CellValue[][] =>
  rows.map((row) => row.slice(0, 9).map((value, at) => (at === 5 && row[0] === 5 ? null : value)));

describe.each(["xlsxwriter.xlsx", "libreoffice.xlsx", "openpyxl.xlsx"])("%s", (name) => {
  test("gives its headings, from the first sheet that is not hidden", async () => {
    const workbook = await openWorkbook(sample(name));
    expect([workbook.sheetName, workbook.headingIndex]).toEqual(["Things", 1]);
    expect(workbook.headings).toEqual(headings);
  });

  test("gives the records, and neither its empty rows nor those with formats alone", async () => {
    const { rows } = await rowsOf(sample(name));
    expect(comparable(rows)).toEqual(comparable(plain));
    expect(rows.map((row) => row[10]).slice(0, 2)).toEqual(notes);
  });
});

describe.each(["xlsxwriter.xlsx", "libreoffice.xlsx"])("%s", (name) => {
  test("gives results of formulas, zero included, errors and rich texts", async () => {
    const { rows } = await rowsOf(sample(name));
    expect(rows.map((row) => row[9])).toEqual([10, -6, 0]);
    expect(rows[2]![5]).toEqual({ error: "#DIV/0!" });
    expect(rows[2]![10]).toBe("a bold end ");
  });
});

test("openpyxl.xlsx, whose formulas were never computed, says so in each of them", async () => {
  const { rows } = await rowsOf(sample("openpyxl.xlsx"));
  expect(rows.map((row) => row[9])).toEqual(Array(3).fill({ error: "a formula without a result" }));
});

test("a workbook of exceljs gives the same records", async () => {
  const workbook = new ExcelJS.Workbook();
  const hidden = workbook.addWorksheet("Hidden", { state: "hidden" });
  hidden.addRow(["not this one"]);
  const sheet = workbook.addWorksheet("Things");
  sheet.addRow(headings);
  for (const [rowIndex, name, born, seen, opens, price, code, stock, active] of plain) {
    const row = sheet.getRow(rowIndex as number);
    const time = new Date(`1899-12-30T${String(opens)}Z`);
    const dates = [new Date(String(born)), new Date(String(seen)), time];
    row.values = [name, ...dates, price, code, stock, active] as ExcelJS.CellValue[];
    row.getCell(2).numFmt = "yyyy-mm-dd";
    row.getCell(3).numFmt = "dd/mm/yyyy hh:mm";
    row.getCell(4).numFmt = "hh:mm:ss";
    row.getCell(9).value = { formula: "G2*2", result: 0 };
    row.getCell(10).value = { richText: [{ text: "a " }, { text: "b", font: { bold: true } }] };
  }
  const { rows } = await rowsOf(await fileOf(new Uint8Array(await workbook.xlsx.writeBuffer())));
  expect(rows.map((row) => row.slice(0, 9))).toEqual(plain);
  expect(rows.map((row) => row[9])).toEqual([0, 0, 0]);
  expect(rows.map((row) => row[10])).toEqual(["a b", "a b", "a b"]);
});
