/**
 * What an error of MySQL, MariaDB or their driver means. The number decides. Names of columns and constraints are only
 * in the message, so they are read from its fixed end or beginning, where a client's value cannot imitate them.
 */
import { type Failure, kindByCode } from "../engine.ts";
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
const kinds = kindByCode<number>({
  duplicate: [1022, 1062, 1169, 1586],
  foreignKeyMissing: [1216, 1452],
  foreignKeyInUse: [1217, 1451],
  // 1423: a column that a view leaves out has no default.
  notNull: [1048, 1263, 1364, 1423],
  // 1369: WITH CHECK OPTION of a view.
  check: [1369, 3819, 4025],
  tooLong: [1406],
  // 1436: a LIKE with thousands of `%`, for each of which MariaDB calls itself once more.
  tooLarge: [1153, 1436],
  divisionByZero: [1365],
  outOfRange: [1264, 1690, 1916],
  generated: [1906, 3105],
  badValue: [1139, 1265, 1292, 1366, 1411, 1416, 1525, 3037, 3140, 3141, 3156],
  // No such column or table, a view over one, or a view where a table was.
  missing: [1054, 1146, 1288, 1356, 1471, 1932],
  // Deadlock, lock wait, record or table changed since the snapshot, statement to be prepared again.
  conflict: [1213, 1205, 1020, 1412, 1615, 3572],
  timeout: [1317, 1969, 3024],
  // The disk, the table, or the space of temporary tables is full.
  full: [20, 1021, 1114],
  // Too many connections or statements, no memory, refused, no such database, shutting down, killed, packets lost. 1290
  // and 1836: after a fail-over the session is with a server that only reads.
  connection: [
    1037, 1041, 1135, 1461, 1040, 1044, 1045, 1049, 1053, 1129, 1130, 1152, 1158, 1159, 1160, 1161,
    1184, 1203, 1226, 1927, 3159, 3168, 4031, 1290, 1836,
  ],
});

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
