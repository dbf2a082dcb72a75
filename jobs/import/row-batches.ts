/** The rows of a workbook in batches. */
import type { OpenWorkbook } from "../workbook/open-workbook.ts";
import type { Cell } from "../../core/plans/workbooks-port.ts";

/** A row of a sheet. */
export interface FileRow {
  /** The number that stands beside the row, from 1. */
  readonly rowIndex: number;
  readonly values: readonly Cell[];
}

/** The file whose rows are read, and how. */
export interface RowsFile {
  /** The workbook, a file of this machine. */
  readonly path: string;
  /** Of that file. */
  readonly bytesMax: number;
  readonly batchRows: number;
}

/** All rows from the first on; the last batch may be shorter. Rejects with `InvalidWorkbook`. */
export async function* rowBatches(
  workbook: OpenWorkbook,
  batchRows: number,
): AsyncGenerator<readonly FileRow[]> {
  let batch: FileRow[] = [];
  for await (const row of workbook.rows()) {
    batch.push(row);
    if (batch.length < batchRows) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
