/**
 * What an error of MySQL, MariaDB or their driver means. The number decides. Names of columns and constraints are only
 * in the message, so they are read from its fixed end or beginning, where a client's value cannot imitate them.
 */
import type { Failure } from "../engine.ts";
import { hiddenMessage, withoutQuoted } from "../without-quoted.ts";

/** The fields of mysql2's errors: the server's have `errno` and `sqlMessage`, those of the socket a `code`. */
interface DriverError {
  readonly errno?: unknown;
  readonly code?: unknown;
  readonly fatal?: unknown;
  readonly sqlMessage?: unknown;
  readonly sqlState?: unknown;
}

/** The meaning of an error that a connection's `send` or `connect` rejected with. */
export function failure(error: unknown): Failure {
  if (typeof error !== "object" || error === null) return { kind: "unknown" };
  const { errno, code, fatal, sqlMessage, sqlState } = error as DriverError;
  const message = typeof sqlMessage === "string" ? sqlMessage : "";
  if (signalled.has(errno) || sqlState === "45000") return { kind: "rejected", message };
  if (typeof errno === "number" && isTextCompared(errno, message))
    return { kind: "badValue", isCompared: true };
  const kind = typeof errno === "number" ? kindOf(errno, message) : undefined;
  if (kind === undefined) {
    const isGone = (fatal === true && !cannotBeRead(error)) || isLost(code);
    return { kind: isGone ? "connection" : "unknown" };
  }
  const constraint = constraintOf(kind, message);
  if (kind === "check" && constraint?.includes(".")) {
    // MariaDB's check of a single column, as JSON has one: `table.column`.
    return { kind, columns: [constraint.slice(constraint.indexOf(".") + 1)] };
  }
  if (constraint !== null) return { kind, constraint };
  const column = columnOf(message);
  if (column !== null) return { kind, columns: [column] };
  return sent.has(errno as number) ? { kind, mayBeSent: true } : { kind };
}

/** Errors of files and of storage engines end with the operating system's error number. */
const kindOf = (errno: number, message: string): Failure["kind"] | undefined =>
  ofFiles.has(errno) && noSpace.test(message) ? "full" : kinds.get(errno);

/** Writing and closing a file, creating a table, and errors of storage engines. */
const ofFiles: ReadonlySet<number> = new Set([3, 4, 5, 1005, 1026, 1030, 1050, 1180, 1296]);
/** ENOSPC: `Got error 28 "No space left on device" from storage engine InnoDB`, `(Errcode: 28 …)`, `(errno: 28 …)`. */
const noSpace = /\b(?:error|errcode|errno):? 28\b/i;

/** For a column named `__proto__` the driver makes no row, and ends its connection. */
const cannotBeRead = (error: object): boolean =>
  "message" in error && String(error.message).startsWith("The field name (");

/** Numbers of errors whose messages name tables, columns, users and settings, but no values. */
const withoutValues: ReadonlySet<number> = new Set([
  1021, 1030, 1037, 1038, 1040, 1041, 1044, 1045, 1048, 1049, 1054, 1093, 1109, 1114, 1142, 1143,
  1146, 1153, 1203, 1205, 1206, 1213, 1216, 1217, 1226, 1227, 1264, 1267, 1270, 1271, 1290, 1295,
  1288, 1305, 1317, 1356, 1364, 1370, 1390, 1406, 1412, 1418, 1436, 1449, 1451, 1452, 1471, 1615,
  1792, 1836, 1932, 1969, 3024, 3572, 4031,
]);

const syntaxError = 1064;

/** See `Engine.loggedMessage`. */
export function loggedMessage(error: unknown): string | null {
  if (typeof error !== "object" || error === null) return null;
  const { errno, sqlMessage } = error as DriverError;
  if (typeof errno !== "number" || typeof sqlMessage !== "string") return null;
  if (errno === syntaxError) return withoutQuoted(sqlMessage);
  return withoutValues.has(errno) ? sqlMessage : hiddenMessage;
}

/** A SIGNAL of a trigger or procedure, also one of "not found"; with an explicit number it has SQLSTATE 45000. */
const signalled: ReadonlySet<unknown> = new Set([1643, 1644]);

/** Codes of the socket (`ECONNRESET`), of TLS, and of the driver when its connection is gone. */
const isLost = (code: unknown): boolean =>
  typeof code === "string" &&
  /^(E[A-Z]+|PROTOCOL_\w+|HANDSHAKE_\w+|CERT_\w+|.*_CERT.*)$/.test(code);

/**
 * Illegal mix of collations. A value is the coercible side: it has characters that the character set of the column lacks.
 * Otherwise two columns clash. The third number, for long lists of values, says nothing of its sides.
 */
const isTextCompared = (errno: number, message: string): boolean =>
  errno === 1271 || ((errno === 1267 || errno === 1270) && message.includes(",COERCIBLE)"));

/** By the server's number; MariaDB's own numbers are 1900 to 1999, and 4000 and above. */
const kinds: ReadonlyMap<number, Failure["kind"]> = new Map<number, Failure["kind"]>([
  [1022, "duplicate"],
  [1062, "duplicate"],
  [1169, "duplicate"],
  [1586, "duplicate"],
  [1216, "foreignKeyMissing"],
  [1452, "foreignKeyMissing"],
  [1217, "foreignKeyInUse"],
  [1451, "foreignKeyInUse"],
  [1048, "notNull"],
  [1263, "notNull"],
  [1364, "notNull"],
  // Through a view: a column that the view leaves out has no default, and WITH CHECK OPTION.
  [1423, "notNull"],
  [1369, "check"],
  [3819, "check"],
  [4025, "check"],
  [1406, "tooLong"],
  [1153, "tooLarge"],
  // A LIKE with thousands of `%`, for each of which MariaDB calls itself once more.
  [1436, "tooLarge"],
  [1264, "outOfRange"],
  [1365, "divisionByZero"],
  [1690, "outOfRange"],
  [1916, "outOfRange"],
  [1906, "generated"],
  [3105, "generated"],
  [1139, "badValue"],
  [1265, "badValue"],
  [1292, "badValue"],
  [1366, "badValue"],
  [1411, "badValue"],
  [1416, "badValue"],
  [1525, "badValue"],
  [3037, "badValue"],
  [3140, "badValue"],
  [3141, "badValue"],
  [3156, "badValue"],
  // No such column or table, a view over one, or a view where a table was.
  [1054, "missing"],
  [1146, "missing"],
  [1288, "missing"],
  [1356, "missing"],
  [1471, "missing"],
  [1932, "missing"],
  // Deadlock, lock wait, record or table changed since the snapshot, statement to be prepared again.
  [1213, "conflict"],
  [1205, "conflict"],
  [1020, "conflict"],
  [1412, "conflict"],
  [1615, "conflict"],
  [3572, "conflict"],
  [1317, "timeout"],
  [1969, "timeout"],
  [3024, "timeout"],
  // The disk, the table, or the space of temporary tables is full.
  [20, "full"],
  [1021, "full"],
  [1114, "full"],
  // Too many connections or statements, no memory, refused, no such database, shutting down, killed, packets lost.
  [1037, "connection"],
  [1041, "connection"],
  [1135, "connection"],
  [1461, "connection"],
  [1040, "connection"],
  [1044, "connection"],
  [1045, "connection"],
  [1049, "connection"],
  [1053, "connection"],
  [1129, "connection"],
  [1130, "connection"],
  [1152, "connection"],
  [1158, "connection"],
  [1159, "connection"],
  [1160, "connection"],
  [1161, "connection"],
  [1184, "connection"],
  [1203, "connection"],
  [1226, "connection"],
  [1927, "connection"],
  [3159, "connection"],
  [3168, "connection"],
  [4031, "connection"],
  // After a fail-over the session is with a server that only reads.
  [1290, "connection"],
  [1836, "connection"],
]);

/** Errors of a regular expression, and of a comparison with a text that is not a valid date, number or shape. */
const sent: ReadonlySet<number> = new Set([1139, 1292, 1366, 1411, 1416, 1525, 3037]);

function constraintOf(kind: Failure["kind"], message: string): string | null {
  switch (kind) {
    case "duplicate":
      // MySQL 8 puts the table before the key.
      return /for key '(?:[^'.]*\.)?([^']*)'$/.exec(message)?.[1] ?? null;
    case "foreignKeyMissing":
    case "foreignKeyInUse":
      return unquoted(/, CONSTRAINT `((?:[^`]|``)+)` FOREIGN KEY/.exec(message)?.[1]);
    case "check":
      return unquoted(
        /^CONSTRAINT `((?:[^`]|``)+)` failed|^Check constraint '(.+)' is/
          .exec(message)
          ?.slice(1)
          .find(Boolean),
      );
    default:
      return null;
  }
}

/** `Column 'a' cannot be null`, `Data too long for column 'a' at row 1`, ``… for column `db`.`t`.`a` at row 1``. */
function columnOf(message: string): string | null {
  const quoted =
    /^(?:Column|Field) '(.+)' (?:cannot|doesn't)/.exec(message)?.[1] ??
    /.*for column '([^']+)' at row \d+$/s.exec(message)?.[1] ??
    /.*for column (?:`(?:[^`]|``)*`\.)*`((?:[^`]|``)+)` at row \d+$/s.exec(message)?.[1];
  return unquoted(quoted);
}

const unquoted = (name: string | undefined): string | null => name?.replaceAll("``", "`") ?? null;
