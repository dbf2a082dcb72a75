/**
 * The complete list of what PostgreSQL, MySQL/MariaDB and SQLite disagree on. Each engine is one folder that implements
 * `Engine`, with a `Dialect` for the SQL of its statements; all else is written once, over these two interfaces. What its URLs look like is in
 * `address.ts`, which loads no driver.
 */
import type { Column, IncomingKey, Table } from "../../core/values/column.ts";
import type { Outline } from "../../core/plans/database-catalog.ts";
import type {
  IndexStatements,
  IndexWish,
  QueryPlan,
  DatabaseFault,
  LedgerName,
  Log,
} from "../../core/plans/ports.ts";
import type { Computation } from "../../core/query/statement.ts";
import type { Json } from "../../core/values/json.ts";
import type { OpenTlsSocket } from "../sockets/tls-socket.ts";
import type { Dialect, RawRow, TakeRow } from "../statements/dialect.ts";
import type { TlsCertificates } from "./tls.ts";

export interface RawResult {
  /** Empty where they were taken one by one. */
  readonly rows: RawRow[];
  /** Rows that an INSERT, UPDATE or DELETE matched (not: really changed), or that were taken one by one. */
  readonly matched: number;
  /** The first key that the database generated; null where the engine answers rows instead. */
  readonly insertId: bigint | null;
  /** The columns as the driver describes them, for `Engine.outputs`; `native` alone tells them. */
  readonly fields?: readonly unknown[];
}

/** A text with its parameters, as `Connection.run` takes them. */
export interface Command {
  readonly text: string;
  readonly params: readonly unknown[];
  readonly reuse: boolean;
  /** As in `Connection.run`. */
  readonly take?: TakeRow | undefined;
}

/** One session with the database, used by one caller at a time. It never reconnects by itself. */
export interface Connection {
  /** False once it broke or was destroyed; every further `run` rejects. */
  readonly alive: boolean;
  /** True: `run` may be called while others are under way; they are sent at once and answered in turn. */
  readonly isShareable?: boolean;
  /**
   * `reuse` true: the text will come again, keep it prepared. `take`, only where the dialect has `lists`: gets each row as it comes; absent:
   * rows are in the result. Rejects with the driver's own error.
   */
  run(text: string, params: readonly unknown[], reuse: boolean, take?: TakeRow): Promise<RawResult>;
  /**
   * Only where the driver works on the calling thread: as `run`, for a text that will come again, but at once; it spares the
   * promises and the watch over them. Null when the database is busy with another process: then `run` waits for it.
   */
  runNow?(text: string, params: readonly unknown[]): RawResult | null;
  /**
   * Only where the engine has `localSettings`: runs the statements in this order, sent without waiting for each other's answers. Rejects with the
   * first error once all are answered, and with a conflict when a transaction that the last of them should commit was undone.
   */
  runTogether?(statements: readonly Command[]): Promise<readonly RawResult[]>;
  /** As `run`, for a text of the operator's own, of whose rows nothing is known yet. */
  native(text: string, params: readonly unknown[]): Promise<RawResult>;
  /**
   * Batches of rows with back-pressure. Stopping early leaves the connection usable or destroys it. `isInTransaction`: the
   * caller has opened a transaction, and ends it himself.
   */
  stream(
    text: string,
    params: readonly unknown[],
    batchRows: number,
    isInTransaction?: boolean,
  ): AsyncIterable<RawRow[]>;
  /** Closes the session properly; takes at most a second. */
  close(): Promise<void>;
  /** Closes at once; a pending `run` rejects. Never throws. */
  destroy(): void;
}

/** What a driver's error means. `columns` and `constraint` as far as the engine tells. */
export interface Failure {
  readonly kind:
    | "duplicate"
    | "foreignKeyMissing"
    | "foreignKeyInUse"
    | "notNull"
    | "check"
    | "divisionByZero"
    | "tooLong"
    | "outOfRange"
    | "badValue"
    /** The row and another one may not be there together (an exclusion constraint). */
    | "excluded"
    /** A value was sent for a column whose values the database alone makes. */
    | "generated"
    /** A trigger or procedure of the operator's own refused; `message` is what it says. */
    | "rejected"
    /** A rule of the database for rows (row-level security) does not let this caller do it. */
    | "forbidden"
    /** Deadlock, serialization failure, lock wait, busy: the transaction may be run again. */
    | "conflict"
    /** The server stopped the statement: it took too long. */
    | "timeout"
    /** Refused, lost, or not to be had. */
    | "connection"
    /** A stored view that has never been filled. */
    | "unfilled"
    /** The statement names a table or column that is not there, or no longer, or a table that has become a view. */
    | "missing"
    | "unknown";
  /** The statement failed as it would if columns had other types than before, whatever else it may mean. */
  readonly mayHaveChanged?: true;
  readonly columns?: readonly string[];
  /** Name of the violated constraint or index; its columns are found in the table. */
  readonly constraint?: string;
  /** The place of the parameter that the server could not read, counted from 0. */
  readonly parameter?: number;
  /** The message of the operator's trigger; only for `rejected`. */
  readonly message?: string;
}

/** A caller as the database's own rules see it. */
export type Claims = Readonly<Record<string, Json>>;

export interface EngineOptions {
  /** Connections; SQLite: readers (it has one writer besides). */
  readonly connectionsMax: number;
  /** 0 = none. Handed to the server where it can enforce it. */
  readonly statementTimeoutMs: number;
  readonly decimals: "number" | "string";
  /** PostgreSQL: the setting that tells policies the caller's claims. */
  readonly claimsSetting?: string;
  /** PostgreSQL, false: a pooler gives each transaction another session, so nothing may be left in one. Absent: true. */
  readonly preparedStatements?: boolean;
  /** Certificates beside those that the URL names. */
  readonly tls?: TlsCertificates;
  /** How a file is read that the URL names; absent: there are none. */
  readonly readFile?: (path: string) => string;
  /** True: nothing of the database is changed, not even the form in which its file is kept. Absent: it is read and written. */
  readonly isOnlyLookedAt?: boolean;
  readonly log?: Log;
  /** How a connection gets to TLS where Node's own sockets cannot; absent: they can. */
  readonly openTls?: OpenTlsSocket;
}

export interface Savepoint {
  readonly set: string;
  /** What has to be released afterwards anyway. */
  readonly undo: string;
  readonly release: string;
}

export interface Engine {
  /** For the log. */
  readonly name: string;
  /** OpenTelemetry's name for the kind of database. */
  readonly system: string;
  readonly dialect: Dialect;
  /** True: writes go through one connection of their own, in a fair queue (SQLite). */
  readonly singleWriter: boolean;
  /** Where there can be only so many connections in all, whatever was asked for (SQLite in memory: one). */
  readonly connectionsMax?: number;
  connect(role: "read" | "write"): Promise<Connection>;
  /**
   * The statement that gives a transaction the settings that end with it; it comes right behind the first one of `begin`. `claims`: of the caller; null: the
   * service asks for itself. Null: there is nothing to set, and a single statement needs no transaction. Absent: there never is.
   */
  localSettings?(claims: Claims | null): Command | null;
  /** Statements that open a transaction. */
  readonly begin: readonly string[];
  /** Statements that open one which only reads, and in which all reads see one moment. */
  readonly beginSnapshot: readonly string[];
  /** Statements that open one during which nobody else writes to the table; its name comes quoted. */
  beginAlone(table: string): readonly string[];
  readonly commit: string;
  readonly rollback: string;
  /** Statements around a part of a transaction that can be undone alone. */
  readonly savepoint: Savepoint;
  /** A statement that shows that the database answers. */
  readonly probe: string;
  /**
   * The statement that makes the table of `Session.ledger`. One statement, so that the table is never there without its index:
   * `unique` over the time and the key is that index, and forbids nothing.
   */
  readonly createLedger: Readonly<Record<LedgerName, string>>;
  /** What the driver's error means. */
  failure(error: unknown): Failure;
  /**
   * The message of a server's error, for the log. A message that may contain values of a request is replaced by its number. Null: it is no error of
   * the server.
   */
  loggedMessage(error: unknown): string | null;
  /** What an error of `connect` means to the operator. */
  connectFault(error: unknown): DatabaseFault;
  /** Null when there is no such table or view. `schema` null = the default one. */
  table(reading: TableReading, schema: string | null, name: string): Promise<Table | null>;
  /** See `Catalog.referencesTo`. */
  referencesTo(
    connection: Connection,
    schema: string | null,
    name: string,
  ): Promise<readonly IncomingKey[]>;
  /** Only where decimals have a size: whether that of the formula's steps is enough for every value of its columns. */
  computes?(computation: Computation): boolean;
  names(connection: Connection): Promise<readonly string[]>;
  /** See `Db.plan`; the text is one of our own, of a SELECT. */
  plan(connection: Connection, text: string, params: readonly unknown[]): Promise<QueryPlan>;
  /** See `Db.indexFor`. */
  indexFor(wish: IndexWish): IndexStatements | null;
  /** See `Catalog.schemas`. */
  schemas(connection: Connection): Promise<readonly string[]>;
  /** See `Catalog.outline`. */
  outlines(connection: Connection, schemas: readonly string[]): Promise<readonly Outline[]>;
  /** `text` comes without the semicolon that may end it. */
  query(connection: Connection, text: string): Promise<readonly Column[]>;
  /** What the fields of a result say of its columns; only name and type count. */
  outputs(fields: readonly unknown[]): readonly Column[];
}

/** Answers of the database that concern all of its tables, by what was asked. */
export type SharedFacts = Map<string, Promise<unknown>>;

/** How a table is read. */
export interface TableReading {
  readonly connection: Connection;
  /** Of the tables that are read together with this one. */
  readonly shared: SharedFacts;
}

/** The answer of `ask`, or that which another table of the same reading has got. */
export function sharedFact<Fact>(
  shared: SharedFacts,
  question: string,
  ask: () => Promise<Fact>,
): Promise<Fact> {
  const known = shared.get(question) as Promise<Fact> | undefined;
  if (known) return known;
  const answer = ask();
  shared.set(question, answer);
  // The next one asks again.
  answer.catch(() => shared.delete(question));
  return answer;
}

/** What each engine's folder exports as `open`. Rejects with an Error for a URL that cannot be read; the database need not be there. */
export type OpenEngine = (url: string, options: EngineOptions) => Promise<Engine>;
