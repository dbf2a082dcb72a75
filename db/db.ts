/**
 * START HERE: implements core's `Db` over an engine. A session's statements each take a connection from a pool, run within
 * the session's deadline, and give it back; whatever runs over time loses its connection. Engines that cannot answer the
 * rows that they wrote are read back by `queries.ts`. Made by `open.ts`.
 */
import type { Table } from "../core/column.ts";
import { AppError, unavailable } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import type { Catalog, Db, Log, Queries, Row, Session } from "../core/ports.ts";
import type { Select, Statement } from "../core/statement.ts";
import { type Compiled, createCompiler, decoderOf } from "./compile.ts";
import { within } from "./deadline.ts";
import type { Connection, Engine, RawResult } from "./engine.ts";
import { toAppError } from "./failure.ts";
import { Pool } from "./pool.ts";
import { bareQuery, describable } from "./print.ts";
import { type Execute, StatementQueries, type Written } from "./queries.ts";

export interface DbOptions {
  readonly connectionsMax: number;
  /** 0 = none. */
  readonly statementTimeoutMs: number;
  readonly log?: Log;
}

/** The server stops a statement at its time-out; this much later we no longer wait for that. */
const timeoutGraceMs = 1_000;
const rollbackTimeoutMs = 2_000;
const pingTimeoutMs = 5_000;
/** The catalog is read at start, where nobody waits for an answer. */
const catalogTimeoutMs = 30_000;

type Runnable = Pick<Compiled, "text" | "params" | "reuse">;

/** The deadlock or serialization failure of a transaction that may run again. */
class Conflict extends Error {}

/** A database over the engine. Opens no connection yet. */
export function createDb(
  engine: Engine,
  { connectionsMax, statementTimeoutMs, log }: DbOptions,
): Db {
  const compile = createCompiler(engine.dialect);
  const size = Math.min(connectionsMax, engine.connectionsMax ?? connectionsMax);
  // Where there is one connection to wait for, a busy one is no sign of trouble: the wait ends with the request.
  const patienceMs = engine.connectionsMax === undefined ? limits.acquireTimeoutMs : Infinity;
  const readers = new Pool(() => engine.connect("read"), size, patienceMs);
  const writers = engine.singleWriter
    ? new Pool(() => engine.connect("write"), 1, Infinity)
    : readers;
  // Long streams must not keep the short statements waiting.
  const streams =
    engine.connectionsMax === undefined ? new Pool(() => engine.connect("read"), size) : readers;

  const overdueMessage = "The database took too long";

  function untilMs(deadlineAtMs: number): number {
    if (statementTimeoutMs === 0) return deadlineAtMs;
    return Math.min(deadlineAtMs, performance.now() + statementTimeoutMs + timeoutGraceMs);
  }

  function abandon(connection: Connection): void {
    log?.warn({ engine: engine.name }, "A statement ran over time; its connection is closed");
    connection.destroy();
  }

  /** Within the deadline; text and parameters as they were compiled. */
  function run(
    connection: Connection,
    { text, params }: { text: string; params: readonly unknown[] },
    deadlineAtMs: number,
  ): RawResult | Promise<RawResult> {
    const result = connection.runNow?.(text, params);
    if (result) return result;
    const work = connection.run(text, params, true);
    return within(work, untilMs(deadlineAtMs), () => abandon(connection), overdueMessage);
  }

  async function acquire(pool: Pool, deadlineAtMs: number): Promise<Connection> {
    try {
      return await pool.acquire(deadlineAtMs);
    } catch (error) {
      throw error instanceof AppError ? error : unavailable("The database is out of reach", error);
    }
  }

  async function execute(
    connection: Connection,
    statement: Statement,
    compiled: Compiled,
    deadlineAtMs: number,
  ): Promise<Written> {
    try {
      if (statement.kind === "native") return await native(connection, compiled, deadlineAtMs);
      const { rows, matched, insertId } = await run(connection, compiled, deadlineAtMs);
      return { rows: compiled.decode(rows), matched, insertId };
    } catch (error) {
      throw meaningOf(error, statement);
    }
  }

  /** What the columns of the rows are, the driver tells with them. */
  async function native(
    connection: Connection,
    { text, params }: Compiled,
    deadlineAtMs: number,
  ): Promise<Written> {
    const { rows, matched, insertId, fields } = await within(
      connection.native(text, params),
      untilMs(deadlineAtMs),
      () => abandon(connection),
      overdueMessage,
    );
    const decode = decoderOf(engine.dialect, engine.outputs(fields ?? []));
    return { rows: decode(rows), matched, insertId };
  }

  /** An AppError, or a Conflict with that AppError as its cause. */
  function meaningOf(error: unknown, statement: Statement | null): Error {
    if (error instanceof AppError) return error;
    const failure = engine.failure(error);
    const known = toAppError(failure, statement, error);
    return failure.kind === "conflict" ? new Conflict("", { cause: known }) : known;
  }

  /** Runs `attempt` again after a Conflict, a few times, a little later each time. */
  async function retrying<T>(deadlineAtMs: number, attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        const delayMs = 2 ** tries * 10 * (0.5 + Math.random());
        const isLast = tries >= limits.transactionTriesMax;
        if (isLast || performance.now() + delayMs >= deadlineAtMs) throw error.cause;
        log?.debug(
          { engine: engine.name, tries },
          "The database gave up a transaction because of others; it runs again",
        );
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
    }
  }

  /** One statement on a connection of the pool, atomic in itself. */
  async function single(pool: Pool, statement: Statement, deadlineAtMs: number): Promise<Written> {
    const compiled = compile(statement);
    const attempt = async (): Promise<Written> => {
      if (performance.now() >= deadlineAtMs) throw unavailable(overdueMessage);
      const connection = pool.tryAcquire() ?? (await acquire(pool, deadlineAtMs));
      try {
        return await execute(connection, statement, compiled, deadlineAtMs);
      } finally {
        pool.release(connection);
      }
    };
    return retrying(deadlineAtMs, attempt);
  }

  /** Where a transaction runs, and what opens it. */
  interface Transaction {
    readonly pool: Pool;
    readonly begin: readonly string[];
  }
  const writing: Transaction = { pool: writers, begin: engine.begin };
  const snapshot: Transaction = { pool: readers, begin: engine.beginSnapshot };

  async function transaction<T>(
    { pool, begin }: Transaction,
    work: (execute: Execute) => Promise<T>,
    deadlineAtMs: number,
  ): Promise<T> {
    if (performance.now() >= deadlineAtMs) throw unavailable(overdueMessage);
    const connection = await acquire(pool, deadlineAtMs);
    let ended = false;
    let failed: Error | undefined;
    let last: Promise<unknown> = Promise.resolve();

    // One after the other, and none after a failure: PostgreSQL refuses what comes after one, and a statement that
    // overtook the ROLLBACK would run on its own.
    const inOrder: Execute = (statement) => {
      const next = last.then(async () => {
        if (ended) throw new Error("The transaction has ended");
        if (failed !== undefined) throw visible(failed);
        try {
          return await execute(connection, statement, compile(statement), deadlineAtMs);
        } catch (error) {
          failed = error as Error;
          throw visible(failed);
        }
      });
      last = next.catch(() => {});
      return next;
    };

    const control = async (text: string): Promise<void> => {
      try {
        await run(connection, bare(text), deadlineAtMs);
      } catch (error) {
        throw meaningOf(error, null);
      }
    };

    try {
      for (const text of begin) await control(text);
      const result = await within(
        work(inOrder),
        deadlineAtMs,
        () => {},
        "The request took too long",
      );
      await last;
      ended = true;
      if (failed !== undefined) throw failed;
      await control("commit");
      return result;
    } catch (error) {
      ended = true;
      await last;
      await rollback(connection);
      // Whatever `work` made of the conflict, running it again is the answer to it.
      throw failed instanceof Conflict ? failed : error;
    } finally {
      pool.release(connection);
    }
  }

  async function rollback(connection: Connection): Promise<void> {
    if (!connection.alive) return;
    try {
      const work = connection.run("rollback", [], false);
      await within(work, performance.now() + rollbackTimeoutMs, () => {}, overdueMessage);
    } catch {
      connection.destroy();
    }
  }

  async function* stream(
    select: Select,
    batchRows: number,
    deadlineAtMs: number,
  ): AsyncGenerator<Row[]> {
    const compiled = compile(select);
    const connection = await acquire(streams, deadlineAtMs);
    const batches = connection
      .stream(compiled.text, compiled.params, batchRows)
      [Symbol.asyncIterator]();
    let finished = false;
    try {
      for (;;) {
        const next = batches.next();
        const step = await within(
          next,
          untilMs(deadlineAtMs),
          () => abandon(connection),
          overdueMessage,
        );
        if (step.done === true) break;
        yield compiled.decode(step.value);
      }
      finished = true;
    } catch (error) {
      // The driver ended the query by failing.
      finished = true;
      const known = meaningOf(error, select);
      throw known instanceof Conflict ? known.cause : known;
    } finally {
      if (!finished) await stop(connection, batches);
      streams.release(connection);
    }
  }

  /** The consumer wants no more: the query ends, or its connection does. */
  async function stop(connection: Connection, batches: AsyncIterator<unknown>): Promise<void> {
    try {
      const work = Promise.resolve(batches.return?.());
      await within(work, performance.now() + rollbackTimeoutMs, () => {}, overdueMessage);
    } catch {
      connection.destroy();
    }
  }

  function session(deadlineAtMs: number): Session {
    const { dialect } = engine;
    const written = new Set<Table | "unknown">();
    const noted =
      (execute: Execute): Execute =>
      (statement) => {
        if ("table" in statement) written.add(statement.table);
        else if (statement.kind === "native" && !statement.isRead) written.add("unknown");
        return execute(statement);
      };
    const atomically = <T>(work: (execute: Execute) => Promise<T>): Promise<T> =>
      retrying(deadlineAtMs, () =>
        transaction(writing, (execute) => work(noted(execute)), deadlineAtMs),
      );
    const queries = new StatementQueries({
      dialect,
      read: (statement) => single(readers, statement, deadlineAtMs),
      write: noted((statement) => single(writers, statement, deadlineAtMs)),
      atomically,
    }) as StatementQueries & { -readonly [Member in keyof Session]: Session[Member] };
    queries.written = written;
    queries.tx = (work) => atomically((execute) => work(inTransaction(execute)));
    queries.snapshot = (work) =>
      retrying(deadlineAtMs, () =>
        transaction(snapshot, (execute) => work(inTransaction(execute)), deadlineAtMs),
      );
    queries.stream = (select, { batchRows }) => stream(select, batchRows, deadlineAtMs);
    return queries;
  }

  const inTransaction = (execute: Execute): Queries =>
    new StatementQueries({
      dialect: engine.dialect,
      read: execute,
      write: execute,
      atomically: (part) => part(execute),
    });

  /** Reads the catalog on a connection of its own; errors about the query or table go on as they are. */
  async function reading<T>(read: (connection: Connection) => Promise<T>): Promise<T> {
    const deadlineAtMs = performance.now() + catalogTimeoutMs;
    const connection = await acquire(readers, deadlineAtMs);
    try {
      return await within(
        read(connection),
        deadlineAtMs,
        () => abandon(connection),
        overdueMessage,
      );
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw engine.failure(error).kind === "connection"
        ? toAppError({ kind: "connection" }, null, error)
        : error;
    } finally {
      readers.release(connection);
    }
  }

  const catalog: Catalog = {
    names: () => reading((connection) => engine.names(connection)),
    query: (text) => reading((connection) => engine.query(connection, bareQuery(text))),
    computes: (computation) => engine.computes?.(computation) ?? true,
    parameterQuery: (texts, parameter) =>
      reading((connection) =>
        engine.query(connection, describable(engine.dialect, texts, parameter)),
      ),
    table: (name) =>
      reading(async (connection) => {
        const point = name.indexOf(".");
        const qualified =
          point < 0
            ? null
            : await engine.table(connection, name.slice(0, point), name.slice(point + 1));
        // A name may hold a point without naming a schema.
        return qualified ?? engine.table(connection, null, name);
      }),
  };

  return {
    catalog,
    session,
    async ping() {
      const deadlineAtMs = performance.now() + pingTimeoutMs;
      const connection = await acquire(readers, deadlineAtMs);
      try {
        await run(connection, bare("select 1"), deadlineAtMs);
      } catch (error) {
        throw error instanceof AppError
          ? error
          : unavailable("The database is out of reach", error);
      } finally {
        readers.release(connection);
      }
    },
    async close() {
      await Promise.all([...new Set([readers, writers, streams])].map((pool) => pool.close()));
    },
  };
}

/** A text of our own, without parameters. */
const bare = (text: string): Runnable => ({ text, params: [], reuse: true });

/** What the caller of a statement inside a transaction sees of its failure. */
const visible = (error: Error): Error =>
  error instanceof Conflict ? (error.cause as Error) : error;
