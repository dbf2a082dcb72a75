/**
 * SQLite over better-sqlite3: one writer and several readers on one file in WAL mode, which has to exist, or one connection for a
 * database in memory. URLs: `sqlite:./data/shop.db` (from the working directory), `sqlite:/var/shop.db`, `sqlite::memory:`.
 */
import { indexFor, readPlan } from "./advice.ts";
import { readOutlines } from "./outline.ts";
import { accessSync, constants, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import Database from "better-sqlite3";
import type { Log } from "../../../core/plans/ports.ts";
import type { Connection, Engine, OpenEngine } from "../engine.ts";
import { standardTexts } from "../standard-texts.ts";
import { outputsOf, readNames, readTable } from "./catalog.ts";
import { readReferencesTo } from "./incoming-keys.ts";
import { connectFault } from "./connect-fault.ts";
import { createConnection } from "./connection.ts";
import { createDialect } from "./dialect.ts";
import { failure, loggedMessage } from "./failure.ts";
import { registerFunctions } from "./functions.ts";
import { describeQuery } from "./query-columns.ts";
import { createStoredForms, type StoredForms } from "./stored-forms.ts";

/** Another process may be at the file just then. */
const openTimeoutMs = 2_000;
/** SQLite itself waits no longer for another process, because it holds up the thread meanwhile; `connection.ts` goes on waiting. */
const busyTimeoutMs = 10;

export const open: OpenEngine = async (url, { decimals, isOnlyLookedAt = false, log }) => {
  const path = pathOf(url);
  const isMemory = path === ":memory:";
  const databases = new WeakMap<Connection, Database.Database>();
  let memory: Database.Database | undefined;
  const latest: Partial<Record<"read" | "write", Database.Database>> = {};
  // Our own writes come from the one writer, so what changed under it is another program's.
  const forms = createStoredForms(
    () => memory ?? [latest.write, latest.read].find((database) => database?.open) ?? null,
  );

  function connectFile(role: "read" | "write"): Connection {
    const database = isOnlyLookedAt ? openToLook(path, forms) : openToUse(path, { forms, log });
    latest[role] = database;
    if (role === "read") database.pragma("query_only = on");
    return keep(
      database,
      createConnection(database, { release: () => closeDatabase(database), forms }),
    );
  }

  /** The data live in the one connection to them, so it outlives whoever uses it. */
  function connectMemory(): Connection {
    const database = (memory ??= openToUse(path, { forms }));
    const undo = (): void => void (database.inTransaction && database.exec("rollback"));
    return keep(database, createConnection(database, { release: undo, forms }));
  }

  function keep(database: Database.Database, connection: Connection): Connection {
    databases.set(connection, database);
    return connection;
  }

  const engine: Engine = {
    name: "sqlite",
    system: "sqlite",
    ...standardTexts,
    dialect: createDialect(decimals, forms),
    singleWriter: !isMemory,
    ...(isMemory ? { connectionsMax: 1 } : {}),
    connect: async (role) => (isMemory ? connectMemory() : connectFile(role)),
    begin: ["begin immediate"],
    beginSnapshot: ["begin"],
    // There is one writer anyway.
    beginAlone: () => ["begin immediate"],
    createLedger: {
      jobs: "create table if not exists rowgate_jobs (job_id varchar(64) not null primary key, result text, finished_at timestamp)",
      requests:
        "create table if not exists rowgate_requests (request_id varchar(64) not null primary key, body_hash varchar(64) not null, claim varchar(36) not null, started_at timestamp not null, answer text, unique (started_at, request_id))",
    },
    failure,
    loggedMessage,
    connectFault: (error) => connectFault(error, path),
    table: ({ connection, shared }, schema, name) =>
      readTable({ connection, shared, database: databases.get(connection)!, forms }, schema, name),
    names: readNames,
    plan: readPlan,
    indexFor,
    schemas: async () => [],
    referencesTo: readReferencesTo,
    outlines: readOutlines,
    async query(connection, text) {
      const database = databases.get(connection)!;
      return describeQuery(prepareQuery(database, text), { database, forms, select: text, text });
    },
    outputs: outputsOf,
  };
  return engine;
};

/** An absolute path, or `:memory:`. Two slashes behind the scheme are tolerated. */
function pathOf(url: string): string {
  const path = url.slice(url.indexOf(":") + 1).replace(/^\/\/(?=[/.])/, "");
  if (path === "")
    throw new Error(
      "The database URL has no file name; expected sqlite:./data/shop.db, or sqlite::memory:",
    );
  return path === ":memory:" ? path : resolve(path);
}

interface Use {
  readonly forms: StoredForms;
  readonly log?: Log | undefined;
}

/** A file in WAL mode: one in another mode is switched, which stays so. Neither file nor folder is created. */
function openToUse(path: string, { forms, log }: Use): Database.Database {
  const options = { fileMustExist: path !== ":memory:" };
  return openWith(path, { options, forms }, (database) => {
    const before = database.pragma("journal_mode", { simple: true });
    const after = database.pragma("journal_mode = WAL", { simple: true });
    if (before !== after)
      log?.info({}, `The database ${path} was switched to WAL mode, and stays so`);
    database.pragma("synchronous = NORMAL");
    database.pragma("foreign_keys = on");
  });
}

/**
 * A connection that leaves the file as it is. Where a log stands beside it, closing a usual connection would write the log's pages into the
 * file; where there is none, one that only reads would leave an empty log behind.
 */
function openToLook(path: string, forms: StoredForms): Database.Database {
  const readonly = existsSync(`${path}-wal`);
  return openWith(path, { options: { fileMustExist: true, readonly }, forms }, (database) => {
    refuseReadOnly(path);
    database.pragma("query_only = on");
  });
}

/** Throws what the service would meet when it uses a database that it may only read. */
function refuseReadOnly(path: string): void {
  try {
    for (const place of [path, dirname(path)]) accessSync(place, constants.W_OK);
  } catch (cause) {
    // A runtime with permissions of its own may not let a check ask; that says nothing of the file.
    if ((cause as { code?: unknown }).code === undefined) return;
    const error = new Error("The database or its folder cannot be written to", { cause });
    throw Object.assign(error, { code: "SQLITE_READONLY" });
  }
}

function openWith(
  path: string,
  { options, forms }: { options: Database.Options; forms: StoredForms },
  setUp: (database: Database.Database) => void,
): Database.Database {
  const database = new Database(path, { timeout: openTimeoutMs, ...options });
  try {
    setUp(database);
    // Whatever is no database shows only when it is read.
    database.pragma("schema_version");
    database.pragma(`busy_timeout = ${busyTimeoutMs}`);
    registerFunctions(database, forms);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A stream that was left open keeps its database busy; the garbage collector closes that one. */
function closeDatabase(database: Database.Database): void {
  try {
    database.close();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

/** The columns of a query that is prepared and not run. It must be one SELECT, alone and as a subquery. */
function prepareQuery(database: Database.Database, text: string): Database.ColumnDefinition[] {
  const statement = database.prepare(text);
  if (!statement.reader || !statement.readonly) throw new Error("The query is not a SELECT");
  database.prepare(`select * from (\n${text}\n) as "source"`);
  return statement.columns();
}
