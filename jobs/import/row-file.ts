/** A workbook that grows row by row, in the place where files are kept. */
import type { Files } from "../../core/plans/files-port.ts";
import { createTable } from "../workbook/create-table.ts";
import type { Batch, TableOptions } from "../workbook/table-column.ts";

export interface RowFile {
  /** Resolves when there is room for more. */
  add(rows: Batch): Promise<void>;
  /** Resolves when the file is there. Also without any row. */
  finish(): Promise<void>;
  /** Leaves no file. */
  abandon(): Promise<void>;
}

export function openRowFile(
  { files, key }: { readonly files: Files; readonly key: string },
  options: TableOptions,
): RowFile {
  const { readable, writable } = new TransformStream<Batch, Batch>();
  const writer = writable.getWriter();
  const written = files.write(key, createTable("xlsx", options).write(readable));
  // The caller that awaits it gets the error.
  written.catch(() => undefined);

  return {
    async add(rows) {
      await writer.write(rows).catch(async (error: unknown) => {
        // The writer only knows that reading has stopped; the error of the file has the reason.
        await written;
        throw error;
      });
    },
    async finish() {
      await writer.close();
      await written;
    },
    async abandon() {
      await writer.abort(new Error("The rows are no longer needed")).catch(() => undefined);
      await written.then(
        () => files.remove(key),
        () => undefined,
      );
    },
  };
}
