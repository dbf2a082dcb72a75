/**
 * START HERE. Tables as files, without jobs and HTTP. Writing: `createTable` gives a writer that turns batches of rows into bytes
 * (`create-workbook.ts`, `csv.ts`, `jsonl.ts`). Reading: `open-workbook.ts` gives the rows of an uploaded xlsx. Neither ever holds the whole
 * table. Why these are our own and no library's: docs/decisions/0001-spreadsheets.md.
 */
import { createCsv } from "./csv.ts";
import { createWorkbook } from "./create-workbook.ts";
import { createJsonl } from "./jsonl.ts";
import type { TableOptions, TableWriter } from "./table-column.ts";

/** The forms of a table's file; each is also the ending of the file's name. */
export type TableFormat = "xlsx" | "csv" | "jsonl";

const creators: Readonly<Record<TableFormat, (options: TableOptions) => TableWriter>> = {
  xlsx: createWorkbook,
  csv: createCsv,
  jsonl: createJsonl,
};

/** A writer for one file. */
export function createTable(format: TableFormat, options: TableOptions): TableWriter {
  return creators[format](options);
}
