/**
 * MySQL and MariaDB as an `Engine`: sessions (`connection.ts`), printing and values (`dialect.ts`), tables (`catalog.ts`) and
 * errors (`failure.ts`). Nothing connects before the first `connect`.
 */
import { indexFor, readPlan } from "./advice.ts";
import { readOutlines, readSchemas } from "./outline.ts";
import type { Engine, EngineOptions } from "../engine.ts";
import { isIP } from "node:net";
import type { SslOptions } from "mysql2";
import { unreadableUrl } from "../database-address.ts";
import { connectOptions, readTls, type Tls, tlsOptionNames, type TlsSources } from "../tls.ts";
import { standardTexts } from "../standard-texts.ts";
import { outputsOf, readNames, readQuery, readTable } from "./catalog.ts";
import { readReferencesTo } from "./incoming-keys.ts";
import { type MysqlConnection, openConnection, type Target } from "./connection.ts";
import { connectFault } from "./connect-fault.ts";
import { createDialect } from "./dialect.ts";
import { failure, loggedMessage } from "./failure.ts";
import { fitsDecimals } from "./formula-digits.ts";

/**
 * `url`: `mysql:` or `mariadb:`, with a database, and at most options of TLS (`tls.ts`; `ssl` may also be the driver's options as JSON: `{"ca":"…"}`)
 * and `socketPath`. Rejects with an Error that names what is wrong in it.
 */
export async function open(url: string, options: EngineOptions): Promise<Engine> {
  const target = readUrl(url, options);
  return {
    name: "mysql",
    system: "mysql",
    ...standardTexts,
    dialect: createDialect(options.decimals),
    singleWriter: false,
    connect: () => openConnection(target, options),
    begin: ["start transaction"],
    // The first holds for the next transaction alone.
    beginSnapshot: [
      "set transaction isolation level repeatable read",
      "start transaction with consistent snapshot, read only",
    ],
    // Read through at this level, every row and every gap between them is locked.
    beginAlone: (name) => [
      "set transaction isolation level repeatable read",
      "start transaction",
      `select count(*) from ${name} for update`,
    ],
    createLedger: {
      jobs: "create table if not exists rowgate_jobs (job_id varchar(64) primary key, result longtext, finished_at datetime(3)) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_bin",
      requests:
        "create table if not exists rowgate_requests (request_id varchar(64) primary key, body_hash varchar(64) not null, claim varchar(36) not null, started_at datetime(3) not null, answer longtext, unique (started_at, request_id)) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_bin",
    },
    failure,
    loggedMessage,
    connectFault: (error) => connectFault(error, placeOf(target)),
    // The pool lends what `connect` made.
    table: ({ connection, shared }, schema, name) =>
      readTable({ connection: connection as MysqlConnection, shared }, schema, name),
    names: readNames,
    plan: readPlan,
    indexFor,
    schemas: readSchemas,
    referencesTo: readReferencesTo,
    outlines: readOutlines,
    query: (connection, text) => readQuery(connection as MysqlConnection, text),
    outputs: outputsOf,
    computes: ({ formula, operands, column }) => fitsDecimals(formula, operands, column),
  };
}

function readUrl(text: string, sources: TlsSources): Target {
  try {
    return targetOf(new URL(text), sources);
  } catch (error) {
    // What a parser says of the text; all other errors are our own.
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
      `The database URL has an unknown option "${unknown}"; known: sslmode, sslrootcert, sslcert, sslkey, ssl, socketPath`,
    );
  const tls = readTls(options, sources);
  const socketPath = options.get("socketPath");
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  // The driver would check the certificate against another name.
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
  };
}

const known: ReadonlySet<string> = new Set(["ssl", "socketPath"]);

const placeOf = ({ host = "", port = 0, user = "", database = "" }: Target) => ({
  host,
  port,
  user,
  database,
});

/** The driver checks the name in a certificate only when it is told to. */
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
