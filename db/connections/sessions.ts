/** Core's `DbSession`: the database calls of one request until its deadline. */
import { unavailable } from "../../core/values/errors.ts";
import type { Asking } from "../../core/plans/caller.ts";
import type { Table } from "../../core/values/types/column.ts";
import type {
  DbQueries,
  DbSession,
  DbSnapshot,
  DbTransaction,
  JoinOptions,
  LedgerName,
  TransactionOptions,
} from "../../core/query/session.ts";
import { limits } from "../../core/values/limits.ts";
import type { Row } from "../../core/values/row.ts";
import {
  changesNothing,
  type Narrowed,
  type Select,
  type Statement,
  type UpdateOne,
} from "../../core/query/statement.ts";
import type { Connection, Engine } from "../engines/engine.ts";
import type { Compile, Compiled } from "../statements/compile.ts";
import { quotedTable } from "../statements/quoted.ts";
import { Conflict, type Retry } from "./conflict.ts";
import {
  conditionalBy,
  type Execution,
  type Executor,
  isOverdue,
  openingOf,
  overdueMessage,
} from "./executor.ts";
import type { Pool, Sharing } from "./pool.ts";
import { acquire, endWith, type Pools, type Sending } from "./pools.ts";
import type { Execute, Transact, WithRead, Work, Written } from "./execute.ts";
import type { Ledger } from "./ledger.ts";
import { type Runner, StatementQueries } from "./queries.ts";
import type { ChangeAndRead } from "./read-back.ts";
import type { Room } from "./room.ts";
import type { Streaming } from "./streaming.ts";

export interface SessionParts {
  readonly engine: Engine;
  readonly compile: Compile;
  readonly executor: Executor;
  readonly pools: Pools;
  readonly transact: Transact;
  readonly retrying: Retry;
  readonly streaming: Streaming;
  readonly ledgers: Readonly<Record<LedgerName, Ledger>>;
  readonly room: Room;
}

/** A statement that is its own transaction, or one with what is sent together with it. */
interface Single<R> {
  readonly pool: Pool;
  readonly execution: Execution;
  readonly send: (connection: Connection, execution: Execution) => Promise<R>;
  readonly caller: string | null;
  /** Ends a read; a write is left to finish. */
  readonly signal: AbortSignal | undefined;
}

/** How a transaction runs an UPDATE and the SELECT of its row. */
const changeAndReadIn =
  (execute: Execute, withRead: WithRead): ChangeAndRead =>
  (update, select) =>
    withRead(
      () => execute(update),
      () => execute(select),
    );

/**
 * Creates a function that makes sessions with a deadline and a caller. One piece, because the class and the functions
 * that it calls share the parts of one database.
 */
export function createSessions(
  parts: SessionParts,
): (deadlineAtMs: number, asking?: Asking) => DbSession {
  const { engine, compile, executor, pools, transact, retrying, streaming, ledgers, room } = parts;
  const { dialect } = engine;
  const { readers, writers, longReads } = pools;

  /** Runs it on a connection of the pool and releases that. */
  async function runOn<R>(connection: Connection, one: Single<R>): Promise<R> {
    const { pool, execution, caller, signal, send } = one;
    const release = endWith(signal, connection);
    const startedMs = performance.now();
    try {
      const written = await send(connection, execution);
      execution.compiled.pace?.took(performance.now() - startedMs);
      if (!changesNothing(execution.statement)) room.sufficed();
      return written;
    } finally {
      release();
      pool.release(connection, caller);
    }
  }

  /** `shares`: see `Taking`. */
  async function run<R>(one: Single<R>, shares: Sharing): Promise<R> {
    const { pool, execution, caller } = one;
    const { deadlineAtMs } = execution;
    if (performance.now() >= deadlineAtMs) throw unavailable(overdueMessage);
    const taking = { caller, shares };
    const connection = pool.tryAcquire(taking) ?? (await acquire(pool, deadlineAtMs, taking));
    const mayMove = pool === readers && longReads !== null;
    if (mayMove && engine.isLong(connection, { ...execution, isStreamed: false })) {
      pool.release(connection, caller);
      return run({ ...one, pool: longReads }, null);
    }
    try {
      return await runOn(connection, one);
    } catch (error) {
      // Another statement can have broken the connection, and a read can be repeated.
      const isBroken = shares === "reads" && !connection.alive && !isOverdue(error);
      // It was undone, perhaps because it waited for a lock.
      const isUndone = shares !== null && error instanceof Conflict;
      if (!isBroken && !isUndone) throw error;
      // It had not begun when another one ended the connection.
      if (isUndone && !connection.alive) return run(one, shares);
      return run({ ...one, execution: { ...execution, waitsBriefly: false } }, null);
    }
  }

  /** A read that can block the thread never counts as quick. What a single writer writes blocks it in any case. */
  function sharingOf({ pace }: Compiled, isRead: boolean): Sharing {
    if (isRead) return longReads === null && pace?.isQuick === true ? "reads" : null;
    return pace !== null && (engine.singleWriter || pace.isQuick) ? "writes" : null;
  }

  /** One statement on a connection of the pool, atomic in itself. */
  function single(pool: Pool, statement: Statement, sending: Sending): Promise<Written> {
    return runSingle(pool, statement, sending, executor.execute);
  }

  function runSingle<R>(
    pool: Pool,
    statement: Statement,
    { deadlineAtMs, local, caller, signal: end }: Sending,
    send: Single<R>["send"],
  ): Promise<R> {
    const compiled = compile(statement);
    const isRead = changesNothing(statement);
    const shares = local === null ? sharingOf(compiled, isRead) : null;
    const waitsBriefly = shares === "writes";
    const execution = { statement, compiled, deadlineAtMs, local, waitsBriefly };
    const one: Single<R> = { pool, execution, send, caller, signal: isRead ? end : undefined };
    return retrying(deadlineAtMs, () => run(one, shares));
  }

  /** One transaction, which is sent at once if the server can decide by itself how it ends. */
  function changeAndRead(
    update: UpdateOne,
    select: Select,
    sending: Sending,
  ): ReturnType<ChangeAndRead> {
    return runSingle(
      writers,
      update,
      sending,
      async (connection, { local = null, ...execution }) => {
        const opening = openingOf({ texts: engine.begin, local });
        const reading = { ...execution, statement: select, compiled: compile(select) };
        const closing = conditionalBy(connection, reading.deadlineAtMs)?.commitIfFound;
        const change = () => executor.execute(connection, { ...execution, opening });
        if (closing === undefined)
          return committed(connection, execution, async () => [
            await change(),
            await executor.execute(connection, reading),
          ]);
        const [changed, found] = await Promise.allSettled([
          change(),
          executor.execute(connection, { ...reading, closing, written: update }),
        ]);
        if (changed.status === "rejected") throw changed.reason;
        if (found.status === "rejected") throw found.reason;
        return [changed.value, found.value];
      },
    );
  }

  /** Ends the transaction that `work` has begun. */
  async function committed<R>(
    connection: Connection,
    { deadlineAtMs, statement: written }: Execution,
    work: () => Promise<R>,
  ): Promise<R> {
    try {
      const result = await work();
      await executor.control(connection, { text: engine.commit, deadlineAtMs, written });
      return result;
    } catch (error) {
      await executor.rollback(connection);
      throw error;
    }
  }

  const runnerOver = (execute: Execute, { withRead }: { readonly withRead: WithRead }): Runner => {
    const joined = changeAndReadIn(execute, withRead);
    return {
      dialect,
      read: execute,
      write: execute,
      atomically: (part) => part(execute, joined),
      changeAndRead: joined,
    };
  };
  const inTransaction = (...running: Parameters<typeof runnerOver>): StatementQueries =>
    new StatementQueries(runnerOver(...running));

  /** A class, because one is created per request: methods are shared, closures would not be. */
  class PooledSession extends StatementQueries implements DbSession {
    readonly written: ReadonlySet<Table | "unknown">;
    private readonly sending: Sending;
    private readonly atomically: <T>(
      work: Work<T>,
      how?: TransactionOptions,
      triesMax?: number,
    ) => Promise<T>;

    constructor(sending: Sending) {
      const written = new Set<Table | "unknown">();
      const atomically = <T>(
        work: Work<T>,
        { alone, isUndone = false, isQuick = false, findsMany = false }: TransactionOptions = {},
        triesMax?: number,
      ): Promise<T> => {
        const first = alone
          ? engine.beginAlone(quotedTable(alone, engine.dialect.quote))
          : engine.begin;
        const begin = findsMany ? [...first, ...engine.beginFinding] : first;
        const noted = isUndone ? new Set<Table | "unknown">() : written;
        const attempt = () =>
          transact((execute, parts) => work(noting(noted, execute), parts), {
            pool: writers,
            begin,
            isUndone,
            isQuick,
            ...sending,
          });
        return retrying(sending.deadlineAtMs, attempt, triesMax);
      };
      super({
        dialect,
        read: (statement) => single(readers, statement, sending),
        write: noting(written, (statement) => single(writers, statement, sending)),
        atomically: (work) =>
          atomically((execute, { withRead }) => work(execute, changeAndReadIn(execute, withRead))),
        changeAndRead(update, select) {
          written.add(update.table);
          return changeAndRead(update, select, sending);
        },
      });
      this.written = written;
      this.sending = sending;
      this.atomically = atomically;
    }

    tx<T>(work: (tx: DbTransaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
      return this.atomically(
        (execute, parts) => work(Object.assign(inTransaction(execute, parts), parts)),
        options,
      );
    }

    snapshot<T>(work: (queries: DbQueries) => Promise<T>): Promise<T> {
      return this.atOneMoment((execute, parts) => work(inTransaction(execute, parts)));
    }

    join<T>(
      work: (joined: DbSession) => Promise<T>,
      { isReadOnly, isUndone }: JoinOptions,
    ): Promise<T> {
      const joined: Work<T> = (execute, { part, both, withRead }) =>
        work(new JoinedSession(runnerOver(execute, { withRead }), { part, both, outer: this }));
      return isReadOnly
        ? this.atOneMoment(joined)
        : this.atomically(joined, { isUndone }, limits.batchTriesMax);
    }

    private atOneMoment<T>(work: Work<T>): Promise<T> {
      const { sending } = this;
      const readOn = (pool: Pool) =>
        transact(work, { pool, begin: engine.beginSnapshot, ...sending });
      return retrying(sending.deadlineAtMs, () => pools.fitting(readers, readOn));
    }

    ledger(name: LedgerName): Promise<Table> {
      return ledgers[name].table(this.sending.deadlineAtMs);
    }

    stream(select: Narrowed<Select>, { batchRows }: { batchRows: number }): AsyncIterable<Row[]> {
      return streaming.rows(select, { batchRows, ...this.sending });
    }

    longSnapshot<T>(work: (snapshot: DbSnapshot) => Promise<T>): Promise<T> {
      return streaming.snapshot(work, this.sending);
    }
  }

  return (deadlineAtMs, { caller, share, signal } = {}) => {
    const local = engine.localSettings(caller ?? null);
    return new PooledSession({ deadlineAtMs, local, caller: share?.() ?? null, signal });
  };
}

/** A session whose statements all belong to one transaction of another session. */
class JoinedSession extends StatementQueries implements DbSession, DbTransaction {
  readonly part: DbTransaction["part"];
  readonly both: DbTransaction["both"];
  private readonly outer: DbSession;

  constructor(
    runner: Runner,
    { part, both, outer }: Pick<DbTransaction, "part" | "both"> & { readonly outer: DbSession },
  ) {
    super(runner);
    this.part = (work) => part(work);
    this.both = both;
    this.outer = outer;
  }

  get written(): ReadonlySet<Table | "unknown"> {
    return this.outer.written;
  }

  tx<T>(
    work: (tx: DbTransaction) => Promise<T>,
    { isReplaceable = false }: TransactionOptions = {},
  ): Promise<T> {
    return isReplaceable ? this.part(() => work(this)) : work(this);
  }

  /** Others follow. */
  last<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  snapshot<T>(work: (queries: DbQueries) => Promise<T>): Promise<T> {
    return work(this);
  }

  join<T>(work: (joined: DbSession) => Promise<T>): Promise<T> {
    return work(this);
  }

  ledger(name: LedgerName): Promise<Table> {
    return this.outer.ledger(name);
  }

  stream(): never {
    throw new Error("A transaction that several share cannot stream");
  }

  longSnapshot(): never {
    throw new Error("A transaction that several share cannot stream");
  }
}

/** Records the tables of the statements as written. */
const noting =
  (written: Set<Table | "unknown">, execute: Execute): Execute =>
  (statement) => {
    if ("table" in statement) written.add(statement.table);
    else if (statement.kind === "native" && !statement.isRead) written.add("unknown");
    if ("logging" in statement) written.add(statement.logging.ledger);
    return execute(statement);
  };
