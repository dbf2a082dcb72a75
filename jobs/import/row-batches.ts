/** The rows of a workbook in batches. */
import type { UploadReading } from "../workbook/open-csv.ts";
import type { OpenWorkbook } from "../workbook/open-workbook.ts";
import type { Cell } from "../../core/plans/workbooks-port.ts";

/** A row of a sheet. */
export interface FileRow {
  /** The row number in the sheet, from 1. */
  readonly rowIndex: number;
  readonly values: readonly Cell[];
}

/** The file whose rows are read, and how. */
export interface RowsFile extends Pick<UploadReading, "bytesMax" | "formulas"> {
  /** The workbook, a file of this machine. */
  readonly path: string;
  readonly batchRows: number;
}

/** All rows from the first on; the last batch can be shorter. Rejects with `InvalidWorkbook`. */
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
