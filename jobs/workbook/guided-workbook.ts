/**
 * Workbooks that a person fills in or corrects: headings with notes and colours, lists in cells, formats, and marks on
 * faults. exceljs writes notes and lists well; our own stream writer (`create-table.ts`) has neither. The weak points
 * of exceljs are handled here. It keeps the whole file in memory and takes a third of a second to load, so only threads
 * that make workbooks load it, for few rows. It drops characters that XML cannot carry, so texts are escaped before. It
 * has its own rules for dates, so they are written as the serial numbers that our reader understands. Its notes are
 * always four rows high, so the heading row is tall.
 */
import type ExcelJS from "exceljs";
import type { GuidedColumn } from "../../core/plans/workbooks-port.ts";
import { columnLetters } from "./cell-reference.ts";
import { dateKindOf } from "./date-styles.ts";
import { serialOf } from "./serial-date.ts";
import { sheetNameAt } from "./sheet-name.ts";
import { cutText, escapeCharacters } from "./sheet-text.ts";

declare module "exceljs" {
  interface Worksheet {
    /** Exists, but its types are missing. */
    readonly dataValidations: { add(area: string, validation: DataValidation): void };
  }
}

export interface GuidedTable {
  readonly sheetName: string;
  /** At least one. */
  readonly columns: readonly GuidedColumn[];
  readonly rows: readonly GuidedRow[];
  /** The heading of a last column with the errors of each row; null = no such column. */
  readonly reasonHeading: string | null;
}

export interface GuidedRow {
  /** By column. */
  readonly values: readonly CellValue[];
  /** What is wrong with the cell of a column; an empty list marks nothing. */
  readonly marks: ReadonlyMap<number, readonly string[]>;
  /** The text of the last column. */
  readonly why: string;
}

type CellValue = string | number | boolean | null;

/** The bytes of the file, all of which are in memory. */
export async function writeGuided(table: GuidedTable): Promise<Uint8Array<ArrayBuffer>> {
  const { default: excel } = await import("exceljs");
  const workbook = new excel.Workbook();
  const sheet = workbook.addWorksheet(sheetNameAt(0, table.sheetName), {
    views: [{ state: "frozen", ySplit: 1 }],
    pageSetup: { orientation: "landscape", fitToPage: true, fitToWidth: 1, fitToHeight: 0 },
  });
  for (const [at, column] of table.columns.entries()) {
    const place = sheet.getColumn(at + 1);
    place.width = widthOf(
      column,
      table.rows.map(({ values }) => values[at] ?? null),
    );
    if (column.format !== null) place.numFmt = column.format;
  }
  addRows(sheet, table);
  addHeadings(sheet, table);
  addLists(workbook, sheet, table);
  return new Uint8Array(await workbook.xlsx.writeBuffer());
}

const colours = {
  required: { fill: "FF1F4E79", font: "FFFFFFFF" },
  optional: { fill: "FFDDEBF7", font: "FF1F3864" },
  reason: { fill: "FF9C0006", font: "FFFFFFFF" },
  wrong: { fill: "FFFFC7CE", font: "FF9C0006" },
} as const;

/** That of cells without any style. */
const font = { name: "Calibri", size: 11, family: 2 };

const fillOf = (argb: string): ExcelJS.Fill => ({
  type: "pattern",
  pattern: "solid",
  fgColor: { argb },
});

/** Points: a note is as high as this row and three usual ones. */
const headingHeight = 36;

function addHeadings(
  sheet: ExcelJS.Worksheet,
  { columns, rows, reasonHeading }: GuidedTable,
): void {
  const row = sheet.getRow(1);
  row.height = headingHeight;
  for (const [at, { heading, note, isRequired }] of columns.entries()) {
    const cell = row.getCell(at + 1);
    setHeading(cell, heading, isRequired ? "required" : "optional");
    if (note !== null) cell.note = noteOf(note);
  }
  if (reasonHeading !== null) setHeading(row.getCell(columns.length + 1), reasonHeading, "reason");
  const last = columns.length + (reasonHeading === null ? 0 : 1);
  if (rows.length > 0) sheet.autoFilter = `A1:${columnLetters(last - 1)}${rows.length + 1}`;
}

function setHeading(cell: ExcelJS.Cell, heading: string, kind: "required" | "optional" | "reason") {
  const { fill, font: colour } = colours[kind];
  cell.value = escapeCharacters(heading);
  cell.style = {
    fill: fillOf(fill),
    font: { ...font, bold: true, color: { argb: colour } },
    alignment: { vertical: "middle", wrapText: true },
    border: { right: { style: "thin", color: { argb: "FFFFFFFF" } } },
  };
}

/** In the font of the notes that Excel makes itself. */
const noteOf = (text: string): ExcelJS.Comment => ({
  texts: [{ text: escapeCharacters(text), font: { size: 9, name: "Tahoma" } }],
});

function addRows(sheet: ExcelJS.Worksheet, { columns, rows, reasonHeading }: GuidedTable): void {
  for (const [index, { values, marks, why }] of rows.entries()) {
    const row = sheet.getRow(index + 2);
    for (const [at, { format }] of columns.entries()) {
      const faults = marks.get(at) ?? [];
      const value = values[at] ?? null;
      if (value === null && faults.length === 0) continue;
      const cell = row.getCell(at + 1);
      cell.alignment = { vertical: "top" };
      Object.assign(cell, written(value, faults.length > 0 && format !== "@" ? null : format));
      if (faults.length === 0) continue;
      cell.fill = fillOf(colours.wrong.fill);
      cell.font = { ...font, color: { argb: colours.wrong.font } };
      cell.note = noteOf(faults.join("\n"));
    }
    if (reasonHeading === null) continue;
    const reason = row.getCell(columns.length + 1);
    reason.value = textOf(why);
    reason.alignment = { wrapText: true, vertical: "top" };
    row.height = lineHeight * linesOf(why);
  }
  if (reasonHeading !== null) sheet.getColumn(columns.length + 1).width = reasonWidth;
}

const reasonWidth = 60;
/** Points. */
const lineHeight = 15;
/** Excel shows no row of more points. */
const rowHeightMax = 409;

/** An estimate: programs that open the file do not adjust row heights. */
const linesOf = (text: string): number =>
  Math.min(Math.ceil((text.length + 1) / reasonWidth), Math.floor(rowHeightMax / lineHeight));

/** Excel's own format. */
const general = "General";

/** A date is written as a date where the format shows dates; other numbers must not look like dates. */
function written(value: CellValue, format: string | null): { value: CellValue; numFmt: string } {
  const isDate = format !== null && dateKindOf(format) !== null;
  if (typeof value === "string") {
    const serial = isDate ? serialOf(value) : null;
    if (serial !== null) return { value: serial, numFmt: format! };
    return { value: textOf(value), numFmt: format === "@" ? format : general };
  }
  const isNumber = typeof value === "number" && format !== null && format !== "@" && !isDate;
  return { value, numFmt: isNumber ? format : general };
}

const textOf = (text: string): string => escapeCharacters(cutText(text));

const widthMin = 10;
const widthMax = 50;
/** Looking at more rows would hardly change a width. */
const rowsLookedAt = 100;

/** In characters: for the heading with the filter button, usual values, and the values that are present or offered. */
function widthOf({ heading, width, choices }: GuidedColumn, values: readonly CellValue[]): number {
  const seen = [...values.slice(0, rowsLookedAt), ...(choices?.values ?? [])];
  const lengths = seen.map((value) => String(value ?? "").length);
  const longest = Math.max(heading.length + 4, width ?? 0, ...lengths);
  return Math.min(Math.max(longest + 1, widthMin), widthMax);
}

/**
 * Rows with lists: a program that stores such a rule per cell, as exceljs does, takes half a minute to read a whole
 * column of it.
 */
const listedRowsMax = 10_000;

/**
 * The lists are in a separate hidden sheet: a cell's own rule has room for 255 characters, and none of them may be a
 * comma.
 */
function addLists(
  workbook: ExcelJS.Workbook,
  sheet: ExcelJS.Worksheet,
  { columns, sheetName }: GuidedTable,
): void {
  const lists = columns.flatMap(({ choices }, at) => (choices === null ? [] : [{ choices, at }]));
  if (lists.length === 0) return;
  const name = sheetNameAt(1, sheetName);
  const hidden = workbook.addWorksheet(name, { state: "hidden" });
  for (const [index, { choices, at }] of lists.entries()) {
    const { values, isComplete } = choices;
    for (const [row, value] of values.entries())
      hidden.getCell(row + 1, index + 1).value = typeof value === "string" ? textOf(value) : value;
    const letters = columnLetters(index);
    const column = columnLetters(at);
    sheet.dataValidations.add(`${column}2:${column}${listedRowsMax + 1}`, {
      type: "list",
      allowBlank: true,
      showErrorMessage: true,
      ...(isComplete ? refusal : question),
      formulae: [`'${name.replaceAll("'", "''")}'!$${letters}$1:$${letters}$${values.length}`],
    });
  }
}

const refusal = {
  errorStyle: "stop",
  errorTitle: "Not in the list",
  error: "Choose a value from the list.",
};
const question = {
  errorStyle: "warning",
  errorTitle: "Not in the list",
  error: "The list does not have this value. The import will tell whether it can be used.",
};
