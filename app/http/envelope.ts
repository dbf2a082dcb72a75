/** The JSON envelope of every answer: success, message and data, or error and message, and always the time. */
import type { Answer } from "../../core/calls/answer.ts";
import { answerText, asAppError, errorBody } from "../../core/calls/answer-text.ts";
import type { AppError, ErrorKind } from "../../core/values/errors.ts";
import type { Log } from "../../core/plans/log-port.ts";
import { tableMediaTypes } from "../../core/plans/table-formats.ts";
import { errorTable } from "../../core/calls/error-table.ts";
import { limits } from "../../core/values/limits.ts";
import type { Reply, TextReply } from "./reply.ts";

/** The parts of the exchange (`exchange.ts`) that an answer needs. */
interface Asked {
  readonly requestId: string;
  readonly log: Log;
  /** The destination of the lines of `log`. */
  readonly base: Log;
  /** Why the request failed, if the client did not cause it. */
  reason: string | null;
  readonly answerHeaders: Readonly<Record<string, string>>;
}

/**
 * Security headers of every answer: no content sniffing, no caching, no embedding into other pages. An answer that is
 * opened directly in a browser can load and run nothing.
 */
export const secureHeaders: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** The headers of every answer to a request. */
export const headersOf = ({
  requestId,
  answerHeaders,
}: Pick<Asked, "requestId" | "answerHeaders">): Readonly<Record<string, string>> => ({
  "X-Request-Id": requestId,
  ...secureHeaders,
  ...answerHeaders,
});

/** The ways to send credentials: a token, or an API key in its own header. */
const challenge = 'Bearer realm="rowgate", ApiKey realm="rowgate", header="X-Api-Key"';

/** Seconds after which a client can try again. */
const retryAfterSeconds = 2;

/**
 * Failures that can pass: a service is unreachable, the first request is still running, or the caller has too many
 * locks or jobs.
 */
const isPassing: ReadonlySet<ErrorKind> = new Set([
  "unavailable",
  "requestInProgress",
  "tooManyRequests",
]);

export function answer(
  asked: Asked,
  { status, body, rest, etag, isBare, answeredAt, isReplayed, language }: Answer,
  now: string,
): Reply {
  const headers: Record<string, string> = {};
  if (etag !== undefined) headers["ETag"] = etag;
  if (isReplayed) headers["Idempotency-Replayed"] = "true";
  Object.assign(headers, languageHeaders(asked, language));
  const text = answerText({ body, ...(rest !== undefined && { rest }), isBare }, answeredAt ?? now);
  return { status, headers: { ...jsonHeaders(asked), ...headers }, body: text };
}

interface FailureOptions {
  /** Further members of the answer. */
  readonly beside?: Record<string, unknown>;
  /** True: the status is 200 and `error` contains the whole text, for clients that read only that. */
  readonly isInline?: boolean;
  /** Makes the whole answer of a protocol that has its own; absent: it is the envelope. */
  readonly shape?: (body: ReturnType<typeof errorBody>) => object;
}

/** Answers an AppError with its message. Any other error is logged in full and answered with one fixed sentence. */
export function failureReply(
  asked: Asked,
  error: unknown,
  timestamp: string,
  { beside, isInline = false, shape }: FailureOptions = {},
): TextReply {
  const known = asAppError(error);
  const { status } = errorTable[known.kind];
  if (status >= 500 && known.kind !== "notImplemented") {
    asked.reason = known.message;
    logFailure(asked, known, status);
  }
  const body = errorBody(known);
  const headers: Record<string, string> = {};
  Object.assign(headers, languageHeaders(asked, known.language));
  if (known.allow) headers["Allow"] = known.allow.join(", ");
  if (known.kind === "unauthorized") headers["WWW-Authenticate"] = challenge;
  if (isPassing.has(known.kind))
    headers["Retry-After"] = String(known.retryAfterSeconds ?? retryAfterSeconds);
  if (shape) return json(asked, status, shape(body), headers);
  return json(
    asked,
    isInline ? 200 : status,
    {
      success: false,
      ...body,
      ...(isInline && { error: `${body.error}: ${body.message}` }),
      ...beside,
      timestamp,
    },
    headers,
  );
}

/** Of an answer whose messages are in the language that the client asked for. */
function languageHeaders(
  { answerHeaders }: Asked,
  language: string | undefined,
): Record<string, string> {
  if (language === undefined) return {};
  const { vary } = answerHeaders;
  return {
    "Content-Language": language,
    vary: vary === undefined ? "Accept-Language" : `${vary}, Accept-Language`,
  };
}

export const json = (
  asked: Asked,
  status: number,
  body: object,
  headers?: Record<string, string>,
): TextReply => ({
  status,
  headers: { ...jsonHeaders(asked), ...headers },
  body: JSON.stringify(body),
});

const jsonHeaders = (asked: Asked) => ({
  "Content-Type": "application/json; charset=utf-8",
  ...headersOf(asked),
});

/** One page of a list as csv. */
export const csvReply = (asked: Asked, body: string, nextCursor: string | null): TextReply => ({
  status: 200,
  headers: {
    "Content-Type": tableMediaTypes.csv,
    ...headersOf(asked),
    ...(nextCursor !== null && { "X-Next-Cursor": nextCursor }),
  },
  body,
});

/** When each failure was last seen, by the destination of a process's log lines. */
const lastSeen = new WeakMap<Log, Map<string, number>>();

/**
 * Logs the failure with its causes at level error. The level is debug if the log contains it already: because another
 * part reported it, or because requests fail in this way repeatedly.
 */
function logFailure(
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

/** Whether the same failure was seen a moment ago. One that repeats for hours is new only after a pause. */
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
