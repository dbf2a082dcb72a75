/** The pools of one database: for reading, for writing where the engine has a single writer, and for streams. */
import type { ConnectionCounts, DbObserver } from "../../core/plans/observer.ts";
import { AppError } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type { Command, Connection, Engine } from "../engines/engine.ts";
import type { Deadlines } from "../../core/values/deadlines.ts";
import { TooLong } from "./conflict.ts";
import { Pool, type Taking } from "./pool.ts";
import type { ReachLog } from "./reach-log.ts";

export interface Pools {
  readonly readers: Pool;
  readonly writers: Pool;
  readonly streams: Pool;
  /** For reads that `Engine.isLong` selects. Null: no statement blocks others, or no further connection is possible. */
  readonly longReads: Pool | null;
  /** Runs the work in the pool, and again in that for long reads where it rejects with TooLong. */
  fitting<T>(pool: Pool, run: (pool: Pool) => Promise<T>): Promise<T>;
  /** Of all pools together. */
  counts(): ConnectionCounts;
  close(): Promise<void>;
}

export interface PoolsOptions {
  readonly connectionsMax: number;
  readonly isForOneCaller: boolean | undefined;
  readonly deadlines: Deadlines;
  readonly observer: DbObserver | undefined;
  readonly reachLog: ReachLog | undefined;
}

/** What all statements of a session have in common. */
export interface Sending {
  readonly deadlineAtMs: number;
  /** See `Engine.localSettings`. */
  readonly local: Command | null;
  /** See `Taking`. */
  readonly caller: string | null;
  /** See `Asking`. */
  readonly signal: AbortSignal | undefined;
}

/** Opens no connection yet. `connectionsMax`: of each pool, unless the engine has a limit. */
export function createPools(
  engine: Engine,
  { connectionsMax, isForOneCaller, deadlines, observer, reachLog }: PoolsOptions,
): Pools {
  const isLimited = engine.connectionsMax < Infinity;
  const size = Math.min(connectionsMax, engine.connectionsMax);
  const { longReadsMax } = engine;
  const common = { isForOneCaller, deadlines, observer, reachLog };
  const readers = new Pool(() => engine.connect("read"), size, {
    ...common,
    // With only one connection, a busy one is normal, so waiting ends only at the request's deadline.
    acquireTimeoutMs: isLimited ? Infinity : limits.acquireTimeoutMs,
  });
  const writers = engine.singleWriter
    ? new Pool(() => engine.connect("write"), 1, { ...common, acquireTimeoutMs: Infinity })
    : readers;
  // Long streams must not block short statements.
  const streams = isLimited ? readers : new Pool(() => engine.connect("read"), size, common);
  const longReads =
    longReadsMax === 0
      ? null
      : new Pool(() => engine.connect("longRead"), Math.min(size, longReadsMax), {
          ...common,
          // A busy machine starts a process slowly, and long reads are worth a wait: to the request's deadline.
          acquireTimeoutMs: Infinity,
          connectTimeoutMs: limits.requestDeadlineMs,
        });
  const all = [...new Set([readers, writers, streams, ...(longReads ? [longReads] : [])])];
  return {
    readers,
    writers,
    streams,
    longReads,
    fitting: (pool, run) =>
      run(pool).catch((error: unknown) => {
        if (!(error instanceof TooLong) || longReads === null) throw error;
        return run(longReads);
      }),
    counts: () => together(all.map((pool) => pool.counts())),
    async close() {
      await Promise.all(all.map((pool) => pool.close()));
    },
  };
}

export function together(counts: readonly ConnectionCounts[]): ConnectionCounts {
  const sum = (name: keyof ConnectionCounts) => counts.reduce((total, one) => total + one[name], 0);
  return { busy: sum("busy"), idle: sum("idle"), opening: sum("opening"), waiting: sum("waiting") };
}

/** A connection of the pool. Rejects with `unavailable` for every error of the driver. */
export async function acquire(
  pool: Pool,
  deadlineAtMs: number,
  taking: Taking = {},
): Promise<Connection> {
  try {
    return await pool.acquire(deadlineAtMs, taking);
  } catch (error) {
    throw error instanceof AppError ? error : outOfReach(error, pool);
  }
}

/** Destroys the connection when the signal aborts, until the returned function is called. */
export function endWith(signal: AbortSignal | undefined, connection: Connection): () => void {
  if (signal === undefined) return () => {};
  const end = (): void => connection.destroy();
  // It can have ended while the connection was waited for.
  if (signal.aborted) end();
  signal.addEventListener("abort", end);
  return () => signal.removeEventListener("abort", end);
}

/** `pool`: the one that had no connection to give. */
export const outOfReach = (cause: unknown, { isReported }: Pick<Pool, "isReported">): AppError =>
  new AppError("unavailable", "The database is not reachable; try again later", {
    cause,
    isReported,
  });
