/** The files of an import that people fill in and correct, as LibreOffice opens them: values, notes and lists. */
import { expect, test } from "vitest";
import type { GuidedColumn } from "../../core/plans/workbooks-port.ts";
import { type GuidedRow, writeGuided } from "../../jobs/workbook/guided-workbook.ts";
import { openInLibreOffice } from "./opened.ts";

const column = (heading: string, given: Partial<GuidedColumn> = {}): GuidedColumn => ({
  heading,
  note: `Required.\nWhat ${heading} holds & means.`,
  isRequired: true,
  format: null,
  width: 12,
  choices: null,
  ...given,
});

const columns = [
  column("Code", { format: "@" }),
  column("Unit", { isRequired: false, choices: { values: ["pcs", "m, or so"], isComplete: true } }),
  column("Price", { format: "#,##0.00" }),
  column("Day", { format: "yyyy-mm-dd" }),
  column("Remark", { note: null }),
];

const row = (values: GuidedRow["values"], marks: [number, string[]][] = []): GuidedRow => ({
  values,
  marks: new Map(marks),
  why: marks.flatMap(([, faults]) => faults).join("; "),
});

test("a template opens with its headings, their notes, and the lists of its cells", async () => {
  const [sheet, hidden] = await openInLibreOffice(
    await writeGuided({ sheetName: "Goods [all]", columns, rows: [], reasonHeading: null }),
  );
  const headings = ["Code", "Unit", "Price", "Day", "Remark"];
  expect(sheet!.rows.map((cells) => cells.map((cell) => cell?.value))).toEqual([headings]);
  expect(sheet!.rows[0]!.map((cell) => cell?.note)).toEqual([
    ...headings.slice(0, 4).map((heading) => `Required.\nWhat ${heading} holds & means.`),
    null,
  ]);
  expect(hidden!.rows.map((cells) => cells.map((cell) => cell?.value))).toEqual([
    ["pcs"],
    ["m, or so"],
  ]);
  expect(sheet!.lists).toEqual([`of:cell-content-is-in-list([$'Goods  all 2'.$A$1:.$A$2])`]);
});

test("a file of errors opens with its values, and says at each wrong cell what is wrong", async () => {
  const fault = 'Price: must have at most 2 digits after the decimal point, not "3"';
  const [sheet] = await openInLibreOffice(
    await writeGuided({
      sheetName: "goods",
      columns,
      rows: [
        row(["007", "pcs", 17.999, "2026-02-03", "=1+1"], [[2, [fault]]]),
        row(["1e5", null, 1234.5, "no day", " x "], [[3, ["Day: no date"]]]),
      ],
      reasonHeading: "Import errors",
    }),
  );
  const [, first, second] = sheet!.rows;
  const told = (cells = first) => cells!.map((cell) => cell && [cell.type, cell.shown]);
  expect(told(first)).toEqual([
    ["string", "007"],
    ["string", "pcs"],
    ["float", "17.999"],
    ["date", "2026-02-03"],
    ["string", "=1+1"],
    ["string", fault],
  ]);
  expect(told(second)).toEqual([
    ["string", "1e5"],
    null,
    ["float", "1,234.50"],
    ["string", "no day"],
    ["string", " x "],
    ["string", "Day: no date"],
  ]);
  expect(first!.map((cell) => cell?.note)).toEqual([null, null, fault, null, null, null]);
  expect(second![3]!.note).toBe("Day: no date");
});
