/** The thread in which the rows of imports are read, one file after the other. It answers each question. */
import { parentPort } from "node:worker_threads";
import { InvalidWorkbook } from "../workbook/invalid-workbook.ts";
import { type OpenWorkbook, openWorkbook } from "../workbook/open-workbook.ts";
import { type FileRow, rowBatches, type RowsFile } from "./row-batches.ts";

/** A file opens it, `first` restarts at its first row, and `close` comes behind the last question about it. */
export type ToRowsThread = RowsFile | "first" | "next" | "close";

/** The answer to a file. */
export interface OpenedRows {
  readonly headings: readonly (string | null)[];
}

/** The answer to the other questions; null behind the last row. */
export interface RowsAnswer {
  readonly rows: readonly FileRow[] | null;
}

/** Instead of either: the file is invalid, and only `close` may follow. */
export interface RowsRefusal {
  readonly refusal: string;
}

export type FromRowsThread = OpenedRows | RowsAnswer;

const port = parentPort!;
let open: { readonly workbook: OpenWorkbook; readonly batchRows: number } | null = null;
let batches: AsyncGenerator<readonly FileRow[]> | null = null;

async function answerTo(question: ToRowsThread): Promise<FromRowsThread> {
  if (typeof question === "object") {
    const { path, batchRows, ...reading } = question;
    open = { workbook: await openWorkbook(path, reading), batchRows };
    return { headings: open.workbook.headings };
  }
  if (question !== "next") await batches?.return(undefined);
  if (question === "close") open = batches = null;
  if (question === "first") batches = rowBatches(open!.workbook, open!.batchRows);
  const { done = true, value } = (await batches?.next()) ?? {};
  return { rows: done ? null : value };
}

async function answer(question: ToRowsThread): Promise<void> {
  try {
    port.postMessage(await answerTo(question));
  } catch (error) {
    if (!(error instanceof InvalidWorkbook)) throw error;
    port.postMessage({ refusal: error.message } satisfies RowsRefusal);
  }
}

// An error that is not caught ends the thread.
port.on("message", (question: ToRowsThread) => void answer(question));
