/** The functions over which all statements and transactions of a session run. */
import type { Row } from "../../core/values/row.ts";
import type { ListText } from "../../core/query/list-text.ts";
import type { DbTransaction } from "../../core/query/session.ts";
import type { Statement } from "../../core/query/statement.ts";
import type { Connection } from "../engines/engine.ts";
import type { Pool } from "./pool.ts";
import type { Sending } from "./pools.ts";

/** The answer to one statement, decoded. */
export interface Written {
  readonly rows: Row[];
  /** What the statement asks for with `asText`, instead of the rows. */
  readonly list?: ListText;
  readonly matched: number;
  readonly insertId: bigint | null;
}

/** Runs one statement; it is atomic in itself. */
export type Execute = (statement: Statement) => Promise<Written>;

/** The work of a transaction. */
export type Work<T> = (
  execute: Execute,
  parts: Pick<DbTransaction, "part" | "last" | "both"> & { readonly withRead: WithRead },
) => Promise<T>;

/**
 * A write, and a read that counts only if the write did something: sent at once where the engine can, because a read
 * may also run where the write failed, and the transaction with it.
 */
export type WithRead = <A, B>(write: () => Promise<A>, read: () => Promise<B>) => Promise<[A, B]>;

/** The pool in which a transaction runs, and the statements that open it. */
export interface Transacting extends Omit<Sending, "signal"> {
  readonly pool: Pool;
  readonly begin: readonly string[];
  /** True: rolled back when the work has succeeded, too. Absent: committed. */
  readonly isUndone?: boolean;
  /** See `TransactionOptions`. */
  readonly isQuick?: boolean;
}

/**
 * Rejects with a Conflict when the work can run again, even if the work caught it; TooLong: it has to run elsewhere.
 */
export type Transact = <T>(work: Work<T>, transacting: Transacting) => Promise<T>;

/** Runs one transaction on a connection that is the caller's. */
export type RunTransaction = <T>(
  connection: Connection,
  work: Work<T>,
  transacting: Transacting,
) => Promise<T>;
