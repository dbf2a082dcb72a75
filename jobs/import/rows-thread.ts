/**
 * The thread in which the rows of an import are read: it sends the headings, then answers each question with a batch.
 */
import { parentPort, workerData } from "node:worker_threads";
import { InvalidWorkbook } from "../workbook/invalid-workbook.ts";
import { openWorkbook } from "../workbook/open-workbook.ts";
import { type FileRow, rowBatches, type RowsFile } from "./row-batches.ts";

/** `first` restarts at the first row. */
export type ToRowsThread = "first" | "next";

/** The first message of the thread. */
export interface OpenedRows {
  readonly headings: readonly (string | null)[];
}

/** Its answer to a question; null behind the last row. */
export interface RowsAnswer {
  readonly rows: readonly FileRow[] | null;
}

/** Instead of either: the file is invalid, and no further message follows. */
export interface RowsRefusal {
  readonly refusal: string;
}

type FromRowsThread = OpenedRows | RowsAnswer | RowsRefusal;

const port = parentPort!;
const { path, bytesMax, formulas, batchRows } = workerData as RowsFile;
const send = (message: FromRowsThread): void => port.postMessage(message);

async function sendOutcome(work: () => Promise<FromRowsThread>): Promise<void> {
  try {
    send(await work());
  } catch (error) {
    if (!(error instanceof InvalidWorkbook)) throw error;
    send({ refusal: error.message });
  }
}

await sendOutcome(async () => {
  const workbook = await openWorkbook(path, { bytesMax, formulas });
  let batches = rowBatches(workbook, batchRows);
  port.on("message", (question: ToRowsThread) => {
    void sendOutcome(async () => {
      if (question === "first") {
        await batches.return(undefined);
        batches = rowBatches(workbook, batchRows);
      }
      const { done, value } = await batches.next();
      return { rows: done ? null : value };
    });
  });
  return { headings: workbook.headings };
});
