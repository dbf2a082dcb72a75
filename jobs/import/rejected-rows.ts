/** The rows that a job rejects, as a workbook with a column that says why; it grows while the job runs. Called by `preview.ts` and `commit.ts`. */
import { shownCell } from "../../core/jobs/import-columns.ts";
import type { Json } from "../../core/values/json.ts";
import type { Cell, Files } from "../../core/plans/ports.ts";
import { createTable } from "../workbook/create-table.ts";
import type { Batch } from "../workbook/table-column.ts";

/** A file that is corrected and comes back has this column still; the import ignores it. */
const reasonHeading = "Import errors";

export interface RejectedRow {
  readonly values: readonly Cell[];
  readonly messages: readonly string[];
}

export interface RejectedRows {
  /** Resolves when there is room for more. */
  add(rows: readonly RejectedRow[]): Promise<void>;
  /** Resolves when the file is there. Also without any row. */
  finish(): Promise<void>;
  /** Leaves no file. */
  abandon(): Promise<void>;
}

export function openRejectedRows(
  { files, key }: { files: Files; key: string },
  { sheetName, headings }: { sheetName: string; headings: readonly (string | null)[] },
): RejectedRows {
  const kept = [...headings.entries()].filter(
    ([, heading]) => heading !== null && heading !== reasonHeading,
  );
  const columns = [...kept.map(([, heading]) => heading!), reasonHeading];
  const table = createTable("xlsx", {
    sheetName,
    columns: columns.map((heading) => ({ heading })),
  });
  const { readable, writable } = new TransformStream<Batch, Batch>();
  const writer = writable.getWriter();
  const written = files.write(key, table.write(readable));
  // Whoever waits for it hears of it.
  written.catch(() => undefined);

  return {
    async add(rows) {
      if (rows.length === 0) return;
      const batch = rows.map(({ values, messages }) => [
        ...kept.map(([place]): Json => shownCell(values[place] ?? null)),
        messages.join("; "),
      ]);
      await writer.write(batch).catch(async (error: unknown) => {
        // The writer only knows that nobody reads any more, the file knows why.
        await written;
        throw error;
      });
    },
    async finish() {
      await writer.close();
      await written;
    },
    async abandon() {
      await writer.abort(new Error("The rows are not wanted any more")).catch(() => undefined);
      await written.then(
        () => files.remove(key),
        () => undefined,
      );
    },
  };
}
