/**
 * The thread in which the rows of an import are read: it says the headings, then answers each question with a batch. Started by `open-rows.ts`.
 */
import { parentPort, workerData } from "node:worker_threads";
import { InvalidWorkbook } from "../workbook/invalid-workbook.ts";
import { openWorkbook } from "../workbook/open-workbook.ts";
import type { FileRow } from "./judge-rows.ts";
import { type RowsPlace, rowBatches } from "./row-batches.ts";

/** `first` begins anew. */
export type ToRowsThread = "first" | "next";

export type FromRowsThread =
  | { readonly headings: readonly (string | null)[] }
  /** Null behind the last. */
  | { readonly rows: readonly FileRow[] | null }
  /** The file is not as it should be; nothing more is to be had. */
  | { readonly refusal: string };

const port = parentPort!;
const { path, bytesMax, batchRows } = workerData as RowsPlace;
const say = (message: FromRowsThread): void => port.postMessage(message);

async function saying(work: () => Promise<FromRowsThread>): Promise<void> {
  try {
    say(await work());
  } catch (error) {
    if (!(error instanceof InvalidWorkbook)) throw error;
    say({ refusal: error.message });
  }
}

await saying(async () => {
  const workbook = await openWorkbook(path, { bytesMax });
  let batches = rowBatches(workbook, batchRows);
  port.on("message", (question: ToRowsThread) => {
    void saying(async () => {
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
