/**
 * The rows of an upload in batches. Reading is a third of the work of an import, so a large file is read in its own
 * thread, in parallel to judging and storing. A small one is read here, as starting a thread takes longer.
 */
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { limits } from "../../core/values/limits.ts";
import { startThread } from "../thread/start-thread.ts";
import { InvalidWorkbook } from "../workbook/invalid-workbook.ts";
import { openWorkbook } from "../workbook/open-workbook.ts";
import { type FileRow, rowBatches, type RowsFile } from "./row-batches.ts";
import type { OpenedRows, RowsAnswer, RowsRefusal, ToRowsThread } from "./rows-thread.ts";

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

async function openInThread(file: RowsFile): Promise<OpenRows> {
  const thread = startThread(new URL("./rows-thread.ts", import.meta.url), {
    data: file,
    heapMb: limits.uploadThreadHeapMb,
    youngMb: limits.jobThreadYoungMb,
  });
  const exited = once(thread, "exit").then(() => {
    throw new Error("The thread that reads the rows has stopped");
  });
  exited.catch(() => undefined);

  /** The thread's next message; questions are asked one after the other. Rejects if the thread ends first. */
  async function nextMessage<T extends OpenedRows | RowsAnswer>(): Promise<T> {
    const [message] = (await Promise.race([once(thread, "message"), exited])) as [T | RowsRefusal];
    if ("refusal" in message) throw new InvalidWorkbook(message.refusal);
    return message;
  }
  async function ask(question: ToRowsThread): Promise<RowsAnswer> {
    const answer = nextMessage<RowsAnswer>();
    thread.postMessage(question);
    return answer;
  }
  const close = async (): Promise<void> => void (await thread.terminate());

  try {
    const { headings } = await nextMessage<OpenedRows>();
    return {
      headings,
      async *batches() {
        let { rows } = await ask("first");
        while (rows !== null) {
          yield rows;
          ({ rows } = await ask("next"));
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
