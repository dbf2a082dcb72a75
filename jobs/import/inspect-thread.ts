/** The thread that checks uploaded workbooks, one after the other. */
import { parentPort } from "node:worker_threads";
import type { WorkbookSketch } from "../../core/plans/workbooks-port.ts";
import { InvalidWorkbook } from "../workbook/invalid-workbook.ts";
import { inspect, type Inspection } from "./inspect.ts";

/** Its answer: what it found, or why the file is invalid. */
export type FromInspection =
  | { readonly sketch: WorkbookSketch; readonly refusal?: never }
  | { readonly sketch?: never; readonly refusal: string };

const send = (message: FromInspection): void => parentPort!.postMessage(message);

async function answer(inspection: Inspection): Promise<void> {
  try {
    send({ sketch: await inspect(inspection) });
  } catch (error) {
    if (!(error instanceof InvalidWorkbook)) throw error;
    send({ refusal: error.message });
  }
}

// An error that is not caught ends the thread.
parentPort!.on("message", (inspection: Inspection) => void answer(inspection));
