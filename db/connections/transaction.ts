/**
 * Runs work in one transaction on one connection: statements in sequence, then a commit, or a rollback after any
 * failure.
 */
import { createBreath } from "../../core/values/breath.ts";
import { unavailable } from "../../core/values/errors.ts";
import type { DbTransaction } from "../../core/query/session.ts";
import { changesNothing, type Statement } from "../../core/query/statement.ts";
import type { Command, Connection, Engine, Savepoint } from "../engines/engine.ts";
import { Conflict, TooLong, visibleError } from "./conflict.ts";
import { tooLate } from "../../core/values/deadlines.ts";
import {
  conditionalBy,
  type Executor,
  type ExecutorOptions,
  openingOf,
  overdueMessage,
} from "./executor.ts";
import { acquire } from "./pools.ts";
import { createSharedTransactions } from "./shared-transactions.ts";
import type { Execute, Transact, Transacting, WithRead, Work } from "./execute.ts";

export interface TransactionParts extends Pick<
  ExecutorOptions,
  "engine" | "compile" | "deadlines" | "room"
> {
  readonly executor: Executor;
}

const requestOverdue = "The request took too long to process";

export function createTransact({
  engine,
  executor,
  compile,
  deadlines: { within },
  room,
}: TransactionParts): Transact {
  const { control, rollback, reset } = executor;
  /** Connections on which a procedure has run. */
  const called = new Set<Connection>();

  const foresee = <T>(
    connection: Connection,
    work: () => Promise<T>,
    { deadlineAtMs, written = null }: { deadlineAtMs: number; written?: Statement | null },
  ): Promise<T> =>
    executor.step(connection, work(), deadlineAtMs).catch((error: unknown) => {
      throw executor.meaningOf(error, written);
    });

  async function run<T>(
    connection: Connection,
    work: Work<T>,
    { begin, local, deadlineAtMs, isUndone = false }: Transacting,
  ): Promise<T> {
    const isSnapshot = begin === engine.beginSnapshot;
    const steps = createSteps();
    const whole = createWritten();
    let sincePart = whole;
    /** A procedure may have changed settings. */
    let isUnsettled = false;
    // Where the driver answers at once, no timer could end the work, and no other request go on, before the transaction.
    const breathe = engine.singleWriter ? createBreath() : null;
    const statements: Execute = (statement) =>
      steps.next(async () => {
        await breathe?.();
        if (performance.now() >= deadlineAtMs) throw unavailable(requestOverdue);
        for (const one of new Set([whole, sincePart])) one.add(statement);
        const compiled = compile(statement);
        if (isSnapshot && engine.isLong(connection, { statement, compiled, isStreamed: false }))
          throw new TooLong();
        const call = statement.kind === "native" ? statement.isCall : undefined;
        if (isUnsettled && call !== "continues") {
          isUnsettled = false;
          const texts = engine.resettle;
          await executor.begin(connection, openingOf({ texts, local }), deadlineAtMs);
        }
        if (call !== undefined) {
          isUnsettled = true;
          called.add(connection);
        }
        const opening = begun.take();
        const execution = { statement, compiled, deadlineAtMs, opening };
        if (closing === undefined) return executor.execute(connection, execution);
        steps.end();
        const written = whole.only;
        return executor.execute(connection, { ...execution, closing, written });
      });
    /** What is sent with the last statement; undefined: another one follows, or the end is sent by itself. */
    let closing: readonly string[] | undefined;
    const last: DbTransaction["last"] = (work) => {
      if (!isUndone)
        closing =
          engine.pipelines === "all"
            ? [engine.commit]
            : conditionalBy(connection, deadlineAtMs)?.commitIfDone;
      return work();
    };
    const begun = createBeginning(openingOf({ texts: begin, local }), (opening) =>
      executor.begin(connection, opening, deadlineAtMs),
    );
    const part = createPart(engine.savepoint, {
      run: (text, recovers) =>
        steps.next(
          () => control(connection, { text, deadlineAtMs, opening: begun.take() }),
          recovers,
        ),
      foresee: (ask) =>
        steps.next(async () => {
          await begun.now();
          return foresee(connection, ask, { deadlineAtMs, written: sincePart.only });
        }),
      begins: () => (sincePart = createWritten()),
      foreseeCommit: () => engine.foreseeCommit(connection),
    });
    const withRead: WithRead = async (first, second) =>
      engine.pipelines === null
        ? [await first(), await second()]
        : steps.together(() => Promise.all([first(), second()]));
    const both: DbTransaction["both"] = async (first, second) =>
      engine.pipelines === "all" ? withRead(first, second) : [await first(), await second()];
    try {
      if (engine.pipelines === null || isUndone) await begun.now();
      const checkCommit = isUndone
        ? await foresee(connection, () => engine.foreseeCommit(connection), { deadlineAtMs })
        : null;
      const result = await within(
        work(statements, { part, last, both, withRead }),
        deadlineAtMs,
        tooLate(requestOverdue),
      );
      const failed = await steps.finish();
      if (failed !== undefined) throw failed;
      if (checkCommit !== null)
        await foresee(connection, checkCommit, { deadlineAtMs, written: whole.only });
      if (isUndone) {
        await rollback(connection);
        return result;
      }
      if (begun.isOpen && closing === undefined)
        await control(connection, { text: engine.commit, deadlineAtMs, written: whole.only });
      if (!isSnapshot) room.sufficed();
      return result;
    } catch (error) {
      const failed = await steps.stop();
      if (begun.isOpen) await rollback(connection);
      // Even if `work` handled the conflict itself, it has to run again.
      throw failed instanceof Conflict ? failed : error;
    }
  }

  const runShared = createSharedTransactions(run);

  return async (work, transacting) => {
    const { pool, caller, deadlineAtMs, isQuick = false } = transacting;
    if (performance.now() >= deadlineAtMs) throw unavailable(overdueMessage);
    const taking = {
      caller,
      shares: isQuick && engine.singleWriter ? "transactions" : null,
    } as const;
    const connection = pool.tryAcquire(taking) ?? (await acquire(pool, deadlineAtMs, taking));
    try {
      return await (taking.shares === null ? run : runShared)(connection, work, transacting);
    } finally {
      const release = (): void => pool.release(connection, caller);
      if (called.delete(connection)) void reset(connection).then(release);
      else release();
    }
  };
}

/**
 * What changed records: a fault that the database finds only at the end is told as one of this write, but only where
 * all were of one kind and one table. Nobody could say otherwise which of them it is about.
 */
function createWritten() {
  let first: Write | null = null;
  let isAlike = true;
  return {
    add(statement: Statement): void {
      if (changesNothing(statement) || !("table" in statement)) return;
      // The service's own tables have no references.
      if (statement.table.name.startsWith("rowgate_")) return;
      first ??= statement;
      isAlike &&=
        first.kind === statement.kind && first.table.identity === statement.table.identity;
    },
    get only(): Statement | null {
      return isAlike ? first : null;
    },
  };
}

type Write = Extract<Statement, { readonly table: unknown }>;

/** The statements that open a transaction: sent with its first step, or before it by `begin`. */
function createBeginning(
  opening: readonly Command[],
  begin: (opening: readonly Command[]) => Promise<void>,
) {
  let isOpen = false;
  function take(): readonly Command[] {
    if (isOpen) return [];
    isOpen = true;
    return opening;
  }
  return {
    take,
    async now(): Promise<void> {
      if (!isOpen) await begin(take());
    },
    /** Whether something was sent: otherwise there is nothing to end. */
    get isOpen() {
      return isOpen;
    },
  };
}

/**
 * Runs the steps of a transaction in sequence, and none after a failure: PostgreSQL refuses statements after a failure,
 * and a statement that ran after the ROLLBACK would be outside the transaction. Only a step that recovers may follow,
 * unless the failure was a conflict: then the database has given up the whole transaction.
 */
function createSteps() {
  let ended = false;
  let failed: Error | undefined;
  let last: Promise<unknown> = Promise.resolve();
  /** What steps that are sent at once wait for; null: each waits for the one before it. */
  let shared: Promise<unknown> | null = null;

  return {
    next<R>(step: () => Promise<R>, recovers = false): Promise<R> {
      const earlier = last;
      const result = (shared ?? last).then(async () => {
        if (ended) throw new Error("The transaction has ended");
        if (failed !== undefined && (!recovers || failed instanceof Conflict))
          throw visibleError(failed);
        try {
          const done = await step();
          if (recovers) failed = undefined;
          return done;
        } catch (error) {
          // Of what was sent at once, the first failure is the cause of the others, even if it is learned of later.
          await earlier;
          failed ??= error as Error;
          throw visibleError(failed);
        }
      });
      last = Promise.all([last, result.catch(() => {})]);
      return result;
    },

    /** The steps that `work` begins at once are sent without waiting for each other, in their order. */
    together<R>(work: () => Promise<R>): Promise<R> {
      shared = last;
      try {
        return work();
      } finally {
        shared = null;
      }
    },

    /** The step that runs is the last one. */
    end(): void {
      ended = true;
    },

    /** Waits for all steps and returns the failure of one; no further step starts. */
    async finish(): Promise<Error | undefined> {
      await last;
      ended = true;
      return failed;
    },

    /** Like `finish`, but pending steps are dropped. */
    async stop(): Promise<Error | undefined> {
      ended = true;
      await last;
      return failed;
    },
  };
}

/** What parts send, in order with the other statements. */
interface PartSteps {
  readonly run: (text: string, recovers: boolean) => Promise<void>;
  readonly foresee: <T>(ask: () => Promise<T>) => Promise<T>;
  readonly foreseeCommit: () => ReturnType<Engine["foreseeCommit"]>;
  readonly begins: () => void;
}

/** A part that can be rolled back by itself, with a savepoint, also within another one. */
function createPart(
  { set, undo, release }: Savepoint,
  { run, foresee, foreseeCommit, begins }: PartSteps,
): DbTransaction["part"] {
  let depth = 0;

  /** PostgreSQL goes back to checking at the end when it goes back to the savepoint. */
  async function checkCommit(ask: () => Promise<void>): Promise<void> {
    const end = String(depth);
    await run(set + end, false);
    await foresee(ask);
    await run(undo + end, false);
    await run(release + end, false);
  }

  return async (work, { foreseesCommit = false } = {}) => {
    const ask = foreseesCommit ? await foresee(foreseeCommit) : null;
    // MySQL forgets a savepoint when there is another one of its name.
    const end = depth === 0 ? "" : String(depth);
    await run(set + end, false);
    begins();
    depth++;
    try {
      const result = await work();
      if (ask !== null) await checkCommit(ask);
      await run(release + end, false);
      return result;
    } catch (error) {
      // If there is nothing to go back to, no further statement can run, and the first failure says why.
      await run(undo + end, true).then(
        () => run(release + end, false),
        () => undefined,
      );
      throw error;
    } finally {
      depth--;
    }
  };
}
