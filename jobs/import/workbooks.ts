/**
 * core's `Workbooks`: uploads are looked through in a thread of their own, with an end to its time and memory, whatever is in the file.
 */
import { invalidFile } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type { Files, Workbooks, WorkbookSketch } from "../../core/plans/ports.ts";
import { startThread } from "../thread/start-thread.ts";
import { blankWorkbook } from "./blank-workbook.ts";
import type { Inspection } from "./inspect.ts";
import type { FromInspection } from "./inspect-thread.ts";
import { withLocalCopy } from "./local-copy.ts";
import { withReadTimeout } from "./read-timeout.ts";

/** `limits.uploadsAtOnce` uploads are looked through at the same time, each for `limits.uploadReadMs` at most. */
export function createWorkbooks(files: Files): Workbooks {
  const inTurn = createTurns(limits.uploadsAtOnce);
  return {
    inspect: (key, options) =>
      inTurn(() => withLocalCopy({ files, key }, (path) => inspectInThread({ path, ...options }))),
    blank: blankWorkbook,
  };
}

function inspectInThread(inspection: Inspection): Promise<WorkbookSketch> {
  const thread = startThread(new URL("./inspect-thread.ts", import.meta.url), {
    data: inspection,
    heapMb: limits.uploadThreadHeapMb,
    hasTimeout: true,
  });
  const sketched = new Promise<WorkbookSketch>((resolve, reject) => {
    thread.on("message", ({ sketch, refusal }: FromInspection) => {
      if (sketch) resolve(sketch);
      else reject(invalidFile(refusal));
    });
    thread.on("error", (error: NodeJS.ErrnoException) => {
      const isTooLarge = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      reject(isTooLarge ? invalidFile("The file takes too much memory to read") : error);
    });
    thread.on("exit", () => reject(new Error("The thread that reads an upload has ended")));
  });
  return withReadTimeout(sketched).finally(() => thread.terminate());
}

/** Runs no more than so many at a time; the others wait. */
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
