/**
 * The service's own tables for results of jobs and answers of requests: looked up, or created on first use. If the
 * database user has no right to create tables, the cause of the error has the statement for an administrator.
 */
import type { Table } from "../../core/values/types/column.ts";
import { openedOnce } from "../../core/values/opened-once.ts";
import { type Deadlines, tooLate } from "../../core/values/deadlines.ts";
import { AppError, unavailable } from "../../core/values/errors.ts";

export interface Ledger {
  /**
   * Rejects with `unavailable` if the table does not exist and cannot be created by then. The logged cause is the
   * reason, or the statement that an administrator has to run.
   */
  table(deadlineAtMs: number): Promise<Table>;
  /** Makes the next use look the table up again, as it can have been dropped. */
  forget(): void;
}

interface LedgerOptions {
  find(name: string): Promise<Table | null>;
  /** Runs `text`, the statement that creates the table. */
  make(text: string): Promise<unknown>;
  readonly name: string;
  readonly text: string;
  readonly deadlines: Deadlines;
}

const overdueMessage =
  "The database took too long to give the service a table of its own; another program may hold a lock on it";

/** Looks the table up once, and again only after a failure. Concurrent requests wait for the same look-up. */
export function createLedger({ find, make, name, text, deadlines }: LedgerOptions): Ledger {
  async function findOrCreate(): Promise<Table> {
    const found = await find(name);
    if (found) return found;
    // When two processes create it at the same time, one of them can fail.
    const failure: unknown = await make(text).then(
      () => undefined,
      (error: unknown) => error,
    );
    const made = await find(name);
    if (made) return made;
    // No connection, no disk space or a lock of another program: a temporary failure.
    if (failure instanceof AppError) throw failure;
    const reason = `The table ${name} is not there and could not be made. Have it made with: ${text}`;
    throw unavailable(
      "The database has no table for the records of the service itself, and refuses to create it",
      new Error(reason, { cause: failure }),
    );
  }

  const known = openedOnce(findOrCreate);
  return {
    table(deadlineAtMs) {
      return deadlines.within(known(), deadlineAtMs, tooLate(overdueMessage));
    },
    forget: known.forget,
  };
}
