/** The settings that make sessions with MySQL and MariaDB alike, whatever those of the server are. */
import { type ConditionalEnds, type Connection, rowsFor } from "../engine.ts";

/** Waiting longer than this for a row or a table is a conflict. */
export const lockWaitSeconds = 10;

export const lockWaits = (seconds: number): string =>
  `innodb_lock_wait_timeout = ${seconds}, lock_wait_timeout = ${seconds}`;

/**
 * MariaDB's `Connection.conditional`; MySQL has no such statements outside of procedures. The errors are counted too,
 * because after a SELECT that failed `found_rows()` is that of an earlier one. The server can stop the first statement
 * before its COMMIT; what others have sent must not run in the same transaction.
 */
export const conditional: ConditionalEnds = {
  commitIfFound: ["if @@error_count = 0 and found_rows() > 0 then commit; end if", "rollback"],
  commitIfDone: ["if @@error_count = 0 then commit; end if", "rollback"],
  waitMsMax: lockWaitSeconds * 1000,
};

/** A slow reader of a stream may leave the server waiting this long. */
const streamStallSeconds = 600;

/**
 * The last mode: a key of 0 is stored, and does not request a new key. NO_ZERO_DATE is not among them: it would refuse
 * each row that leaves a column to its default `0000-00-00`, which many older tables have. No request can send that date.
 */
const sqlMode =
  "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO";

/**
 * The statement that makes the settings of a session. MySQL runs the content of `/*!80000 … *\/` and MariaDB that of
 * `/*M! … *\/`: one statement serves both.
 */
export function settingsFor(statementTimeoutMs: number): string {
  const settings = [
    "names utf8mb4",
    "time_zone = '+00:00'",
    // MariaDB cuts fractions of a second by itself; MySQL would round them.
    `sql_mode = /*M! '${sqlMode}' */ /*!80000 '${sqlMode},TIME_TRUNCATE_FRACTIONAL' */`,
    "foreign_key_checks = 1",
    // With it, `id is null` finds the row that was inserted last.
    "sql_auto_is_null = 0",
    "sql_safe_updates = 0",
    lockWaits(lockWaitSeconds),
    `net_write_timeout = ${streamStallSeconds}`,
  ];
  const timeout =
    statementTimeoutMs > 0
      ? ` /*M! , max_statement_time = ${statementTimeoutMs / 1000} */ /*!80000 , max_execution_time = ${statementTimeoutMs} */`
      : "";
  return `set ${settings.join(", ")}${timeout}`;
}

/** What the service needs to know of the server. */
export interface Server {
  /** The bytes that it takes at once. */
  readonly packetBytesMax: number;
  readonly isMariadb: boolean;
}

/** Sets up a new session, or one that was reset. */
export async function setUp(connection: Connection, statementTimeoutMs: number): Promise<Server> {
  // Within a transaction it could commit, so it is no part of the settings.
  await rowsFor(connection, `${settingsFor(statementTimeoutMs)}, autocommit = 1`);
  // The variable behind it has different names on the two servers; the statement is the same.
  await rowsFor(connection, "set session transaction isolation level read committed");
  const text = "select @@max_allowed_packet as bytes, version() as version";
  const [row] = await rowsFor(connection, text);
  return {
    packetBytesMax: Number(row!["bytes"]),
    isMariadb: /mariadb/i.test(String(row!["version"])),
  };
}
