/**
 * The complete list of what PostgreSQL, MySQL/MariaDB and SQLite disagree on. Each engine is one folder that implements
 * `Engine`; `db.ts`, `compile.ts` and `pool.ts` are written once, over these two interfaces.
 */
import type { SQL } from "drizzle-orm/sql/sql";
import type { Column, Table } from "../core/column.ts";
import type { Formula } from "../core/writes/formula-tree.ts";
import type { Json } from "../core/json.ts";
import type { LedgerName } from "../core/ports.ts";
import type { AggregateFunction, Computation, Scalar } from "../core/statement.ts";
import type { OpenTlsSocket } from "./tls-socket.ts";

/** A row as the driver gives it. */
export type RawRow = Record<string, unknown>;

export interface RawResult {
  readonly rows: RawRow[];
  /** Rows that an INSERT, UPDATE or DELETE matched (not: really changed). */
  readonly matched: number;
  /** The first key that the database generated; null where the engine answers rows instead. */
  readonly insertId: bigint | null;
  /** The columns as the driver describes them, for `Engine.outputs`; `native` alone tells them. */
  readonly fields?: readonly unknown[];
}

/** One session with the database, used by one caller at a time (`pool.ts` sees to it). It never reconnects by itself. */
export interface Connection {
  /** False once it broke or was destroyed; every further `run` rejects. */
  readonly alive: boolean;
  /** `reuse` true: the text will come again, keep it prepared. Rejects with the driver's own error. */
  run(text: string, params: readonly unknown[], reuse: boolean): Promise<RawResult>;
  /**
   * Only where the driver works on the calling thread: as `run`, for a text that will come again, but at once; it spares the
   * promises and the watch over them. Null when the database is busy with another process: then `run` waits for it.
   */
  runNow?(text: string, params: readonly unknown[]): RawResult | null;
  /** As `run`, for a text of the operator's own, of whose rows nothing is known yet. */
  native(text: string, params: readonly unknown[]): Promise<RawResult>;
  /**
   * Batches of rows with back-pressure. Stopping early leaves the connection usable or destroys it. `isInTransaction`: the
   * caller has opened a transaction, and ends it himself.
   */
  stream(
    text: string,
    params: readonly unknown[],
    batchRows: number,
    isInTransaction?: boolean,
  ): AsyncIterable<RawRow[]>;
  /** Says good-bye to the server; never hangs for longer than a second. */
  close(): Promise<void>;
  /** At once, whatever is under way: a pending `run` rejects. Never throws. */
  destroy(): void;
}

/** What a driver's error means. `columns` and `constraint` as far as the engine tells. */
export interface Failure {
  readonly kind:
    | "duplicate"
    | "foreignKeyMissing"
    | "foreignKeyInUse"
    | "notNull"
    | "check"
    | "divisionByZero"
    | "tooLong"
    | "outOfRange"
    | "badValue"
    /** Deadlock, serialization failure, lock wait, busy: the transaction may be run again. */
    | "conflict"
    /** The server stopped the statement: it took too long. */
    | "timeout"
    /** Refused, lost, or not to be had. */
    | "connection"
    | "unknown";
  readonly columns?: readonly string[];
  /** Name of the violated constraint or index; `db.ts` finds its columns in the table. */
  readonly constraint?: string;
}

/** What the planner expects. */
export interface Estimates {
  /** The statement that explains the SELECT. */
  explain(select: SQL): SQL;
  /** A whole number, from the explanation's rows. */
  read(rows: readonly RawRow[]): number;
}

/**
 * Where a row stands in the order of a column, as a text that tells all that the order looks at: a client brings it back to
 * go on from there. The column is never the mark itself but the one that it is of.
 */
export interface Marks {
  /** What is compared, in the order that `sort` makes of the column; null where the row is among the nulls. */
  term(column: Column, name: SQL): SQL;
  /** The term as the driver must give it. */
  output(column: Column, term: SQL): SQL;
  /** The mark's text, from what the driver gives; null where it is that already. */
  readonly decode: ((raw: unknown) => string) | null;
  param(column: Column, placeholder: SQL): SQL;
  /** The text as the driver must get it. Undefined when it is none that `output` gives, as far as that can be told without the server. */
  bind(column: Column, mark: string): unknown;
}

/** A column of a formula by its name. */
export type FindOperand = (name: string) => { readonly column: Column; readonly term: SQL };

/** How statements are printed and values travel. All functions are pure; printing happens once per shape of statement. */
export interface Dialect {
  readonly quote: '"' | "`";
  /** `index` counts from 0. */
  placeholder(index: number): string;
  /** The placeholder of a value that is compared with or stored in the column, with the cast that it needs. */
  param(column: Column, placeholder: SQL): SQL;
  /** The value as the driver must get it for that placeholder. Never called with null. */
  bind(column: Column, value: Exclude<Scalar, null>): unknown;
  /** A selected column: `name` itself, or an expression (it gets the column's name as alias). Also used after RETURNING. */
  output(column: Column, name: SQL): SQL;
  /** From the driver's value (never null) to the JSON value; null when it is that already. */
  decode(column: Column): ((raw: unknown) => Json) | null;
  /** The column as the text that answers show, for LIKE and search. Null = no text form (bytes, json, array, boolean): nothing matches. */
  textOf(column: Column, name: SQL): SQL | null;
  /** The texts one after the other, a null as nothing. A string is a literal of the configuration. */
  concat(parts: readonly (SQL | string)[]): SQL;
  /** `text LIKE pattern` with backslash as escape character; `pattern` is a placeholder for a string. */
  like(
    text: SQL,
    pattern: SQL,
    options: { column: Column; ignoreCase: boolean; ascii: boolean },
  ): SQL;
  /**
   * The function over the column's values in a group. Sums and averages of integers and decimals are exact; an average is rounded
   * to the scale of `result`, halves away from zero. The column itself, as groups are made by it, where the function is null.
   */
  aggregate(name: AggregateFunction | null, column: Column, term: SQL, result: Column): SQL;
  /** How the planner is asked for the rows of a count, where it can be. */
  readonly estimate?: Estimates;
  readonly marks: Marks;
  /** An ORDER BY term with nulls smallest. */
  sort(column: Column, name: SQL, direction: "asc" | "desc"): SQL;
  /** Right side of an assignment `column = column + delta`. Here and in `stamp`, values come as `param` printed them. */
  add(column: Column, name: SQL, delta: SQL): SQL;
  /**
   * What the formula makes of a row: exact, rounded once, halves away from zero, to the digits of `target`. `operand` gives a column
   * that the formula names, and how to write it.
   */
  formula(formula: Formula, target: Column, operand: FindOperand): SQL;
  /** Right side of a `stamp` assignment (see statement.ts). */
  stamp(column: Column, name: SQL, after: SQL | null, now: SQL): SQL;
  /**
   * How the column, or a value for it, enters a comparison, where that is not itself. `term` is `name` for the column,
   * else the placeholder as `param` printed it.
   */
  comparand?(column: Column, term: SQL, name: SQL): SQL;
  /** `LIMIT … OFFSET …`. Both are placeholders of whole numbers, so that all pages share one text; no limit = all rows. */
  limit(limit: SQL | null, offset: SQL): SQL;
  /** False: INSERT, UPDATE and DELETE do not answer rows, they are read back inside the transaction. */
  readonly returning: boolean;
  /** True: SELECT … FOR UPDATE exists. */
  readonly rowLocks: boolean;
  /** Most parameters of one statement. */
  readonly paramsMax: number;
}

export interface EngineOptions {
  /** Connections; SQLite: readers (it has one writer besides). */
  readonly connectionsMax: number;
  /** 0 = none. Handed to the server where it can enforce it. */
  readonly statementTimeoutMs: number;
  readonly decimals: "number" | "string";
  /** How a connection gets to TLS where Node's own sockets cannot; absent: they can. */
  readonly openTls?: OpenTlsSocket;
}

export interface Engine {
  readonly name: "postgres" | "mysql" | "sqlite";
  readonly dialect: Dialect;
  /** True: writes go through one connection of their own, in a fair queue (SQLite). */
  readonly singleWriter: boolean;
  /** Where there can be only so many connections in all, whatever was asked for (SQLite in memory: one). */
  readonly connectionsMax?: number;
  connect(role: "read" | "write"): Promise<Connection>;
  /** Statements that open a transaction. */
  readonly begin: readonly string[];
  /** Statements that open one which only reads, and in which all reads see one moment. */
  readonly beginSnapshot: readonly string[];
  /** Statements that open one during which nobody else writes to the table; its name comes quoted. */
  beginAlone(table: string): readonly string[];
  /**
   * The statement that makes the table of `Session.ledger`. One statement, so that the table is never there without its index:
   * `unique` over the time and the key is that index, and forbids nothing.
   */
  readonly createLedger: Readonly<Record<LedgerName, string>>;
  /** What the driver's error means. */
  failure(error: unknown): Failure;
  /** Null when there is no such table or view. `schema` null = the default one. */
  table(connection: Connection, schema: string | null, name: string): Promise<Table | null>;
  /** Only where decimals have a size: whether that of the formula's steps is enough for every value of its columns. */
  computes?(computation: Computation): boolean;
  names(connection: Connection): Promise<readonly string[]>;
  /** `text` comes without the semicolon that may end it. */
  query(connection: Connection, text: string): Promise<readonly Column[]>;
  /** What the fields of a result say of its columns; only name and type count. */
  outputs(fields: readonly unknown[]): readonly Column[];
}

/** Each engine's folder exports this, and `open.ts` imports it when a URL asks for it. */
export type OpenEngine = (url: string, options: EngineOptions) => Promise<Engine>;
