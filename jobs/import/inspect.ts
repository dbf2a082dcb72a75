/** Looks through one uploaded workbook, from its first byte to its last. */
import { shownCell } from "../../core/jobs/import-columns.ts";
import { limits } from "../../core/values/limits.ts";
import type { Cell, WorkbookSketch } from "../../core/plans/workbooks-port.ts";
import { openWorkbook } from "../workbook/open-workbook.ts";

/** Which file is looked through, and how much of it is shown. */
export interface Inspection {
  readonly path: string;
  /** Rows to show. */
  readonly rows: number;
  readonly bytesMax: number;
}

/** Rejects with `InvalidWorkbook`. */
export async function inspect({ path, rows, bytesMax }: Inspection): Promise<WorkbookSketch> {
  const workbook = await openWorkbook(path, { bytesMax });
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
