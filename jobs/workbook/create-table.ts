/**
 * START HERE. Tables as files, without jobs and HTTP. Writing: `createTable` returns a writer that turns batches of
 * rows into bytes (`create-workbook.ts`, `csv.ts`, and jsonl here). Reading: `open-workbook.ts` returns the rows of an
 * uploaded xlsx. Neither ever holds the whole table. docs/decisions/0001-spreadsheets.md says why no library is used.
 */
import { createCsv } from "./csv.ts";
import { createWorkbook } from "./create-workbook.ts";
import type { TableFormat } from "../../core/plans/table-formats.ts";
import type { TableOptions, TableWriter } from "./table-column.ts";

const creators: Readonly<Record<TableFormat, (options: TableOptions) => TableWriter>> = {
  xlsx: createWorkbook,
  csv: createCsv,
  jsonl: createJsonl,
};

/** A writer for one file. */
export const createTable = (format: TableFormat, options: TableOptions): TableWriter =>
  creators[format](options);

/**
 * A writer of one jsonl file: one JSON object per line, with the headings as names, which must differ. It is for
 * programs, so values are written as in answers, without patterns and labels.
 */
function createJsonl({ columns }: TableOptions): TableWriter {
  // The texts of the names are made once; JSON.stringify of an object would make them for each row.
  const names = columns.map(({ heading }) => `${JSON.stringify(heading.toWellFormed())}:`);
  return {
    textsCut: 0,
    async *write(batches) {
      for await (const batch of batches) {
        let text = "";
        for (const row of batch) {
          const members = names.map((name, at) => name + JSON.stringify(row[at] ?? null));
          text += `{${members.join(",")}}\n`;
        }
        if (text !== "") yield Buffer.from(text);
      }
    },
  };
}
