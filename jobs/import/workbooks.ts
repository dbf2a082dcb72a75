/**
 * core's `Workbooks`: uploads are checked in a separate thread with limits on time and memory, and templates are
 * written in one.
 */
import type { Worker } from "node:worker_threads";
import { invalidFile } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import type { Files } from "../../core/plans/files-port.ts";
import type { Workbooks, WorkbookSketch } from "../../core/plans/workbooks-port.ts";
import { startThread } from "../thread/start-thread.ts";
import type { GuidedTable } from "../workbook/guided-workbook.ts";
import type { Inspection } from "./inspect.ts";
import type { FromInspection } from "./inspect-thread.ts";
import { withLocalCopy, withReadTimeout } from "./local-copy.ts";

/** Checks `limits.uploadsAtOnce` uploads at the same time, each for `limits.uploadReadMs` at most. */
export function createWorkbooks(files: Files): Workbooks {
  const inTurn = createTurns(limits.uploadsAtOnce);
  return {
    inspect: (key, options) =>
      inTurn(() => withLocalCopy({ files, key }, (path) => inspectInThread({ path, ...options }))),
    blank: (sheetName, columns) =>
      inTurn(() => writeInThread({ sheetName, columns, rows: [], reasonHeading: null })),
  };
}

async function inspectInThread(inspection: Inspection): Promise<WorkbookSketch> {
  const thread = startBriefThread(new URL("./inspect-thread.ts", import.meta.url), inspection);
  const tooLarge = invalidFile("The file takes too much memory to read");
  const inspected = withReadTimeout(firstMessage<FromInspection>(thread, tooLarge));
  const { sketch, refusal } = await inspected.finally(() => thread.terminate());
  if (sketch) return sketch;
  throw invalidFile(refusal);
}

function writeInThread(table: GuidedTable): Promise<Uint8Array<ArrayBuffer>> {
  const thread = startBriefThread(new URL("./template-thread.ts", import.meta.url), table);
  const failed = new Error("Writing the template takes too much time or memory");
  const written = withTimeout(firstMessage<Uint8Array<ArrayBuffer>>(thread, failed), {
    timeoutMs: limits.uploadReadMs,
    onTimeout: () => {
      throw failed;
    },
  });
  return written.finally(() => thread.terminate());
}

/** For a thread that a client waits for, and that the caller ends. */
const startBriefThread = (program: URL, data: unknown): Worker =>
  startThread(program, { data, heapMb: limits.uploadThreadHeapMb, hasTimeout: true });

/** `tooLarge`: the error if the thread runs out of memory. */
function firstMessage<T>(thread: Worker, tooLarge: Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    thread.on("message", resolve);
    thread.on("error", (error: NodeJS.ErrnoException) => {
      reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooLarge : error);
    });
    thread.on("exit", () => reject(new Error("The workbook thread has stopped")));
  });
}

/** Runs a limited number at a time; the others wait. */
function createTurns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = atOnce;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
