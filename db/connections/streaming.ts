/**
 * Reading many rows in batches, on connections of their own, so that a long read keeps no short statement waiting: alone, or with a count
 * of the same moment. What these share with all other statements comes from `db.ts`, which makes this.
 */
import type { DbQueries, DbSnapshot, Row } from "../../core/plans/ports.ts";
import type { Count, Select, Statement } from "../../core/query/statement.ts";
import type { Compiled } from "../statements/compile.ts";
import { Conflict } from "./conflict.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Connection } from "../engines/engine.ts";
import type { Pool } from "./pool.ts";

/** What `db.ts` lends. Errors of its functions are those of `DbSession`. */
export interface StreamingParts {
  readonly pool: Pool;
  compile(statement: Statement): Compiled;
  acquire(pool: Pool, deadlineAtMs: number): Promise<Connection>;
  count(connection: Connection, count: Count, deadlineAtMs: number): ReturnType<DbQueries["count"]>;
  /** Opens a transaction in which all reads see one moment. */
  begin(connection: Connection, deadlineAtMs: number): Promise<void>;
  rollback(connection: Connection): Promise<void>;
  errorOf(error: unknown, statement: Statement): Error;
  readonly within: Deadlines["within"];
  /** Waits for the work until the deadline; then the connection is gone. */
  step<T>(connection: Connection, work: Promise<T>, deadlineAtMs: number): Promise<T>;
}

interface Reading {
  readonly batchRows: number;
  readonly deadlineAtMs: number;
  readonly isInTransaction?: boolean;
}

/** A query that is told to stop has this long to do so. */
const stopTimeoutMs = 2_000;

export function createStreaming(parts: StreamingParts) {
  const { pool, compile, acquire, errorOf, step, within } = parts;

  /** Each batch within the deadline. */
  async function* rowsOn(
    connection: Connection,
    select: Select,
    { batchRows, deadlineAtMs, isInTransaction = false }: Reading,
  ): AsyncGenerator<Row[]> {
    const { text, params, decode } = compile(select);
    const raw = connection.stream(text, params, batchRows, isInTransaction);
    const batches = raw[Symbol.asyncIterator]();
    let finished = false;
    try {
      for (;;) {
        const next = await step(connection, batches.next(), deadlineAtMs);
        if (next.done === true) break;
        yield decode(next.value);
      }
      finished = true;
    } catch (error) {
      // The driver ended the query by failing.
      finished = true;
      throw errorOf(error, select);
    } finally {
      if (!finished) await stop(connection, batches);
    }
  }

  /** The consumer wants no more: the query ends, or its connection does. */
  async function stop(connection: Connection, batches: AsyncIterator<unknown>): Promise<void> {
    try {
      const work = Promise.resolve(batches.return?.());
      await within(work, performance.now() + stopTimeoutMs, () => {}, "The query does not stop");
    } catch {
      connection.destroy();
    }
  }

  return {
    async *rows(select: Select, reading: Reading): AsyncGenerator<Row[]> {
      const connection = await acquire(pool, reading.deadlineAtMs);
      try {
        yield* rowsOn(connection, select, reading);
      } finally {
        pool.release(connection);
      }
    },

    /** One transaction that only reads. It never waits for writers, so it is not tried again. */
    async snapshot<T>(
      work: (snapshot: DbSnapshot) => Promise<T>,
      deadlineAtMs: number,
    ): Promise<T> {
      const connection = await acquire(pool, deadlineAtMs);
      try {
        await parts.begin(connection, deadlineAtMs);
        return await work({
          count: (count) => parts.count(connection, count, deadlineAtMs),
          stream: (select, { batchRows }) =>
            rowsOn(connection, select, { batchRows, deadlineAtMs, isInTransaction: true }),
        });
      } catch (error) {
        throw error instanceof Conflict ? error.cause : error;
      } finally {
        await parts.rollback(connection);
        pool.release(connection);
      }
    },
  };
}
