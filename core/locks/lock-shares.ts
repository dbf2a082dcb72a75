/** How many locks of lock/acquire one caller may hold, so that nobody fills the store. Locks of running requests are not counted. */
import { AppError } from "../values/errors.ts";
import { limits } from "../values/limits.ts";

/** What a store rejects `acquire` with when the caller's share is used up. */
export const tooManyLocks = (): AppError =>
  new AppError(
    "tooManyRequests",
    `You hold the most locks that one client may hold in a project (${limits.lockCallerMax}); release some, or wait until they end`,
  );
