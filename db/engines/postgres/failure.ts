/**
 * What an error of PostgreSQL or of its driver means. Only codes and fields decide, never a message: servers
 * speak many languages.
 */
import { BehindError, type Failure, kindByCode } from "../engine.ts";
import { hiddenMessage, withoutQuoted } from "../without-quoted.ts";

/** The fields of a server's error as postgres.js passes them on; errors of the driver have only a `code`. */
interface DriverError {
  readonly code?: unknown;
  readonly severity?: unknown;
  readonly routine?: unknown;
  readonly table_name?: string;
  readonly column_name?: string;
  readonly constraint_name?: string;
  readonly message?: string;
  /** The context of the error. For an error in reading parameters, it names the parameter. */
  readonly where?: unknown;
  /** The statement, attached by the driver. */
  readonly query?: unknown;
}

type KnownError = DriverError & { readonly code: string };

/** The meaning of an error that a connection's `send` or `connect` rejected with. */
export function failure(error: unknown): Failure {
  if (error instanceof BehindError) return failure(error.cause);
  if (typeof error !== "object" || error === null) return { kind: "unknown" };
  const fields = error as DriverError;
  if (typeof fields.code !== "string") return { kind: "unknown" };
  if (typeof fields.severity !== "string")
    return { kind: lost.test(fields.code) ? "connection" : "unknown" };
  const columns = fields.column_name ? { columns: [fields.column_name] } : {};
  if (isRaised(fields as KnownError))
    return { kind: "rejected", message: fields.message ?? "", ...columns };
  const kind = fields.code === "23503" ? brokenReference(fields) : kindOf(fields as KnownError);
  const parameter = parameterOf(fields.where);
  // An error while reading a text may have any code: extensions' types use "syntax error" and "internal error".
  if (parameter !== null) return { kind: kind === "unknown" ? "badValue" : kind, parameter };
  return {
    kind,
    ...(mayHaveChanged(fields) && { mayHaveChanged: true }),
    ...(sent.has(fields.code) && { mayBeSent: true }),
    ...columns,
    ...(fields.constraint_name ? { constraint: fields.constraint_name } : {}),
  };
}

/**
 * Classes of errors whose messages name tables, columns, users and settings, but no values. Values can appear in
 * messages about data, and in those of types and functions of extensions.
 */
const withoutValues = /^(?:08|0A|25|26|28|2D|34|3D|3F|40|42|53|54|55|57|58)/;
const syntaxError = "42601";

/** See `Engine.loggedMessage`. */
export function loggedMessage(error: unknown): string | null {
  if (typeof error !== "object" || error === null) return null;
  const { code, severity, message } = error as DriverError;
  if (typeof code !== "string" || typeof severity !== "string") return null;
  if (message === undefined) return hiddenMessage;
  if (code === syntaxError) return withoutQuoted(message);
  return withoutValues.test(code) ? message : hiddenMessage;
}

/** Codes of the socket (`ECONNRESET`), of TLS and certificates, and of the driver for a lost or refused session. */
const lost =
  /^(E[A-Z]+|EAI_\w+|CONNECTION_\w+|CONNECT_TIMEOUT|SASL_\w+|ERR_(TLS|SSL)_\w+|UNABLE_TO_\w+|\w*CERT\w*)$/;

/** By SQLSTATE, else by its class (the first two characters). */
const kinds = kindByCode<string>({
  duplicate: ["23505"],
  excluded: ["23P01"],
  foreignKeyInUse: ["23001"],
  notNull: ["23502"],
  check: ["23514", "44000"],
  tooLong: ["22001", "22026"],
  outOfRange: ["22003"],
  divisionByZero: ["22012"],
  generated: ["428C9"],
  // 42809: a table that has become a view.
  missing: ["42703", "42P01", "3F000", "42809"],
  // 42883: the type has no such operator (`json = json`); all names in our statements come from the catalog.
  badValue: ["22", "42804", "42883"],
  conflict: ["40001", "40P01", "55P03"],
  timeout: ["57014", "25P04"],
  full: ["53100"],
  // 25006: after a fail-over the session is with a server that only reads.
  connection: ["25P03", "25006", "53300", "53400", "57P", "08", "28", "3D"],
});

/** Errors of a pattern of LIKE, of a regular expression, and of a LIMIT or OFFSET, which come from `params`. */
const sent: ReadonlySet<string> = new Set(["22025", "2201B", "2201W", "2201X"]);

/**
 * RAISE EXCEPTION in the operator's own code: without a code it has P0001, as other languages may have. With one, only
 * those about values, rights and conflicts mean what they mean when they come from the server.
 */
const isRaised = ({ code, routine }: KnownError): boolean =>
  code === "P0001" || (routine === "exec_stmt_raise" && !/^(?:22|23|40|44|42501|55P03)/.test(code));

/**
 * `unnamed portal parameter $2 = '…'`, in the server's language. No quotation mark may precede the number: after one,
 * it may belong to a statement within a trigger. `regtype` has a line before it: `invalid type name "a b"`.
 */
function parameterOf(where: unknown): number | null {
  const text = String(where ?? "");
  const [, number] =
    /^[^\n"'$]*\$(\d+)(?= = '|$)/.exec(text) ?? /\n[^\n"'$]*\$(\d+) = '.*$/.exec(text) ?? [];
  return number === undefined ? null : Number(number) - 1;
}

/** Routines that report a stale prepared statement. */
const staleStatement: ReadonlySet<unknown> = new Set([
  "RevalidateCachedQuery",
  "FetchPreparedStatement",
]);

/** A prepared statement's columns have another type now, or the column's type lacks an operator (that it once had). */
const mayHaveChanged = ({ code, routine }: DriverError): boolean =>
  staleStatement.has(routine) || code === "42804" || code === "42883";

/** Whether the server reports that the plan of a prepared statement is stale, or has a type that was dropped. */
export const isStale = (error: unknown): boolean =>
  staleStatement.has((error as DriverError | null)?.routine) ||
  isOvertaken((error ?? {}) as DriverError);

/**
 * Whether a partly stale plan may be at fault: its parameters keep the types of the first run when the columns' types
 * change. The statement was not begun.
 */
export function mayBeStale(error: unknown, { hasRun }: { readonly hasRun: boolean }): boolean {
  if (isStale(error) || !hasRun) return isStale(error);
  const { code, where } = (error ?? {}) as DriverError;
  return where === undefined ? code === "42804" || code === "42883" : parameterOf(where) !== null;
}

/** For 42501: the service's own user lacks a right. Otherwise a policy refused, or a function that the policy calls. */
const lacksRight = (routine: unknown): boolean =>
  routine === "aclcheck_error" || routine === "aclcheck_error_col";

/**
 * Something that the statement had looked up was dropped before it was used. These messages are for developers of the
 * server, so they are the same in all languages.
 */
const isOvertaken = ({ code, message }: DriverError): boolean =>
  code === "XX000" &&
  /^(?:cache lookup failed for|could not (?:open relation with OID|find attribute)|tuple concurrently)/.test(
    message ?? "",
  );

/** Routines that refuse to write to a view. */
const isNoTable: ReadonlySet<unknown> = new Set(["rewriteTargetView", "error_view_not_updatable"]);

function kindOf(fields: KnownError): Failure["kind"] {
  const { code, routine, where } = fields;
  if (code === "42501") return lacksRight(routine) ? "unknown" : "forbidden";
  if (isStale(fields)) return "conflict";
  if (code === "55000" && isNoTable.has(routine)) return "missing";
  if (code === "55000" && routine === "ExecOpenScanRelation") return "unfilled";
  const kind =
    kinds.get(code) ?? kinds.get(code.slice(0, 3)) ?? kinds.get(code.slice(0, 2)) ?? "unknown";
  // A position in a function means that the operator's statement is at fault.
  return kind === "missing" && where !== undefined ? "unknown" : kind;
}

const identifier = String.raw`(?:"(?:[^"]|"")+"|[^\s".(]+)`;
const writing = String.raw`\s*(delete|update)\s+(?:from\s+)?(?:only\s+)?(?:${identifier}\.)*(${identifier})`;
const sentWriting = new RegExp(`^${writing}`, "i");
/** Begins a statement in the context of an error, as servers of every language quote it; values have an apostrophe. */
const quotedStatement = /^[^'"«»„“\n]*["«»„“]\s*(?=(?:insert|update|delete|merge)\s)/im;

/**
 * 23503 is both "points at nothing" and "others point at it", and the error names the referencing table each time.
 * So the statement decides, within functions and triggers the innermost, which the context has first: a row that is
 * written into that very table misses its target.
 */
function brokenReference({ query, where, table_name = "" }: DriverError): Failure["kind"] {
  const context = String(where ?? "");
  const quoted = quotedStatement.exec(context);
  const statement = quoted ? context.slice(quoted.index + quoted[0].length) : String(query);
  const [, verb, target] = sentWriting.exec(statement) ?? [];
  if (verb === undefined) return "foreignKeyMissing";
  if (verb.toLowerCase() === "delete") return "foreignKeyInUse";
  const isQuoted = target === `"${table_name.replaceAll('"', '""')}"`;
  const isSame = isQuoted || target!.toLowerCase() === table_name;
  return isSame ? "foreignKeyMissing" : "foreignKeyInUse";
}
