/** The thread in which one template of an import is written: loading exceljs would hold up requests. Started by `workbooks.ts`. */
import { parentPort, workerData } from "node:worker_threads";
import { type GuidedTable, writeGuided } from "../workbook/guided-workbook.ts";

parentPort!.postMessage(await writeGuided(workerData as GuidedTable));
