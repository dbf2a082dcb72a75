/** The thread that looks through one uploaded workbook, from its first byte to its last. Started by `workbooks.ts`. */
import { parentPort, workerData } from "node:worker_threads";
import { shownCell } from "../../core/import-columns.ts";
import { limits } from "../../core/limits.ts";
import type { Cell, WorkbookSketch } from "../../core/ports.ts";
import { InvalidWorkbook } from "../workbook/invalid-workbook.ts";
import { openWorkbook } from "../workbook/open-workbook.ts";

export interface Inspection {
  readonly path: string;
  /** Rows to show. */
  readonly rows: number;
  readonly bytesMax: number;
}

export type FromInspection =
  | { readonly sketch: WorkbookSketch; readonly refusal?: never }
  | { readonly sketch?: never; readonly refusal: string };

async function inspect({ path, rows, bytesMax }: Inspection): Promise<WorkbookSketch> {
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

try {
  const sketch = await inspect(workerData as Inspection);
  parentPort!.postMessage({ sketch } satisfies FromInspection);
} catch (error) {
  if (!(error instanceof InvalidWorkbook)) throw error;
  parentPort!.postMessage({ refusal: error.message } satisfies FromInspection);
}
