/** Errors on their way from one thread or process to another, as values that can be cloned. */
import { type ErrorFields, errorFields, errorOfFields } from "./error-fields.ts";
import { AppError, type ErrorKind } from "./errors.ts";

/** `kind` null: not an AppError. */
export interface SentError {
  readonly kind: ErrorKind | null;
  readonly message: string;
  /** As of the AppError. */
  readonly isLasting: boolean;
  /** For the log; null: the message is enough. */
  readonly cause: ErrorFields | null;
}

export function sentErrorOf(error: unknown): SentError {
  if (!(error instanceof AppError))
    return { kind: null, message: "", isLasting: false, cause: errorFields(error) };
  const { kind, message, isLasting, cause } = error;
  return { kind, message, isLasting, cause: cause === undefined ? null : errorFields(cause) };
}

export function errorOfSent({ kind, message, isLasting, cause: fields }: SentError): Error {
  const cause = fields === null ? undefined : errorOfFields(fields);
  if (kind === null && cause) return cause;
  return new AppError(kind ?? "internal", message, { isLasting, cause });
}
