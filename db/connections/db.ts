/**
 * START HERE: core's `Db` over an engine, put together from its parts. A session's statements (`sessions.ts`) each take
 * a connection from a pool (`pools.ts`), run within the session's deadline (`executor.ts`), and release it.
 */
import { AppError } from "../../core/values/errors.ts";
import type { DbObserver } from "../../core/plans/observer.ts";
import type { Db, LedgerName, Log } from "../../core/plans/ports.ts";
import { sourceOf } from "../../core/query/statement.ts";
import type { Connection, Engine } from "../engines/engine.ts";
import { type Compile, createCompiler } from "../statements/compile.ts";
import { createCatalog, createOnConnection } from "./catalog.ts";
import { createReachLog } from "./reach-log.ts";
import { createRetry } from "./conflict.ts";
import { createDeadlines } from "../../core/values/deadlines.ts";
import { createExecutor, type Executor } from "./executor.ts";
import { createLedger } from "./ledger.ts";
import { observedEngine } from "./observed-engine.ts";
import type { Pool } from "./pool.ts";
import { acquire, createPools, outOfReach } from "./pools.ts";
import { createSessions } from "./sessions.ts";
import { createStreaming } from "./streaming.ts";
import { createTransact } from "./transaction.ts";

export interface DbOptions {
  readonly connectionsMax: number;
  /** 0 = none. */
  readonly statementTimeoutMs: number;
  /** Whether clients see the messages of triggers; absent: true. */
  readonly triggerMessages?: boolean;
  readonly log?: Log;
  /** Called with what the database says when a statement failed as if tables or columns had changed since they were looked up. */
  readonly onSchemaDoubt?: (failure: string) => void;
  /** A compiler of this engine with texts that it has already printed; absent: a new one. */
  readonly compile?: Compile;
  /** Learns of each statement; absent: nobody does. */
  readonly observer?: DbObserver;
}

const pingTimeoutMs = 5_000;

/** A database over the engine. Opens no connection yet. */
export function createDb(
  opened: Engine,
  {
    connectionsMax,
    statementTimeoutMs,
    triggerMessages = true,
    log,
    onSchemaDoubt,
    compile = createCompiler(opened.dialect),
    observer,
  }: DbOptions,
): Db {
  const engine = observer ? observedEngine(opened, observer) : opened;
  const deadlines = createDeadlines();
  const reachLog = log && createReachLog(log, (error) => engine.connectFault(error));
  const pools = createPools(engine, { connectionsMax, deadlines, observer, reachLog });
  const executor = createExecutor({
    engine,
    deadlines,
    statementTimeoutMs,
    compile,
    triggerMessages,
    onSchemaDoubt,
    log,
  });
  const onConnection = createOnConnection(engine, deadlines, executor);
  const catalog = createCatalog(engine, pools.readers, onConnection);
  const ledgerOf = (name: LedgerName) =>
    createLedger({
      find: catalog.table,
      make: (text) => onConnection(pools.writers, (connection) => connection.run(text, [], false)),
      name: `rowgate_${name}`,
      text: engine.createLedger[name],
    });
  const session = createSessions({
    engine,
    compile,
    executor,
    pools,
    transact: createTransact({ engine, executor, compile, deadlines }),
    retrying: createRetry(engine.name, log),
    streaming: createStreaming({ engine, executor, compile, deadlines, pool: pools.streams }),
    ledgers: { jobs: ledgerOf("jobs"), requests: ledgerOf("requests") },
  });
  return {
    catalog,
    faultOf: (cause) => engine.connectFault(cause),
    plan(statement) {
      const { text, params } = compile(statement);
      return onConnection(pools.readers, (connection) => engine.plan(connection, text, params));
    },
    async isLarger(table, rows) {
      const { text, params } = compile({
        kind: "select",
        source: sourceOf(table),
        columns: [...table.columns.values()].slice(0, 1),
        where: null,
        sort: [],
        limit: 1,
        offset: rows,
        lock: false,
      });
      const run = (connection: Connection) => connection.run(text, params, false);
      return (await onConnection(pools.readers, run)).rows.length > 0;
    },
    indexFor: (wish) => engine.indexFor(wish),
    session,
    ping: () => probe(pools.readers, executor, engine.probe),
    connections: () => pools.counts(),
    close: () => pools.close(),
  };
}

async function probe(pool: Pool, { step }: Executor, text: string): Promise<void> {
  const deadlineAtMs = performance.now() + pingTimeoutMs;
  const connection = await acquire(pool, deadlineAtMs);
  try {
    await step(connection, connection.run(text, [], true), deadlineAtMs);
  } catch (error) {
    throw error instanceof AppError ? error : outOfReach(error, pool);
  } finally {
    pool.release(connection);
  }
}
