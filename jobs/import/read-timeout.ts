/** How long an upload may be read while its client waits. */
import { invalidFile } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";

/** The outcome of `reading`; rejects with `invalidFile` after `limits.uploadReadMs`. */
export const withReadTimeout = <T>(reading: Promise<T>): Promise<T> =>
  withTimeout(reading, {
    timeoutMs: limits.uploadReadMs,
    onTimeout: () => {
      throw invalidFile("The file takes too long to read");
    },
  });
