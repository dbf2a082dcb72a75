/**
 * Converts an engine's failure into the AppError that core and clients see. Messages contain no driver text, no SQL and
 * no values; the driver's error is kept as `cause`, for the log.
 */
import type { Column, Table } from "../../core/values/types/column.ts";
import { columnTypes } from "../../core/values/types/column-types.ts";
import { AppError, type FieldErrors, unavailable } from "../../core/values/errors.ts";
import { formulaFaults } from "../../core/query/formula.ts";
import { changesNothing, type Statement } from "../../core/query/statement.ts";
import type { Failure } from "../engines/engine.ts";

export interface Refused {
  /** Null: the failure came at a commit or while reading the catalog. */
  readonly statement: Statement | null;
  /** The driver's error, for the log. */
  readonly cause: unknown;
  /** The column of the parameter that the failure names. */
  readonly parameter: Column | null;
  /** Whether clients see the messages of triggers. */
  readonly triggerMessages: boolean;
}

/** The error with which a statement fails. */
export function toAppError(failure: Failure, refused: Refused): AppError {
  const { statement, cause } = refused;
  if (statement?.kind === "native" && !statement.isCall && !sayEnough.has(failure.kind))
    return refusedNative(cause);
  const columns = columnsOf(failure, refused);
  if (isOfSource(failure, refused, columns)) {
    // A type that the service does not check can fail at a sent value without naming it.
    const isOfData = failure.kind !== "badValue";
    return new AppError("internal", "Internal server error", { cause, isOfData });
  }
  switch (failure.kind) {
    case "duplicate":
      return new AppError("duplicateEntry", "A record with the same value already exists", {
        ...errorsFor(columns, "already exists"),
        cause,
      });
    case "foreignKeyMissing":
    case "foreignKeyInUse":
      return brokenReference(failure, statement, columns, cause);
    case "badValue":
      if (isRead(statement) && columns.length === 1) return incomparable(columns[0]!, cause);
      if (failure.isCompared) return incomparable(null, cause);
      return refusedValue(failure.kind, columns, cause);
    case "notNull":
    case "check":
      // A delete sets no values: a reference did, with SET NULL or SET DEFAULT, in a row that cannot take them.
      if (statement?.kind === "delete") return inUse(cause);
      return refusedValue(failure.kind, columns, cause);
    case "divisionByZero":
    case "tooLong":
    case "outOfRange":
    case "excluded":
    case "generated":
      return refusedValue(failure.kind, columns, cause);
    case "tooLarge":
      return new AppError(
        "payloadTooLarge",
        "The database does not take or send so much at once; send fewer or shorter values",
        { cause },
      );
    case "rejected":
      return rejectedByTrigger(failure, refused, columns);
    case "forbidden":
      return new AppError("forbidden", "The database does not let you do this", { cause });
    case "conflict":
      return unavailable("The record is being changed by other requests; try again", cause);
    case "timeout":
      return unavailable("The database took too long to answer; try again", cause);
    case "connection":
      return unavailable("The database is not reachable; try again later", cause);
    case "full":
      return new AppError("unavailable", isWrite(statement) ? noRoomToWrite : noRoom, {
        cause,
        isReported: true,
      });
    case "unfilled":
      return new AppError(
        "unavailable",
        "The data of this view have not been computed yet; refresh it in the database, then try again",
        { cause, isLasting: true },
      );
    case "missing":
      return new AppError("internal", "Internal server error", {
        cause,
        schemaDoubt: saidBy(cause),
        isOfData: true,
      });
    case "unknown":
      return new AppError("internal", "Internal server error", { cause });
  }
}

const noRoom = "The database has no room left; try again later";
const noRoomToWrite = "The database has no room left, so nothing was stored; try again later";

/** Null: a commit. */
const isWrite = (statement: Statement | null): boolean =>
  statement === null || !changesNothing(statement);

/** What the database said, without values. */
export const saidBy = (cause: unknown): string => (cause instanceof Error ? cause.message : "");

/** Failures of the operator's own statement that are not caused by its text. */
const sayEnough: ReadonlySet<Failure["kind"]> = new Set([
  "conflict",
  "timeout",
  "connection",
  "full",
  "unfilled",
  "rejected",
  "forbidden",
]);

/**
 * Whether a read failed in the view or query itself (a division by zero, a cast). Failures at a client's value name a
 * parameter or column, except for types without that comparison and for impossible dates on MySQL.
 */
const isOfSource = (
  { kind, mayHaveChanged, mayBeSent, isCompared }: Failure,
  { statement, parameter }: Refused,
  columns: readonly string[],
): boolean => {
  if (statement === null || !changesNothing(statement)) return false;
  if (!sourceFaults.has(kind) || mayHaveChanged || mayBeSent || isCompared) return false;
  return parameter === null && columns.length === 0;
};

const sourceFaults: ReadonlySet<Failure["kind"]> = new Set([
  "divisionByZero",
  "outOfRange",
  "tooLong",
  "badValue",
]);

const isRead = (statement: Statement | null): boolean =>
  statement !== null &&
  !["insert", "update", "updateMany", "calculate", "native"].includes(statement.kind);

const refusedValue = (
  kind: keyof typeof messages,
  columns: readonly string[],
  cause: unknown,
): AppError =>
  new AppError("validationFailed", "Invalid data", {
    ...errorsFor(columns, messages[kind]),
    cause,
  });

const incomparable = (name: string | null, cause: unknown): AppError =>
  new AppError(
    "invalidParameter",
    name === null
      ? "A text has characters that the column it is compared with cannot hold"
      : `The value for column "${name}" is not valid for its type`,
    { cause },
  );

function rejectedByTrigger(
  { message = "" }: Failure,
  { cause, triggerMessages }: Refused,
  columns: readonly string[],
): AppError {
  const words = triggerMessages && message !== "" ? message : "The database rejected the change";
  return new AppError("rejectedByDatabase", words, { ...errorsFor(columns, words), cause });
}

const messages = {
  notNull: "must not be null",
  check: "is not allowed by the database",
  ...formulaFaults,
  tooLong: "is too long",
  badValue: "has a value that the column cannot hold",
  excluded: "conflicts with another record",
  generated: "is made by the database and cannot be set",
} as const;

/** The operator's own statement is at fault, not the request, so the database's message is only for the operator. */
function refusedNative(cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new AppError(
    "internal",
    `The database refused a query from the configuration: ${reason}`,
    { cause },
  );
}

const inUse = (cause: unknown): AppError =>
  new AppError("foreignKeyInUse", "The record is still referenced by other records", { cause });

/**
 * SQLite only reports that a reference broke, without the name of a constraint. For a DELETE, and for an UPDATE that
 * writes no reference, other rows reference the changed one; otherwise the referenced row is missing.
 */
function brokenReference(
  failure: Failure,
  statement: Statement | null,
  columns: readonly string[],
  cause: unknown,
): AppError {
  const isUnnamed = failure.constraint === undefined && statement !== null;
  if (
    failure.kind === "foreignKeyInUse" ||
    statement?.kind === "delete" ||
    (isUnnamed && updatesNoReference(statement))
  )
    return inUse(cause);
  return isUnnamed && columns.length === 0
    ? new UnnamedReference("foreignKeyMissing", missingMessage, { cause })
    : referenceMissing(columns, cause);
}

const missingMessage = "A referenced record does not exist";

/** A reference has no row, and the engine does not say which of several. */
export class UnnamedReference extends AppError {}

export const referenceMissing = (columns: readonly string[], cause: unknown): AppError =>
  new AppError("foreignKeyMissing", missingMessage, {
    ...errorsFor(columns, "does not exist"),
    cause,
  });

function updatesNoReference(statement: Statement): boolean {
  if (statement.kind !== "update" && statement.kind !== "updateMany") return false;
  const names = writtenColumns(statement).map(({ name }) => name);
  const references = statement.table.foreignKeys.flatMap(({ columns }) => columns);
  return !references.some((name) => names.includes(name));
}

function errorsFor(columns: readonly string[], message: string): { errors?: FieldErrors } {
  return columns.length === 0
    ? {}
    : { errors: Object.fromEntries(columns.map((name) => [name, [message]])) };
}

/**
 * The columns that the failure is about: reported by the engine, found by the constraint's name, or the only possible
 * ones.
 */
function columnsOf(failure: Failure, { statement, parameter }: Refused): readonly string[] {
  const table = statement !== null && "table" in statement ? statement.table : null;
  if (parameter !== null) return [(parameter.markOf ?? parameter).name];
  if (failure.columns !== undefined && failure.columns.length > 0) {
    return failure.columns.filter((name) => table === null || table.columns.has(name));
  }
  if (table === null || failure.kind === "rejected") return [];
  const written = writtenColumns(statement!);
  const names = written.map(({ name }) => name);
  const named =
    failure.constraint === undefined
      ? null
      : constraintColumns(table, failure.constraint, { kind: failure.kind, names });
  if (named !== null) return named;
  if (failure.kind === "foreignKeyMissing") {
    const empty = alwaysNull(statement!);
    const touched = table.foreignKeys.filter(
      ({ columns }) =>
        columns.some((name) => names.includes(name)) && !columns.some((name) => empty.has(name)),
    );
    return touched.length === 1 ? touched[0]!.columns : [];
  }
  if (failure.kind === "duplicate") return [];
  const possible = written.filter((column) => mayBeAbout(failure.kind, column));
  return possible.length === 1 ? [possible[0]!.name] : names.length === 1 ? names : [];
}

/** Whether such a failure can only be about columns like this one. */
function mayBeAbout(kind: Failure["kind"], { type, generated }: Column): boolean {
  if (kind === "badValue") return columnTypes[type].isForeign;
  return kind === "generated" && generated !== "none";
}

/**
 * Null when no constraint has that name. Several columns of one domain share the name of its check; then the written
 * columns are meant.
 */
function constraintColumns(
  table: Table,
  name: string,
  { kind, names }: { kind: Failure["kind"]; names: readonly string[] },
): readonly string[] | null {
  const found =
    table.unique.find((one) => one.name === name) ??
    table.foreignKeys.find((one) => one.name === name);
  if (found !== undefined) return found.columns;
  const checks = (table.checks ?? []).filter((one) => one.name === name);
  if (checks.length <= 1) return checks[0]?.columns ?? null;
  const written = checks.filter(({ columns }) => columns.some((one) => names.includes(one)));
  return kind === "check" && written.length === 1 ? written[0]!.columns : null;
}

/** Names of the columns that get null in every row: their foreign keys reference nothing. */
function alwaysNull(statement: Statement): ReadonlySet<string> {
  const { columns, rows } =
    statement.kind === "insert"
      ? statement
      : statement.kind === "updateMany"
        ? { ...statement, rows: statement.rows.map(({ values }) => values) }
        : { columns: [], rows: [] };
  const set = statement.kind === "update" || statement.kind === "updateMany" ? statement.set : [];
  return new Set(
    [
      ...columns.filter((_, at) => rows.every((values) => values[at] === null)),
      ...set.flatMap((one) => (one.kind === "set" && one.value === null ? one.column : [])),
    ].map(({ name }) => name),
  );
}

function writtenColumns(statement: Statement): readonly Column[] {
  if (statement.kind === "insert") return statement.columns;
  if (statement.kind === "calculate") return [statement.column];
  if (statement.kind !== "update" && statement.kind !== "updateMany") return [];
  const own = statement.kind === "updateMany" ? statement.columns : [];
  return [...own, ...statement.set.map(({ column }) => column)];
}
