/**
 * SQLite over better-sqlite3: one writer and several readers on one file in WAL mode, or one connection for a database
 * in memory. URLs: `sqlite:./data/shop.db` (from the working directory), `sqlite:/var/shop.db`, `sqlite::memory:`.
 */
import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import Database from "better-sqlite3";
import type { Connection, Engine, OpenEngine } from "../engine.ts";
import { standardTexts } from "../standard-texts.ts";
import { outputsOf, readNames, readTable } from "./catalog.ts";
import { createConnection } from "./connection.ts";
import { createDialect } from "./dialect.ts";
import { failure } from "./failure.ts";
import { registerFunctions } from "./functions.ts";
import { describeQuery } from "./query-columns.ts";
import { createStoredForms, type StoredForms } from "./stored-forms.ts";

/** Another process may be at the file just then. */
const openTimeoutMs = 2_000;
/** SQLite itself waits no longer for another process, because it holds up the thread meanwhile; `connection.ts` goes on waiting. */
const busyTimeoutMs = 10;

export const open: OpenEngine = async (url, { decimals }) => {
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
    mkdirSync(dirname(path), { recursive: true });
    const database = openDatabase(path, forms);
    latest[role] = database;
    if (role === "read") database.pragma("query_only = on");
    return keep(
      database,
      createConnection(database, { release: () => closeDatabase(database), forms }),
    );
  }

  /** The data live in the one connection to them, so it outlives whoever uses it. */
  function connectMemory(): Connection {
    const database = (memory ??= openDatabase(path, forms));
    const undo = (): void => void (database.inTransaction && database.exec("rollback"));
    return keep(database, createConnection(database, { release: undo, forms }));
  }

  function keep(database: Database.Database, connection: Connection): Connection {
    databases.set(connection, database);
    return connection;
  }

  const engine: Engine = {
    name: "sqlite",
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
    table: (connection, schema, name) =>
      readTable({ connection, database: databases.get(connection)!, forms }, schema, name),
    names: readNames,
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
    throw new Error("The database URL names no file: sqlite:./data/shop.db, or sqlite::memory:");
  return path === ":memory:" ? path : resolve(path);
}

function openDatabase(path: string, forms: StoredForms): Database.Database {
  const database = new Database(path, { timeout: openTimeoutMs });
  try {
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = NORMAL");
    database.pragma("foreign_keys = on");
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
