/**
 * Statements against one database, as actions and jobs send them: whatever they ask, only rows of the caller's scope are seen and changed.
 * `scoped-session.ts` makes these sessions over those of `db`.
 */
import type { Table } from "../values/column.ts";
import type { LedgerName, Row } from "../plans/ports.ts";
import type {
  Aggregate,
  Ask,
  Calculate,
  Count,
  Delete,
  Insert,
  Native,
  Select,
  UpdateMany,
  UpdateOne,
} from "../query/statement.ts";

/**
 * Each call outside a transaction is atomic in itself.
 * Errors are AppErrors: duplicateEntry, foreignKeyMissing, foreignKeyInUse, validationFailed (with the column where the engine tells),
 * forbidden (a written row would lie outside the scope), unavailable (out of reach, overdue, or deadlocked after three retries), internal.
 */
export interface ReadQueries {
  all(select: Select): Promise<Row[]>;
  /** The first row, or null. */
  one(select: Select): Promise<Row | null>;
  count(count: Count): Promise<number>;
  /** How many rows the planner expects, a whole number; null where the engine has no figure for this count. */
  estimate(count: Count): Promise<number | null>;
  /** A row per group, its members in the order of the outputs. */
  aggregate(aggregate: Aggregate): Promise<Row[]>;
}

export interface Queries extends ReadQueries {
  /** The stored rows, in the order of `rows`. */
  insert(insert: Insert): Promise<Row[]>;
  /** The row after the change; null when no row has the key, or the guard does not hold. */
  updateOne(update: UpdateOne): Promise<Row | null>;
  /** Rejects (validationFailed, on the column) when a row divides by zero or its result does not fit. */
  calculate(statement: Calculate): Promise<void>;
  /** How many of the rows were there to be changed. Any number of rows, in statements that the engine takes. */
  updateMany(update: UpdateMany): Promise<number>;
  /** The deleted rows as they were. */
  delete(statement: Delete): Promise<Row[]>;
}

/** Statements that pass the scope by name, as `passages.ts` lists them; `past` in `scoped-session.ts` gives it. */
export interface UnscopedQueries extends Queries {
  /** The rows of a configured query, in its own order. */
  ask(ask: Ask): Promise<Row[]>;
  /**
   * The rows of the operator's own SQL, in the types that the driver tells of them. Whatever the database refuses in it is
   * `internal`: no client could have done better.
   */
  native(statement: Native): Promise<Row[]>;
}

/** Statements of one transaction. */
export interface Transaction extends Queries {
  /**
   * A part of the transaction that can be undone alone: when `work` rejects, what its statements did is taken back, and the transaction
   * may go on. After a statement that the database refused it cannot. Parts come one after the other.
   */
  part<T>(work: () => Promise<T>): Promise<T>;
}

/** What actions that only read get. */
export interface ReadSession extends ReadQueries {
  /** Runs `work`: all of its reads see the database as it was at one moment. */
  snapshot<T>(work: (queries: ReadQueries) => Promise<T>): Promise<T>;
  /** One of the service's own tables. Made when it is not there; rejects with `unavailable` when it cannot be. */
  ledger(name: LedgerName): Promise<Table>;
}

/** Statements for one request or job, which all end (well or with `unavailable`) by its deadline. */
export interface Session extends Queries, ReadSession {
  /** The tables that a write was sent to, whatever became of it; `unknown` stands for any. */
  readonly written: ReadonlySet<Table | "unknown">;
  /**
   * Runs `work` in one transaction on one connection: commits when it resolves, rolls back when it rejects.
   * The whole of `work` runs again (three times at most) after a deadlock or a serialization failure,
   * so it must have no effect outside the database. `alone`: nobody else writes to that table until it ends.
   */
  tx<T>(work: (tx: Transaction) => Promise<T>, options?: { alone?: Table | undefined }): Promise<T>;
  /** Rows in batches, without holding more than a few of them; ends the query when the consumer stops. */
  stream(select: Select, options: { batchRows: number }): AsyncIterable<Row[]>;
  /** Counts and streams that all see the database as it was at one moment, on one connection, one after the other. */
  longSnapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
}

export type Snapshot = Pick<Session, "count" | "stream">;
