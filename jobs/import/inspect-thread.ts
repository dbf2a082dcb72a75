/** The thread in which one uploaded workbook is looked through. */
import { parentPort, workerData } from "node:worker_threads";
import type { WorkbookSketch } from "../../core/plans/workbooks-port.ts";
import { InvalidWorkbook } from "../workbook/invalid-workbook.ts";
import { inspect, type Inspection } from "./inspect.ts";

/** The one message of the thread: what it found, or why the file is no good. */
export type FromInspection =
  | { readonly sketch: WorkbookSketch; readonly refusal?: never }
  | { readonly sketch?: never; readonly refusal: string };

try {
  const sketch = await inspect(workerData as Inspection);
  parentPort!.postMessage({ sketch } satisfies FromInspection);
} catch (error) {
  if (!(error instanceof InvalidWorkbook)) throw error;
  parentPort!.postMessage({ refusal: error.message } satisfies FromInspection);
}
