/**
 * core's `Workbooks`: uploads are looked through in a thread of their own, with an end to its time and memory, whatever is in the file, and
 * templates are written in one. Made by `app/open-jobs.ts`.
 */
import { Worker } from "node:worker_threads";
import { invalidFile } from "../../core/errors.ts";
import { limits } from "../../core/limits.ts";
import type { Files, Workbooks, WorkbookSketch } from "../../core/ports.ts";
import type { GuidedTable } from "../workbook/guided-workbook.ts";
import type { Inspection } from "./inspect.ts";
import type { FromInspection } from "./inspect-thread.ts";
import { withLocalCopy } from "./local-copy.ts";

export function createWorkbooks(files: Files): Workbooks {
  const inTurn = createTurns(limits.uploadsAtOnce);
  return {
    inspect: (key, options) =>
      inTurn(() => withLocalCopy({ files, key }, (path) => inspectApart({ path, ...options }))),
    blank: (sheetName, columns) =>
      inTurn(() => writeApart({ sheetName, columns, rows: [], reasonHeading: null })),
  };
}

async function inspectApart(workerData: Inspection): Promise<WorkbookSketch> {
  const { sketch, refusal } = await answerOf<FromInspection>("./inspect-thread.ts", {
    workerData,
    overdue: invalidFile("The file takes too long to read"),
    tooLarge: invalidFile("The file takes too much memory to read"),
  });
  if (sketch) return sketch;
  throw invalidFile(refusal);
}

function writeApart(workerData: GuidedTable): Promise<Uint8Array<ArrayBuffer>> {
  const failed = new Error("The template takes too long, or too much memory, to write");
  return answerOf("./template-thread.ts", { workerData, overdue: failed, tooLarge: failed });
}

interface Question {
  readonly workerData: unknown;
  /** What it rejects with when there is no answer in time, or the thread's memory does not suffice. */
  readonly overdue: Error;
  readonly tooLarge: Error;
}

/** The first message of a thread, which then ends. */
function answerOf<T>(file: string, { workerData, overdue, tooLarge }: Question): Promise<T> {
  const thread = new Worker(new URL(file, import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: limits.uploadThreadHeapMb },
  });
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(overdue), limits.uploadReadMs);
    thread.on("message", resolve);
    thread.on("error", (error: NodeJS.ErrnoException) => {
      reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooLarge : error);
    });
    thread.on("exit", () => {
      clearTimeout(timer);
      reject(new Error(`The thread of ${file} has ended`));
    });
  }).finally(() => thread.terminate());
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
