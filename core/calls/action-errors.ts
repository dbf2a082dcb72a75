/**
 * The errors that every action can answer, and those that come with the request headers it supports. `action.ts` adds
 * the action's own errors.
 */
import type { ErrorKind } from "../values/errors.ts";
import type { EventName } from "../plans/hook.ts";

/** Headers of a request that change what an action does. */
export type RequestHeader =
  | "X-Request-Mode"
  | "If-Match"
  | "X-Lock-Token"
  | "Idempotency-Key"
  | "Prefer";

/** Errors that can occur before an action runs: authentication, routing, request format, and unreachable services. */
export const errorsOfEveryAction: readonly ErrorKind[] = [
  "invalidPayload",
  "forbidden",
  "notFound",
  "methodNotAllowed",
  "requestTimeout",
  "payloadTooLarge",
  "unsupportedMediaType",
  "internal",
  "unavailable",
];

const errorsOfHeaders: Readonly<Record<RequestHeader, readonly ErrorKind[]>> = {
  "X-Request-Mode": ["invalidRequestMode"],
  "If-Match": ["preconditionFailed"],
  "X-Lock-Token": ["lockConflict", "lockNotTaken"],
  "Idempotency-Key": ["invalidParameter", "requestInProgress", "idempotencyKeyReused"],
  Prefer: [],
};

/** `errors`: those of the action itself. */
export function allErrors({
  mode,
  errors,
  headers = [],
  events = [],
}: {
  mode: "reads" | "writes" | "starts a job";
  errors: readonly ErrorKind[];
  headers?: readonly RequestHeader[];
  events?: readonly EventName[];
}): ReadonlySet<ErrorKind> {
  const ofHandlers: readonly ErrorKind[] = events.length > 0 ? ["rejectedByHook"] : [];
  const ofWrites: readonly ErrorKind[] =
    mode === "writes" ? ["rejectedByDatabase", "recordClosed"] : [];
  const ofHeaders = headers.flatMap((name) => errorsOfHeaders[name]);
  return new Set([...errorsOfEveryAction, ...errors, ...ofHeaders, ...ofWrites, ...ofHandlers]);
}
