/** Errors on their way from one thread or process to another, as values that can be cloned. */
import { type ErrorFields, errorFields, errorOfFields } from "./error-fields.ts";
import { AppError, type ErrorKind } from "./errors.ts";

/** `kind` null: not an AppError. */
export interface SentError {
  readonly kind: ErrorKind | null;
  readonly message: string;
  /** For the log; null: the message is enough. */
  readonly cause: ErrorFields | null;
}

export function sentErrorOf(error: unknown): SentError {
  if (!(error instanceof AppError)) return { kind: null, message: "", cause: errorFields(error) };
  const { kind, message, cause } = error;
  return { kind, message, cause: cause === undefined ? null : errorFields(cause) };
}

export function errorOfSent({ kind, message, cause: fields }: SentError): Error {
  const cause = fields === null ? undefined : errorOfFields(fields);
  return kind === null && cause ? cause : new AppError(kind ?? "internal", message, { cause });
}
