/**
 * The limit of locks of lock/acquire per caller, so that no caller fills the store. Locks of running requests are not
 * counted.
 */
import { AppError } from "../values/errors.ts";
import { limits } from "../values/limits.ts";

/** The error of `acquire` when the caller has reached its limit. */
export const tooManyLocks = (): AppError =>
  new AppError(
    "tooManyRequests",
    `You hold the maximum number of locks per client and project (${limits.lockCallerMax}); release some, or wait until they expire`,
  );
