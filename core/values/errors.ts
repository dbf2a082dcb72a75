/**
 * The only type of error that is answered to clients. Core and the engines throw it; `core/calls/error-table.ts` maps
 * its kind to the HTTP status and the public error name.
 */

export type ErrorKind =
  | "invalidPayload"
  | "invalidParameter"
  | "invalidField"
  | "invalidSelectFields"
  | "invalidRequestMode"
  | "validationFailed"
  /** An uploaded file that is no workbook, or none that can be imported. */
  | "invalidFile"
  /** The HTTP parser refused the request: malformed headers, or a malformed chunk of the body. */
  | "badRequest"
  | "expectationFailed"
  /** The request names a host that is not this service. */
  | "misdirected"
  | "headersTooLarge"
  /** The request did not arrive within its time. */
  | "requestTimeout"
  /** The client closed its connection before its request was complete; the answer is not read. */
  | "clientClosed"
  /** A request of aggregate that makes no sense. */
  | "validationError"
  /** A written value points at a row that does not exist. */
  | "foreignKeyMissing"
  /** The project requires credentials, and the request has none or invalid ones. */
  | "unauthorized"
  /** The caller may not do this, or the record would leave what the caller may access. */
  | "forbidden"
  | "notFound"
  /** No deleted record matches that restore could restore. */
  | "dataNotFound"
  | "methodNotAllowed"
  | "duplicateEntry"
  /** A row cannot be deleted while others point at it. */
  | "foreignKeyInUse"
  | "constraintViolation"
  /** The record, or the one that it is a detail of, has a status in which nothing is changed any more. */
  | "recordClosed"
  /** A request named records by a condition, and other than the expected number of records match. */
  | "unexpectedCount"
  /** Another caller holds a lock that this request needs. */
  | "lockConflict"
  /** The first request with the same Idempotency-Key is not over. */
  | "requestInProgress"
  | "preconditionFailed"
  /** A job is not in the state that the request needs. */
  | "invalidJobState"
  /** A file that existed for a limited time and has expired. */
  | "gone"
  | "payloadTooLarge"
  | "unsupportedMediaType"
  /** The caller reached a limit of locks, waiting jobs or requests. */
  | "tooManyRequests"
  /** An Idempotency-Key came with another body than before. */
  | "idempotencyKeyReused"
  /** A trigger or procedure of the operator's own database refused. */
  | "rejectedByDatabase"
  /** A handler of the operator's own refused. */
  | "rejectedByHook"
  /** The workflow does not let this status follow. */
  | "transitionNotAllowed"
  /** A call to another service failed that the change had to wait for. */
  | "hookFailed"
  | "unavailable"
  /** A part of a standard that the service does not have. */
  | "notImplemented"
  /** A write could not take the locks of its records. */
  | "lockNotTaken"
  | "internal";

/** Field name to messages, as the `errors` member of an answer shows it. */
export type FieldErrors = Record<string, string[]>;

export interface AppErrorOptions {
  errors?: FieldErrors | undefined;
  /** Details for programs: the `data` member of the answer. */
  data?: Readonly<Record<string, unknown>> | undefined;
  /** The messages of `errors` as data: the member `details` of the answer. */
  details?: Readonly<Record<string, unknown>> | undefined;
  /** The language of `errors`; absent: it was not chosen. */
  language?: string | undefined;
  /** HTTP methods that the resource takes; for `methodNotAllowed`. */
  allow?: readonly string[] | undefined;
  /** When the same request may succeed; for `tooManyRequests`. */
  retryAfterSeconds?: number | undefined;
  /**
   * What the database reported about a statement that failed as if tables or columns had changed since the routes were
   * compiled.
   */
  schemaDoubt?: string | undefined;
  /** The underlying error: logged, never answered. */
  cause?: unknown;
  /** True: already logged, as for an unreachable database, so that not every request logs it again. */
  isReported?: boolean;
  /** True: no value of the request can be the reason. */
  isOfData?: boolean;
  /** True: it lasts until somebody changes the database, so a job is not tried again. */
  isLasting?: boolean;
  /** The step of a batch that failed: the member `failed_step` of the answer. */
  failedStep?: FailedStep | undefined;
}

/** `index`: from 0. `id`: as the client named it, else null. */
export interface FailedStep {
  readonly index: number;
  readonly id: string | null;
}

/** A failure with a message for the client. `cause` is only logged. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly kind: ErrorKind;
  readonly errors: FieldErrors | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly language: string | undefined;
  readonly allow: readonly string[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isReported: boolean;
  readonly isOfData: boolean;
  readonly isLasting: boolean;
  readonly schemaDoubt: string | undefined;
  readonly failedStep: FailedStep | undefined;

  constructor(kind: ErrorKind, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.errors = options.errors;
    this.data = options.data;
    this.details = options.details;
    this.language = options.language;
    this.allow = options.allow;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isReported = options.isReported ?? false;
    this.isOfData = options.isOfData ?? false;
    this.isLasting = options.isLasting ?? false;
    this.schemaDoubt = options.schemaDoubt;
    this.failedStep = options.failedStep;
  }

  /** The same error with other parts. */
  with(parts: AppErrorOptions): AppError {
    return new AppError(this.kind, this.message, { ...this, cause: this.cause, ...parts });
  }
}

export const invalidPayload = (message: string): AppError =>
  new AppError("invalidPayload", message);

export const invalidParameter = (message: string): AppError =>
  new AppError("invalidParameter", message);

export const invalidField = (message: string): AppError => new AppError("invalidField", message);

/** Messages of all failing fields at once; the answer's own message is the fixed `Invalid data`. */
export const validationFailed = (errors: FieldErrors, cause?: unknown): AppError =>
  new AppError("validationFailed", "Invalid data", { errors, cause });

/** The result of `fill`; its field errors are added to the others. */
export function collectingErrors<Item>(
  errors: FieldErrors,
  fill: () => Iterable<Item>,
): Iterable<Item> {
  try {
    return fill();
  } catch (error) {
    if (!(error instanceof AppError) || error.errors === undefined) throw error;
    Object.assign(errors, error.errors);
    return [];
  }
}

/** An aggregate request that is not valid. */
export const validationError = (message: string): AppError =>
  new AppError("validationError", message);

export const invalidFile = (message: string): AppError => new AppError("invalidFile", message);

export const notFound = (message: string): AppError => new AppError("notFound", message);

/** The same for credentials that are missing, wrong or no longer valid. */
export const unauthorized = (message: string): AppError => new AppError("unauthorized", message);

/** The database or another part that is needed cannot be reached or took too long. */
export const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError("unavailable", message, { cause });

/** The record that a request names does not exist for its caller. */
export const noSuchRecord = ({ name }: { readonly name: string }): AppError =>
  notFound(`${name} record not found`);

/** Whether the error is that something cannot be reached, which may pass. */
export const isUnavailable = (error: unknown): error is AppError =>
  error instanceof AppError && error.kind === "unavailable";
