/**
 * The rows of an upload in batches. Reading is a third of the work of an import, so a large file is read in its own
 * thread, in parallel to judging and storing. A small one is read here, as starting a thread takes longer.
 */
import { stat } from "node:fs/promises";
import { limits } from "../../core/values/limits.ts";
import { createLentThreads } from "../thread/start-thread.ts";
import { InvalidWorkbook } from "../workbook/invalid-workbook.ts";
import { openWorkbook } from "../workbook/open-workbook.ts";
import { type FileRow, rowBatches, type RowsFile } from "./row-batches.ts";
import type {
  FromRowsThread,
  OpenedRows,
  RowsAnswer,
  RowsRefusal,
  ToRowsThread,
} from "./rows-thread.ts";

/** The rows of one upload. To be closed. */
export interface OpenRows {
  readonly headings: readonly (string | null)[];
  /** All rows from the first on, with every call; the one before has to have ended. Rejects with `InvalidWorkbook`. */
  batches(): AsyncGenerator<readonly FileRow[]>;
  close(): Promise<void>;
}

/** Packed bytes: some 10,000 rows of ten columns. */
const smallBytesMax = 512 * 1024;

/** The file has to stay there until `close`. Rejects with `InvalidWorkbook`. */
export async function openRows(file: RowsFile): Promise<OpenRows> {
  const { size } = await stat(file.path);
  return size <= smallBytesMax ? openHere(file) : openInThread(file);
}

async function openHere({ path, bytesMax, formulas, batchRows }: RowsFile): Promise<OpenRows> {
  const workbook = await openWorkbook(path, { bytesMax, formulas });
  return {
    headings: workbook.headings,
    batches: () => rowBatches(workbook, batchRows),
    close: async () => undefined,
  };
}

const lendReader = createLentThreads(new URL("./rows-thread.ts", import.meta.url), {
  heapMb: limits.uploadThreadHeapMb,
  youngMb: limits.rowsThreadYoungMb,
});

async function openInThread(file: RowsFile): Promise<OpenRows> {
  const reader = lendReader();
  async function ask<T extends FromRowsThread>(question: ToRowsThread): Promise<T> {
    const answer = await reader.ask<T | RowsRefusal>(question);
    if ("refusal" in answer) throw new InvalidWorkbook(answer.refusal);
    return answer;
  }
  const close = (): Promise<void> => ask("close").then(reader.giveBack, reader.end);
  try {
    const { headings } = await ask<OpenedRows>(file);
    return {
      headings,
      async *batches() {
        let { rows } = await ask<RowsAnswer>("first");
        while (rows !== null) {
          yield rows;
          ({ rows } = await ask<RowsAnswer>("next"));
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
