/** Core's `Catalog`: reads the tables and queries of the database, each call on its own connection. */
import { AppError } from "../../core/values/errors.ts";
import type { Catalog } from "../../core/plans/database-catalog.ts";
import type { Connection, Engine, SharedFacts } from "../engines/engine.ts";
import { describable } from "../statements/print.ts";
import { bareQuery } from "../statements/source.ts";
import type { Deadlines } from "../../core/values/deadlines.ts";
import { type Executor, overdueMessage } from "./executor.ts";
import type { Pool } from "./pool.ts";
import { acquire, outOfReach } from "./pools.ts";

/** The catalog is read at start, when no client is waiting. */
const catalogTimeoutMs = 30_000;

/** Runs `read` on a connection of the pool. */
export type OnConnection = <T>(
  pool: Pool,
  read: (connection: Connection) => Promise<T>,
) => Promise<T>;

/**
 * Rejects with `unavailable` when there is no connection or no answer; errors about the query or table are passed on.
 */
export const createOnConnection =
  (engine: Engine, { within }: Deadlines, { abandon }: Executor): OnConnection =>
  async (pool, read) => {
    const deadlineAtMs = performance.now() + catalogTimeoutMs;
    const connection = await acquire(pool, deadlineAtMs);
    try {
      return await within(
        read(connection),
        deadlineAtMs,
        () => abandon(connection),
        overdueMessage,
      );
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw engine.failure(error).kind === "connection" ? outOfReach(error, pool) : error;
    } finally {
      pool.release(connection);
    }
  };

export function createCatalog(
  engine: Engine,
  pool: Pool,
  onConnection: OnConnection,
  shared?: SharedFacts,
): Catalog {
  const reading = <T>(read: (connection: Connection) => Promise<T>): Promise<T> =>
    onConnection(pool, read);
  return {
    names: () => reading((connection) => engine.names(connection)),
    schemas: () => reading((connection) => engine.schemas(connection)),
    outline: (schemas) => reading((connection) => engine.outlines(connection, schemas)),
    query: (text) => reading((connection) => engine.query(connection, bareQuery(text))),
    referencesTo: ({ schema, name }) =>
      reading((connection) => engine.referencesTo(connection, schema, name)),
    answersStoredRows: engine.dialect.returning,
    computes: (computation) => engine.computes?.(computation) ?? true,
    parameterQuery: (texts, parameter) =>
      reading((connection) =>
        engine.query(connection, describable(engine.dialect, texts, parameter)),
      ),
    together: () => createCatalog(engine, pool, onConnection, new Map()),
    table: (name) =>
      reading(async (connection) => {
        const facts = shared ?? new Map();
        const read = (schema: string | null, own: string) =>
          engine.table({ connection, shared: facts }, schema, own);
        const point = name.indexOf(".");
        const qualified =
          point < 0 ? null : await read(name.slice(0, point), name.slice(point + 1));
        // A name may contain a dot without a schema.
        return qualified ?? read(null, name);
      }),
  };
}
