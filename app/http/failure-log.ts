/** How the log tells of a request that failed for no fault of its own: what many requests share is told once. */
import type { AppError } from "../../core/values/errors.ts";
import type { Log } from "../../core/plans/ports.ts";
import { limits } from "../../core/values/limits.ts";

/** When each failure was last seen, by what all log lines of a process go to. */
const lastSeen = new WeakMap<Log, Map<string, number>>();

/**
 * Logs the failure with its causes at level error; at level debug when it is in the log already: because another part
 * told of it, or because requests fail in this way one after the other.
 */
export function logFailure(
  { log, base }: { readonly log: Log; readonly base: Log },
  error: AppError,
  status: number,
): void {
  const fields = { err: error.cause ?? error, status };
  const message = error.message || "Unexpected error";
  const isKnown = error.isReported || (error.kind === "unavailable" && isRepeated(base, message));
  if (isKnown) log.debug(fields, message);
  else log.error(fields, message);
}

/** Whether the same was seen a moment ago. What goes on for hours is new only after a pause. */
function isRepeated(base: Log, message: string): boolean {
  const seen = lastSeen.get(base) ?? new Map<string, number>();
  lastSeen.set(base, seen);
  const nowMs = performance.now();
  const beforeMs = seen.get(message);
  seen.delete(message);
  seen.set(message, nowMs);
  if (seen.size > limits.failuresKnownMax) seen.delete(seen.keys().next().value!);
  return beforeMs !== undefined && nowMs - beforeMs < limits.failureRepeatedMs;
}
