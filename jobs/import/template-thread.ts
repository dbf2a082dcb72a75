/** The thread that writes one template of an import, as loading exceljs would block requests. */
import { parentPort, workerData } from "node:worker_threads";
import { type GuidedTable, writeGuided } from "../workbook/guided-workbook.ts";

parentPort!.postMessage(await writeGuided(workerData as GuidedTable));
