/**
 * All calls to a database, each declared once. Actions and jobs get a `Session`, whose statements read and change only
 * rows in the caller's scope. `core/callers/scoped-session.ts` implements it over a `DbSession` of `db`, which has the
 * same calls but accepts only statements that contain a scope.
 */
import type { Column, Table } from "../values/types/column.ts";
import type { Row } from "../values/row.ts";
import type { ListText, TextForm } from "./list-text.ts";
import type {
  Aggregate,
  Ask,
  Calculate,
  Count,
  Delete,
  Insert,
  Narrowed,
  Native,
  Select,
  UpdateMany,
  UpdateOne,
} from "./statement.ts";

/**
 * Each call outside a transaction is atomic in itself. Errors are AppErrors: duplicateEntry, foreignKeyMissing,
 * foreignKeyInUse, validationFailed (with the column if the engine reports it), forbidden (a written row would be
 * outside the scope), unavailable (unreachable, past the deadline, or deadlocked after three retries), internal.
 */
export interface ReadQueries {
  all(select: Select): Promise<Row[]>;
  /** The same rows as one text, in a fraction of the time: for answers that show them as they are. */
  allAsText(select: Select, form: TextForm): Promise<ListText>;
  /** The first row, or null. */
  one(select: Select): Promise<Row | null>;
  count(count: Count): Promise<number>;
  /** About the number of rows, within a factor of two; null when there is no such estimate for this count. */
  estimate(count: Count): Promise<number | null>;
  /** A row per group, its members in the order of the outputs. */
  aggregate(aggregate: Aggregate): Promise<Row[]>;
}

export interface Queries extends ReadQueries {
  /** The stored rows, in the order of `rows`. */
  insert(insert: Insert): Promise<Row[]>;
  /** The row after the change; null when no row has the key, or the guard is false for it. */
  updateOne(update: UpdateOne): Promise<Row | null>;
  /** Rejects (validationFailed, on the column) when a row divides by zero or its result does not fit. */
  calculate(statement: Calculate): Promise<void>;
  /**
   * The number of rows that existed and were changed. Any number of rows; they are split into statements that the
   * engine accepts.
   */
  updateMany(update: UpdateMany): Promise<number>;
  /** The deleted rows as they were. */
  delete(statement: Delete): Promise<Row[]>;
}

/** Statements that bypass the scope, as listed in `core/callers/passages.ts`; see `past` in `scoped-session.ts`. */
export interface UnscopedQueries extends Queries {
  /** The rows of a configured query, in the order of the query. */
  ask(ask: Ask): Promise<Row[]>;
  /**
   * The rows of SQL written by the operator, in the types that the driver reports. Errors in it are `internal`, because
   * the client cannot correct them.
   */
  native(statement: Native): Promise<Row[]>;
}

/** Statements of one transaction. */
export interface Transaction extends Queries {
  /**
   * A part of the transaction that can be rolled back separately (savepoint). When `work` rejects, its statements are
   * rolled back, and the transaction may continue, unless the database has given it up (deadlock, lost connection).
   * Parts run one after the other.
   */
  part<T>(work: () => Promise<T>, options?: PartOptions): Promise<T>;
}

export interface PartOptions {
  /**
   * True: rejects with what a COMMIT after the part would refuse. A joined session ignores it: what a later step stores
   * may be what is missing.
   */
  readonly foreseesCommit?: boolean;
}

/** The session of actions that only read. */
export interface ReadSession extends ReadQueries {
  /** Runs `work`: all of its reads see the database as it was at one moment. */
  snapshot<T>(work: (queries: ReadQueries) => Promise<T>): Promise<T>;
  /**
   * One of the service's own tables, created if it does not exist. Rejects with `unavailable` when it cannot be
   * created.
   */
  ledger(name: LedgerName): Promise<Table>;
}

export interface TransactionOptions {
  /** No other session writes to that table until the transaction ends. */
  readonly alone?: Table | undefined;
  /**
   * True: everything happens, and is rolled back when `work` has resolved; `written` does not name its tables. Rejects
   * with what a COMMIT would have refused. Absent: it is committed.
   */
  readonly isUndone?: boolean | undefined;
  /** True: `work` is a few quick statements, and may be a part of a transaction with others. */
  readonly isQuick?: boolean;
  /** True: it finds records by many keys, in a table whose statistics do not count what it stored itself. */
  readonly findsMany?: boolean;
  /** True: `work` may reject and be replaced by other work. Only a joined session needs to know. */
  readonly isReplaceable?: boolean | undefined;
}

export interface JoinOptions extends Pick<TransactionOptions, "isUndone"> {
  /** True: nothing is written, and all reads see the database as it was at one moment. */
  readonly isReadOnly: boolean;
}

/** Statements for one request or job, which all end (well or with `unavailable`) by its deadline. */
export interface Session extends Queries, ReadSession {
  /** The tables that a write was sent to, successful or not; `unknown` means any table. */
  readonly written: ReadonlySet<Table | "unknown">;
  /**
   * Runs `work` in one transaction on one connection: commits when it resolves, rolls back when it rejects. The whole
   * of `work` runs again (three times at most) after a deadlock or a serialization failure, so it must have no effect
   * outside the database.
   */
  tx<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Rows in batches, without holding more than a few of them; ends the query when the consumer stops. */
  stream(select: Select, options: { batchRows: number }): AsyncIterable<Row[]>;
  /** Counts and streams that all see the database as it was at one moment, on one connection, one after the other. */
  longSnapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
}

export type Snapshot = Pick<Session, "count" | "stream">;

/**
 * The tables `rowgate_jobs`, `rowgate_requests`, `rowgate_changes` and `rowgate_numbers`. The transaction that does the
 * work also stores the job's result, the answer of a request with Idempotency-Key, what it changed, and the last number
 * of each counter. `rowgate_files` says of each file of a record where it belongs. `rowgate_change_order` is the end of
 * the order that committed writes get. `rowgate_deliveries` has what webhooks are still to be told.
 */
export type LedgerName =
  | "jobs"
  | "requests"
  | "changes"
  | "change_order"
  | "deliveries"
  | "numbers"
  | "files";

/** The same calls for statements that have been through a scope. */
type AsNarrowed<Calls> = {
  readonly [Name in keyof Calls]: Calls[Name] extends (
    statement: infer Asked,
    ...more: infer More
  ) => infer Answer
    ? (statement: Narrowed<Asked>, ...more: More) => Answer
    : never;
};

export interface DbQueries extends AsNarrowed<UnscopedQueries> {
  /** Whether writes of single rows of the table take a `logging` that tells these columns. */
  tells(table: Table, columns: readonly Column[]): boolean;
}

export type DbTransaction = DbQueries &
  Pick<Transaction, "part"> & {
    /** Runs the work, whose only statement is the last one of the transaction: it may be sent with the COMMIT. */
    last<T>(work: () => Promise<T>): Promise<T>;
    /** Runs two pieces of work of one statement each, the second even if the first fails: both may be sent at once. */
    both<A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]>;
  };

export type DbSnapshot = AsNarrowed<Snapshot>;

export interface DbSession extends DbQueries, DbSnapshot, Pick<Session, "written" | "ledger"> {
  tx<T>(work: (tx: DbTransaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  snapshot<T>(work: (queries: DbQueries) => Promise<T>): Promise<T>;
  longSnapshot<T>(work: (snapshot: DbSnapshot) => Promise<T>): Promise<T>;
  /**
   * Several pieces of work, each of which would have a session for itself, in one transaction: all statements of the
   * joined session belong to it, and its own transactions and snapshots are parts of it. It cannot stream. Commits,
   * rolls back and runs again as `tx` does.
   */
  join<T>(work: (joined: DbSession) => Promise<T>, options: JoinOptions): Promise<T>;
}
