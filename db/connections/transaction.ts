/**
 * Runs work in one transaction on one connection: statements in sequence, then a commit, or a rollback after any
 * failure.
 */
import { unavailable } from "../../core/values/errors.ts";
import type { DbTransaction } from "../../core/plans/ports.ts";
import type { Connection, Engine, Command } from "../engines/engine.ts";
import type { Compile } from "../statements/compile.ts";
import { Conflict, visibleError } from "./conflict.ts";
import type { Deadlines } from "../../core/values/deadlines.ts";
import { executing, type Executor, overdueMessage } from "./executor.ts";
import { createPart } from "./part.ts";
import type { Pool } from "./pool.ts";
import { acquire } from "./pools.ts";
import type { Execute } from "./execute.ts";

/** The work of a transaction. */
export type Work<T> = (execute: Execute, part: DbTransaction["part"]) => Promise<T>;

/** The pool in which a transaction runs, and the statements that open it. */
export interface Transacting {
  readonly pool: Pool;
  readonly begin: readonly string[];
  /** The settings that hold for it alone; null = none. */
  readonly local: Command | null;
  readonly deadlineAtMs: number;
}

/** Rejects with a Conflict when the work may run again, even if the work caught the conflict. */
export type Transact = <T>(work: Work<T>, transacting: Transacting) => Promise<T>;

export interface TransactionParts {
  readonly engine: Engine;
  readonly executor: Executor;
  readonly compile: Compile;
  readonly deadlines: Deadlines;
}

export function createTransact({
  engine,
  executor,
  compile,
  deadlines: { within },
}: TransactionParts): Transact {
  const { control, rollback } = executor;
  const execute = executing(executor, compile);

  async function run<T>(
    connection: Connection,
    work: Work<T>,
    { begin, local, deadlineAtMs }: Transacting,
  ): Promise<T> {
    const steps = createSteps();
    const statements: Execute = (statement) =>
      steps.next(() => execute(connection, statement, deadlineAtMs));
    const part = createPart(engine.savepoint, (text) =>
      steps.next(() => control(connection, text, deadlineAtMs)),
    );
    try {
      await executor.begin(connection, { texts: begin, local, deadlineAtMs });
      const result = await within(
        work(statements, part),
        deadlineAtMs,
        () => {},
        "The request took too long to process",
      );
      const failed = await steps.finish();
      if (failed !== undefined) throw failed;
      await control(connection, engine.commit, deadlineAtMs);
      return result;
    } catch (error) {
      const failed = await steps.stop();
      await rollback(connection);
      // Even if `work` handled the conflict itself, it has to run again.
      throw failed instanceof Conflict ? failed : error;
    }
  }

  return async (work, transacting) => {
    const { pool, deadlineAtMs } = transacting;
    if (performance.now() >= deadlineAtMs) throw unavailable(overdueMessage);
    const connection = await acquire(pool, deadlineAtMs);
    try {
      return await run(connection, work, transacting);
    } finally {
      pool.release(connection);
    }
  };
}

/**
 * Runs the steps of a transaction in sequence, and none after a failure: PostgreSQL refuses statements after a failure,
 * and a statement that ran after the ROLLBACK would be outside the transaction.
 */
function createSteps() {
  let ended = false;
  let failed: Error | undefined;
  let last: Promise<unknown> = Promise.resolve();

  return {
    next<R>(step: () => Promise<R>): Promise<R> {
      const result = last.then(async () => {
        if (ended) throw new Error("The transaction has ended");
        if (failed !== undefined) throw visibleError(failed);
        try {
          return await step();
        } catch (error) {
          failed = error as Error;
          throw visibleError(failed);
        }
      });
      last = result.catch(() => {});
      return result;
    },

    /** Waits for all steps and returns the failure of one; no further step starts. */
    async finish(): Promise<Error | undefined> {
      await last;
      ended = true;
      return failed;
    },

    /** Like `finish`, but pending steps are dropped. */
    async stop(): Promise<Error | undefined> {
      ended = true;
      await last;
      return failed;
    },
  };
}
