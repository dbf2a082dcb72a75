/**
 * The xlsx writer: rows → XML of a sheet → deflate → archive, piece by piece, so that memory does not grow with the rows. Texts stand in their
 * cells instead of a shared table for the same reason. The parts that tell the sheets come last, when their number is known.
 */
import { planCell } from "./cell-xml.ts";
import { sheetColumnsMax, sheetRowsMax } from "./cell-reference.ts";
import { columnWidths } from "./column-widths.ts";
import { feedRows } from "./row-feed.ts";
import { sheetNameAt } from "./sheet-name.ts";
import { filterArea, type SheetPlan, sheetXml } from "./sheet-xml.ts";
import type { Batch, TableOptions, TableWriter } from "./table-column.ts";
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
