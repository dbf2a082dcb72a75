/** The one table from the kind of an error to the status and the short name that clients see. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ErrorKind } from "../../core/values/errors.ts";

export const errorTable: Readonly<
  Record<ErrorKind, { status: ContentfulStatusCode; error: string }>
> = {
  invalidPayload: { status: 400, error: "Invalid payload" },
  invalidParameter: { status: 400, error: "Invalid parameter" },
  invalidField: { status: 400, error: "Invalid field" },
  invalidSelectFields: { status: 400, error: "Invalid select fields" },
  invalidRequestMode: { status: 400, error: "Invalid Request Mode" },
  invalidFile: { status: 400, error: "Invalid file" },
  validationFailed: { status: 400, error: "Validation failed" },
  validationError: { status: 400, error: "Validation error" },
  foreignKeyMissing: { status: 400, error: "Foreign key constraint" },
  unauthorized: { status: 401, error: "Unauthorized" },
  forbidden: { status: 403, error: "Forbidden" },
  notFound: { status: 404, error: "Not found" },
  methodNotAllowed: { status: 405, error: "Method not allowed" },
  duplicateEntry: { status: 409, error: "Duplicate entry" },
  foreignKeyInUse: { status: 409, error: "Foreign key constraint" },
  constraintViolation: { status: 409, error: "Constraint violation" },
  lockConflict: { status: 409, error: "Lock conflict" },
  requestInProgress: { status: 409, error: "Request in progress" },
  invalidJobState: { status: 409, error: "Invalid job state" },
  gone: { status: 410, error: "Gone" },
  preconditionFailed: { status: 412, error: "Precondition failed" },
  payloadTooLarge: { status: 413, error: "Payload too large" },
  unsupportedMediaType: { status: 415, error: "Unsupported media type" },
  lockNotTaken: { status: 500, error: "Internal server error" },
  idempotencyKeyReused: { status: 422, error: "Idempotency key reuse" },
  rejectedByHook: { status: 422, error: "Rejected by hook" },
  transitionNotAllowed: { status: 422, error: "Transition not allowed" },
  internal: { status: 500, error: "Internal server error" },
  hookFailed: { status: 502, error: "Hook execution failed" },
  unavailable: { status: 503, error: "Service unavailable" },
};
