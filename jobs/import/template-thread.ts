/** The thread that writes templates of imports, as loading exceljs would block requests. */
import { parentPort } from "node:worker_threads";
import { type GuidedTable, writeGuided } from "../workbook/guided-workbook.ts";

const answer = async (table: GuidedTable): Promise<void> =>
  parentPort!.postMessage(await writeGuided(table));

// An error that is not caught ends the thread.
parentPort!.on("message", (table: GuidedTable) => void answer(table));
