/**
 * START HERE: implements core's `Db` over an engine. A session's statements each take a connection from a pool, run within
 * the session's deadline, and give it back; whatever runs over time loses its connection.
 */
import type { Table } from "../../core/values/column.ts";
import { AppError, unavailable } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type {
  Catalog,
  Db,
  DbSession,
  DbTransaction,
  LedgerName,
  Log,
} from "../../core/plans/ports.ts";
import type { Statement } from "../../core/query/statement.ts";
import { type Compile, type Compiled, createCompiler, decoderOf } from "../statements/compile.ts";
import { createDeadlines } from "./deadlines.ts";
import { Conflict, createRetry } from "./conflict.ts";
import type { Connection, Engine, RawResult } from "../engines/engine.ts";
import { toAppError } from "./app-error.ts";
import { createLedger } from "./ledger.ts";
import { createPart } from "./part.ts";
import { Pool } from "./pool.ts";
import { describable } from "../statements/print.ts";
import { bareQuery } from "../statements/source.ts";
import { type Execute, StatementQueries, type Written } from "./queries.ts";
import { createStreaming } from "./streaming.ts";

export interface DbOptions {
  readonly connectionsMax: number;
  /** 0 = none. */
  readonly statementTimeoutMs: number;
  readonly log?: Log;
  /** Of this engine, with the texts that it has printed already; absent: a new one. */
  readonly compile?: Compile;
}

/** The server stops a statement at its time-out; this much later we no longer wait for that. */
const timeoutGraceMs = 1_000;
const rollbackTimeoutMs = 2_000;
const pingTimeoutMs = 5_000;
/** The catalog is read at start, where nobody waits for an answer. */
const catalogTimeoutMs = 30_000;

/** Where a transaction runs, and what opens it. */
interface Transacting {
  readonly pool: Pool;
  readonly begin: readonly string[];
  readonly deadlineAtMs: number;
}

type Runnable = Pick<Compiled, "text" | "params" | "reuse">;

/** A database over the engine. Opens no connection yet. */
export function createDb(
  engine: Engine,
  { connectionsMax, statementTimeoutMs, log, compile = createCompiler(engine.dialect) }: DbOptions,
): Db {
  const retrying = createRetry(engine.name, log);
  const size = Math.min(connectionsMax, engine.connectionsMax ?? connectionsMax);
  // Where there is one connection to wait for, a busy one is no sign of trouble: the wait ends with the request.
  const patienceMs = engine.connectionsMax === undefined ? limits.acquireTimeoutMs : Infinity;
  const deadlines = createDeadlines();
  const { within } = deadlines;
  const readers = new Pool(() => engine.connect("read"), size, {
    acquireTimeoutMs: patienceMs,
    deadlines,
  });
  const writers = engine.singleWriter
    ? new Pool(() => engine.connect("write"), 1, { acquireTimeoutMs: Infinity, deadlines })
    : readers;
  // Long streams must not keep the short statements waiting.
  const streams =
    engine.connectionsMax === undefined
      ? new Pool(() => engine.connect("read"), size, { deadlines })
      : readers;

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
    { text, params, reuse }: Runnable,
    deadlineAtMs: number,
  ): RawResult | Promise<RawResult> {
    const result = connection.runNow?.(text, params);
    if (result) return result;
    const work = connection.run(text, params, reuse);
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

  async function transaction<T>(
    work: (execute: Execute, part: DbTransaction["part"]) => Promise<T>,
    { pool, begin, deadlineAtMs }: Transacting,
  ): Promise<T> {
    if (performance.now() >= deadlineAtMs) throw unavailable(overdueMessage);
    const connection = await acquire(pool, deadlineAtMs);
    let ended = false;
    let failed: Error | undefined;
    let last: Promise<unknown> = Promise.resolve();

    // One after the other, and none after a failure: PostgreSQL refuses what comes after one, and a statement that
    // overtook the ROLLBACK would run on its own.
    const inOrder = <R>(step: () => Promise<R>): Promise<R> => {
      const next = last.then(async () => {
        if (ended) throw new Error("The transaction has ended");
        if (failed !== undefined) throw visible(failed);
        try {
          return await step();
        } catch (error) {
          failed = error as Error;
          throw visible(failed);
        }
      });
      last = next.catch(() => {});
      return next;
    };
    const statements: Execute = (statement) =>
      inOrder(() => execute(connection, statement, compile(statement), deadlineAtMs));
    const part = createPart((text) => inOrder(() => control(connection, text, deadlineAtMs)));

    try {
      for (const text of begin) await control(connection, text, deadlineAtMs);
      const result = await within(
        work(statements, part),
        deadlineAtMs,
        () => {},
        "The request took too long",
      );
      await last;
      ended = true;
      if (failed !== undefined) throw failed;
      await control(connection, "commit", deadlineAtMs);
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

  /** A text that begins or ends a transaction, or a part of it. */
  async function control(
    connection: Connection,
    text: string,
    deadlineAtMs: number,
  ): Promise<void> {
    try {
      await run(connection, bare(text), deadlineAtMs);
    } catch (error) {
      throw meaningOf(error, null);
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

  const streaming = createStreaming({
    pool: streams,
    compile,
    acquire,
    async count(connection, count, deadlineAtMs) {
      const { rows } = await execute(connection, count, compile(count), deadlineAtMs);
      return Number(rows[0]!["count"]);
    },
    async begin(connection, deadlineAtMs) {
      for (const text of engine.beginSnapshot) await control(connection, text, deadlineAtMs);
    },
    rollback,
    errorOf: (error, statement) => visible(meaningOf(error, statement)),
    within,
    step: (connection, work, deadlineAtMs) =>
      within(work, untilMs(deadlineAtMs), () => abandon(connection), overdueMessage),
  });

  function session(deadlineAtMs: number): DbSession {
    const { dialect } = engine;
    const written = new Set<Table | "unknown">();
    const noted =
      (execute: Execute): Execute =>
      (statement) => {
        if ("table" in statement) written.add(statement.table);
        else if (statement.kind === "native" && !statement.isRead) written.add("unknown");
        return execute(statement);
      };
    const atomically = <T>(
      work: (execute: Execute, part: DbTransaction["part"]) => Promise<T>,
      begin = engine.begin,
    ): Promise<T> =>
      retrying(deadlineAtMs, () =>
        transaction((execute, part) => work(noted(execute), part), {
          pool: writers,
          begin,
          deadlineAtMs,
        }),
      );
    const queries = new StatementQueries({
      dialect,
      read: (statement) => single(readers, statement, deadlineAtMs),
      write: noted((statement) => single(writers, statement, deadlineAtMs)),
      atomically: (work) => atomically(work),
    }) as StatementQueries & { -readonly [Member in keyof DbSession]: DbSession[Member] };
    queries.written = written;
    queries.tx = (work, { alone } = {}) =>
      atomically(
        (execute, part) => work(Object.assign(inTransaction(execute), { part })),
        alone && engine.beginAlone(quotedName(alone, dialect.quote)),
      );
    queries.snapshot = (work) =>
      retrying(deadlineAtMs, () =>
        transaction((execute) => work(inTransaction(execute)), {
          pool: readers,
          begin: engine.beginSnapshot,
          deadlineAtMs,
        }),
      );
    queries.ledger = (name) => ledgers[name]();
    queries.stream = (select, { batchRows }) => streaming.rows(select, { batchRows, deadlineAtMs });
    queries.longSnapshot = (work) => streaming.snapshot(work, deadlineAtMs);
    return queries;
  }

  const inTransaction = (execute: Execute): StatementQueries =>
    new StatementQueries({
      dialect: engine.dialect,
      read: execute,
      write: execute,
      atomically: (part) => part(execute),
    });

  /** Reads the catalog on a connection of its own; errors about the query or table go on as they are. */
  async function reading<T>(
    read: (connection: Connection) => Promise<T>,
    pool = readers,
  ): Promise<T> {
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
      throw engine.failure(error).kind === "connection"
        ? toAppError({ kind: "connection" }, null, error)
        : error;
    } finally {
      pool.release(connection);
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

  const ledgerOf = (name: LedgerName) =>
    createLedger({
      find: catalog.table,
      make: (text) => reading((connection) => connection.run(text, [], false), writers),
      name: `rowgate_${name}`,
      text: engine.createLedger[name],
    });
  const ledgers = { jobs: ledgerOf("jobs"), requests: ledgerOf("requests") };

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

function quotedName({ schema, name }: Table, quote: string): string {
  const quoted = (part: string) => quote + part.replaceAll(quote, quote + quote) + quote;
  return schema === null ? quoted(name) : `${quoted(schema)}.${quoted(name)}`;
}

/** A text of our own, without parameters. */
const bare = (text: string): Runnable => ({ text, params: [], reuse: true });

/** What the caller of a statement inside a transaction sees of its failure. */
const visible = (error: Error): Error =>
  error instanceof Conflict ? (error.cause as Error) : error;
