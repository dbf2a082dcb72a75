/**
 * core's `Workbooks` where there are no threads: an upload is looked through beside the request that brought it, with the reader's own limits on
 * everything that a file can make large, and an end to its time.
 */
import { invalidFile } from "../../core/values/errors.ts";
import type { Files } from "../../core/plans/ports.ts";
import type { Workbooks } from "../../core/plans/workbooks-port.ts";
import { InvalidWorkbook } from "../workbook/invalid-workbook.ts";
import { blankWorkbook } from "./blank-workbook.ts";
import { inspect } from "./inspect.ts";
import { withLocalCopy } from "./local-copy.ts";
import { withReadTimeout } from "./read-timeout.ts";

/** Reading an upload ends after `limits.uploadReadMs`. */
export function createInlineWorkbooks(files: Files): Workbooks {
  return {
    async inspect(key, options) {
      try {
        return await withLocalCopy({ files, key }, (path) =>
          withReadTimeout(inspect({ path, ...options })),
        );
      } catch (error) {
        if (error instanceof InvalidWorkbook) throw invalidFile(error.message);
        throw error;
      }
    },
    blank: blankWorkbook,
  };
}
