/**
 * The complete list of what differs between PostgreSQL, MySQL/MariaDB and SQLite. Each engine is one folder that
 * implements `Engine`, with a `Dialect` for the SQL of its statements; all else is written once, over these two
 * interfaces. The engine's URLs are described in `address.ts`, which loads no driver.
 */
import type { Column, Table } from "../../core/values/types/column.ts";
import type { TextIndexAnswer, TextIndexWish } from "../../core/values/types/text-index.ts";
import type { Caller } from "../../core/plans/caller.ts";
import type { Outline, Routine } from "../../core/plans/database-catalog.ts";
import type { IndexStatements, IndexWish } from "../../core/plans/index-wish.ts";
import type { QueryPlan, DatabaseFault } from "../../core/plans/db-port.ts";
import type { LedgerName } from "../../core/query/session.ts";
import type { Log } from "../../core/plans/log-port.ts";
import type { Computation, Statement } from "../../core/query/statement.ts";
import type { OpenTlsSocket } from "../sockets/tls-socket.ts";
import type { Compiled } from "../statements/compile.ts";
import type { Dialect, RawRow, TakeRow } from "../statements/dialect.ts";
import type { TlsCertificates } from "./tls.ts";

export interface RawResult {
  /** Empty if they were taken one by one. */
  readonly rows: RawRow[];
  /** Rows that an INSERT, UPDATE or DELETE matched (not: really changed), or that were taken one by one. */
  readonly matched: number;
  /** The first key that the database generated; null if the engine returns rows instead. */
  readonly insertId: bigint | null;
  /** The driver's descriptions of the columns, for `Engine.outputs`. For native statements, or if there are `kinds`. */
  readonly fields?: readonly unknown[];
  /** The tables may have changed since the statement was prepared: what is known of them must be checked. */
  readonly isPreparedAnew?: true;
}

/** A statement as it is sent, with all that a connection needs to know of it. */
export interface Command {
  readonly text: string;
  readonly params: readonly unknown[];
  /** The text will come again: keep it prepared. */
  readonly reuse: boolean;
  /** Only where the dialect has `lists`: gets each row as it comes; absent: rows are in the result. */
  readonly take?: TakeRow | undefined;
  /** The operator's own statement, whose columns are not known yet: the result has `fields`. */
  readonly isNative?: boolean;
  /**
   * A write that can share the connection, where that carries several: it fails with a conflict instead of waiting long
   * for a lock.
   */
  readonly waitsBriefly?: boolean;
  /**
   * As `Engine.pipelines` allows: statements that are sent with this one without waiting for answers. If one of them
   * fails, this one fails too, with a `BehindError` where only one behind it failed.
   */
  readonly before?: readonly Command[];
  readonly behind?: readonly Command[];
}

/** The statement succeeded, but one of `behind` did not: the cause is its error. */
export class BehindError extends Error {
  constructor(cause: unknown) {
    super("", { cause });
  }
}

/** A SELECT whose rows are wanted in batches. */
export interface StreamCommand extends Command {
  readonly batchRows: number;
  /** The caller has opened a transaction, and ends it. */
  readonly isInTransaction?: boolean;
  /** Gets the columns as the driver describes them, before the first batch, if results tell how they are read. */
  readonly onFields?: (fields: readonly unknown[]) => void;
}

/** What can share a connection: single statements, and transactions of a few. */
export type Quick = "reads" | "writes" | "transactions";
/** How many of them a connection carries at a time. */
export type Carries = Readonly<Partial<Record<Quick, number>>>;

/** Statements that end a transaction as the one before them ended, see `Connection.conditional`. */
export interface ConditionalEnds extends Readonly<
  Record<"commitIfFound" | "commitIfDone", readonly string[]>
> {
  /**
   * How long the one before them may wait for a lock: the server then runs those behind it, even if the connection was
   * given up meanwhile.
   */
  readonly waitMsMax: number;
}

/** One session with the database, used by one caller at a time. It never reconnects by itself. */
export interface Connection {
  /** False once it broke or was destroyed; every further `send` fails. */
  readonly alive: boolean;
  /** Those are sent at once and answered in order. Absent: it carries one statement of any kind. */
  readonly carries?: Carries;
  /**
   * Statements that commit if the one before them succeeded, and roll back otherwise: they can be sent together with it.
   * `commitIfFound`: only if it is a SELECT that found a row. Absent: the server has none.
   */
  readonly conditional?: ConditionalEnds | undefined;
  /**
   * Fails with the driver's own error, and with a conflict when a COMMIT undid the transaction. If the driver works on
   * the calling thread, returns the result directly and throws errors.
   */
  send(command: Command): RawResult | Promise<RawResult>;
  /** Batches of rows with back-pressure. Stopping early leaves the connection usable or destroys it. */
  stream(command: StreamCommand): AsyncIterable<RawRow[]>;
  /** Closes the session properly; takes at most a second. */
  close(): Promise<void>;
  /** Closes at once; a pending `send` rejects. Never throws. */
  destroy(): void;
}

/** How the values of a column must be read: a name that only the engine knows. */
export interface Kinds {
  /** Of a column as it is selected; null: every value is read in the same way. */
  expected(column: Column): string | null;
  /** Of a column of a result, as the driver describes it; null: it holds only nulls. */
  answered(field: unknown): string | null;
}

/** A statement that changes nothing, before it is run. `isStreamed`: its rows are taken in batches. */
export interface PlannedRead {
  readonly statement: Statement;
  readonly compiled: Pick<Compiled, "text" | "params" | "pace">;
  readonly isStreamed: boolean;
}

/** What a driver's error means. `columns` and `constraint` are set if the engine reports them. */
export interface Failure {
  readonly kind:
    | "duplicate"
    | "foreignKeyMissing"
    | "foreignKeyInUse"
    | "notNull"
    | "check"
    | "divisionByZero"
    | "tooLong"
    /** The statement or a row has more bytes than the server takes or sends at once. */
    | "tooLarge"
    | "outOfRange"
    | "badValue"
    /** The row and another one exclude each other (an exclusion constraint). */
    | "excluded"
    /** A value was sent for a column whose values only the database makes. */
    | "generated"
    /** The operator's trigger or procedure refused; `message` is its text. */
    | "rejected"
    /** A row-level security policy of the database refuses this caller. */
    | "forbidden"
    /** Deadlock, serialization failure, lock wait, busy: the transaction may be run again. */
    | "conflict"
    /** The server stopped the statement: it took too long. */
    | "timeout"
    /** Refused, lost, or unavailable. */
    | "connection"
    /** The disk, or what the database may use of it, is full. */
    | "full"
    /** A materialized view that has never been filled. */
    | "unfilled"
    /** The statement names a table or column that does not exist (any more), or a table that has become a view. */
    | "missing"
    | "unknown";
  /** The statement failed as it would if column types had changed; the error can also have other causes. */
  readonly mayHaveChanged?: true;
  /** In a read, the database may have failed to read a value of the statement, although the error names none. */
  readonly mayBeSent?: true;
  /** The value is a text of a condition, with characters that its column cannot hold. */
  readonly isCompared?: true;
  readonly columns?: readonly string[];
  /** Name of the violated constraint or index; its columns are found in the table. */
  readonly constraint?: string;
  /** The index of the parameter that the server could not read, from 0. */
  readonly parameter?: number;
  /** The message of the operator's trigger; only for `rejected`. */
  readonly message?: string;
}

/** What each code of an engine's errors means, from the codes of each meaning. */
export const kindByCode = <Code>(
  codes: Readonly<Partial<Record<Failure["kind"], readonly Code[]>>>,
): ReadonlyMap<Code, Failure["kind"]> => {
  const meanings = Object.entries(codes) as [Failure["kind"], readonly Code[]][];
  return new Map(meanings.flatMap(([kind, ofKind]) => ofKind.map((code) => [code, kind] as const)));
};

/** Failures that tell nothing about a statement: it may succeed at another time. */
export const passing: ReadonlySet<Failure["kind"]> = new Set([
  "conflict",
  "timeout",
  "connection",
  "full",
]);

export interface EngineOptions {
  /** Connections; SQLite: readers (it has one writer besides). */
  readonly connectionsMax: number;
  /** 0 = none. Enforced by the server if it can. */
  readonly statementTimeoutMs: number;
  readonly decimals: "number" | "string";
  /** PostgreSQL: the setting through which policies read the caller's claims. */
  readonly claimsSetting?: string;
  /** PostgreSQL, false: a pooler gives each transaction another session, so sessions keep no state. Absent: true. */
  readonly preparedStatements?: boolean;
  /** Certificates besides those that the URL names. */
  readonly tls?: TlsCertificates;
  /** Reads a file that the URL names; absent: there are no files. */
  readonly readFile?: (path: string) => string;
  /** True: nothing in the database is changed, not even its file's storage mode. Absent: it is read and written. */
  readonly isOnlyLookedAt?: boolean;
  /** True: the thread that uses it answers no requests. Absent: it answers them. */
  readonly isForJobs?: boolean;
  readonly log?: Log;
  /** How a connection gets to TLS where Node's own sockets cannot; absent: they can. */
  readonly openTls?: OpenTlsSocket;
}

export interface Savepoint {
  readonly set: string;
  /** The savepoint still has to be released afterwards. */
  readonly undo: string;
  readonly release: string;
}

export interface Engine {
  /** For the log. */
  readonly name: string;
  /** OpenTelemetry's name for the kind of database. */
  readonly system: string;
  readonly dialect: Dialect;
  /** True: all writes go through one connection, in a fair queue (SQLite). */
  readonly singleWriter: boolean;
  /** Upper limit of all connections, whatever was requested (SQLite in memory: one); else infinite. */
  readonly connectionsMax: number;
  /** Most connections for `longRead`, whose statements can be ended at any time. 0: no statement blocks others. */
  readonly longReadsMax: number;
  /** Whether the read may block the thread that runs it, and so belongs on a connection for `longRead`. */
  isLong(connection: Connection, read: PlannedRead): boolean;
  /**
   * What a connection sends with a statement: "all" that is around it, or only "openings", because statements behind one
   * that failed would run. Null: a connection sends them one by one.
   */
  readonly pipelines: "openings" | "all" | null;
  connect(role: "read" | "write" | "longRead"): Promise<Connection>;
  /**
   * The statement that sets a transaction's local settings, sent right after the first one of `begin`. `caller`: null =
   * the service itself. Null: there is nothing to set, and a single statement needs no transaction.
   */
  localSettings(caller: Caller | null): Command | null;
  /** Statements that open a transaction. */
  readonly begin: readonly string[];
  /** Statements that open a read-only transaction in which all reads see the same moment. */
  readonly beginSnapshot: readonly string[];
  /** Statements that open a transaction during which no other session writes to the table. `table`: its quoted name. */
  beginAlone(table: string): readonly string[];
  /** Statements behind those, see `TransactionOptions.findsMany`. */
  readonly beginFinding: readonly string[];
  readonly commit: string;
  readonly rollback: string;
  /**
   * For work that is rolled back in any case, or behind which a savepoint is set: called before it. The function that it
   * returns is called after it, and fails as a COMMIT would fail by what the database checks only then. Null: the
   * statements have checked everything.
   */
  foreseeCommit(connection: Connection): Promise<(() => Promise<void>) | null>;
  /** Within a transaction: bring back the settings on which statements rely, after a procedure. */
  readonly resettle: readonly string[];
  /** Undoes what a procedure can have left in the session: settings, temporary tables, locks. */
  reset(connection: Connection): Promise<void>;
  /** Statements around a part of a transaction that can be undone separately. */
  readonly savepoint: Savepoint;
  /** Messages between the sessions of the database; null: it has none, or a pooler loses them. */
  readonly signals: Signals | null;
  /** Null: the data are on one server. */
  readonly replication: Replication | null;
  /** A statement that shows that the database answers. */
  readonly probe: string;
  /**
   * Creates the table of `Session.ledger` in one statement, so that it never exists without its index. The `unique`
   * over time and key is that index, and forbids nothing.
   */
  readonly createLedger: Readonly<Record<LedgerName, string>>;
  /** What the driver's error means. */
  failure(error: unknown): Failure;
  /**
   * The message of a server's error, for the log. A message that may contain values of a request is replaced by a fixed
   * text. Null: not an error of the server.
   */
  loggedMessage(error: unknown): string | null;
  /** What an error of `connect` means to the operator. */
  connectFault(error: unknown): DatabaseFault;
  /** Null when there is no such table or view. `schema` null = the default one. */
  table(reading: TableReading, schema: string | null, name: string): Promise<Table | null>;
  /** See `Catalog.textIndex`. */
  textIndex(connection: Connection, table: Table, wish: TextIndexWish): Promise<TextIndexAnswer>;
  /** Foreign keys that point at a table, read by `incomingKeys`. Parameters: schema (null = the default one), table. */
  readonly referencesQuery: string;
  /** Whether the engine's decimals have enough digits for the formula's steps, with every value of its columns. */
  computes(computation: Computation): boolean;
  /** The tables and views of the default schema, as `name`. */
  readonly namesQuery: string;
  /** See `Catalog.schemas`; as `name`. Null: there is only one. */
  readonly schemasQuery: string | null;
  /** See `Db.plan`; the text is a SELECT of the service. */
  plan(connection: Connection, text: string, params: readonly unknown[]): Promise<QueryPlan>;
  /** See `Db.indexFor`. */
  indexFor(wish: IndexWish): IndexStatements | null;
  /** See `Catalog.outline`. */
  outlines(connection: Connection, schemas: readonly string[]): Promise<readonly Outline[]>;
  /** `text` comes without a final semicolon. */
  query(connection: Connection, text: string): Promise<readonly Column[]>;
  /** See `Catalog.routines`. Null: the database has none. */
  readonly routines:
    | ((connection: Connection, schema: string | null, name: string) => Promise<readonly Routine[]>)
    | null;
  /** The columns that the fields of a result describe; only name and type count. */
  outputs(fields: readonly unknown[]): readonly Column[];
  readonly kinds: Kinds;
}

/** Sends a statement on one connection, within a deadline. */
export type SendOne = (command: Command) => RawResult | Promise<RawResult>;

/** How far servers of the same data are. */
export interface Replication {
  /** The place that the primary has reached: all that was committed is before it. Null: it does not say. */
  position(send: SendOne): Promise<string | null>;
  /** Whether the replica has all that is before that place of its primary. */
  hasReached(send: SendOne, position: string): Promise<boolean>;
}

export interface Signals {
  /** Sends the text to all sessions that listen. */
  tell(text: string): Command;
  /** The connection, which was opened for this alone, listens until it ends; `onEnd`: it was lost. */
  listen(connection: Connection, hearing: Hearing): Promise<void>;
}

export interface Hearing {
  hear(text: string): void;
  onEnd(): void;
}

/** Answers of the database that concern all of its tables, by what was asked. */
export type SharedFacts = Map<string, Promise<unknown>>;

/** The rows of one of the service's own statements that is not repeated. */
export const rowsFor = async (
  connection: Connection,
  text: string,
  params: readonly unknown[] = [],
): Promise<RawRow[]> => (await connection.send({ text, params, reuse: false })).rows;

/** The same for what is asked of each table, so it is prepared: planning can take several times as long as the rest. */
export const rowsForEach = async (
  connection: Connection,
  text: string,
  params: readonly unknown[],
): Promise<RawRow[]> => (await connection.send({ text, params, reuse: true })).rows;

/** How a table is read. */
export interface TableReading {
  readonly connection: Connection;
  /** Shared with the tables that are read together with this one. */
  readonly shared: SharedFacts;
}

/** The answer of `ask`, or the one that another table of the same reading got. */
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

/** `open` of each engine's folder. Rejects with an Error for an unreadable URL; the database need not be reachable. */
export type OpenEngine = (url: string, options: EngineOptions) => Promise<Engine>;
