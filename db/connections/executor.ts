/**
 * Runs statements on a connection that the caller took from a pool, each within its deadline; the connection of an
 * overdue statement is destroyed. Converts the driver's errors.
 */
import { AppError } from "../../core/values/errors.ts";
import type { Log } from "../../core/plans/log-port.ts";
import { changesNothing, type Statement } from "../../core/query/statement.ts";
import {
  BehindError,
  type Command,
  type Connection,
  type Engine,
  type Failure,
  type RawResult,
} from "../engines/engine.ts";
import { type Compile, type Compiled, decoderOf } from "../statements/compile.ts";
import type { ListInWriting } from "../statements/list-writer.ts";
import { columnOfParameter } from "../statements/print.ts";
import { toAppError, saidBy } from "./app-error.ts";
import { Conflict } from "./conflict.ts";
import { createLearnKinds } from "./learn-kinds.ts";
import { type Deadlines, tooLate } from "../../core/values/deadlines.ts";
import { withReferences } from "./missing-references.ts";
import type { Room } from "./room.ts";
import type { Sender } from "./sender.ts";
import type { Written } from "./execute.ts";

/** The server stops a statement at its time-out; after this additional time we stop waiting for it. */
const timeoutGraceMs = 1_000;
const endTimeoutMs = 2_000;

export const overdueMessage = "The database took too long to answer; try again";

/** Whether the error is that of a statement that exceeded its own time. */
export const isOverdue = (error: unknown): boolean =>
  error instanceof AppError && error.message === overdueMessage;

/** A statement with its compiled text, before a connection is requested. */
export interface Execution {
  readonly statement: Statement;
  readonly compiled: Compiled;
  readonly deadlineAtMs: number;
  /** Settings that make it a transaction; null or absent: it needs none. */
  readonly local?: Command | null;
  /** See `Command`. */
  readonly waitsBriefly?: boolean;
  /** Statements that open its transaction, and are sent with it. Absent: none. */
  readonly opening?: readonly Command[];
  /** Ends its transaction, and is sent with it. Absent: nothing. */
  readonly closing?: readonly string[];
  /** As `Control.written`. */
  readonly written?: Statement | null;
}

/** How a transaction begins: the engine's statements, and the settings that hold only for it (null = none). */
export interface Beginning {
  readonly texts: readonly string[];
  readonly local: Command | null;
}

/** A text of the engine that begins, ends or parts a transaction. */
interface Control {
  readonly text: string;
  readonly deadlineAtMs: number;
  /** As `Execution.opening`. */
  readonly opening?: readonly Command[];
  /** The write that the database may only check when the transaction ends. Absent or null: there is none. */
  readonly written?: Statement | null;
}

/** All but `send`, `rollback` and `reset` reject with an AppError, or with a Conflict whose cause is one. */
export interface Executor {
  execute(connection: Connection, execution: Execution): Promise<Written>;
  /** Sends it as it is, within the deadline. Fails with the driver's own error. */
  send(
    connection: Connection,
    command: Command,
    deadlineAtMs: number,
  ): RawResult | Promise<RawResult>;
  /** Runs an engine's text without parameters and rows, such as COMMIT or SAVEPOINT. */
  control(connection: Connection, control: Control): Promise<void>;
  /** Opens a transaction. */
  begin(connection: Connection, opening: readonly Command[], deadlineAtMs: number): Promise<void>;
  /**
   * Rolls back if the connection is still usable; otherwise, or when that fails, the connection is destroyed. Never
   * rejects.
   */
  rollback(connection: Connection): Promise<void>;
  /** The same for what a procedure left in the session. */
  reset(connection: Connection): Promise<void>;
  /** Waits for the connection's work until the deadline or the statement time-out; then the connection is destroyed. */
  step<T>(connection: Connection, work: Promise<T>, deadlineAtMs: number): Promise<T>;
  /** Destroys the connection of overdue work. */
  abandon(connection: Connection): void;
  /** The statement, compiled with the current knowledge of stored values. */
  current(statement: Statement, compiled: Compiled): Compiled;
  /** Whether the text depends on knowledge that has changed. */
  isOutdated(compiled: Compiled): boolean;
  /** See `createLearnKinds`. */
  readonly learnKinds: ReturnType<typeof createLearnKinds>;
  meaningOf(error: unknown, statement: Statement | null): Error;
}

export interface ExecutorOptions {
  readonly engine: Engine;
  readonly sender: Sender;
  readonly deadlines: Deadlines;
  /** 0 = none. */
  readonly statementTimeoutMs: number;
  readonly compile: Compile;
  /** Whether clients see the messages of triggers. */
  readonly triggerMessages: boolean;
  /** Called with the database's message when a failure suggests that tables or columns have changed. */
  readonly onSchemaDoubt?: ((failure: string) => void) | undefined;
  readonly room: Room;
  readonly log?: Log | undefined;
}

/** One piece: its functions share the engine, the sender and the time limits of one database. */
export function createExecutor(options: ExecutorOptions): Executor {
  const { engine, sender, statementTimeoutMs, compile, onSchemaDoubt, log } = options;
  const { within } = options.deadlines;
  const { learned } = engine.dialect;
  const meaningOf = createMeaningOf(options);
  const learnKinds = createLearnKinds(engine, onSchemaDoubt);

  function step<T>(connection: Connection, work: Promise<T>, deadlineAtMs: number): Promise<T> {
    const atMs =
      statementTimeoutMs === 0
        ? deadlineAtMs
        : Math.min(deadlineAtMs, performance.now() + statementTimeoutMs + timeoutGraceMs);
    return within(
      work,
      atMs,
      tooLate(overdueMessage, () => abandon(connection)),
    );
  }

  function abandon(connection: Connection): void {
    log?.warn(
      { engine: engine.name },
      "A statement exceeded its deadline; its connection is closed",
    );
    connection.destroy();
  }

  /** Returns the result without a promise if the driver has it already, which saves the promises and the time-out. */
  function send(
    connection: Connection,
    command: Command,
    deadlineAtMs: number,
  ): RawResult | Promise<RawResult> {
    const result = sender.send(connection, command);
    return result instanceof Promise ? step(connection, result, deadlineAtMs) : result;
  }

  /** `list`: takes the rows; null: they are in the result. */
  function commandOf(
    { local, opening = [], closing = [], waitsBriefly = false }: Execution,
    compiled: Compiled,
    list: ListInWriting | null,
  ): Command {
    const { text, params, reuse, isNative } = compiled;
    const command = { text, params, reuse, isNative, take: list?.take, waitsBriefly };
    if (local)
      return {
        ...command,
        before: openingOf({ texts: engine.begin, local }),
        behind: [controlling(engine.commit)],
      };
    if (opening.length === 0 && closing.length === 0) return command;
    return { ...command, before: opening, behind: closing.map(controlling) };
  }

  /** Of a native statement, the driver reports the columns together with the rows. */
  const decoderFor = (compiled: Compiled, { fields = [] }: RawResult): Compiled["decode"] =>
    compiled.isNative ? decoderOf(engine.dialect, engine.outputs(fields)) : compiled.decode;

  function current(statement: Statement, compiled: Compiled): Compiled {
    if (compiled.isNative) return compiled;
    if (compiled.restsOn.length > 0) learned.refresh(compiled.restsOn);
    return learned.generation === compiled.generation ? compiled : compile(statement);
  }

  const isOutdated = ({ restsOn, generation }: Compiled): boolean =>
    restsOn.length > 0 && learned.generation !== generation;

  async function orDestroy(connection: Connection, end: () => unknown): Promise<void> {
    if (!connection.alive) return;
    try {
      const atMs = performance.now() + endTimeoutMs;
      await within(Promise.resolve(end()), atMs, tooLate(overdueMessage));
    } catch {
      connection.destroy();
    }
  }

  const rollback = (connection: Connection): Promise<void> =>
    orDestroy(connection, () =>
      sender.send(connection, { text: engine.rollback, params: [], reuse: false }),
    );

  async function execute(connection: Connection, execution: Execution): Promise<Written> {
    const { statement, deadlineAtMs, local = null } = execution;
    let sent = execution;
    const isRead = changesNothing(statement);
    try {
      let compiled = current(statement, execution.compiled);
      for (let isAgain = false; ;) {
        const columns = compiled.reading?.columns;
        const list = beginList(compiled);
        const command = commandOf(sent, compiled, list);
        const result = await send(connection, command, deadlineAtMs);
        if (sent.opening) sent = { ...sent, opening: [] };
        learnKinds(compiled, result);
        // The list was written with old column types: this result, or another one meanwhile, has shown new ones.
        if (list !== null && compiled.reading?.columns !== columns) continue;
        const written = writtenBy(compiled, result, { list, decode: decoderFor(compiled, result) });
        // The rows showed that the assumed form does not hold for all values.
        if (isRead && !isAgain && isOutdated(compiled)) {
          isAgain = true;
          compiled = compile(statement);
          continue;
        }
        return written;
      }
    } catch (error) {
      if (local !== null) await rollback(connection);
      if (error instanceof BehindError) throw meaningOf(error.cause, execution.written ?? null);
      throw await withReferences(meaningOf(error, statement), {
        statement,
        read: (select) =>
          execute(connection, { statement: select, compiled: compile(select), deadlineAtMs }),
      });
    }
  }

  return {
    send,
    execute,
    async begin(connection, opening, deadlineAtMs) {
      try {
        const isAtOnce = engine.pipelines === "all" && opening.length > 1;
        if (!isAtOnce) for (const command of opening) await send(connection, command, deadlineAtMs);
        else await send(connection, { ...opening[0]!, behind: opening.slice(1) }, deadlineAtMs);
      } catch (error) {
        throw meaningOf(error, null);
      }
    },
    async control(connection, { text, deadlineAtMs, opening = [], written = null }) {
      try {
        const command = controlling(text);
        const whole = opening.length === 0 ? command : { ...command, before: opening };
        await send(connection, whole, deadlineAtMs);
      } catch (error) {
        throw meaningOf(error, written);
      }
    },
    rollback,
    reset: (connection) => orDestroy(connection, () => engine.reset(connection)),
    step,
    abandon,
    current,
    isOutdated,
    learnKinds,
    meaningOf,
  };
}

/** Reads an error of the driver, and tells those who must know of it. */
function createMeaningOf({ engine, triggerMessages, onSchemaDoubt, room }: ExecutorOptions) {
  return function meaningOf(error: unknown, statement: Statement | null): Error {
    if (error instanceof AppError) return error;
    if (error instanceof BehindError) return meaningOf(error.cause, null);
    const failure = engine.failure(error);
    const parameter =
      statement === null || failure.parameter === undefined
        ? null
        : columnOfParameter(engine.dialect, statement, failure.parameter);
    const cause = loggable(engine, error);
    if (failure.kind === "full") room.ended(cause);
    // The operator's own SQL proves nothing about the tables that others use.
    const isOwn = statement?.kind !== "native";
    const isDoubtful =
      failure.kind === "missing" || failure.mayHaveChanged || namesOtherColumn(failure, statement);
    if (isOwn && isDoubtful) onSchemaDoubt?.(saidBy(cause));
    const known = toAppError(failure, { statement, cause, parameter, triggerMessages });
    return failure.kind === "conflict" ? new Conflict("", { cause: known }) : known;
  };
}

/** Whether the failure is about a column that the table did not have, such as one that must not be null. */
const namesOtherColumn = ({ columns = [] }: Failure, statement: Statement | null): boolean =>
  statement !== null &&
  "table" in statement &&
  columns.some((name) => !statement.table.columns.has(name));

/** Begins the text of the rows where the statement asks for one; each attempt needs a new one. */
const beginList = ({ beginList: begin }: Compiled): ListInWriting | null => begin && begin();

/** `list`: has taken the rows of the result; null: they are in it. */
function writtenBy(
  { listOf }: Compiled,
  { rows, matched, insertId }: RawResult,
  reading: { readonly list: ListInWriting | null; readonly decode: Compiled["decode"] },
): Written {
  if (reading.list !== null) return { rows: [], list: reading.list.end(), matched, insertId };
  const decoded = reading.decode(rows);
  if (listOf === null) return { rows: decoded, matched, insertId };
  return { rows: [], list: listOf(decoded), matched, insertId };
}

const controlling = (text: string): Command => ({ text, params: [], reuse: true });

/** What can be sent ahead of the answer that decides: nothing where it could still be carried out after the deadline. */
export const conditionalBy = (
  { conditional }: Connection,
  deadlineAtMs: number,
): Connection["conditional"] =>
  conditional && deadlineAtMs - performance.now() > conditional.waitMsMax ? conditional : undefined;

/** The settings follow the first of the engine's statements. */
export function openingOf({ texts, local }: Beginning): readonly Command[] {
  const [first, ...rest] = texts.map(controlling);
  return local === null ? [first!, ...rest] : [first!, local, ...rest];
}

/** A server's error as it is logged: without values and properties of the driver. The code is the server's. */
class DatabaseError extends Error {
  override readonly name = "DatabaseError";
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** The parts of a driver's error to be logged. Errors that are not the server's stay as they are. */
function loggable(engine: Pick<Engine, "loggedMessage">, error: unknown): unknown {
  const message = engine.loggedMessage(error);
  if (message === null) return error;
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  return new DatabaseError(message, String(code ?? errno));
}
