/**
 * core's `Workbooks`: uploads are checked in separate threads with limits on time and memory, and templates are written
 * in one.
 */
import { invalidFile } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import type { Files } from "../../core/plans/files-port.ts";
import type { Workbooks, WorkbookSketch } from "../../core/plans/workbooks-port.ts";
import { createAnsweringThreads } from "../thread/start-thread.ts";
import type { GuidedTable } from "../workbook/guided-workbook.ts";
import type { Inspection } from "./inspect.ts";
import type { FromInspection } from "./inspect-thread.ts";
import { withLocalCopy, withReadTimeout } from "./local-copy.ts";

/** Checks some uploads at the same time, each for `limits.uploadReadMs` at most. */
export function createWorkbooks(files: Files): Workbooks {
  const inTurn = createTurns(limits.uploadsAtOnce);
  return {
    inspect: (key, { share, ...options }) =>
      inTurn(share, () =>
        withLocalCopy({ files, key }, (path) => inspectInThread({ path, ...options })),
      ),
    blank: (sheetName, { columns, share }) =>
      inTurn(share, () => writeInThread({ sheetName, columns, rows: [], reasonHeading: null })),
  };
}

const ask = {
  inspect: createAnsweringThreads(new URL("./inspect-thread.ts", import.meta.url)),
  blank: createAnsweringThreads(new URL("./template-thread.ts", import.meta.url)),
};

async function inspectInThread(inspection: Inspection): Promise<WorkbookSketch> {
  const { sketch, refusal } = await ask.inspect<FromInspection>(inspection, {
    within: withReadTimeout,
    tooLarge: invalidFile("The file takes too much memory to read"),
  });
  if (sketch) return sketch;
  throw invalidFile(refusal);
}

function writeInThread(table: GuidedTable): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = new Error("Writing the template takes too much time or memory");
  const onTimeout = (): never => {
    throw tooLarge;
  };
  return ask.blank<Uint8Array<ArrayBuffer>>(table, {
    within: (written) => withTimeout(written, { timeoutMs: limits.uploadReadMs, onTimeout }),
    tooLarge,
  });
}

/**
 * Runs a limited number at a time, and leaves one of them to other callers; the rest waits. `share`: as `shareOf` names
 * the caller.
 */
export function createTurns(
  atOnce: number,
): <T>(share: string, work: () => Promise<T>) => Promise<T> {
  const running: string[] = [];
  const waiting: { readonly share: string; readonly begin: () => void }[] = [];
  const ofCallerMax = Math.max(1, atOnce - 1);
  const mayRun = (share: string): boolean =>
    running.length < atOnce && running.filter((one) => one === share).length < ofCallerMax;

  return async (share, work) => {
    if (!mayRun(share)) await new Promise<void>((begin) => waiting.push({ share, begin }));
    else running.push(share);
    try {
      return await work();
    } finally {
      running.splice(running.indexOf(share), 1);
      const at = waiting.findIndex((one) => mayRun(one.share));
      const [next] = at < 0 ? [] : waiting.splice(at, 1);
      if (next) {
        running.push(next.share);
        next.begin();
      }
    }
  };
}
