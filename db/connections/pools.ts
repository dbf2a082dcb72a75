/** The pools of one database: for reading, for writing where the engine has a single writer, and for streams. */
import type { ConnectionCounts, DbObserver } from "../../core/plans/observer.ts";
import { AppError } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type { Connection, Engine } from "../engines/engine.ts";
import type { Deadlines } from "../../core/values/deadlines.ts";
import { Pool } from "./pool.ts";
import type { ReachLog } from "./reach-log.ts";

export interface Pools {
  readonly readers: Pool;
  readonly writers: Pool;
  readonly streams: Pool;
  /** Of all pools together. */
  counts(): ConnectionCounts;
  close(): Promise<void>;
}

export interface PoolsOptions {
  readonly connectionsMax: number;
  readonly deadlines: Deadlines;
  readonly observer: DbObserver | undefined;
  readonly reachLog: ReachLog | undefined;
}

/** Opens no connection yet. `connectionsMax`: of each pool, where the engine has no limit of its own. */
export function createPools(
  engine: Engine,
  { connectionsMax, deadlines, observer, reachLog }: PoolsOptions,
): Pools {
  const isLimited = engine.connectionsMax !== undefined;
  const size = Math.min(connectionsMax, engine.connectionsMax ?? connectionsMax);
  const common = { deadlines, observer, reachLog };
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
  const all = [...new Set([readers, writers, streams])];
  return {
    readers,
    writers,
    streams,
    counts() {
      const counts = all.map((pool) => pool.counts());
      const sum = (name: keyof ConnectionCounts) =>
        counts.reduce((total, one) => total + one[name], 0);
      return {
        busy: sum("busy"),
        idle: sum("idle"),
        opening: sum("opening"),
        waiting: sum("waiting"),
      };
    },
    async close() {
      await Promise.all(all.map((pool) => pool.close()));
    },
  };
}

/** A connection of the pool; `shares`: one that may carry others, as `Pool.tryShare`. Rejects with `unavailable` for every error of the driver. */
export async function acquire(
  pool: Pool,
  deadlineAtMs: number,
  shares = false,
): Promise<Connection> {
  try {
    return await pool.acquire(deadlineAtMs, shares);
  } catch (error) {
    throw error instanceof AppError ? error : outOfReach(error, pool);
  }
}

/** `pool`: whose connection was asked for. */
export const outOfReach = (cause: unknown, { isReported }: Pick<Pool, "isReported">): AppError =>
  new AppError("unavailable", "The database is not reachable; try again later", {
    cause,
    isReported,
  });
