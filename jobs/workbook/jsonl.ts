/**
 * The jsonl writer: one JSON object per line, the headings as its names. It is for programs, so values stand as answers show them: no
 * patterns, no labels.
 */
import type { TableOptions, TableWriter } from "./table-column.ts";

/** A writer of one jsonl file. The headings must differ. */
export function createJsonl({ columns }: TableOptions): TableWriter {
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
