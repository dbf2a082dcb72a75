/**
 * SQLite over better-sqlite3: one writer and several readers on an existing file in WAL mode, or one connection for a
 * database in memory. URLs: `sqlite:./data/shop.db` (from the working directory), `sqlite:/var/shop.db`,
 * `sqlite::memory:`.
 */
import { createCompiler } from "../../statements/compile.ts";
import { quoted, quotedTable } from "../../statements/quoted.ts";
import { readOutlines, referencesQuery } from "./outline.ts";
import { accessSync, constants, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import Database from "better-sqlite3";
import type { Log } from "../../../core/plans/log-port.ts";
import { limits } from "../../../core/values/limits.ts";
import { type Connection, type Engine, type OpenEngine, rowsFor } from "../engine.ts";
import { engineDefaults } from "../engine-defaults.ts";
import { namesQuery, outputsOf, readTable } from "./catalog.ts";
import { connectFault } from "./connect-fault.ts";
import { type ConnectionOptions, createConnection } from "./connection.ts";
import { closeDatabase, createDatabaseFile } from "./database-file.ts";
import { createLongReads } from "./long-reads.ts";
import { connectReader } from "./reader.ts";
import { createDialect } from "./dialect.ts";
import { findTextIndex } from "./full-text.ts";
import { failure, loggedMessage } from "./failure.ts";
import { registerFunctions } from "./functions.ts";
import { describeQuery } from "./query-columns.ts";
import { createStoredForms, type StoredForms } from "./forms/stored-forms.ts";
import { createTableWatch } from "./table-watch.ts";
import type { IndexStatements, IndexWish } from "../../../core/plans/index-wish.ts";
import type { Sort } from "../../../core/query/statement.ts";
import type { QueryPlan } from "../../../core/plans/db-port.ts";
import { indexName, plainTerm } from "../advised-index.ts";

/** Another process may be using the file at that moment. */
const openTimeoutMs = 2_000;
/** Short, because SQLite blocks the thread while it waits for another process; `connection.ts` goes on waiting. */
const busyTimeoutMs = 10;

/** One piece, because each member of the engine uses the connections and forms that are known here. */
export const open: OpenEngine = async (
  url,
  { decimals, isOnlyLookedAt = false, isForJobs = false, log },
) => {
  const path = pathOf(url);
  const isMemory = path === ":memory:";
  const databases = new WeakMap<Connection, Database.Database>();
  let memory: Database.Database | undefined;
  const tables = createTableWatch();
  /** Reader processes, which are not told that the file was replaced. */
  const readers = new Set<Connection>();
  const file = createDatabaseFile(path, {
    log,
    onLeave() {
      for (const reader of readers) reader.destroy();
      readers.clear();
    },
  });
  const latest: Partial<Record<"read" | "write", Database.Database>> = {};
  // The service writes only through the one writer, so changes that it sees there are from another program.
  const forms = createStoredForms(
    () => memory ?? [latest.write, latest.read].find((database) => database?.open) ?? null,
  );
  const dialect = createDialect(decimals, forms);
  // A command that only looks at the database serves no requests, and other processes cannot read data in memory.
  const longReads =
    isOnlyLookedAt || isMemory
      ? undefined
      : createLongReads(createCompiler(dialect), limits.heldUpMax[isForJobs ? "jobs" : "requests"]);

  function connectFile(role: "read" | "write"): Connection {
    if (isOnlyLookedAt) {
      const looked = openToLook(path, forms);
      latest[role] = looked;
      return keep(looked, { release: () => closeDatabase(looked), forms, tables });
    }
    file.mayOpen();
    const database = openToUse(path, { forms, log });
    file.opened(database);
    latest[role] = database;
    if (role === "read") database.pragma("query_only = on");
    const onlyFor = role === "read" ? "reads" : "writes";
    return keep(database, { release: () => file.close(database), forms, tables, file, onlyFor });
  }

  /** The data exist only in this connection, so it stays open after its users are done. */
  function connectMemory(): Connection {
    const database = (memory ??= openToUse(path, { forms }));
    const undo = (): void => void (database.inTransaction && database.exec("rollback"));
    return keep(database, { release: undo, forms, tables });
  }

  function keep(database: Database.Database, options: ConnectionOptions): Connection {
    const connection = createConnection(database, options);
    databases.set(connection, database);
    tables.begin(database);
    return connection;
  }

  const engine: Engine = {
    ...engineDefaults,
    name: "sqlite",
    system: "sqlite",
    dialect,
    singleWriter: !isMemory,
    ...(isMemory ? { connectionsMax: 1 } : { longReadsMax: limits.longReadsMax }),
    // Reader processes are not in the map: they do not block the thread.
    isLong(connection, read) {
      const database = databases.get(connection);
      return (
        database !== undefined && connection.alive && longReads?.isLong(database, read) === true
      );
    },
    connect: async (role) => {
      if (isMemory) return connectMemory();
      if (role !== "longRead") return connectFile(role);
      file.mayOpen();
      const reader = await connectReader(
        path,
        () => latest.read?.open === true && tables.hasChanged(latest.read),
      );
      for (const one of readers) if (!one.alive) readers.delete(one);
      readers.add(reader);
      return reader;
    },
    begin: ["begin immediate"],
    beginSnapshot: ["begin"],
    // There is only one writer.
    beginAlone: () => ["begin immediate"],
    foreseeCommit,
    createLedger: {
      jobs: "create table if not exists rowgate_jobs (job_id varchar(64) not null primary key, result text, finished_at timestamp)",
      requests:
        "create table if not exists rowgate_requests (request_id varchar(64) not null primary key, body_hash varchar(64) not null, claim varchar(36) not null, started_at timestamp not null, answer text, unique (started_at, request_id))",
      changes:
        "create table if not exists rowgate_changes (change_id integer primary key autoincrement, seq integer, write_id varchar(36), at timestamp not null, table_name varchar(255) not null, record_hash varchar(16) not null, record_key text not null, endpoint varchar(255) not null, action varchar(64) not null, kind varchar(8) not null, by_user text, reason text, request_id text not null, old_values text, new_values text, scope_values text, unique (table_name, record_hash, change_id), unique (table_name, change_id), unique (seq, change_id), unique (write_id, change_id))",
      change_order:
        "create table if not exists rowgate_change_order (name varchar(16) not null primary key, log_id varchar(36) not null, last_seq integer not null, first_seq integer not null)",
      deliveries:
        "create table if not exists rowgate_deliveries (delivery_id integer primary key autoincrement, message_id varchar(36) not null unique, project varchar(255) not null, webhook varchar(255) not null, lane varchar(16) not null, state varchar(8) not null, due_at timestamp not null, claim varchar(36), tries integer not null, created_at timestamp not null, failed_at timestamp, reason text, body text not null, unique (project, webhook, state, due_at, delivery_id), unique (lane, state, delivery_id))",
      numbers:
        "create table if not exists rowgate_numbers (counter_id varchar(64) not null primary key, table_name varchar(255) not null, column_name varchar(255) not null, pattern text not null, by_values text, last_number integer not null)",
      files:
        "create table if not exists rowgate_files (file_id varchar(36) not null primary key, project varchar(255) not null, table_name varchar(255) not null, column_name varchar(255) not null, owner_hash varchar(64), record_hash varchar(16), name text not null, media_type varchar(255), bytes integer, sha256 varchar(64), created_at timestamp not null, expires_at timestamp, unique (project, expires_at, file_id), unique (owner_hash, file_id))",
    },
    failure,
    loggedMessage,
    connectFault: (error) => connectFault(error, path),
    table: ({ connection, shared }, schema, name) =>
      readTable({ connection, shared, database: databases.get(connection)!, forms }, schema, name),
    textIndex: findTextIndex,
    namesQuery,
    referencesQuery,
    plan: readPlan,
    indexFor,
    outlines: readOutlines,
    routines: null,
    async query(connection, text) {
      const database = databases.get(connection)!;
      return describeQuery(prepareQuery(database, text), { database, forms, select: text, text });
    },
    outputs: outputsOf,
  };
  return engine;
};

/** An absolute path, or `:memory:`. Two slashes after the scheme are accepted. */
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

/** Opens a file and switches it permanently to WAL mode if needed. Creates neither the file nor its folder. */
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
 * A connection that leaves the file as it is. If a log exists, closing a writable connection would write the log into
 * the file. If none exists, a read-only connection would leave an empty log behind.
 */
function openToLook(path: string, forms: StoredForms): Database.Database {
  const readonly = existsSync(`${path}-wal`);
  return openWith(path, { options: { fileMustExist: true, readonly }, forms }, (database) => {
    refuseReadOnly(path);
    database.pragma("query_only = on");
  });
}

/** Throws the errors that the service would meet if it may only read the database. */
function refuseReadOnly(path: string): void {
  try {
    for (const place of [path, dirname(path)]) accessSync(place, constants.W_OK);
  } catch (cause) {
    // A runtime with a permission system may refuse this check, which tells nothing about the file.
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
    // A file that is not a database is only noticed when it is read.
    database.pragma("schema_version");
    database.pragma(`busy_timeout = ${busyTimeoutMs}`);
    registerFunctions(database, forms);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The columns of a query that is prepared and not run. It must be one SELECT, and valid as a subquery. */
function prepareQuery(database: Database.Database, text: string): Database.ColumnDefinition[] {
  const statement = database.prepare(text);
  if (!statement.reader || !statement.readonly) throw new Error("The query is not a SELECT");
  database.prepare(`select * from (\n${text}\n) as "source"`);
  return statement.columns();
}

async function readPlan(
  connection: Connection,
  text: string,
  params: readonly unknown[],
): Promise<QueryPlan> {
  const rows = await rowsFor(connection, `explain query plan ${text}`, params);
  const steps = rows.map(({ detail }) => String(detail));
  return {
    readsAll: steps.some((step) => step.startsWith("SCAN ")),
    sortsAll: steps.some((step) => step === "USE TEMP B-TREE FOR ORDER BY"),
  };
}

/** No index serves a search within a text: FTS5 needs a separate table, which our statements do not read. */
function indexFor(wish: IndexWish): IndexStatements | null {
  const { column, use } = wish;
  if (use === "contains") return null;
  const purpose = { begins: "search", equals: "equal", sorts: "sort" }[use];
  const create = `create index ${indexName(wish, purpose)} on ${quotedTable(wish.table, '"')}`;
  const name = quoted(column.name);
  const printed = (order: readonly Sort[]) => order.map((term) => plainTerm(term, '"'));
  const behind = wish.order.filter((term) => term.column !== column);
  const terms = {
    equals: [name],
    sorts: printed(wish.order),
    // LIKE ignores the case of ASCII letters, so the index must do the same. With the order behind it, the first matches
    // are found without sorting all of them.
    begins: [`${name} collate nocase`, ...printed(behind)],
  }[use];
  return [`${create} (${terms.join(", ")})`];
}

/**
 * SQLite counts violations of deferred foreign keys, and tells of them only at the COMMIT. Those that the file already
 * had do not count.
 */
async function foreseeCommit(connection: Connection): Promise<(() => Promise<void>) | null> {
  const [deferred] = await rowsFor(
    connection,
    "select 1 from sqlite_schema where sql like '%initially%deferred%' limit 1",
  );
  if (!deferred) return null;
  const countDangling = async (): Promise<number> => {
    const rows = await rowsFor(
      connection,
      "select count(*) as dangling from pragma_foreign_key_check",
    );
    return Number(rows[0]!["dangling"]);
  };
  const before = await countDangling();
  return async () => {
    if ((await countDangling()) <= before) return;
    const error = new Error("FOREIGN KEY constraint failed");
    throw Object.assign(error, { code: "SQLITE_CONSTRAINT_FOREIGNKEY" });
  };
}
