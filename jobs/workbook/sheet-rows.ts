/**
 * The rows of a sheet, while its XML is inflated: pieces of text go into the scanner, whole rows come out, and nothing
 * else is kept. XML after the rows (merged cells, filters) is only checked for completeness.
 */
import { columnInRow, sheetRowsMax } from "./cell-reference.ts";
import { InvalidWorkbook } from "./invalid-workbook.ts";
import { type CellContext, type CellValue, cellValue, type RawCell } from "./sheet-cells.ts";
import { collectText } from "./shared-strings.ts";
import { type Archive, entryOf } from "./xml-part.ts";
import { eachAttribute, readAttributes, type XmlHandler, XmlScanner } from "./xml-scanner.ts";
import { type InflateLimits, partText } from "./zip-member.ts";

/** A row of the sheet that has a value. */
export interface SheetRow {
  /** The row number in the sheet, from 1. */
  readonly rowIndex: number;
  /** By column; ends with the last cell that has a value. */
  readonly values: readonly CellValue[];
}

/** The limits of a sheet. */
export interface SheetLimits extends InflateLimits {
  /** Below the headings. */
  readonly rowsMax: number;
  readonly columnsMax: number;
  /** Of all rows up to their last value: a value far to the right makes many. */
  readonly cellsMax: number;
}

/** The sheet that is read. */
export interface SheetReading {
  readonly path: string;
  readonly context: CellContext;
  readonly limits: SheetLimits;
}

/** All rows with a value, in batches. Rejects with `InvalidWorkbook`, even after some rows: where damage is found. */
export async function* sheetRows(
  archive: Archive,
  { path, context, limits }: SheetReading,
): AsyncGenerator<readonly SheetRow[]> {
  const entry = entryOf(archive.directory, path);
  let rows: SheetRow[] = [];
  let count = 0;
  let cells = 0;
  const handler = sheetHandler({
    context,
    columnsMax: limits.columnsMax,
    onRow(row) {
      // The headings are a row too.
      if (++count > limits.rowsMax + 1)
        throw new InvalidWorkbook(`The sheet has more than ${limits.rowsMax} rows`);
      cells += row.values.length;
      if (cells > limits.cellsMax)
        throw new InvalidWorkbook(
          `The sheet has more than ${limits.cellsMax} cells, empty ones included`,
        );
      rows.push(row);
    },
  });
  const scanner = new XmlScanner(handler, { part: "worksheet", root: "worksheet" });
  for await (const text of partText(archive.file, { entry, limits })) {
    for (let at = 0; at < text.length; at += pieceLength) {
      scanner.write(text.slice(at, at + pieceLength));
      if (rows.length > 0) yield rows;
      rows = [];
    }
  }
  scanner.end();
  if (rows.length > 0) yield rows;
}

/** Characters scanned at a time: few, so that the rows of one piece are freed before the next. */
const pieceLength = 16 * 1024;

interface SheetHandling {
  readonly context: CellContext;
  readonly columnsMax: number;
  onRow(row: SheetRow): void;
}

/**
 * Long on purpose: these small functions run for each cell of a large file, over shared variables. As members of an
 * object, or passed between functions, these would make the reader slower.
 */
function sheetHandler({ context, columnsMax, onRow }: SheetHandling): XmlHandler {
  const inline = collectText();
  let cell: RawCell = emptyCell;
  let values: CellValue[] = [];
  let hasValue = false;
  let isInData = false;
  let isInRow = false;
  let isInCell = false;
  let isInValue = false;
  let isInInline = false;
  /** Of the current row, or of the last one. */
  let rowIndex = 0;
  let rowText = "0";
  let column = -1;

  const openRow = (attributes: string): void => {
    const given = readAttributes(attributes).get("r");
    const next = given === undefined ? rowIndex + 1 : Number(given);
    if (!(Number.isInteger(next) && next > rowIndex && next <= sheetRowsMax))
      throw new InvalidWorkbook(`The sheet has an invalid row number after row ${rowIndex}`);
    rowIndex = next;
    rowText = String(next);
    column = -1;
    values = [];
    hasValue = false;
    isInRow = true;
  };
  const setAttribute = (name: string, value: string): void => {
    if (name === "r") cell.reference = value;
    else if (name === "t") cell.type = value;
    else if (name === "s") cell.style = Number(value);
  };
  const openCell = (attributes: string): void => {
    cell = { ...emptyCell };
    eachAttribute(attributes, setAttribute);
    placeCell();
    isInCell = true;
  };
  const placeCell = (): void => {
    column = cell.reference === "" ? column + 1 : columnInRow(cell.reference, rowText);
    if (column < 0)
      throw new InvalidWorkbook(`Cell ${cell.reference.slice(0, 20)} is in row ${rowText}`);
  };
  const closeCell = (): void => {
    isInCell = false;
    const value = cellValue(cell, context);
    if (value === null) return;
    if (column >= columnsMax)
      throw new InvalidWorkbook(`The sheet has more than ${columnsMax} columns`);
    if (column - values.length > wideGap) values = widened(values, column + 1);
    while (values.length < column) values.push(null);
    if ((values[column] ?? null) !== null)
      throw new InvalidWorkbook(`The sheet has two cells ${cell.reference.slice(0, 20)}`);
    values[column] = value;
    hasValue ||= value !== "";
  };

  return {
    open(name, attributes) {
      if (!isInData) isInData = name === "sheetData";
      else if (isInInline) inline.open(name);
      else if (name === "row") openRow(attributes);
      else if (name === "c" && isInRow) openCell(attributes);
      else if (!isInCell) return;
      else if (name === "v") {
        isInValue = true;
        cell.value = "";
      } else if (name === "f") cell.hasFormula = true;
      else if (name === "is") {
        isInInline = true;
        inline.begin();
      }
    },
    text(text) {
      if (isInValue) cell.value += text;
      else if (isInInline) inline.text(text);
    },
    close(name) {
      if (!isInData) return;
      if (name === "v") isInValue = false;
      else if (name === "c") closeCell();
      else if (name === "is") {
        isInInline = false;
        cell.inline = inline.take();
      } else if (isInInline) inline.close(name);
      else if (name === "row") {
        isInRow = false;
        if (hasValue) onRow({ rowIndex, values });
      } else if (name === "sheetData") isInData = false;
    },
    element(text, at) {
      if (!isInRow || isInCell || text.charCodeAt(at + 1) !== letterC) return -1;
      usualCell.lastIndex = at;
      const match = usualCell.exec(text);
      if (match === null) return -1;
      const [, reference, style, type, value, inlineText] = match;
      cell = {
        reference: reference!,
        type: type ?? "",
        style: Number(style ?? 0),
        hasFormula: false,
        value: value ?? null,
        inline: inlineText ?? null,
      };
      placeCell();
      closeCell();
      return usualCell.lastIndex;
    },
  };
}

const emptyCell: RawCell = {
  reference: "",
  type: "",
  style: 0,
  hasFormula: false,
  value: null,
  inline: null,
};

/** From this gap on, a row is allocated at once: growing it, or joining two arrays, takes a multiple of the memory. */
const wideGap = 64;

function widened(values: readonly CellValue[], length: number): CellValue[] {
  const wide = Array<CellValue>(length).fill(null);
  for (let at = 0; at < values.length; at++) wide[at] = values[at]!;
  return wide;
}

const letterC = 0x63;
/**
 * A cell as all known programs write most of them, without formulas, entities and runs. Matching it as a whole takes a
 * third of the time of reading its tags.
 */
const usualCell =
  /<c r="([A-Z]{1,3}\d{1,7})"(?: s="(\d{1,5})")?(?: t="(s|n|b|str|inlineStr)")?>(?:<v>([^<&\r]*)<\/v>|<is><t(?: xml:space="preserve")?>([^<&\r]*)<\/t><\/is>)<\/c>/y;
