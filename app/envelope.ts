/** The envelope of every answer: success, message and data, or error and message, and always the time. */
import type { Context as HonoContext } from "hono";
import type { Answer } from "../core/action.ts";
import { AppError } from "../core/errors.ts";
import { errorTable } from "./errors.ts";
import type { Variables } from "./variables.ts";

type Context = HonoContext<{ Variables: Variables }>;

/** Seconds after which a client may try again when the service or its database is out of reach. */
const retryAfterSeconds = "2";

export function answer(c: Context, { status, body, etag }: Answer, timestamp: string): Response {
  return json(c, {
    status,
    body: { success: true, ...body, timestamp },
    headers: etag === undefined ? {} : { ETag: etag },
  });
}

/** Answers what an AppError says; anything else is logged whole and answered with one fixed sentence. */
export function failure(c: Context, error: unknown, timestamp: string): Response {
  const known = error instanceof AppError ? error : new AppError("internal", "", { cause: error });
  const { status, error: name } = errorTable[known.kind];
  if (status >= 500)
    c.get("log").error({ err: known.cause ?? known, status }, known.message || "Unexpected error");
  const message = known.kind === "internal" ? "The request could not be processed" : known.message;
  const errors = known.errors ? { errors: known.errors } : {};
  const headers: Record<string, string> = {};
  if (known.allow) headers["Allow"] = known.allow.join(", ");
  if (known.kind === "unavailable") headers["Retry-After"] = retryAfterSeconds;
  return json(c, {
    status,
    body: { success: false, error: name, message, ...errors, timestamp },
    headers,
  });
}

/** Every answer in JSON. All headers in one plain object: one that is set apart makes Hono build a Headers object for each answer. */
export function json(
  c: Context,
  {
    status,
    body,
    headers = {},
  }: { status: number; body: object; headers?: Record<string, string> },
): Response {
  return c.body(JSON.stringify(body), status as 200, {
    "Content-Type": "application/json; charset=utf-8",
    "X-Request-Id": c.get("requestId"),
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    ...headers,
  });
}
