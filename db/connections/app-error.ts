/**
 * From what an engine makes of a driver's error to the AppError that core and clients see. No text of the driver, no SQL
 * and no value gets into a message; the driver's error goes along as `cause`, for the log.
 */
import type { Column, Table } from "../../core/values/column.ts";
import { AppError, type FieldErrors, unavailable } from "../../core/values/errors.ts";
import { formulaFaults } from "../../core/query/formula.ts";
import type { Statement } from "../../core/query/statement.ts";
import type { Failure } from "../engines/engine.ts";

/** The error that a statement ends with. `statement` null: the failure came at a commit or while reading the catalog. */
export function toAppError(
  failure: Failure,
  statement: Statement | null,
  cause: unknown,
): AppError {
  const isOutcome = ["conflict", "timeout", "connection"].includes(failure.kind);
  if (statement?.kind === "native" && !isOutcome) return refusedNative(cause);
  const columns = columnsOf(failure, statement);
  switch (failure.kind) {
    case "duplicate":
      return new AppError("duplicateEntry", "A record with the same value already exists", {
        ...errorsFor(columns, "already exists"),
        cause,
      });
    case "foreignKeyMissing":
    case "foreignKeyInUse":
      return brokenReference(failure, statement, columns, cause);
    case "notNull":
    case "check":
    case "divisionByZero":
    case "tooLong":
    case "outOfRange":
    case "badValue":
      return new AppError("validationFailed", "Invalid data", {
        ...errorsFor(columns, messages[failure.kind]),
        cause,
      });
    case "conflict":
      return unavailable("The record is being changed by others, try again", cause);
    case "timeout":
      return unavailable("The database took too long", cause);
    case "connection":
      return unavailable("The database is out of reach", cause);
    case "unknown":
      return new AppError("internal", "Internal server error", { cause });
  }
}

const messages = {
  notNull: "must not be null",
  check: "is not allowed by the database",
  ...formulaFaults,
  tooLong: "is too long",
  badValue: "has a value that the column cannot hold",
} as const;

/** The operator's own statement is at fault, whoever sent the request: the database's words are for the operator. */
function refusedNative(cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new AppError("internal", `The database refused a query of the operator's own: ${reason}`, {
    cause,
  });
}

/** An engine that tells only that a reference broke (SQLite) leaves it to the statement: a DELETE breaks those of others. */
function brokenReference(
  failure: Failure,
  statement: Statement | null,
  columns: readonly string[],
  cause: unknown,
): AppError {
  if (failure.kind === "foreignKeyInUse" || statement?.kind === "delete") {
    return new AppError("foreignKeyInUse", "The record is still referenced by other records", {
      cause,
    });
  }
  return new AppError("foreignKeyMissing", "A referenced record does not exist", {
    ...errorsFor(columns, "does not exist"),
    cause,
  });
}

function errorsFor(columns: readonly string[], message: string): { errors?: FieldErrors } {
  return columns.length === 0
    ? {}
    : { errors: Object.fromEntries(columns.map((name) => [name, [message]])) };
}

/** The columns that the failure is about: told by the engine, found by the constraint's name, or the only ones possible. */
function columnsOf(failure: Failure, statement: Statement | null): readonly string[] {
  const table = statement !== null && "table" in statement ? statement.table : null;
  if (failure.columns !== undefined && failure.columns.length > 0) {
    return failure.columns.filter((name) => table === null || table.columns.has(name));
  }
  if (table === null) return [];
  const named =
    failure.constraint === undefined ? null : constraintColumns(table, failure.constraint);
  if (named !== null) return named;
  const written = writtenColumns(statement!).map((column) => column.name);
  if (failure.kind === "foreignKeyMissing") {
    const touched = table.foreignKeys.filter(({ columns }) =>
      columns.some((name) => written.includes(name)),
    );
    return touched.length === 1 ? touched[0]!.columns : [];
  }
  return failure.kind !== "duplicate" && written.length === 1 ? written : [];
}

function constraintColumns(table: Table, name: string): readonly string[] | null {
  const found =
    table.unique.find((one) => one.name === name) ??
    table.foreignKeys.find((one) => one.name === name);
  return found?.columns ?? null;
}

function writtenColumns(statement: Statement): readonly Column[] {
  if (statement.kind === "insert") return statement.columns;
  if (statement.kind === "calculate") return [statement.column];
  return statement.kind === "update" ? statement.set.map(({ column }) => column) : [];
}
