/** The pools of one database: for reading, for writing where the engine has a single writer, and for streams. */
import { AppError, unavailable } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type { Connection, Engine } from "../engines/engine.ts";
import type { Deadlines } from "./deadlines.ts";
import { Pool } from "./pool.ts";

export interface Pools {
  readonly readers: Pool;
  readonly writers: Pool;
  readonly streams: Pool;
  close(): Promise<void>;
}

/** Opens no connection yet. `connectionsMax`: of each pool, where the engine has no limit of its own. */
export function createPools(
  engine: Engine,
  { connectionsMax, deadlines }: { connectionsMax: number; deadlines: Deadlines },
): Pools {
  const isLimited = engine.connectionsMax !== undefined;
  const size = Math.min(connectionsMax, engine.connectionsMax ?? connectionsMax);
  const readers = new Pool(() => engine.connect("read"), size, {
    // With only one connection, a busy one is normal, so waiting ends only at the request's deadline.
    acquireTimeoutMs: isLimited ? Infinity : limits.acquireTimeoutMs,
    deadlines,
  });
  const writers = engine.singleWriter
    ? new Pool(() => engine.connect("write"), 1, { acquireTimeoutMs: Infinity, deadlines })
    : readers;
  // Long streams must not block short statements.
  const streams = isLimited ? readers : new Pool(() => engine.connect("read"), size, { deadlines });
  return {
    readers,
    writers,
    streams,
    async close() {
      await Promise.all([...new Set([readers, writers, streams])].map((pool) => pool.close()));
    },
  };
}

/** A connection of the pool. Rejects with `unavailable` for every error of the driver. */
export async function acquire(pool: Pool, deadlineAtMs: number): Promise<Connection> {
  try {
    return await pool.acquire(deadlineAtMs);
  } catch (error) {
    throw error instanceof AppError ? error : outOfReach(error);
  }
}

export const outOfReach = (cause: unknown): AppError =>
  unavailable("The database is not reachable; try again later", cause);
