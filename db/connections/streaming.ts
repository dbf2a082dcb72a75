/**
 * Reads many rows in batches on separate connections, so that a long read does not block short statements. A count
 * from the same snapshot can come with it.
 */
import type { DbSnapshot } from "../../core/query/session.ts";
import type { Row } from "../../core/values/row.ts";
import type { Count, Select } from "../../core/query/statement.ts";
import { unavailable } from "../../core/values/errors.ts";
import type { Connection } from "../engines/engine.ts";
import type { Compiled } from "../statements/compile.ts";
import { TooLong, visibleError } from "./conflict.ts";
import { tooLate } from "../../core/values/deadlines.ts";
import { type Executor, type ExecutorOptions, openingOf } from "./executor.ts";
import type { Pool } from "./pool.ts";
import { acquire, endWith, type Pools, type Sending } from "./pools.ts";

export interface StreamingParts extends Pick<
  ExecutorOptions,
  "engine" | "sender" | "compile" | "deadlines"
> {
  readonly executor: Executor;
  readonly pools: Pools;
}

/** Errors are those of `DbSession`. */
export interface Streaming {
  rows(select: Select, reading: Sending & { readonly batchRows: number }): AsyncGenerator<Row[]>;
  /** One read-only transaction. It never waits for writers, so it is not retried. */
  snapshot<T>(work: (snapshot: DbSnapshot) => Promise<T>, sending: Sending): Promise<T>;
}

interface Reading {
  readonly batchRows: number;
  readonly deadlineAtMs: number;
  readonly isInTransaction?: boolean;
}

/** Longest time for a query to stop. */
const stopTimeoutMs = 2_000;

/** One piece, because its functions are the steps of two ways to read, over the same parts. */
export function createStreaming({
  engine,
  sender,
  executor,
  compile,
  deadlines: { within },
  pools: { streams, longReads, fitting },
}: StreamingParts): Streaming {
  const { step } = executor;

  /** Throws TooLong at once. */
  function rowsOn(connection: Connection, select: Select, reading: Reading): AsyncGenerator<Row[]> {
    const compiled = executor.current(select, compile(select));
    if (engine.isLong(connection, { statement: select, compiled, isStreamed: true }))
      throw new TooLong();
    return batchesOf(connection, { select, compiled }, reading);
  }

  /** Each batch within the deadline. */
  async function* batchesOf(
    connection: Connection,
    { select, compiled }: { select: Select; compiled: Compiled },
    { batchRows, deadlineAtMs, isInTransaction = false }: Reading,
  ): AsyncGenerator<Row[]> {
    const { text, params, decode, reading } = compiled;
    const columns = reading?.columns;
    const raw = sender.stream(connection, {
      text,
      params,
      reuse: true,
      batchRows,
      isInTransaction,
      onFields: (fields) => executor.learnKinds(compiled, { fields }),
    });
    const batches = raw[Symbol.asyncIterator]();
    let finished = true;
    try {
      for (;;) {
        // The query is over unless it returns rows: the driver ends a query that fails.
        finished = true;
        const next = await step(connection, batches.next(), deadlineAtMs);
        if (next.done === true) break;
        finished = false;
        // The consumer relies on the column types that it was given first.
        if (reading?.columns !== columns)
          throw unavailable("The tables of the database have changed; try again");
        const rows = decode(next.value);
        if (executor.isOutdated(compiled))
          throw unavailable("A column contains values in a new format; try again");
        yield rows;
      }
    } catch (error) {
      throw visibleError(executor.meaningOf(error, select));
    } finally {
      if (!finished) await stop(connection, batches);
    }
  }

  /** The consumer has stopped: the query is ended, or its connection is destroyed. */
  async function stop(connection: Connection, batches: AsyncIterator<unknown>): Promise<void> {
    try {
      const work = Promise.resolve(batches.return?.());
      await within(work, performance.now() + stopTimeoutMs, tooLate("The query does not stop"));
    } catch {
      connection.destroy();
    }
  }

  /** Rejects with TooLong, before the first row, if they have to be read in the other pool. */
  async function* rowsIn(
    pool: Pool,
    select: Select,
    { batchRows, deadlineAtMs, local, caller, signal }: Sending & { readonly batchRows: number },
  ): AsyncGenerator<Row[]> {
    const connection = await acquire(pool, deadlineAtMs, { caller });
    const release = endWith(signal, connection);
    const isInTransaction = local !== null;
    try {
      if (isInTransaction)
        await executor.begin(connection, openingOf({ texts: engine.begin, local }), deadlineAtMs);
      yield* rowsOn(connection, select, { batchRows, deadlineAtMs, isInTransaction });
    } finally {
      release();
      if (isInTransaction) await executor.rollback(connection);
      pool.release(connection, caller);
    }
  }

  async function countOn(
    connection: Connection,
    statement: Count,
    deadlineAtMs: number,
  ): Promise<number> {
    const compiled = compile(statement);
    if (engine.isLong(connection, { statement, compiled, isStreamed: false })) throw new TooLong();
    const { rows } = await executor.execute(connection, { statement, compiled, deadlineAtMs });
    return Number(rows[0]!["count"]);
  }

  /** Rejects with TooLong if the work has to run in the other pool. */
  async function snapshotIn<T>(
    pool: Pool,
    work: (snapshot: DbSnapshot) => Promise<T>,
    { deadlineAtMs, local, caller, signal }: Sending,
  ): Promise<T> {
    const connection = await acquire(pool, deadlineAtMs, { caller });
    const release = endWith(signal, connection);
    try {
      const opening = openingOf({ texts: engine.beginSnapshot, local });
      await executor.begin(connection, opening, deadlineAtMs);
      return await work({
        count: (count) => countOn(connection, count, deadlineAtMs),
        stream: (select, { batchRows }) =>
          rowsOn(connection, select, { batchRows, deadlineAtMs, isInTransaction: true }),
      });
    } finally {
      release();
      await executor.rollback(connection);
      pool.release(connection, caller);
    }
  }

  return {
    async *rows(select, reading) {
      try {
        yield* rowsIn(streams, select, reading);
      } catch (error) {
        if (!(error instanceof TooLong) || longReads === null) throw error;
        yield* rowsIn(longReads, select, reading);
      }
    },

    async snapshot(work, sending) {
      try {
        return await fitting(streams, (pool) => snapshotIn(pool, work, sending));
      } catch (error) {
        throw visibleError(error as Error);
      }
    },
  };
}
