/**
 * An engine whose connections report each statement to an observer. Without an observer the engine itself is used, so
 * that statements cost nothing more.
 */
import type { DbObserver } from "../../core/plans/observer.ts";
import type { Command, Connection, Engine, RawResult } from "../engines/engine.ts";
import type { TakeRow } from "../statements/dialect.ts";
import { withoutLiterals } from "../statements/without-literals.ts";

/** The parts of an engine that take or give connections. */
export function observedEngine(engine: Engine, observer: DbObserver): Engine {
  const observe = createObserve(engine, observer);
  return {
    ...engine,
    connect: async (role) => observedConnection(await engine.connect(role), observe),
    // The engines read their catalogs through connections of their own kind.
    table: ({ connection, shared }, schema, name) =>
      engine.table({ connection: innerOf(connection), shared }, schema, name),
    names: (connection) => engine.names(innerOf(connection)),
    schemas: (connection) => engine.schemas(innerOf(connection)),
    outlines: (connection, schemas) => engine.outlines(innerOf(connection), schemas),
    plan: (connection, text, params) => engine.plan(innerOf(connection), text, params),
    query: (connection, text) => engine.query(innerOf(connection), text),
  };
}

const innerOf = (connection: Connection): Connection =>
  connection instanceof ObservedConnection ? connection.inner : connection;

/** `isOwn` false: the text may contain values. */
type Observe = (text: string, isOwn: boolean) => Begun;

const createObserve =
  (engine: Engine, observer: DbObserver): Observe =>
  (text, isOwn) =>
    new Begun(engine, observer, isOwn ? text : withoutLiterals(text, engine.dialect));

/** A statement that has begun. A class, because every statement gets one. */
class Begun {
  private readonly engine: Engine;
  private readonly observer: DbObserver;
  private readonly text: string;
  private readonly startedMs = performance.now();
  private isOver = false;
  private idleMs = 0;
  private pausedMs: number | null = null;

  constructor(engine: Engine, observer: DbObserver, text: string) {
    this.engine = engine;
    this.observer = observer;
    this.text = text;
  }

  /** Until `resume`, its caller is busy with its rows, which is not its own time. */
  pause(): void {
    this.pausedMs = performance.now();
  }

  resume(): void {
    this.idleMs += performance.now() - (this.pausedMs ?? performance.now());
    this.pausedMs = null;
  }

  ended(rows: number): void {
    this.report(rows, null);
  }

  failed(error: unknown): void {
    this.report(0, this.engine.failure(error).kind);
  }

  private report(rows: number, failure: string | null): void {
    if (this.isOver) return;
    this.isOver = true;
    const { startedMs, pausedMs, idleMs } = this;
    this.observer.statement({
      system: this.engine.system,
      text: this.text,
      startedMs,
      durationMs: (pausedMs ?? performance.now()) - startedMs - idleMs,
      rows,
      failure,
    });
  }
}

/** With `runNow` and `runTogether` where the connection itself has them. */
function observedConnection(inner: Connection, observe: Observe): Connection {
  const observed = new ObservedConnection(inner, observe);
  return Object.assign(observed, {
    ...(inner.runNow && { runNow: observed.now }),
    ...(inner.runTogether && { runTogether: observed.together }),
  });
}

class ObservedConnection implements Connection {
  readonly inner: Connection;
  private readonly observe: Observe;

  constructor(inner: Connection, observe: Observe) {
    this.inner = inner;
    this.observe = observe;
  }

  get alive(): boolean {
    return this.inner.alive;
  }

  get isShareable(): boolean {
    return this.inner.isShareable === true;
  }

  run(
    text: string,
    params: readonly unknown[],
    reuse: boolean,
    take?: TakeRow,
  ): Promise<RawResult> {
    return reported(this.observe(text, reuse), this.inner.run(text, params, reuse, take));
  }

  native(text: string, params: readonly unknown[]): Promise<RawResult> {
    // A handler may have written values of a request into its text.
    return reported(this.observe(text, false), this.inner.native(text, params));
  }

  async *stream(
    text: string,
    params: readonly unknown[],
    batchRows: number,
    isInTransaction?: boolean,
  ): AsyncGenerator<RawResult["rows"]> {
    const begun = this.observe(text, true);
    let rows = 0;
    try {
      for await (const batch of this.inner.stream(text, params, batchRows, isInTransaction)) {
        rows += batch.length;
        begun.pause();
        yield batch;
        begun.resume();
      }
    } catch (error) {
      begun.failed(error);
      throw error;
    } finally {
      begun.ended(rows);
    }
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  destroy(): void {
    this.inner.destroy();
  }

  now(text: string, params: readonly unknown[]): RawResult | null {
    const begun = this.observe(text, true);
    try {
      const result = this.inner.runNow!(text, params);
      // Null: the statement did not run; `run` comes next.
      if (result) begun.ended(rowsOf(result));
      return result;
    } catch (error) {
      begun.failed(error);
      throw error;
    }
  }

  /** The answers come together, so each statement is reported with the time of all. */
  async together(commands: readonly Command[]): Promise<readonly RawResult[]> {
    const begun = commands.map(({ text, reuse }) => this.observe(text, reuse));
    try {
      const results = await this.inner.runTogether!(commands);
      results.forEach((result, at) => begun[at]?.ended(rowsOf(result)));
      return results;
    } catch (error) {
      for (const one of begun) one.failed(error);
      throw error;
    }
  }
}

const rowsOf = ({ rows, matched }: RawResult): number => Math.max(rows.length, matched);

function reported(begun: Begun, work: Promise<RawResult>): Promise<RawResult> {
  work.then(
    (result) => begun.ended(rowsOf(result)),
    (error: unknown) => begun.failed(error),
  );
  return work;
}
