/**
 * MySQL and MariaDB as an `Engine`: sessions (`connection.ts`), printing and values (`dialect.ts`), tables
 * (`catalog.ts`), errors (`failure.ts`) and what the planner advises. Nothing connects before the first `connect`.
 */
import { quotedTable } from "../../statements/quoted.ts";
import { readOutlines, referencesQuery, schemasQuery } from "./outline.ts";
import { type Engine, type EngineOptions, type Connection, rowsFor } from "../engine.ts";
import { isIP } from "node:net";
import type { SslOptions } from "mysql2";
import { unreadableUrl } from "../database-address.ts";
import { connectOptions, readTls, type Tls, tlsOptionNames, type TlsSources } from "../tls.ts";
import { engineDefaults } from "../engine-defaults.ts";
import { kinds, namesQuery, outputsOf, readQuery, readTable } from "./catalog.ts";
import { type MysqlConnection, openConnection, type Target } from "./connection.ts";
import { settingsFor } from "./session-settings.ts";
import { readRoutines } from "./routines.ts";
import { connectFault } from "./connect-fault.ts";
import { createDialect } from "./dialect.ts";
import { findTextIndex } from "./full-text.ts";
import { failure, loggedMessage } from "./failure.ts";
import { replication } from "./replication.ts";
import { fitsDecimals } from "./formula-digits.ts";
import type { IndexStatements, IndexWish } from "../../../core/plans/index-wish.ts";
import type { QueryPlan } from "../../../core/plans/db-port.ts";
import { indexName, plainTerm } from "../advised-index.ts";

/**
 * `url`: `mysql:` or `mariadb:` with a database. Allowed options: those of TLS (`tls.ts`; `ssl` may also hold the
 * driver's options as JSON: `{"ca":"…"}`), `socketPath` and `pipelining=false`. Rejects with an Error that names what is
 * wrong in it.
 */
export async function open(url: string, options: EngineOptions): Promise<Engine> {
  const target = readUrl(url, options);
  return {
    ...engineDefaults,
    name: "mysql",
    system: "mysql",
    dialect: createDialect(options.decimals),
    connect: () => openConnection(target, options),
    // The server runs what is behind a statement that failed.
    pipelines: "openings",
    begin: ["start transaction"],
    // The first statement applies only to the next transaction.
    beginSnapshot: [
      "set transaction isolation level repeatable read",
      "start transaction with consistent snapshot, read only",
    ],
    // A locking read at this level locks every row and every gap between rows.
    beginAlone: (name) => [
      "set transaction isolation level repeatable read",
      "start transaction",
      `select count(*) from ${name} for update`,
    ],
    createLedger: {
      jobs: "create table if not exists rowgate_jobs (job_id varchar(64) primary key, result longtext, finished_at datetime(3)) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_bin",
      requests:
        "create table if not exists rowgate_requests (request_id varchar(64) primary key, body_hash varchar(64) not null, claim varchar(36) not null, started_at datetime(3) not null, answer longtext, unique (started_at, request_id)) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_bin",
      changes:
        "create table if not exists rowgate_changes (change_id bigint auto_increment primary key, seq bigint, write_id varchar(36), at datetime(3) not null, table_name varchar(255) not null, record_hash varchar(16) not null, record_key text not null, endpoint varchar(255) not null, action varchar(64) not null, kind varchar(8) not null, by_user text, reason text, request_id text not null, old_values longtext, new_values longtext, scope_values longtext, unique (table_name, record_hash, change_id), unique (table_name, change_id), unique (seq, change_id), unique (write_id, change_id)) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_bin",
      change_order:
        "create table if not exists rowgate_change_order (name varchar(16) primary key, log_id varchar(36) not null, last_seq bigint not null, first_seq bigint not null) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_bin",
      deliveries:
        "create table if not exists rowgate_deliveries (delivery_id bigint auto_increment primary key, message_id varchar(36) not null unique, project varchar(255) not null, webhook varchar(255) not null, lane varchar(16) not null, state varchar(8) not null, due_at datetime(3) not null, claim varchar(36), tries bigint not null, created_at datetime(3) not null, failed_at datetime(3), reason text, body longtext not null, unique (project, webhook, state, due_at, delivery_id), unique (lane, state, delivery_id)) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_bin",
      numbers:
        "create table if not exists rowgate_numbers (counter_id varchar(64) primary key, table_name varchar(255) not null, column_name varchar(255) not null, pattern text not null, by_values text, last_number bigint not null) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_bin",
      files:
        "create table if not exists rowgate_files (file_id varchar(36) primary key, project varchar(255) not null, table_name varchar(255) not null, column_name varchar(255) not null, owner_hash varchar(64), record_hash varchar(16), name text not null, media_type varchar(255), bytes bigint, sha256 varchar(64), created_at datetime(3) not null, expires_at datetime(3), unique (project, expires_at, file_id), unique (owner_hash, file_id)) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_bin",
    },
    resettle: [settingsFor(options.statementTimeoutMs)],
    reset: (connection) => (connection as MysqlConnection).reset(),
    replication,
    failure,
    loggedMessage,
    connectFault: (error) => connectFault(error, placeOf(target)),
    // The pool lends only connections that `connect` made.
    table: ({ connection, shared }, schema, name) =>
      readTable({ connection: connection as MysqlConnection, shared }, schema, name),
    textIndex: findTextIndex,
    namesQuery,
    schemasQuery,
    referencesQuery,
    plan: readPlan,
    indexFor,
    outlines: readOutlines,
    routines: readRoutines,
    query: (connection, text) => readQuery(connection as MysqlConnection, text),
    outputs: outputsOf,
    kinds,
    computes: ({ formula, operands, column }) => fitsDecimals(formula, operands, column),
  };
}

function readUrl(text: string, sources: TlsSources): Target {
  try {
    return targetOf(new URL(text), sources);
  } catch (error) {
    // Errors of the URL's parsers; all other errors are ours.
    if (error instanceof TypeError || error instanceof URIError)
      throw unreadableUrl("MySQL or MariaDB");
    throw error;
  }
}

function targetOf(url: URL, sources: TlsSources): Target {
  const database = decodeURIComponent(url.pathname.slice(1));
  if (database === "")
    throw new Error("The database URL has no database name; expected mysql://host/database");
  const options = url.searchParams;
  const unknown = [...options.keys()].find((name) => !known.has(name) && !tlsOptionNames.has(name));
  if (unknown !== undefined)
    throw new Error(
      `The database URL has an unknown option "${unknown}"; known: sslmode, sslrootcert, sslcert, sslkey, ssl, socketPath, pipelining`,
    );
  const tls = readTls(options, sources);
  const socketPath = options.get("socketPath");
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  // For an IP address, the driver would check the certificate against another name.
  if (tls.mode === "verify-full" && isIP(host) !== 0)
    throw new Error(
      "The database URL has an IP address, and sslmode=verify-full checks a name; write the server's name, or sslmode=verify-ca",
    );
  const ssl = driverTls(options.get("ssl"), tls);
  return {
    host,
    port: url.port === "" ? 3306 : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    ...(socketPath !== null && { socketPath }),
    ...(ssl && { ssl }),
    mayBePlain: tls.mode === "prefer",
    mayPipeline: options.get("pipelining") !== "false",
  };
}

const known: ReadonlySet<string> = new Set(["ssl", "socketPath", "pipelining"]);

const placeOf = ({ host = "", port = 0, user = "", database = "" }: Target) => ({
  host,
  port,
  user,
  database,
});

/** The driver checks the name in a certificate only if told to. */
function driverTls(own: string | null, tls: Tls): SslOptions | null {
  const options = connectOptions(tls);
  const checked = options && { ...options, verifyIdentity: tls.mode === "verify-full" };
  if (!own?.startsWith("{")) return checked;
  try {
    return { ...checked, ...(JSON.parse(own) as SslOptions) };
  } catch {
    throw new Error("The database URL's ssl is neither true nor false nor a JSON object");
  }
}

async function readPlan(
  connection: Connection,
  text: string,
  params: readonly unknown[],
): Promise<QueryPlan> {
  const rows = await rowsFor(connection, `explain ${text}`, params);
  return {
    // An index that exists is not advised again if the planner finds that reading the whole table is as fast.
    readsAll: rows.some(
      ({ type, possible_keys: usable }) => /^(?:all|index)$/i.test(String(type)) && usable === null,
    ),
    sortsAll: rows.some(({ Extra }) => String(Extra ?? "").includes("Using filesort")),
  };
}

/** No index finds parts of texts (FULLTEXT finds words only). An index finds a prefix if the column ignores case. */
function indexFor(wish: IndexWish): IndexStatements | null {
  const { column, use } = wish;
  if (use === "contains" || (use === "begins" && column.ignoresCase !== true)) return null;
  // An index would hold and sort only the beginning of such a text.
  const terms = wish.order.length > 0 ? wish.order : [{ column, direction: "asc" as const }];
  if (terms.some((term) => /text|blob|json|geometry/i.test(term.column.native))) return null;
  const parts = terms.map((term) => plainTerm(term, "`"));
  return [
    `create index ${indexName(wish, use === "equals" ? "equal" : "sort")} on ${quotedTable(wish.table, "`")} (${parts.join(", ")})`,
  ];
}
