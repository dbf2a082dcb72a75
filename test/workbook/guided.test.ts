/** Workbooks that people fill in or correct: what exceljs finds in them, and what our reader reads back. */
import ExcelJS from "exceljs";
import { describe, expect, test } from "vitest";
import type { GuidedColumn } from "../../core/plans/workbooks-port.ts";
import { type GuidedRow, writeGuided } from "../../jobs/workbook/guided-workbook.ts";
import type { CellValue } from "../../jobs/workbook/sheet-cells.ts";
import { fileOf, rowsOf } from "./files.ts";

const column = (heading: string, given: Partial<GuidedColumn> = {}): GuidedColumn => ({
  heading,
  note: null,
  isRequired: false,
  format: null,
  width: null,
  choices: null,
  ...given,
});

/** Its rows below the headings, by our own reader. */
async function readBack(bytes: Uint8Array): Promise<CellValue[][]> {
  const { rows } = await rowsOf(await fileOf(bytes));
  return rows.map(([, ...values]) => values);
}

const noMarks: GuidedRow["marks"] = new Map();

async function opened(bytes: Uint8Array<ArrayBuffer>): Promise<ExcelJS.Workbook> {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.load(bytes.buffer);
  return workbook;
}

describe("a value is read back as it was:", () => {
  test.each([
    ["@", "007"],
    ["@", "2026-02-03"],
    [null, "_x0041_ _x000D_"],
    [null, "a\u0001b\u007fc\u001f"],
    [null, " blanks \n around\t"],
    [null, "a\r\nb\rc"],
    [null, "<a href='x'>&amp;</a>]]>"],
    [null, "=1+1"],
    [null, "#N/A"],
    [null, "Zoë 😀 \u00a0\u2028\ufffe"],
    [null, "x".repeat(32_767)],
    [null, 0.1 + 0.2],
    ["#,##0.00", 1.239],
    ["yyyy-mm-dd", "2026-02-03"],
    ["yyyy-mm-dd", "1899-02-03"],
    ["yyyy-mm-dd", "2026-02-30"],
    ["yyyy-mm-dd", 5],
    ["yyyy-mm-dd hh:mm:ss", "2026-02-03T04:05:06.789Z"],
    ["hh:mm:ss", "08:15:00"],
    ["hh:mm:ss", "8 o'clock"],
    [null, true],
  ] as const)("in cells of the format %s, %j", async (format, value) => {
    const bytes = await writeGuided({
      sheetName: "x",
      columns: [column("value", { format }), column("end")],
      rows: [{ values: [value, "end"], marks: noMarks, why: "" }],
      reasonHeading: null,
    });
    expect(await readBack(bytes)).toEqual([[value, "end"]]);
  });

  test("also where it is marked as wrong", async () => {
    const values = ["2026-13-02", 17.999, null];
    const marks = new Map(values.map((_, at) => [at, ["is wrong"]] as const));
    const bytes = await writeGuided({
      sheetName: "x",
      columns: [
        column("a", { format: "yyyy-mm-dd" }),
        column("b", { format: "0.00" }),
        column("c"),
      ],
      rows: [{ values, marks, why: "a: is wrong" }],
      reasonHeading: "why",
    });
    expect(await readBack(bytes)).toEqual([["2026-13-02", 17.999, null, "a: is wrong"]]);
  });
});

test("headings stay in view, have their notes, and tell by colour what is required", async () => {
  const bytes = await writeGuided({
    sheetName: "goods",
    columns: [column("Code", { note: "Required.\nText.", isRequired: true }), column("Remark")],
    rows: [],
    reasonHeading: null,
  });
  const sheet = (await opened(bytes)).getWorksheet("goods")!;
  expect(sheet.views).toMatchObject([{ state: "frozen", ySplit: 1 }]);
  const [code, remark] = [sheet.getCell("A1"), sheet.getCell("B1")];
  expect((code.note as ExcelJS.Comment).texts).toMatchObject([{ text: "Required.\nText." }]);
  expect(remark.note).toBeUndefined();
  expect([code.font.bold, remark.font.bold]).toEqual([true, true]);
  expect(code.fill).not.toEqual(remark.fill);
});

test("lists stand in a hidden sheet, and hold for ten thousand rows", async () => {
  const bytes = await writeGuided({
    sheetName: "O'Neil",
    columns: [
      column("Unit", { choices: { values: ["m, or so", 5], isComplete: true } }),
      column("Group", { choices: { values: ["Tools"], isComplete: false } }),
    ],
    rows: [],
    reasonHeading: null,
  });
  const workbook = await opened(bytes);
  const hidden = workbook.worksheets[1]!;
  expect([hidden.state, hidden.getCell("A1").value, hidden.getCell("A2").value]).toEqual([
    "hidden",
    "m, or so",
    5,
  ]);
  const sheet = workbook.worksheets[0]!;
  expect(sheet.getCell("A2").dataValidation).toMatchObject({
    type: "list",
    errorStyle: "stop",
    formulae: ["'O''Neil 2'!$A$1:$A$2"],
  });
  expect(sheet.getCell("B10001").dataValidation).toMatchObject({ errorStyle: "warning" });
});
