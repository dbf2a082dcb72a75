/** The thread that checks one uploaded workbook. */
import { parentPort, workerData } from "node:worker_threads";
import type { WorkbookSketch } from "../../core/plans/workbooks-port.ts";
import { InvalidWorkbook } from "../workbook/invalid-workbook.ts";
import { inspect, type Inspection } from "./inspect.ts";

/** The thread's only message: what it found, or why the file is invalid. */
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
