/**
 * A connection over better-sqlite3. Its calls run at once, on the thread of the caller, so `run` resolves with what is
 * there already. A busy database (another process writes) is waited for without holding up the thread.
 */
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Database, Statement } from "better-sqlite3";
import { limits } from "../../../core/values/limits.ts";
import { showInteger } from "../../../core/values/integer-type.ts";
import type { Connection, RawResult } from "../engine.ts";
import type { StoredForms } from "./stored-forms.ts";
import type { RawRow } from "../../statements/dialect.ts";

/** How long to wait before a busy database is asked again. */
const busyDelayMs = 20;

/** `release` is called once, when the connection ends; `database` may live on (in memory). */
export const createConnection = (database: Database, options: ConnectionOptions): Connection =>
  new SqliteConnection(database, options);

export interface ConnectionOptions {
  readonly release: () => void;
  readonly forms: StoredForms;
}

/** A class, so that its methods are small; the driver does all the work within a call. */
class SqliteConnection implements Connection {
  alive = true;
  private readonly database: Database;
  private readonly release: () => void;
  private readonly forms: StoredForms;
  private readonly prepared = new Map<string, Statement<unknown[], RawRow>>();

  constructor(database: Database, { release, forms }: ConnectionOptions) {
    this.database = database;
    this.release = release;
    this.forms = forms;
  }

  runNow(text: string, params: readonly unknown[]): RawResult | null {
    try {
      return this.execute(text, params, true);
    } catch (error) {
      if (this.mustFail(error)) throw error;
      return null;
    }
  }

  async run(text: string, params: readonly unknown[], reuse: boolean): Promise<RawResult> {
    for (;;) {
      try {
        return this.execute(text, params, reuse);
      } catch (error) {
        if (this.mustFail(error)) throw error;
      }
      await setTimeout(busyDelayMs);
    }
  }

  async native(text: string, params: readonly unknown[]): Promise<RawResult> {
    if (!this.alive) throw new Error("The database connection is not open");
    const statement = this.statementOf(text, false);
    // The operator's own SQL writes values in whatever form it likes.
    if (!statement.readonly) this.forms.touch();
    if (!statement.reader) return this.execute(text, params, true);
    const fields = statement.columns();
    // As BigInts: the driver's doubles would lose the last digits of long integers.
    const rows = statement.safeIntegers(true).all(params as unknown[]);
    for (const row of rows) {
      for (const [name, value] of Object.entries(row))
        if (typeof value === "bigint") row[name] = showInteger(value, "number");
    }
    return { rows, matched: rows.length, insertId: null, fields };
  }

  async *stream(
    text: string,
    params: readonly unknown[],
    batchRows: number,
  ): AsyncGenerator<RawRow[]> {
    let batch: RawRow[] = [];
    for (const row of this.statementOf(text, false).iterate(params as unknown[])) {
      batch.push(row);
      if (batch.length < batchRows) continue;
      yield batch;
      batch = [];
      // Other requests get their turn between two batches.
      await setImmediate();
    }
    if (batch.length > 0) yield batch;
  }

  async close(): Promise<void> {
    this.destroy();
  }

  destroy(): void {
    if (!this.alive) return;
    this.alive = false;
    this.prepared.clear();
    this.release();
  }

  private execute(text: string, params: readonly unknown[], reuse: boolean): RawResult {
    if (!this.alive) throw new Error("The database connection is not open");
    const statement = this.statementOf(text, reuse);
    try {
      if (!statement.reader)
        return { rows: [], matched: statement.run(params as unknown[]).changes, insertId: null };
      const rows = statement.all(params as unknown[]);
      return { rows, matched: rows.length, insertId: null };
    } catch (error) {
      // SQLite compiles it again for a changed schema, and fails where `prepare` below would not.
      if (isPlain(error)) this.prepared.delete(text);
      throw error;
    }
  }

  private statementOf(text: string, reuse: boolean): Statement<unknown[], RawRow> {
    const { prepared } = this;
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = this.prepare(text);
      if (!reuse) return statement;
      if (prepared.size >= limits.statementShapesMax)
        prepared.delete(prepared.keys().next().value!);
      prepared.set(text, statement);
    } else if (prepared.size > limits.statementShapesMax / 2) {
      prepared.delete(text);
      prepared.set(text, statement);
    }
    return statement;
  }

  /**
   * What the connection knows of the schema may be old, when another has changed it. SQLite itself looks again only where a
   * name is missing, not where a table was a view.
   */
  private prepare(text: string): Statement<unknown[], RawRow> {
    try {
      return this.database.prepare(text);
    } catch {
      this.database.prepare("select 1 from sqlite_schema").get();
      return this.database.prepare(text);
    }
  }

  /** Inside a transaction the others wait for us: only its whole can be run again. */
  private mustFail(error: unknown): boolean {
    return !isBusy(error) || this.database.inTransaction;
  }
}

/** An error without a code of its own, such as one of the statement's text. */
const isPlain = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "SQLITE_ERROR";

const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "SQLITE_BUSY" || error.code === "SQLITE_BUSY_RECOVERY");
