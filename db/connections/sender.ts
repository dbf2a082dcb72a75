/**
 * Sends statements to a connection, and reports each to the observer. Without an observer this costs nothing. Engines
 * read their catalogs without it.
 */
import type { DbObserver } from "../../core/plans/observer.ts";
import type { Command, Connection, Engine, RawResult, StreamCommand } from "../engines/engine.ts";
import type { RawRow, Dialect } from "../statements/dialect.ts";

/** `send` and `stream` of connections. */
export interface Sender {
  send(connection: Connection, command: Command): RawResult | Promise<RawResult>;
  stream(connection: Connection, command: StreamCommand): AsyncIterable<RawRow[]>;
}

export function createSender(engine: Engine, observer: DbObserver | undefined): Sender {
  if (observer === undefined)
    return {
      send: (connection, command) => connection.send(command),
      stream: (connection, command) => connection.stream(command),
    };
  const begin = (command: Command): Begun => new Begun(engine, observer, command);
  return {
    send(connection, command) {
      const { before = [], behind = [] } = command;
      const begun = begin(command);
      // The answers come together, so the statement has the time of all.
      const around = [...before, ...behind].map(begin);
      for (const one of around) one.pause();
      const ended = (result: RawResult): RawResult => {
        for (const one of around) one.ended(nothing);
        begun.ended(result);
        return result;
      };
      const failed = (error: unknown): never => {
        for (const one of [...around, begun]) one.failed(error);
        throw error;
      };
      try {
        const result = connection.send(command);
        return result instanceof Promise ? result.then(ended, failed) : ended(result);
      } catch (error) {
        return failed(error);
      }
    },
    async *stream(connection, command) {
      const begun = begin(command);
      let matched = 0;
      try {
        for await (const batch of connection.stream(command)) {
          matched += batch.length;
          begun.pause();
          yield batch;
          begun.resume();
        }
      } catch (error) {
        begun.failed(error);
        throw error;
      } finally {
        begun.ended({ rows: [], matched });
      }
    },
  };
}

const nothing = { rows: [], matched: 0 };

/** A statement that has begun. A class, because every statement gets one. */
class Begun {
  private readonly engine: Engine;
  private readonly observer: DbObserver;
  private readonly text: string;
  private readonly startedMs = performance.now();
  private isOver = false;
  private idleMs = 0;
  private pausedMs: number | null = null;

  constructor(engine: Engine, observer: DbObserver, { text, reuse, isNative }: Command) {
    this.engine = engine;
    this.observer = observer;
    // A handler can have put values of a request into its text.
    this.text = reuse && !isNative ? text : withoutLiterals(text, engine.dialect);
  }

  /** Stops the clock until `resume`, while the caller processes rows. */
  pause(): void {
    this.pausedMs = performance.now();
  }

  resume(): void {
    this.idleMs += performance.now() - (this.pausedMs ?? performance.now());
    this.pausedMs = null;
  }

  ended({ rows, matched }: Pick<RawResult, "rows" | "matched">): void {
    this.report(Math.max(rows.length, matched), null);
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

/**
 * Comments, literals, quoted and dollar-quoted texts, names, and numbers. An unterminated text extends to the end. So
 * does a literal with a backslash, because engines disagree on its meaning.
 */
const literals =
  /(?<comment>--[^\n]*|\/\*[^]*?(?:\*\/|$))|'(?:[^'\\]|'')*(?:'|$)|(?<dollar>\$(?<tag>[A-Za-z_]\w*|)\$)[^]*?(?:\$\k<tag>\$|$)|(?<double>"(?:[^"\\]|"")*(?:"|$))|(?<back>`(?:[^`]|``)*(?:`|$))|(?<rest>['"][^]*)|(?<![\w$:])\d[\w.]*/g;

/** Replaces each literal by `?` and drops comments, so that texts that differ only in values become equal. */
export function withoutLiterals(text: string, { quote }: Pick<Dialect, "quote">): string {
  return text.replace(literals, (part, ...found) => {
    const { comment, double, back, rest } = found.at(-1) as Record<string, string | undefined>;
    if (comment !== undefined) return " ";
    if (rest !== undefined) return "…";
    // Double quotes that do not quote names in this engine quote a text.
    if (double !== undefined) return quote === '"' ? part : "?";
    return back === undefined ? "?" : part;
  });
}
