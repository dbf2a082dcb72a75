/** Reads one uploaded workbook from start to end to check it. */
import type { UploadReading } from "../workbook/open-csv.ts";
import { shownCell } from "../../core/jobs/import-columns.ts";
import { limits } from "../../core/values/limits.ts";
import type { Cell, WorkbookSketch } from "../../core/plans/workbooks-port.ts";
import { openWorkbook } from "../workbook/open-workbook.ts";

/** The file to check, and how much of it to show. */
export interface Inspection extends Pick<UploadReading, "bytesMax" | "formulas"> {
  readonly path: string;
  /** Rows to show. */
  readonly rows: number;
}

/** Rejects with `InvalidWorkbook`. */
export async function inspect({
  path,
  rows,
  bytesMax,
  formulas,
}: Inspection): Promise<WorkbookSketch> {
  const workbook = await openWorkbook(path, { bytesMax, formulas });
  const firstRows: Cell[][] = [];
  let lengthLeft: number = limits.shownRowsLengthMax;
  let totalRows = 0;
  for await (const { values } of workbook.rows()) {
    totalRows += 1;
    if (totalRows > rows || lengthLeft <= 0) continue;
    const shown = values.map((value) => shownCell(value) as Cell);
    lengthLeft -= JSON.stringify(shown).length;
    firstRows.push(shown);
  }
  return { headings: workbook.headings, totalRows, firstRows };
}
