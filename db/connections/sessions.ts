/** Core's `DbSession`: the database calls of one request until its deadline. */
import { unavailable } from "../../core/values/errors.ts";
import { type Caller, claimsOf } from "../../core/plans/caller.ts";
import type { Table } from "../../core/values/column.ts";
import type { DbSession, LedgerName } from "../../core/plans/ports.ts";
import type { Statement } from "../../core/query/statement.ts";
import type { Engine, Command } from "../engines/engine.ts";
import type { Compile } from "../statements/compile.ts";
import { quotedName } from "../statements/print.ts";
import type { Retry } from "./conflict.ts";
import { type Executor, overdueMessage } from "./executor.ts";
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
  /** As of `Engine.localSettings`. */
  readonly local: Command | null;
}

/** Makes sessions by their deadline and caller. */
export function createSessions(
  parts: SessionParts,
): (deadlineAtMs: number, caller?: Caller) => DbSession {
  const { engine, compile, executor, pools, transact, retrying, streaming, ledgers } = parts;
  const { dialect } = engine;
  const { readers, writers } = pools;

  /** One statement on a connection of the pool, atomic in itself. */
  async function single(
    pool: Pool,
    statement: Statement,
    { deadlineAtMs, local }: Sending,
  ): Promise<Written> {
    const compiled = compile(statement);
    const attempt = async (): Promise<Written> => {
      if (performance.now() >= deadlineAtMs) throw unavailable(overdueMessage);
      const connection = pool.tryAcquire() ?? (await acquire(pool, deadlineAtMs));
      try {
        const execution = { statement, compiled, deadlineAtMs };
        return await (local === null
          ? executor.execute(connection, execution)
          : executor.executeAlone(connection, execution, local));
      } finally {
        pool.release(connection);
      }
    };
    return retrying(deadlineAtMs, attempt);
  }

  const inTransaction = (execute: Execute): StatementQueries =>
    new StatementQueries({
      dialect,
      read: execute,
      write: execute,
      atomically: (part) => part(execute),
    });

  return (deadlineAtMs, caller) => {
    const local = engine.localSettings?.(caller ? claimsOf(caller) : null) ?? null;
    const sending: Sending = { deadlineAtMs, local };
    const written = new Set<Table | "unknown">();
    const noted = noting(written);
    const atomically = <T>(work: Work<T>, begin = engine.begin): Promise<T> =>
      retrying(deadlineAtMs, () =>
        transact((execute, part) => work(noted(execute), part), {
          pool: writers,
          begin,
          ...sending,
        }),
      );
    const queries = new StatementQueries({
      dialect,
      read: (statement) => single(readers, statement, sending),
      write: noted((statement) => single(writers, statement, sending)),
      atomically: (work) => atomically(work),
    }) as StatementQueries & { -readonly [Member in keyof DbSession]: DbSession[Member] };
    queries.written = written;
    queries.tx = (work, { alone } = {}) =>
      atomically(
        (execute, part) => work(Object.assign(inTransaction(execute), { part })),
        alone && engine.beginAlone(quotedTable(engine, alone)),
      );
    queries.snapshot = (work) =>
      retrying(deadlineAtMs, () =>
        transact((execute) => work(inTransaction(execute)), {
          pool: readers,
          begin: engine.beginSnapshot,
          ...sending,
        }),
      );
    queries.ledger = (name) => ledgers[name]();
    queries.stream = (select, { batchRows }) => streaming.rows(select, { batchRows, ...sending });
    queries.longSnapshot = (work) => streaming.snapshot(work, sending);
    return queries;
  };
}

/** Records the tables of the statements as written. */
const noting =
  (written: Set<Table | "unknown">) =>
  (execute: Execute): Execute =>
  (statement) => {
    if ("table" in statement) written.add(statement.table);
    else if (statement.kind === "native" && !statement.isRead) written.add("unknown");
    return execute(statement);
  };

const quotedTable = ({ dialect }: Engine, { schema, name }: Table): string =>
  schema === null
    ? quotedName(dialect, name)
    : `${quotedName(dialect, schema)}.${quotedName(dialect, name)}`;
