/**
 * One sheet as XML: a bold heading row that stays in view, an autofilter, column widths, and the rows. It ends with
 * the rows, when the sheet is full, or before its XML exceeds the limit of an archive member.
 */
import type { CellPlan } from "./cell-xml.ts";
import { columnLetters } from "./cell-reference.ts";
import type { RowFeed } from "./row-feed.ts";
import { escapeText } from "./sheet-text.ts";
import type { Batch, TableColumn } from "./table-column.ts";
import { firstFormatStyle, headingStyle } from "./workbook-parts.ts";
import { memberBytesMax } from "./zip-writer.ts";

/** How the rows of a sheet are written. */
export interface SheetPlan {
  readonly columns: readonly TableColumn[];
  readonly cells: readonly CellPlan[];
  /** The number formats in the order of their styles. */
  readonly codes: readonly string[];
  /** Characters. */
  readonly widths: readonly number[];
  /** Rows of the sheet without its heading. */
  readonly rowsMax: number;
}

/** Rows converted to XML at a time: some 30 KB, which are freed before the next. */
const portionRows = 64;
/** One portion fits into the reserve, however long its texts are. */
const bytesMax = memberBytesMax - 512 * 1024 ** 2;

/** The XML in pieces; `onEnd` gets the number of its rows, the heading not counted. */
export async function* sheetXml(
  plan: SheetPlan,
  { feed, onEnd }: { feed: RowFeed; onEnd: (rows: number) => void },
): AsyncGenerator<Uint8Array> {
  const addRow = rowWriter(plan);
  let rows = 0;
  let bytes = 0;
  yield Buffer.from(sheetHead(plan));
  while (rows < plan.rowsMax && bytes < bytesMax) {
    const portion = await feed.take(Math.min(portionRows, plan.rowsMax - rows));
    if (portion === null) break;
    let xml = "";
    for (const row of portion) xml += addRow(row, rows++ + 2);
    const piece = Buffer.from(xml);
    bytes += piece.length;
    yield piece;
  }
  onEnd(rows);
  yield Buffer.from(
    `</sheetData><autoFilter ref="${filterArea(plan.columns.length, rows).replaceAll("$", "")}"/></worksheet>`,
  );
}

/** The heading and its rows, such as `$A$1:$C$10`. */
export const filterArea = (columns: number, rows: number): string =>
  `$A$1:$${columnLetters(columns - 1)}$${rows + 1}`;

function sheetHead({ columns, widths }: SheetPlan): string {
  const cols = widths.map(
    (width, at) => `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`,
  );
  const headings = columns.map(
    ({ heading }, at) =>
      `<c r="${columnLetters(at)}1" s="${headingStyle}" t="inlineStr"><is>` +
      `<t xml:space="preserve">${escapeText(heading)}</t></is></c>`,
  );
  return (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0">' +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft"/></sheetView></sheetViews>' +
    `<cols>${cols.join("")}</cols><sheetData><row r="1">${headings.join("")}</row>`
  );
}

/** The XML of a row at its number in the sheet. A column without a value has no cell. */
function rowWriter({ cells, codes }: SheetPlan): (row: Batch[number], rowNumber: number) => string {
  const writers = cells.map(({ code, xml }, at) => {
    const style = code === null ? "" : ` s="${codes.indexOf(code) + firstFormatStyle}"`;
    return { xml, begin: ` r="${columnLetters(at)}`, end: `"${style}` };
  });
  return (row, rowNumber) => {
    const number = String(rowNumber);
    let line = `<row r="${number}">`;
    for (let at = 0; at < writers.length; at++) {
      const value = row[at];
      if (value === null || value === undefined) continue;
      const { xml, begin, end } = writers[at]!;
      line += xml(value, begin + number + end);
    }
    return `${line}</row>`;
  };
}
