/**
 * Batches of rows, divided into the portions that fit a sheet. `create-workbook.ts` asks for rows sheet by sheet, so a
 * batch can continue on the next sheet.
 */
import type { Batch } from "./table-column.ts";

/** Rows one by one, from batches. */
export interface RowFeed {
  /** The next rows, `rowsMax` at most and as many as there are at hand; null behind the last. */
  take(rowsMax: number): Promise<Batch | null>;
  /** The rows that `take` gives next, without taking them; null behind the last. */
  peek(): Promise<Batch | null>;
  /** Ends the source. To be called however the reading ended. */
  close(): Promise<void>;
}

/** Nothing is read before the first row is asked for. */
export function feedRows(batches: AsyncIterable<Batch> | Iterable<Batch>): RowFeed {
  const iterator =
    Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : batches[Symbol.iterator]();
  let current: Batch | null = [];
  let at = 0;
  const fill = async (): Promise<Batch | null> => {
    while (current !== null && at >= current.length) {
      const next = await iterator.next();
      current = next.done ? null : next.value;
      at = 0;
    }
    return current;
  };
  return {
    async take(rowsMax) {
      const batch = await fill();
      if (batch === null) return null;
      const rows = batch.slice(at, at + rowsMax);
      at += rows.length;
      return rows;
    },
    async peek() {
      const batch = await fill();
      return batch && batch.slice(at);
    },
    async close() {
      await iterator.return?.();
    },
  };
}
