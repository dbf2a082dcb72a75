/**
 * A connection over better-sqlite3. Its calls run synchronously, on the caller's thread, so `send` returns its result
 * at once. If another process keeps the database busy, the wait does not block the thread.
 */
import { setImmediate as nextTurn, setTimeout } from "node:timers/promises";
import type { Database, Statement } from "better-sqlite3";
import { endOfTurn } from "../../../core/values/end-of-turn.ts";
import { limits } from "../../../core/values/limits.ts";
import { showInteger } from "../../../core/values/types/integer-type.ts";
import type { Carries, Command, Connection, RawResult, StreamCommand } from "../engine.ts";
import { engineDefaults } from "../engine-defaults.ts";
import type { DatabaseFile } from "./database-file.ts";
import type { StoredForms } from "./forms/stored-forms.ts";
import type { TableWatch } from "./table-watch.ts";
import type { RawRow } from "../../statements/dialect.ts";

/** How long to wait before a busy database is asked again. */
const busyDelayMs = 20;
/** How many writes become one transaction at most. */
const gatheredMax = 100;

const [begin, commit, rollback] = ["begin immediate", engineDefaults.commit, "rollback"].map(
  (text): Command => ({ text, params: [], reuse: true }),
) as [Command, Command, Command];

/** `release` is called once, when the connection ends; `database` may live on (in memory). */
export const createConnection = (database: Database, options: ConnectionOptions): Connection =>
  new SqliteConnection(database, options);

export interface ConnectionOptions {
  readonly release: () => void;
  readonly forms: StoredForms;
  readonly tables: TableWatch;
  /** Absent: it cannot be taken away. */
  readonly file?: Pick<DatabaseFile, "check" | "isClosed">;
  /** "reads": what its transactions read may be as old as other reads, which look at the file from time to time. */
  readonly onlyFor?: "reads" | "writes";
}

/** A statement, and what the driver says of it: each of its answers crosses into native code. */
interface Prepared {
  readonly statement: Statement<unknown[], RawRow>;
  /** It has columns. */
  readonly answers: boolean;
  /** It changes the database. BEGIN and COMMIT do not. */
  readonly writes: boolean;
  /** It must use the file at the path: COMMIT, or the question whether the database answers. */
  readonly isProbe: boolean;
}

/** A write that waits for those that arrive together with it. */
interface Gathered {
  readonly command: Command;
  readonly resolve: (result: RawResult) => void;
  readonly reject: (error: unknown) => void;
}

/** What a statement ended with instead of a result. */
class Failed {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** A class, so that its methods are small; the driver does all the work within a call. */
class SqliteConnection implements Connection {
  private isInUse = true;
  private readonly database: Database;
  private readonly release: () => void;
  private readonly forms: StoredForms;
  private readonly tables: TableWatch;
  private readonly file: ConnectionOptions["file"];
  private readonly onlyReads: boolean;
  readonly carries: Carries;
  private readonly gathered: Gathered[] = [];
  private readonly prepared = new Map<string, Prepared>();

  constructor(database: Database, { release, forms, tables, file, onlyFor }: ConnectionOptions) {
    this.database = database;
    this.release = release;
    this.forms = forms;
    this.tables = tables;
    this.file = file;
    this.onlyReads = onlyFor === "reads";
    this.carries = onlyFor === "writes" ? { writes: gatheredMax, transactions: gatheredMax } : {};
  }

  get alive(): boolean {
    return this.isInUse && !this.isClosed;
  }

  /** Asking the driver whether the database is open takes as long as a small statement's bookkeeping. */
  private get isClosed(): boolean {
    return this.file === undefined ? !this.database.open : this.file.isClosed(this.database);
  }

  send(command: Command): RawResult | Promise<RawResult> {
    if (command.waitsBriefly && this.carries.writes !== undefined) return this.gather(command);
    try {
      return this.execute(command);
    } catch (error) {
      if (this.mustFail(error)) throw error;
      return this.sendLater(command);
    }
  }

  /**
   * Writes of requests that arrived together become one transaction, as its end costs several times as much as one of
   * them. It is over before anything else runs.
   */
  private gather(command: Command): Promise<RawResult> {
    return new Promise((resolve, reject) => {
      if (this.gathered.push({ command, resolve, reject }) > 1) return;
      void endOfTurn().statements.then(() => this.runGathered());
    });
  }

  /** Stops after a moment, so that other requests can go on, and continues after them. */
  private runGathered(): void {
    const { gathered } = this;
    // One of them took too long and ended the connection.
    if (!this.isInUse) return gathered.splice(0).forEach(({ reject }) => reject(notBegun()));
    const endMs = performance.now() + limits.quickStatementMs;
    const results = gathered.length === 1 ? null : this.runTogether(gathered, endMs);
    if (results?.length === 0) return void setTimeout(busyDelayMs).then(() => this.runGathered());
    do {
      const { command, resolve, reject } = gathered.shift()!;
      const result = results === null ? this.attempt(command) : results.shift()!;
      if (result instanceof Failed) reject(result.error);
      else resolve(result);
    } while (
      results === null ? gathered.length > 0 && performance.now() < endMs : results.length > 0
    );
    if (gathered.length > 0) setImmediate(() => this.runGathered());
  }

  /**
   * The results of those that began by then; none while another process writes. Null: nothing is left of them, so each
   * must run by itself.
   */
  private runTogether(writes: readonly Gathered[], endMs: number): (RawResult | Failed)[] | null {
    const begun = this.attempt(begin);
    if (begun instanceof Failed) return isBusy(begun.error) ? [] : writes.map(() => begun);
    const results: (RawResult | Failed)[] = [];
    for (const { command } of writes) {
      const result = this.attempt(command);
      // Such as one of a full disk, or of a trigger that undoes more than its statement.
      if (result instanceof Failed && !this.database.inTransaction) return null;
      results.push(result);
      if (performance.now() >= endMs) break;
    }
    // Such as one of a deferred foreign key.
    if (this.attempt(commit) instanceof Failed) {
      if (this.database.inTransaction) this.attempt(rollback);
      return null;
    }
    if (!this.tables.isDue() || !this.tables.hasChanged(this.database)) return results;
    return results.map((one) => (one instanceof Failed ? one : { ...one, isPreparedAnew: true }));
  }

  private attempt(command: Command): RawResult | Failed {
    try {
      return this.execute(command);
    } catch (error) {
      return new Failed(error);
    }
  }

  private async sendLater(command: Command): Promise<RawResult> {
    for (;;) {
      await setTimeout(busyDelayMs);
      try {
        return this.execute(command);
      } catch (error) {
        if (this.mustFail(error)) throw error;
      }
    }
  }

  async *stream({ text, params, batchRows }: StreamCommand): AsyncGenerator<RawRow[]> {
    this.file?.check(this.database);
    let batch: RawRow[] = [];
    for (const row of this.statementOf(text, false).statement.iterate(params as unknown[])) {
      batch.push(row);
      if (batch.length < batchRows) continue;
      yield batch;
      batch = [];
      // Between two batches, other requests can run.
      await nextTurn();
    }
    if (batch.length > 0) yield batch;
  }

  async close(): Promise<void> {
    this.destroy();
  }

  destroy(): void {
    if (!this.isInUse) return;
    this.isInUse = false;
    this.prepared.clear();
    this.release();
  }

  private execute({ text, params, reuse, isNative = false }: Command): RawResult {
    // A database that others closed refuses by itself.
    if (!this.isInUse) throw new Error("The database connection is not open");
    // A full disk, or a trigger with RAISE(ROLLBACK), has done that.
    if (text === rollback.text && !this.database.inTransaction)
      return { rows: [], matched: 0, insertId: null };
    const { statement, answers, writes, isProbe } = this.statementOf(text, reuse && !isNative);
    // The operator's SQL may write values in any form.
    if (isNative && writes) this.forms.touch();
    // Writes, and the BEGIN before them, must use the file at the path too.
    const begins = (writes || !answers) && !this.onlyReads && !this.database.inTransaction;
    if (isProbe || begins) this.file?.check(this.database);
    try {
      if (!answers)
        return { rows: [], matched: statement.run(params as unknown[]).changes, insertId: null };
      if (isNative) return nativeResult(statement, params);
      const rows = statement.all(params as unknown[]);
      const result = { rows, matched: rows.length, insertId: null };
      if (!this.tables.isDue()) return result;
      // A transaction that writes looks at its COMMIT.
      if (!this.onlyReads && this.database.inTransaction) return result;
      this.file?.check(this.database);
      return this.tables.hasChanged(this.database) ? { ...result, isPreparedAnew: true } : result;
    } catch (error) {
      // SQLite compiles it again for a changed schema, and fails where `prepare` below would not.
      if (isPlain(error)) this.prepared.delete(text);
      throw error;
    }
  }

  private statementOf(text: string, reuse: boolean): Prepared {
    const { prepared } = this;
    let one = prepared.get(text);
    if (one === undefined) {
      const statement = this.prepare(text);
      one = {
        statement,
        answers: statement.reader,
        writes: !statement.readonly,
        isProbe:
          text === engineDefaults.probe || (text === engineDefaults.commit && !this.onlyReads),
      };
      if (!reuse) return one;
      if (prepared.size >= limits.statementShapesMax)
        prepared.delete(prepared.keys().next().value!);
      prepared.set(text, one);
    } else if (prepared.size > limits.statementShapesMax / 2) {
      prepared.delete(text);
      prepared.set(text, one);
    }
    return one;
  }

  /**
   * The connection's copy of the schema may be out of date. SQLite reloads it if a name is missing, but not if a table
   * used to be a view: the query below makes it reload.
   */
  private prepare(text: string): Statement<unknown[], RawRow> {
    try {
      return this.database.prepare(text);
    } catch {
      this.database.prepare("select 1 from sqlite_schema").get();
      return this.database.prepare(text);
    }
  }

  /** Inside a transaction a busy database is an error: only the whole transaction can be retried. */
  private mustFail(error: unknown): boolean {
    return !isBusy(error) || this.database.inTransaction;
  }
}

/** Integers as BigInts on the way: the driver's doubles would lose the last digits of long ones. */
function nativeResult(
  statement: Statement<unknown[], RawRow>,
  params: readonly unknown[],
): RawResult {
  const fields = statement.columns();
  const rows = statement.safeIntegers(true).all(params as unknown[]);
  for (const row of rows) {
    for (const [name, value] of Object.entries(row))
      if (typeof value === "bigint") row[name] = showInteger(value, "number");
  }
  return { rows, matched: rows.length, insertId: null, fields };
}

/** A conflict: it can run on another connection. */
const notBegun = (): Error =>
  Object.assign(new Error("The connection was closed before"), { code: "SQLITE_BUSY" });

/** An error without a specific code, such as a syntax error. */
const isPlain = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "SQLITE_ERROR";

const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "SQLITE_BUSY" || error.code === "SQLITE_BUSY_RECOVERY");
