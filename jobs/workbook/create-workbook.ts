/**
 * The xlsx writer: rows → XML of a sheet → deflate → archive, piece by piece, so that memory does not grow with the
 * rows. For the same reason, texts are in their cells instead of a shared table. The parts that list the sheets come
 * last, when their number is known.
 */
import {
  type Batch,
  type TableColumn,
  cellText,
  type TableOptions,
  type TableWriter,
} from "./table-column.ts";
import { patternOf, planCell } from "./cell-xml.ts";
import { sheetColumnsMax, sheetRowsMax } from "./cell-reference.ts";
import { feedRows } from "./row-feed.ts";
import { sheetNameAt } from "./sheet-name.ts";
import { filterArea, type SheetPlan, sheetXml } from "./sheet-xml.ts";
import {
  contentTypesXml,
  rootRelationsXml,
  sheetPath,
  stylesXml,
  workbookRelationsXml,
  workbookXml,
  type WrittenSheet,
} from "./workbook-parts.ts";
import { type ZipMember, zipBytes } from "./zip-writer.ts";

/** A writer of one xlsx file. Throws when there are no columns, or more than a sheet has. */
export function createWorkbook(options: TableOptions): TableWriter {
  const { columns, rowsPerSheetMax = Infinity } = options;
  if (columns.length === 0 || columns.length > sheetColumnsMax)
    throw new Error(`A sheet has 1 to ${sheetColumnsMax} columns, not ${columns.length}`);
  let textsCut = 0;
  const cells = columns.map(({ format }) => planCell(format, () => textsCut++));
  const plan = {
    columns,
    cells,
    codes: [...new Set(cells.flatMap(({ code }) => code ?? []))],
    rowsMax: Math.max(1, Math.min(rowsPerSheetMax, sheetRowsMax - 1)),
  };
  return {
    write: (batches) => zipBytes(members(plan, { sheetName: options.sheetName, batches })),
    get textsCut() {
      return textsCut;
    },
  };
}

async function* members(
  plan: Omit<SheetPlan, "widths">,
  { sheetName, batches }: { sheetName: string; batches: Parameters<typeof feedRows>[0] },
): AsyncGenerator<ZipMember> {
  yield part("_rels/.rels", rootRelationsXml());
  yield part("xl/styles.xml", stylesXml(plan.codes));
  const feed = feedRows(batches);
  const sheets: WrittenSheet[] = [];
  try {
    let next: Batch | null = await feed.peek();
    const widths = columnWidths(plan.columns, next ?? []);
    do {
      const name = sheetNameAt(sheets.length, sheetName);
      const onEnd = (rows: number): void => {
        sheets.push({ name, filter: filterArea(plan.columns.length, rows) });
      };
      const content = sheetXml({ ...plan, widths }, { feed, onEnd });
      yield { name: sheetPath(sheets.length), content };
      next = await feed.peek();
    } while (next !== null);
  } finally {
    await feed.close();
  }
  yield part("xl/workbook.xml", workbookXml(sheets));
  yield part("xl/_rels/workbook.xml.rels", workbookRelationsXml(sheets.length));
  yield part("[Content_Types].xml", contentTypesXml(sheets.length));
}

const part = (name: string, xml: string): ZipMember => ({ name, content: [Buffer.from(xml)] });

const widthMin = 8;
const widthMax = 60;
/** Room for the button of the autofilter. */
const margin = 3;
/** Looking at more rows would cost time and hardly change a width. */
const rowsLookedAt = 100;

/** In characters, from the heading and the first rows. A width that the column sets itself is kept. */
function columnWidths(columns: readonly TableColumn[], rows: Batch): number[] {
  const sample = rows.slice(0, rowsLookedAt);
  return columns.map(({ heading, width, format }, at) => {
    if (width !== undefined) return Math.min(Math.max(width, 1), 255);
    const isDate = format?.type === "date" || format?.type === "datetime";
    const lengths = isDate
      ? [patternOf(format.type as "date", format.pattern).excelCode.length]
      : sample.map((row) => lengthOf(row[at]));
    const longest = Math.max(heading.length + margin, ...lengths);
    return Math.min(Math.max(longest + 1, widthMin), widthMax);
  });
}

function lengthOf(value: Batch[number][number] | undefined): number {
  if (value === null || value === undefined) return 0;
  const text = cellText(value);
  const lineEnd = text.indexOf("\n");
  return lineEnd < 0 ? text.length : lineEnd;
}
