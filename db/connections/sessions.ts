/** Core's `DbSession`: the database calls of one request until its deadline. */
import { unavailable } from "../../core/values/errors.ts";
import { type Caller, claimsOf } from "../../core/plans/caller.ts";
import type { Table } from "../../core/values/column.ts";
import type {
  DbQueries,
  DbSession,
  DbSnapshot,
  DbTransaction,
  LedgerName,
  Row,
} from "../../core/plans/ports.ts";
import type { Narrowed, Select, Statement } from "../../core/query/statement.ts";
import type { Command, Connection, Engine } from "../engines/engine.ts";
import type { Compile } from "../statements/compile.ts";
import { quotedName } from "../statements/print.ts";
import type { Retry } from "./conflict.ts";
import {
  changesNothing,
  type Execution,
  type Executor,
  isOverdue,
  overdueMessage,
} from "./executor.ts";
import type { Pool } from "./pool.ts";
import { acquire, type Pools } from "./pools.ts";
import type { Execute, Written } from "./execute.ts";
import { StatementQueries } from "./queries.ts";
import type { Streaming } from "./streaming.ts";
import type { Transact, Work } from "./transaction.ts";

export interface SessionParts {
  readonly engine: Engine;
  readonly compile: Compile;
  readonly executor: Executor;
  readonly pools: Pools;
  readonly transact: Transact;
  readonly retrying: Retry;
  readonly streaming: Streaming;
  readonly ledgers: Readonly<Record<LedgerName, () => Promise<Table>>>;
}

/** What all statements of a session have in common. */
interface Sending {
  readonly deadlineAtMs: number;
  /** See `Engine.localSettings`. */
  readonly local: Command | null;
}

/** A statement that is a transaction of its own. */
interface Single {
  readonly pool: Pool;
  readonly execution: Execution;
  readonly local: Command | null;
}

/** Creates a function that makes sessions with a deadline and a caller. */
export function createSessions(
  parts: SessionParts,
): (deadlineAtMs: number, caller?: Caller) => DbSession {
  const { engine, compile, executor, pools, transact, retrying, streaming, ledgers } = parts;
  const { dialect } = engine;
  const { readers, writers } = pools;

  /** On a connection that was taken from the pool, which gets it back. */
  async function runOn(connection: Connection, { pool, execution, local }: Single) {
    const startedMs = performance.now();
    try {
      const written = await (local === null
        ? executor.execute(connection, execution)
        : executor.executeAlone(connection, execution, local));
      execution.compiled.pace?.took(performance.now() - startedMs);
      return written;
    } finally {
      pool.release(connection);
    }
  }

  async function runAlone(one: Single): Promise<Written> {
    const { pool, execution } = one;
    const { deadlineAtMs } = execution;
    if (performance.now() >= deadlineAtMs) throw unavailable(overdueMessage);
    return runOn(pool.tryAcquire() ?? (await acquire(pool, deadlineAtMs)), one);
  }

  /** On a connection that may carry others, where one is there. */
  async function runShared(one: Single): Promise<Written> {
    const { pool, execution } = one;
    const { deadlineAtMs } = execution;
    if (performance.now() >= deadlineAtMs) throw unavailable(overdueMessage);
    const connection = pool.tryShare() ?? (await acquire(pool, deadlineAtMs, true));
    try {
      return await runOn(connection, one);
    } catch (error) {
      // Another statement may have taken the connection with it, and a read can be run again.
      if (connection.alive || isOverdue(error)) throw error;
      return runAlone(one);
    }
  }

  /** One statement on a connection of the pool, atomic in itself. */
  function single(
    pool: Pool,
    statement: Statement,
    { deadlineAtMs, local }: Sending,
  ): Promise<Written> {
    const compiled = compile(statement);
    const one: Single = { pool, execution: { statement, compiled, deadlineAtMs }, local };
    const isQuickRead = compiled.pace?.isQuick === true && changesNothing(statement);
    return retrying(deadlineAtMs, () =>
      isQuickRead && local === null ? runShared(one) : runAlone(one),
    );
  }

  const inTransaction = (execute: Execute): StatementQueries =>
    new StatementQueries({
      dialect,
      read: execute,
      write: execute,
      atomically: (part) => part(execute),
    });

  /** A class, because one is made for each request: methods are shared, closures would not be. */
  class PooledSession extends StatementQueries implements DbSession {
    readonly written: ReadonlySet<Table | "unknown">;
    private readonly sending: Sending;
    private readonly atomically: <T>(work: Work<T>, begin?: readonly string[]) => Promise<T>;

    constructor(sending: Sending) {
      const written = new Set<Table | "unknown">();
      const atomically = <T>(work: Work<T>, begin = engine.begin): Promise<T> =>
        retrying(sending.deadlineAtMs, () =>
          transact((execute, part) => work(noting(written, execute), part), {
            pool: writers,
            begin,
            ...sending,
          }),
        );
      super({
        dialect,
        read: (statement) => single(readers, statement, sending),
        write: noting(written, (statement) => single(writers, statement, sending)),
        atomically: (work) => atomically(work),
      });
      this.written = written;
      this.sending = sending;
      this.atomically = atomically;
    }

    tx<T>(
      work: (tx: DbTransaction) => Promise<T>,
      { alone }: { alone?: Table | undefined } = {},
    ): Promise<T> {
      return this.atomically(
        (execute, part) => work(Object.assign(inTransaction(execute), { part })),
        alone && engine.beginAlone(quotedTable(engine, alone)),
      );
    }

    snapshot<T>(work: (queries: DbQueries) => Promise<T>): Promise<T> {
      const { sending } = this;
      return retrying(sending.deadlineAtMs, () =>
        transact((execute) => work(inTransaction(execute)), {
          pool: readers,
          begin: engine.beginSnapshot,
          ...sending,
        }),
      );
    }

    ledger(name: LedgerName): Promise<Table> {
      return ledgers[name]();
    }

    stream(select: Narrowed<Select>, { batchRows }: { batchRows: number }): AsyncIterable<Row[]> {
      return streaming.rows(select, { batchRows, ...this.sending });
    }

    longSnapshot<T>(work: (snapshot: DbSnapshot) => Promise<T>): Promise<T> {
      return streaming.snapshot(work, this.sending);
    }
  }

  return (deadlineAtMs, caller) => {
    const local = engine.localSettings?.(caller ? claimsOf(caller) : null) ?? null;
    return new PooledSession({ deadlineAtMs, local });
  };
}

/** Records the tables of the statements as written. */
const noting =
  (written: Set<Table | "unknown">, execute: Execute): Execute =>
  (statement) => {
    if ("table" in statement) written.add(statement.table);
    else if (statement.kind === "native" && !statement.isRead) written.add("unknown");
    return execute(statement);
  };

const quotedTable = ({ dialect }: Engine, { schema, name }: Table): string =>
  schema === null
    ? quotedName(dialect, name)
    : `${quotedName(dialect, schema)}.${quotedName(dialect, name)}`;
