/**
 * What the writers of tables (xlsx, csv, jsonl) have in common: columns, batches of rows, and the writer itself. The export job
 * speaks these types; `create-table.ts` picks the writer.
 */
import type { Json } from "../../core/values/json.ts";

/** A column of a table. */
export interface TableColumn {
  readonly heading: string;
  /** In characters; without it the heading and the first batch of rows decide. */
  readonly width?: number | undefined;
  /** Without it a value is written as what it is: text, number or boolean. */
  readonly format?: ColumnFormat | undefined;
}

/**
 * How the values of a column are shown. A value that the type does not fit (a word in a column of numbers) is written as it is.
 * - `number` takes numbers and texts of digits; `pattern` is a number format of Excel, such as `#,##0.00`.
 * - `date` and `datetime` take `YYYY-MM-DD`, ISO 8601 in UTC and `HH:mm:ss`; `pattern` is one such as `DD/MM/YYYY HH:mm` (`date-pattern.ts`).
 * - `boolean` takes true and false, and writes the labels where there are any.
 * - `text` writes everything as text.
 */
export interface ColumnFormat {
  readonly type: "text" | "number" | "boolean" | "date" | "datetime";
  readonly pattern?: string | undefined;
  readonly trueLabel?: string | undefined;
  readonly falseLabel?: string | undefined;
}

/** Rows whose values stand in the order of the columns, each in the form of an answer's JSON. */
export type Batch = readonly (readonly Json[])[];

/** What a table is made of. */
export interface TableOptions {
  /** What Excel forbids in a sheet's name is made good. */
  readonly sheetName: string;
  /** At least one; 16,384 at most in a workbook. */
  readonly columns: readonly TableColumn[];
  /** Rows of one sheet, its heading not counted; more go on in further sheets. Default and maximum: what Excel can show. */
  readonly rowsPerSheetMax?: number | undefined;
  /** Of csv: whether texts that a spreadsheet would run get an apostrophe in front. Absent: they do. */
  readonly formulas?: "escape" | "keep" | undefined;
}

/** Writes one table. */
export interface TableWriter {
  /**
   * The bytes of the file. A batch is asked for only when the bytes before it were taken, so a slow disk slows the
   * database down. Who stops early ends `batches` too. To be called once.
   */
  write(batches: AsyncIterable<Batch> | Iterable<Batch>): AsyncGenerator<Uint8Array>;
  /** Texts that were cut so far, because a cell of a workbook holds no more than 32,767 characters. */
  readonly textsCut: number;
}

/** The pattern of a column of dates that names none. */
export const defaultPatterns = {
  date: "YYYY-MM-DD",
  datetime: "YYYY-MM-DD HH:mm:ss",
} as const;

/** A value of JSON as the text of a cell: objects and arrays as JSON. */
export function cellText(value: Exclude<Json, null>): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
