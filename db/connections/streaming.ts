/**
 * Reads many rows in batches on separate connections, so that a long read does not block short statements; alone, or
 * with a count from the same snapshot.
 */
import type { DbSnapshot, Row } from "../../core/plans/ports.ts";
import type { Select } from "../../core/query/statement.ts";
import { unavailable } from "../../core/values/errors.ts";
import type { Connection, Engine, Command } from "../engines/engine.ts";
import type { Compile } from "../statements/compile.ts";
import { visibleError } from "./conflict.ts";
import type { Deadlines } from "../../core/values/deadlines.ts";
import { executing, type Executor } from "./executor.ts";
import type { Pool } from "./pool.ts";
import { acquire } from "./pools.ts";

export interface StreamingParts {
  readonly engine: Engine;
  readonly executor: Executor;
  readonly compile: Compile;
  readonly deadlines: Deadlines;
  readonly pool: Pool;
}

/** Errors are those of `DbSession`. */
export interface Streaming {
  rows(select: Select, reading: Sending & { readonly batchRows: number }): AsyncGenerator<Row[]>;
  /** One read-only transaction. It never waits for writers, so it is not retried. */
  snapshot<T>(work: (snapshot: DbSnapshot) => Promise<T>, sending: Sending): Promise<T>;
}

interface Sending {
  readonly deadlineAtMs: number;
  /** The settings of the transaction alone; null = none. */
  readonly local: Command | null;
}

interface Reading {
  readonly batchRows: number;
  readonly deadlineAtMs: number;
  readonly isInTransaction?: boolean;
}

/** How long a query may take to stop. */
const stopTimeoutMs = 2_000;

export function createStreaming({
  engine,
  executor,
  compile,
  deadlines: { within },
  pool,
}: StreamingParts): Streaming {
  const { step } = executor;
  const execute = executing(executor, compile);

  /** Each batch within the deadline. */
  async function* rowsOn(
    connection: Connection,
    select: Select,
    { batchRows, deadlineAtMs, isInTransaction = false }: Reading,
  ): AsyncGenerator<Row[]> {
    const compiled = executor.current(select, compile(select));
    const { text, params, decode } = compiled;
    const raw = connection.stream(text, params, batchRows, isInTransaction);
    const batches = raw[Symbol.asyncIterator]();
    let finished = false;
    try {
      for (;;) {
        const next = await step(connection, batches.next(), deadlineAtMs);
        if (next.done === true) break;
        const rows = decode(next.value);
        if (executor.isOutdated(compiled))
          throw unavailable("A column contains values in a new format; try again");
        yield rows;
      }
      finished = true;
    } catch (error) {
      // The driver ended the query by failing.
      finished = true;
      throw visibleError(executor.meaningOf(error, select));
    } finally {
      if (!finished) await stop(connection, batches);
    }
  }

  /** The consumer has stopped: the query is ended, or its connection is destroyed. */
  async function stop(connection: Connection, batches: AsyncIterator<unknown>): Promise<void> {
    try {
      const work = Promise.resolve(batches.return?.());
      await within(work, performance.now() + stopTimeoutMs, () => {}, "The query does not stop");
    } catch {
      connection.destroy();
    }
  }

  return {
    async *rows(select, { batchRows, deadlineAtMs, local }) {
      const connection = await acquire(pool, deadlineAtMs);
      const isInTransaction = local !== null;
      try {
        if (isInTransaction)
          await executor.begin(connection, { texts: engine.begin, local, deadlineAtMs });
        yield* rowsOn(connection, select, { batchRows, deadlineAtMs, isInTransaction });
      } finally {
        if (isInTransaction) await executor.rollback(connection);
        pool.release(connection);
      }
    },

    async snapshot(work, { deadlineAtMs, local }) {
      const connection = await acquire(pool, deadlineAtMs);
      try {
        await executor.begin(connection, { texts: engine.beginSnapshot, local, deadlineAtMs });
        return await work({
          async count(count) {
            const { rows } = await execute(connection, count, deadlineAtMs);
            return Number(rows[0]!["count"]);
          },
          stream: (select, { batchRows }) =>
            rowsOn(connection, select, { batchRows, deadlineAtMs, isInTransaction: true }),
        });
      } catch (error) {
        throw visibleError(error as Error);
      } finally {
        await executor.rollback(connection);
        pool.release(connection);
      }
    },
  };
}
