/**
 * Runs statements on a connection that the caller took from a pool, each within its deadline; the connection of an
 * overdue statement is destroyed. Converts the driver's errors.
 */
import { AppError } from "../../core/values/errors.ts";
import type { Log } from "../../core/plans/ports.ts";
import type { Statement } from "../../core/query/statement.ts";
import type { Command, Connection, Engine, Failure, RawResult } from "../engines/engine.ts";
import { type Compile, type Compiled, decoderOf } from "../statements/compile.ts";
import type { ListInWriting } from "../statements/list-writer.ts";
import { columnOfParameter } from "../statements/print.ts";
import { toAppError, saidBy } from "./app-error.ts";
import { Conflict } from "./conflict.ts";
import { loggable } from "./database-error.ts";
import type { Deadlines } from "../../core/values/deadlines.ts";
import type { Written } from "./execute.ts";

/** The server stops a statement at its time-out; after this additional time we stop waiting for it. */
const timeoutGraceMs = 1_000;
const rollbackTimeoutMs = 2_000;

export const overdueMessage = "The database took too long to answer; try again";

/** Whether the error is that of a statement that exceeded its own time. */
export const isOverdue = (error: unknown): boolean =>
  error instanceof AppError && error.message === overdueMessage;

/** A statement with its compiled text, before a connection is requested. */
export interface Execution {
  readonly statement: Statement;
  readonly compiled: Compiled;
  readonly deadlineAtMs: number;
}

/** How a transaction begins: the engine's statements, and the settings that hold for it alone (null = none). */
export interface Beginning {
  readonly texts: readonly string[];
  readonly local: Command | null;
  readonly deadlineAtMs: number;
}

/** All but `rollback` reject with an AppError, or with a Conflict whose cause is one. */
export interface Executor {
  execute(connection: Connection, execution: Execution): Promise<Written>;
  /** Runs an engine's text without parameters and rows, such as BEGIN, COMMIT or SAVEPOINT. */
  control(connection: Connection, text: string, deadlineAtMs: number): Promise<void>;
  /** As `execute`, in a transaction of its own that begins with `local`. */
  executeAlone(connection: Connection, execution: Execution, local: Command): Promise<Written>;
  /** Opens a transaction. */
  begin(connection: Connection, beginning: Beginning): Promise<void>;
  /**
   * Rolls back if the connection is still usable; otherwise, or when that fails, the connection is destroyed. Never
   * rejects.
   */
  rollback(connection: Connection): Promise<void>;
  /** Waits for the connection's work until the deadline or the statement time-out; then the connection is destroyed. */
  step<T>(connection: Connection, work: Promise<T>, deadlineAtMs: number): Promise<T>;
  /** Destroys the connection of overdue work. */
  abandon(connection: Connection): void;
  /** The statement compiled with the current knowledge of stored forms. */
  current(statement: Statement, compiled: Compiled): Compiled;
  /** Whether the text relies on stored forms that have changed. */
  isOutdated(compiled: Compiled): boolean;
  meaningOf(error: unknown, statement: Statement | null): Error;
}

/** Statements that can be run twice, because they change nothing. */
const readingKinds: ReadonlySet<Statement["kind"]> = new Set([
  "select",
  "count",
  "estimate",
  "sample",
  "aggregate",
  "ask",
]);

export const changesNothing = ({ kind }: Statement): boolean => readingKinds.has(kind);

export interface ExecutorOptions {
  readonly engine: Engine;
  readonly deadlines: Deadlines;
  /** 0 = none. */
  readonly statementTimeoutMs: number;
  readonly compile: Compile;
  /** Whether clients see the messages of triggers. */
  readonly triggerMessages: boolean;
  /** Called with what the database says when a statement failed as if tables or columns had changed. */
  readonly onSchemaDoubt?: ((failure: string) => void) | undefined;
  readonly log?: Log | undefined;
}

export function createExecutor({
  engine,
  deadlines: { within },
  statementTimeoutMs,
  compile,
  triggerMessages,
  onSchemaDoubt,
  log,
}: ExecutorOptions): Executor {
  const { forms } = engine.dialect;

  function step<T>(connection: Connection, work: Promise<T>, deadlineAtMs: number): Promise<T> {
    const atMs =
      statementTimeoutMs === 0
        ? deadlineAtMs
        : Math.min(deadlineAtMs, performance.now() + statementTimeoutMs + timeoutGraceMs);
    return within(work, atMs, () => abandon(connection), overdueMessage);
  }

  function abandon(connection: Connection): void {
    log?.warn(
      { engine: engine.name },
      "A statement exceeded its deadline; its connection is closed",
    );
    connection.destroy();
  }

  function run(
    connection: Connection,
    { text, params, reuse, take }: Command,
    deadlineAtMs: number,
  ): RawResult | Promise<RawResult> {
    const result = connection.runNow?.(text, params);
    return result ?? step(connection, connection.run(text, params, reuse, take), deadlineAtMs);
  }

  const runText = (connection: Connection, text: string, deadlineAtMs: number) =>
    run(connection, controlling(text), deadlineAtMs);

  /** The driver reports the columns together with the rows. */
  async function runNative(
    connection: Connection,
    { text, params }: Compiled,
    deadlineAtMs: number,
  ): Promise<Written> {
    const work = connection.native(text, params);
    const result = await step(connection, work, deadlineAtMs);
    const decode = decoderOf(engine.dialect, engine.outputs(result.fields ?? []));
    return writtenBy({ decode }, result);
  }

  function current(statement: Statement, compiled: Compiled): Compiled {
    if (forms === undefined) return compiled;
    if (compiled.forms.length > 0) forms.refresh(compiled.forms);
    return forms.generation === compiled.generation ? compiled : compile(statement);
  }

  const isOutdated = ({ forms: relied, generation }: Compiled): boolean =>
    forms !== undefined && relied.length > 0 && forms.generation !== generation;

  function meaningOf(error: unknown, statement: Statement | null): Error {
    if (error instanceof AppError) return error;
    const failure = engine.failure(error);
    const parameter =
      statement === null || failure.parameter === undefined
        ? null
        : columnOfParameter(engine.dialect, statement, failure.parameter);
    const cause = loggable(engine, error);
    // A statement of the operator's own says nothing about the tables that others use.
    const isOwn = statement?.kind !== "native";
    const isDoubtful =
      failure.kind === "missing" || failure.mayHaveChanged || namesOtherColumn(failure, statement);
    if (isOwn && isDoubtful) onSchemaDoubt?.(saidBy(cause));
    const known = toAppError(failure, { statement, cause, parameter, triggerMessages });
    return failure.kind === "conflict" ? new Conflict("", { cause: known }) : known;
  }

  /** One after the other on the wire, in one wait where the connection can do that. */
  async function together(
    connection: Connection,
    statements: readonly Command[],
    deadlineAtMs: number,
  ): Promise<readonly RawResult[]> {
    const work = connection.runTogether?.(statements) ?? inTurn(connection, statements);
    return step(connection, work, deadlineAtMs);
  }

  async function rollback(connection: Connection): Promise<void> {
    if (!connection.alive) return;
    try {
      const work = connection.run(engine.rollback, [], false);
      await within(work, performance.now() + rollbackTimeoutMs, () => {}, overdueMessage);
    } catch {
      connection.destroy();
    }
  }

  return {
    async executeAlone(connection, { statement, compiled, deadlineAtMs }, local) {
      const isRead = changesNothing(statement);
      const begin = engine.begin.map(controlling);
      const commit = controlling(engine.commit);
      const list = beginList(compiled);
      const command = commandOf(compiled, list);
      const ahead = [...begin, local, command, ...(isRead ? [commit] : [])];
      try {
        const results = await together(connection, ahead, deadlineAtMs);
        const result = results[begin.length + 1]!;
        // The driver may send a statement once more when its plan is stale: behind a COMMIT that was sent ahead, a write would be outside the transaction.
        if (!isRead) await together(connection, [commit], deadlineAtMs);
        if (statement.kind !== "native") return writtenBy(compiled, result, list);
        const decode = decoderOf(engine.dialect, engine.outputs(result.fields ?? []));
        return writtenBy({ decode }, result);
      } catch (error) {
        await rollback(connection);
        throw meaningOf(error, statement);
      }
    },
    async begin(connection, { texts, local, deadlineAtMs }) {
      const [first, ...rest] = texts.map(controlling);
      try {
        if (local !== null && first !== undefined)
          await together(connection, [first, local, ...rest], deadlineAtMs);
        else for (const text of texts) await runText(connection, text, deadlineAtMs);
      } catch (error) {
        throw meaningOf(error, null);
      }
    },
    async execute(connection, { statement, compiled, deadlineAtMs }) {
      try {
        if (statement.kind === "native") return await runNative(connection, compiled, deadlineAtMs);
        const printed = current(statement, compiled);
        const list = beginList(printed);
        const result = await run(connection, commandOf(printed, list), deadlineAtMs);
        const written = writtenBy(printed, result, list);
        if (!isOutdated(printed) || !changesNothing(statement)) return written;
        // The rows themselves showed that the assumed form is not true for all values, so the statement is compiled and
        // run again.
        const again = compile(statement);
        const newList = beginList(again);
        const other = await run(connection, commandOf(again, newList), deadlineAtMs);
        return writtenBy(again, other, newList);
      } catch (error) {
        throw meaningOf(error, statement);
      }
    },
    async control(connection, text, deadlineAtMs) {
      try {
        await runText(connection, text, deadlineAtMs);
      } catch (error) {
        throw meaningOf(error, null);
      }
    },
    rollback,
    step,
    abandon,
    current,
    isOutdated,
    meaningOf,
  };
}

/** Whether the failure is about a column that the table did not have, such as one that must not be null. */
const namesOtherColumn = ({ columns = [] }: Failure, statement: Statement | null): boolean =>
  statement !== null &&
  "table" in statement &&
  columns.some((name) => !statement.table.columns.has(name));

/** The text of rows, where the statement is to give one; to be begun anew for each attempt. */
const beginList = ({ beginList: begin }: Compiled): ListInWriting | null => begin && begin();

const commandOf = (compiled: Compiled, list: ListInWriting | null): Command =>
  list === null ? compiled : { ...compiled, take: list.take };

/** `list` has taken the rows of the result. */
function writtenBy(
  { decode }: Pick<Compiled, "decode">,
  { rows, matched, insertId }: RawResult,
  list: ListInWriting | null = null,
): Written {
  if (list === null) return { rows: decode(rows), matched, insertId };
  return { rows: [], list: list.end(), matched, insertId };
}

/** A text of the engine that begins or ends a transaction. */
const controlling = (text: string): Command => ({ text, params: [], reuse: true });

async function inTurn(
  connection: Connection,
  statements: readonly Command[],
): Promise<RawResult[]> {
  const results: RawResult[] = [];
  for (const { text, params, reuse, take } of statements)
    results.push(await connection.run(text, params, reuse, take));
  return results;
}

/** Compiles and runs statements on an existing connection. */
export const executing =
  (executor: Executor, compile: Compile) =>
  (connection: Connection, statement: Statement, deadlineAtMs: number): Promise<Written> =>
    executor.execute(connection, { statement, compiled: compile(statement), deadlineAtMs });
