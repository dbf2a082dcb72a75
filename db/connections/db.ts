/**
 * START HERE: core's `Db` over an engine, put together from its parts. A session's statements (`sessions.ts`) each take
 * a connection from a pool (`pools.ts`), run within the session's deadline (`executor.ts`), and release it.
 */
import { AppError } from "../../core/values/errors.ts";
import type { DbObserver } from "../../core/plans/observer.ts";
import type { Db } from "../../core/plans/db-port.ts";
import type { LedgerName } from "../../core/query/session.ts";
import type { Log } from "../../core/plans/log-port.ts";
import { type Select, sourceOf } from "../../core/query/statement.ts";
import type { Table } from "../../core/values/types/column.ts";
import type { Command, Engine, RawResult, SendOne } from "../engines/engine.ts";
import { type Compile, createCompiler } from "../statements/compile.ts";
import { createCatalog, createOnConnection } from "./catalog.ts";
import { createReachLog } from "./reach-log.ts";
import { createRetry } from "./conflict.ts";
import { createDeadlines } from "../../core/values/deadlines.ts";
import { createExecutor } from "./executor.ts";
import { createLedger } from "./ledger.ts";
import type { Pool } from "./pool.ts";
import { acquire, createPools, outOfReach } from "./pools.ts";
import { createSessions } from "./sessions.ts";
import { createStreaming } from "./streaming.ts";
import { createTransact } from "./transaction.ts";
import { createNudge } from "./signals.ts";
import { createRoom } from "./room.ts";
import { createSender } from "./sender.ts";

export interface DbOptions {
  readonly connectionsMax: number;
  /** All connections belong to one request, which can use all of them. Absent: one caller gets at most half. */
  readonly isForOneCaller?: boolean;
  /** 0 = none. */
  readonly statementTimeoutMs: number;
  /** Whether clients see the messages of triggers; absent: true. */
  readonly triggerMessages?: boolean;
  readonly log?: Log;
  /** Called with the database's message when a failure suggests that tables or columns have changed. */
  readonly onSchemaDoubt?: (failure: string) => void;
  /** A compiler of this engine with texts that it has already printed; absent: a new one. */
  readonly compile?: Compile;
  /** Receives each statement. */
  readonly observer?: DbObserver;
}

const pingTimeoutMs = 5_000;

/** A database whose data may be replicated. */
export interface OpenedDb extends Db {
  /** How far it is: all that was committed is before that place. Null: it does not say. */
  position(deadlineAtMs: number): Promise<string | null>;
  /** Of a replica: whether it has all that is before that place of the primary. */
  hasReached(position: string, deadlineAtMs: number): Promise<boolean>;
}

/** A database over the engine. Opens no connection yet. One piece, because it only connects the parts to each other. */
export function createDb(
  engine: Engine,
  {
    connectionsMax,
    isForOneCaller,
    statementTimeoutMs,
    triggerMessages = true,
    log,
    onSchemaDoubt,
    compile = createCompiler(engine.dialect),
    observer,
  }: DbOptions,
): OpenedDb {
  const sender = createSender(engine, observer);
  const deadlines = createDeadlines();
  const reachLog = log && createReachLog(log, (error) => engine.connectFault(error));
  const room = createRoom(log);
  const pools = createPools(engine, {
    connectionsMax,
    isForOneCaller,
    deadlines,
    observer,
    reachLog,
  });
  const executor = createExecutor({
    engine,
    sender,
    deadlines,
    statementTimeoutMs,
    compile,
    triggerMessages,
    onSchemaDoubt(failure) {
      // The service's own tables can be missing as well, after a restore for example.
      for (const ledger of Object.values(ledgers)) ledger.forget();
      onSchemaDoubt?.(failure);
    },
    room,
    log,
  });
  const onConnection = createOnConnection(engine, deadlines, executor);
  const send = (pool: Pool, command: Command): Promise<RawResult> =>
    onConnection(pool, async (connection) => sender.send(connection, command));
  const catalog = createCatalog(engine, pools.readers, onConnection);
  const ledgerOf = (name: LedgerName) =>
    createLedger({
      find: catalog.table,
      make: (text) => send(pools.writers, { text, params: [], reuse: false }),
      name: `rowgate_${name}`,
      text: engine.createLedger[name],
      deadlines,
    });
  const ledgers = {
    jobs: ledgerOf("jobs"),
    requests: ledgerOf("requests"),
    changes: ledgerOf("changes"),
    change_order: ledgerOf("change_order"),
    deliveries: ledgerOf("deliveries"),
    numbers: ledgerOf("numbers"),
    files: ledgerOf("files"),
  };
  const session = createSessions({
    engine,
    compile,
    executor,
    pools,
    transact: createTransact({ engine, executor, compile, deadlines, room }),
    retrying: createRetry(engine.name, log),
    streaming: createStreaming({ engine, sender, executor, compile, deadlines, pools }),
    ledgers,
    room,
  });
  /** Rejects with `unavailable` at the deadline and where there is no connection. */
  async function once<T>(
    deadlineAtMs: number,
    work: (send: SendOne) => T | Promise<T>,
    pool = pools.readers,
  ): Promise<T> {
    const connection = await acquire(pool, deadlineAtMs);
    try {
      return await work((command) => executor.send(connection, command, deadlineAtMs));
    } catch (error) {
      throw error instanceof AppError ? error : outOfReach(error, pool);
    } finally {
      pool.release(connection);
    }
  }
  const sendOnce = (command: Command, deadlineAtMs: number): Promise<RawResult> =>
    once(deadlineAtMs, (send) => send(command));
  const someRows = async (
    table: Table,
    part: Pick<Select, "columns" | "limit" | "offset">,
  ): Promise<readonly (readonly unknown[])[]> => {
    const source = sourceOf(table);
    const select: Select = { kind: "select", source, where: null, sort: [], lock: false, ...part };
    const { text, params } = compile(select);
    const { rows } = await send(pools.readers, { text, params, reuse: false });
    return rows.map((row) => part.columns.map(({ name }) => row[name]));
  };
  const nudge = createNudge(engine, (command) => send(pools.writers, command));
  return {
    catalog,
    faultOf: (cause) => engine.connectFault(cause),
    plan(statement) {
      const { text, params } = compile(statement);
      return onConnection(pools.readers, (connection) => engine.plan(connection, text, params));
    },
    look: (table, columns, limit) => someRows(table, { columns, limit, offset: 0 }),
    async isLarger(table, offset) {
      const columns = [...table.columns.values()].slice(0, 1);
      return (await someRows(table, { columns, limit: 1, offset })).length > 0;
    },
    async equalForms(texts, deadlineAtMs) {
      const { placeholder } = engine.dialect;
      const forms = texts.map(
        ({ alike: { before, behind } }, at) => `${before}${placeholder(at)}${behind} as f${at}`,
      );
      const params = texts.map(({ text }) => text);
      const command = { text: `select ${forms.join(", ")}`, params, reuse: false };
      const { rows } = await sendOnce(command, deadlineAtMs);
      return texts.map((_, at) => String(rows[0]![`f${at}`]));
    },
    indexFor: (wish) => engine.indexFor(wish),
    session,
    async ping() {
      const command = { text: engine.probe, params: [], reuse: true };
      await sendOnce(command, performance.now() + pingTimeoutMs);
    },
    hasRoom: () => !room.isFull,
    // Not behind the statements of requests, which may take all other connections for seconds.
    position: (deadlineAtMs) =>
      once(
        deadlineAtMs,
        async (send) => (await engine.replication?.position(send)) ?? null,
        pools.streams,
      ),
    hasReached: (position, deadlineAtMs) =>
      once(
        deadlineAtMs,
        async (send) => (await engine.replication?.hasReached(send, position)) ?? false,
        pools.streams,
      ),
    nudge,
    connections: () => pools.counts(),
    async close() {
      nudge?.close();
      await pools.close();
    },
  };
}
