/** The JSON envelope of every answer: success, message and data, or error and message, and always the time. */
import type { Answer } from "../../core/calls/action.ts";
import { AppError, type ErrorKind } from "../../core/values/errors.ts";
import type { Log } from "../../core/plans/ports.ts";
import { errorTable } from "../../core/calls/error-table.ts";
import { logFailure } from "./failure-log.ts";
import type { Reply } from "./reply.ts";

/** The parts of the exchange (`exchange.ts`) that an answer needs. */
interface Asked {
  readonly requestId: string;
  readonly log: Log;
  /** Where the lines of `log` go to. */
  readonly base: Log;
  /** Why the request failed for no fault of its own. */
  reason: string | null;
  readonly answerHeaders: Readonly<Record<string, string>>;
}

/**
 * What every answer says to browsers: its type is the one that it names, nothing keeps it, and no page can load it as a part of itself. An answer
 * that a browser opens on its own can load nothing and run nothing.
 */
export const secureHeaders: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** The ways to show credentials: a token, or an API key in a header of its own. */
const challenge = 'Bearer realm="rowgate", ApiKey realm="rowgate", header="X-Api-Key"';

/** Seconds after which a client may try again. */
const retryAfterSeconds = 2;

/**
 * Failures that may pass: a service is unreachable, the first request is still running, or the caller has too many
 * locks or jobs.
 */
const isPassing: ReadonlySet<ErrorKind> = new Set([
  "unavailable",
  "requestInProgress",
  "tooManyRequests",
]);

export function answer(
  asked: Asked,
  { status, body, rest, etag, isBare, answeredAt, isReplayed }: Answer,
  now: string,
): Reply {
  const headers: Record<string, string> = {};
  if (etag !== undefined) headers["ETag"] = etag;
  if (isReplayed) headers["Idempotency-Replayed"] = "true";
  const timestamp = answeredAt ?? now;
  const isWhole = rest === undefined || rest === "{}";
  if (isWhole) {
    const whole = isBare ? body : { success: true, ...body, timestamp };
    return respond(asked, { status, text: JSON.stringify(whole) }, headers);
  }
  // Both are objects with at least one member: `{"a":1}` and `{"b":2}` become `{"a":1,"b":2}`.
  const before = isBare ? body : { success: true, ...body };
  const start = `${JSON.stringify(before).slice(0, -1)},${rest.slice(1, -1)}`;
  const end = isBare ? "}" : `,"timestamp":${JSON.stringify(timestamp)}}`;
  return respond(asked, { status, text: start + end }, headers);
}

/**
 * Answers an AppError with its message. Any other error is logged in full and answered with one fixed sentence.
 * `beside`: further members of the answer. `isInline`: the status is 200 and `error` contains the whole text, for
 * clients that read only that.
 */
export function failureReply(
  asked: Asked,
  error: unknown,
  timestamp: string,
  { beside, isInline = false }: { beside?: Record<string, unknown>; isInline?: boolean } = {},
): Reply {
  const known = error instanceof AppError ? error : new AppError("internal", "", { cause: error });
  const { status, error: name } = errorTable[known.kind];
  if (status >= 500) {
    asked.reason = known.message;
    logFailure(asked, known, status);
  }
  const message = known.kind === "internal" ? "The request could not be processed" : known.message;
  const errors = known.errors ? { errors: known.errors } : {};
  const data = known.data ? { data: known.data } : {};
  const headers: Record<string, string> = {};
  if (known.allow) headers["Allow"] = known.allow.join(", ");
  if (known.kind === "unauthorized") headers["WWW-Authenticate"] = challenge;
  if (isPassing.has(known.kind))
    headers["Retry-After"] = String(known.retryAfterSeconds ?? retryAfterSeconds);
  return json(
    asked,
    isInline ? 200 : status,
    {
      success: false,
      error: isInline ? `${name}: ${message}` : name,
      message,
      ...errors,
      ...data,
      ...beside,
      timestamp,
    },
    headers,
  );
}

export const json = (
  asked: Asked,
  status: number,
  body: object,
  headers?: Record<string, string>,
): Reply => respond(asked, { status, text: JSON.stringify(body) }, headers);

/** Creates an answer from JSON text. */
export function respond(
  { requestId, answerHeaders }: Asked,
  { status, text }: { status: number; text: string },
  headers?: Record<string, string>,
): Reply {
  return {
    status,
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      "X-Request-Id": requestId,
      ...secureHeaders,
      ...answerHeaders,
      ...headers,
    },
    body: text,
  };
}
