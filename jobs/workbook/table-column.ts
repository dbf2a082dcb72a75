/**
 * Types that the table writers (xlsx, csv, jsonl) share: columns, batches of rows, and the writer itself.
 * `create-table.ts` picks the writer.
 */
import type { Json } from "../../core/values/json.ts";

/** A column of a table. */
export interface TableColumn {
  readonly heading: string;
  /** In characters. Default: from the heading and the first batch of rows. */
  readonly width?: number | undefined;
  /** Without it a value is written by its own type: text, number or boolean. */
  readonly format?: ColumnFormat | undefined;
}

/**
 * How the values of a column are shown. A value of another type (a word in a column of numbers) is written unchanged.
 * - `number` takes numbers and texts of digits; `pattern` is a number format of Excel, such as `#,##0.00`.
 * - `date` and `datetime` take `YYYY-MM-DD`, ISO 8601 in UTC and `HH:mm:ss`; `pattern` as in `date-pattern.ts`.
 * - `boolean` takes true and false, also as 1, 0 and texts of these, and writes the labels if there are any.
 * - `text` writes everything as text.
 */
export interface ColumnFormat {
  readonly type: "text" | "number" | "boolean" | "date" | "datetime";
  readonly pattern?: string | undefined;
  readonly trueLabel?: string | undefined;
  readonly falseLabel?: string | undefined;
}

/** Rows with values in the order of the columns, each in the form of an answer's JSON. */
export type Batch = readonly (readonly Json[])[];

/** The input of a table. */
export interface TableOptions {
  /** Characters that Excel forbids in the name of a sheet are replaced. */
  readonly sheetName: string;
  /** At least one; 16,384 at most in a workbook. */
  readonly columns: readonly TableColumn[];
  /** Rows of one sheet without its heading; more go to further sheets. Default and maximum: the limit of Excel. */
  readonly rowsPerSheetMax?: number | undefined;
  /** Csv only: whether texts that a spreadsheet would run get an apostrophe in front. Absent: they do. */
  readonly formulas?: "escape" | "keep" | undefined;
}

/** Writes one table. */
export interface TableWriter {
  /**
   * The bytes of the file. The next batch is requested only when the previous bytes were taken, so a slow disk slows
   * the database down. Stopping early ends `batches` too. To be called once.
   */
  write(batches: AsyncIterable<Batch> | Iterable<Batch>): AsyncGenerator<Uint8Array>;
  /** Texts that were cut so far, because a cell of a workbook holds no more than 32,767 characters. */
  readonly textsCut: number;
}

/** The pattern of a date column without its own. */
export const defaultPatterns = { date: "YYYY-MM-DD", datetime: "YYYY-MM-DD HH:mm:ss" } as const;

/** A value of JSON as the text of a cell: objects and arrays as JSON. */
export const cellText = (value: Exclude<Json, null>): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);
