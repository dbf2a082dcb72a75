/**
 * MySQL and MariaDB as an `Engine`: sessions (`connection.ts`), printing and values (`dialect.ts`), tables (`catalog.ts`) and
 * errors (`failure.ts`). Nothing connects before the first `connect`.
 */
import type { ConnectionOptions } from "mysql2";
import type { Engine, EngineOptions } from "../engine.ts";
import { unreadableUrl } from "../database-address.ts";
import { standardTexts } from "../standard-texts.ts";
import { outputsOf, readNames, readQuery, readTable } from "./catalog.ts";
import { type MysqlConnection, openConnection } from "./connection.ts";
import { connectFault } from "./connect-fault.ts";
import { createDialect } from "./dialect.ts";
import { failure } from "./failure.ts";
import { fitsDecimals } from "./formula-digits.ts";

/**
 * `url`: `mysql:` or `mariadb:`, with a database, and at most `ssl-mode` (`disabled`, `required`, `verify_ca`, `verify_identity`), `ssl`
 * (`true`, or the driver's options as JSON: `{"ca":"…"}`) and `socketPath`. Rejects with an Error that names what is wrong in it.
 */
export async function open(url: string, options: EngineOptions): Promise<Engine> {
  const target = readUrl(url);
  return {
    name: "mysql",
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
    connectFault: (error) => connectFault(error, placeOf(target)),
    // The pool lends what `connect` made.
    table: (connection, schema, name) => readTable(connection as MysqlConnection, schema, name),
    names: readNames,
    query: (connection, text) => readQuery(connection as MysqlConnection, text),
    outputs: outputsOf,
    computes: ({ formula, operands, column }) => fitsDecimals(formula, operands, column),
  };
}

function readUrl(text: string): ConnectionOptions {
  try {
    return targetOf(new URL(text));
  } catch (error) {
    // What a parser says of the text; all other errors are our own.
    if (error instanceof TypeError || error instanceof URIError)
      throw unreadableUrl("MySQL or MariaDB");
    throw error;
  }
}

function targetOf(url: URL): ConnectionOptions {
  const database = decodeURIComponent(url.pathname.slice(1));
  if (database === "")
    throw new Error("The database URL has no database name; expected mysql://host/database");
  const target: ConnectionOptions = {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 3306 : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
  };
  let tls: Tls;
  for (const [name, value] of url.searchParams) {
    if (name === "socketPath") target.socketPath = value;
    else if (name === "ssl") tls = tlsOptions(value);
    else if (name === "ssl-mode" || name === "sslmode") tls = tlsMode(name, value);
    else
      throw new Error(
        `The database URL has an unknown option "${name}"; known: ssl-mode, ssl, socketPath`,
      );
  }
  return tls === undefined ? target : { ...target, ssl: tls };
}

const placeOf = ({ host = "", port = 0, user = "", database = "" }: ConnectionOptions) => ({
  host,
  port,
  user,
  database,
});

type Tls = Exclude<ConnectionOptions["ssl"], string>;

function tlsMode(name: string, mode: string): Tls {
  switch (mode.toLowerCase().replace("-", "_")) {
    case "disable":
    case "disabled":
      return undefined;
    case "require":
    case "required":
      return { rejectUnauthorized: false };
    case "verify_ca":
      return { rejectUnauthorized: true };
    case "verify_full":
    case "verify_identity":
      return { rejectUnauthorized: true, verifyIdentity: true };
    default:
      throw new Error(
        `The option ${name} of the database URL is "${mode}"; it must be disabled, required, verify_ca or verify_identity`,
      );
  }
}

function tlsOptions(text: string): Tls {
  if (text === "false") return undefined;
  if (text === "true") return tlsMode("ssl", "verify_identity");
  let options: unknown;
  try {
    options = JSON.parse(text);
  } catch {
    options = null;
  }
  if (typeof options === "object" && options !== null) return options;
  throw new Error("The option ssl of the database URL must be true, false or a JSON object");
}
