/** A database, as core uses it. `db/connections/db.ts` implements it; tests may pass their own. */
import type { Asking } from "./caller.ts";
import type { Catalog } from "./database-catalog.ts";
import type { IndexStatements, IndexWish } from "./index-wish.ts";
import type { Nudge } from "./nudge.ts";
import type { ConnectionCounts } from "./observer.ts";
import type { DbSession } from "../query/session.ts";
import type { Count, Select } from "../query/statement.ts";
import type { AlikeText, Column, Table } from "../values/types/column.ts";

export interface Db {
  readonly catalog: Catalog;
  /** Explains the cause of an `unavailable` if no connection could be opened. */
  faultOf(cause: unknown): DatabaseFault;
  /** `deadlineAtMs`: on the clock of `performance.now()`. `asking` absent: the service asks for itself. */
  session(deadlineAtMs: number, asking?: Asking): DbSession;
  /** The database's plan for the statement. Reads no row, so it needs no scope. Rejects if the database gives none. */
  plan(statement: Select | Count): Promise<QueryPlan>;
  /** These columns in at most `rows` rows, as the driver returns them. For commands that inspect a database. */
  look(
    table: Table,
    columns: readonly Column[],
    rows: number,
  ): Promise<readonly (readonly unknown[])[]>;
  /** Whether the table has more rows; reads as many at most. */
  isLarger(table: Table, rows: number): Promise<boolean>;
  /**
   * One form per text: two forms are equal exactly if the database compares the texts as equal. Rejects with
   * `unavailable`, and for a text that the type does not accept.
   */
  equalForms(texts: readonly AlikeText[], deadlineAtMs: number): Promise<readonly string[]>;
  /** Null: no index of this database would serve the requests. */
  indexFor(wish: IndexWish): IndexStatements | null;
  /** Resolves when a statement ran; rejects with `unavailable`. */
  ping(): Promise<void>;
  /** False: the last write that was tried failed because the disk was full. */
  hasRoom(): boolean;
  /** Tells other processes over the database itself; null: it has no messages. */
  readonly nudge: Nudge | null;
  /** Its connections at this moment. */
  connections(): ConnectionCounts;
  /** Lets running statements finish for a moment, then closes every connection. */
  close(): Promise<void>;
}

/**
 * Why a database cannot be used, for the operator: reason and remedy, which form one sentence. They contain no password
 * and no driver text.
 */
export interface DatabaseFault {
  /** `the server at localhost:5432 has no database "shop"`. */
  readonly reason: string;
  /** What to do: `correct its name in database.url, or create it`. */
  readonly remedy: string;
  /** True: waiting does not help. */
  readonly isLasting: boolean;
}

/** The database planner's view of a statement. */
export interface QueryPlan {
  /** Whether some table or index is read from end to end to find rows. */
  readonly readsAll: boolean;
  /** Whether all rows are sorted before the first one is returned. */
  readonly sortsAll: boolean;
}

/** Notices that the tables of the database are no longer those that the routes were compiled from. */
export interface SchemaWatch {
  /** Schedules a new compilation of the project. `failure`: the database's error for the failed statement, if any. */
  readonly doubt: (failure?: string) => void;
  /** Whether a request that failed like this may succeed when repeated. False: compiling again does not help. */
  mayPass(failure: string): boolean;
}
