/** The headers of requests and answers that a document names once, under `components`. */
import type { RequestHeader } from "../calls/action-errors.ts";
import type { Json } from "../values/json.ts";
import { limits } from "../values/limits.ts";

const text = { type: "string" } as const;

/** A header of a request, other than those for `mode` and credentials. */
export type ParameterName =
  | Exclude<RequestHeader, "X-Request-Mode">
  | "X-Request-Id"
  | "Range"
  | "If-None-Match"
  | "If-Range";

const parameter = (name: ParameterName, description: string, schema: Json = text): Json => ({
  name,
  in: "header",
  description,
  schema,
});

export const headerParameters: Readonly<Record<ParameterName, Json>> = {
  "X-Request-Id": parameter(
    "X-Request-Id",
    "An id of the client's own for the request, which the answer and the log then have: up to 64 letters, digits and the signs . _ and -. Without one the service makes one.",
  ),
  "If-Match": parameter(
    "If-Match",
    "The ETag of the record as it was read. The change is refused if the record was changed since.",
  ),
  "X-Lock-Token": parameter(
    "X-Lock-Token",
    "The lock_token of lock/acquire, for a record that the client has locked; several are separated by commas.",
  ),
  "Idempotency-Key": parameter(
    "Idempotency-Key",
    "A key of the client's own for the request. If it is sent again with the same key and body, it gets the first answer and nothing is done twice.",
    { type: "string", pattern: `^[!-~]{1,${limits.idempotencyKeyLengthMax}}$` },
  ),
  Prefer: parameter(
    "Prefer",
    "tx=rollback: a dry run. Everything happens and is undone; the answer is what it would have been, with dry_run.",
  ),
  Range: parameter("Range", "A part of the file, as bytes=0-1023."),
  "If-None-Match": parameter(
    "If-None-Match",
    "The ETag of the file that the client has: the answer is 304 if it is the same.",
  ),
  "If-Range": parameter(
    "If-Range",
    "The ETag of the file of which the client has a part: another file is answered whole.",
  ),
};

/** The value of X-Request-Mode that lookup asks for. */
export const requestMode = (mode: "dynamic" | "static"): Json => ({
  name: "X-Request-Mode",
  in: "header",
  required: true,
  schema: { const: mode },
});

const header = (description: string, schema: Json = text): Json => ({ description, schema });

export const answerHeaders = {
  "X-Request-Id": header("The id of the request, as the log has it."),
  ETag: header("The version of the record in data, for If-Match; of a file, for If-None-Match."),
  "Idempotency-Replayed": header(
    "true: an earlier request with the same Idempotency-Key got this answer.",
  ),
  "Preference-Applied": header("tx=rollback: all that the request wrote was undone."),
  "RateLimit-Policy": header('The limits that count the request, as "default";q=600;w=60.'),
  RateLimit: header('What is left of each of them, as "default";r=599;t=60.'),
  "Retry-After": header("Seconds after which the request may succeed.", { type: "integer" }),
  "WWW-Authenticate": header("How credentials are sent."),
  "Content-Disposition": header("The name of the file."),
  "Accept-Ranges": header("bytes: the header Range is followed."),
  "X-Next-Cursor": header("Of csv: the cursor of the next page, if there is one."),
  "Content-Range": header("The bytes that the answer has, and the size of the file."),
} as const satisfies Readonly<Record<string, Json>>;

export type AnswerHeader = keyof typeof answerHeaders;

export const referenceToHeader = (name: AnswerHeader): Json => ({
  $ref: `#/components/headers/${name}`,
});

export const referenceToParameter = (name: ParameterName): Json => ({
  $ref: `#/components/parameters/${name}`,
});
