/**
 * All that core asks of the world. `db/` implements Db, `app/wire.ts` the rest; tests may pass their own.
 */
import type { Column, Table } from "./column.ts";
import type { Aggregate, Count, Delete, Insert, Select, UpdateOne } from "./statement.ts";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** A row as answers show it: every value already in the JSON form of its column's type. */
export type Row = Record<string, Json>;

/**
 * Statements against one database. Each call outside a transaction is atomic in itself.
 * Errors are AppErrors: duplicateEntry, foreignKeyMissing, foreignKeyInUse, validationFailed (with the column where the engine tells),
 * unavailable (out of reach, overdue, or deadlocked after three retries), internal.
 */
export interface Queries {
  all(select: Select): Promise<Row[]>;
  /** The first row, or null. */
  one(select: Select): Promise<Row | null>;
  count(count: Count): Promise<number>;
  /** A row per group, its members in the order of the outputs. */
  aggregate(aggregate: Aggregate): Promise<Row[]>;
  /** The stored rows, in the order of `rows`. */
  insert(insert: Insert): Promise<Row[]>;
  /** The row after the change; null when no row has the key, or the guard does not hold. */
  updateOne(update: UpdateOne): Promise<Row | null>;
  /** The deleted rows as they were. */
  delete(statement: Delete): Promise<Row[]>;
}

/** Statements for one request, which all end (well or with `unavailable`) by its deadline. */
export interface Session extends Queries {
  /**
   * Runs `work` in one transaction on one connection: commits when it resolves, rolls back when it rejects.
   * The whole of `work` runs again (three times at most) after a deadlock or a serialization failure,
   * so it must have no effect outside the database.
   */
  tx<T>(work: (tx: Queries) => Promise<T>): Promise<T>;
  /** Rows in batches, without holding more than a few of them; ends the query when the consumer stops. */
  stream(select: Select, options: { batchRows: number }): AsyncIterable<Row[]>;
}

/** What the database says of its tables and of the columns that a query gives. */
export interface Catalog {
  /** `name` or `schema.name`; null when there is no such table or view. */
  table(name: string): Promise<Table | null>;
  /** The columns that the query gives, without reading rows. Rejects with an Error that says what the database said. */
  query(text: string): Promise<readonly Column[]>;
  /** Names of all tables and views of the default schema, for "did you mean". */
  names(): Promise<readonly string[]>;
}

export interface Db {
  readonly catalog: Catalog;
  /** `deadlineAtMs`: on the clock of `performance.now()`. */
  session(deadlineAtMs: number): Session;
  /** Resolves when a statement ran; rejects with `unavailable`. */
  ping(): Promise<void>;
  /** Lets running statements finish for a moment, then closes every connection. */
  close(): Promise<void>;
}

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Now, as ISO 8601 UTC with milliseconds. */
export type Clock = () => string;

/** A new UUID v4. */
export type NewId = () => string;
