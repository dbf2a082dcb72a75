/**
 * The pieces of a statement. One walk of a statement (`walk.ts`) emits them in the order of its SQL, to one of two
 * emitters: `KeyEmitter` makes a short cache key, `TextEmitter` the SQL of one engine. Statements with equal keys have
 * equal texts, because all that a text depends on is in the key, or belongs to an object whose id is.
 */
import type { Column, Hop, Source, Table } from "../../core/values/types/column.ts";
import type { Calculate, Condition, Output, ParameterQuery } from "../../core/query/statement.ts";
import type { ToldColumn, ToldSide } from "../../core/query/logging.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { TextSearch } from "../../core/values/types/text-index.ts";
import type { Word } from "./words.ts";

/** The names that are valid in a part of a statement. */
export interface Frame {
  /** The alias of the source whose columns are named without a path. */
  readonly alias: string;
  /** The aliases of the sources to which paths lead. */
  readonly hops: ReadonlyMap<Hop, string>;
}

export interface Emitter {
  /** SQL that all engines share: keywords, operators, brackets. */
  word(word: Word): void;
  /** The separator of a list. */
  separator(word: Word): void;
  /** A name that the service chose, which the engine quotes. */
  identifier(name: string): void;
  /** These columns belong to the table or subquery with this alias, not to the source. */
  qualify(columns: Iterable<Column>, alias: string): void;
  /** A new alias of a joined table. */
  newAlias(): string;
  /** Emits what belongs to a SELECT inside the statement, or to one of its joins; see `Frame`. */
  within(frame: Frame, emit: () => void): void;
  /** The alias of the source to which a hop leads; null = of the source of the present frame. */
  aliasOf(hop: Hop | null): string | null;
  /** `left = right`, of a hop's source and the one before, by their aliases; null = the table that is written. */
  linked(left: Column, right: Column, aliases: readonly [string | null, string | null]): void;
  /** A table to be written to. */
  table(table: Table): void;
  /** A table or query to be read, with its alias. */
  source(source: Source, alias: string): void;
  /** A column's bare name, or the expression in its place. */
  name(column: Column): void;
  /** The column as the text that answers show. */
  textOf(column: Column): void;
  /** The column as a side of a comparison. */
  comparand(column: Column): void;
  /** `left = right`, of a join. */
  joined(left: Column, right: Column): void;
  /** A value compared with the column. The key omits the column, as it comes before every value anyway. */
  compared(column: Column, value: Scalar): void;
  /** Whether the column's text equals one of the values (`negated`: none of them), character by character. */
  exactly(column: Column, values: readonly Scalar[], negated: boolean): void;
  /** A value to be stored in the column. */
  value(column: Column, value: Scalar): void;
  /** The columns that a SELECT returns, each under its name. */
  outputs(columns: readonly Column[]): void;
  /** The end of an INSERT that leaves out rows whose key is taken. */
  unlessTaken(key: readonly Column[]): void;
  /** The columns that a write returns, if the engine supports it. `isForced`: it does so only for this write. */
  returning(columns: readonly Column[], isForced?: boolean): void;
  /** Whether the column's text is like the pattern; false for columns without a text, negated or not. */
  like(column: Column, pattern: string, options: LikeOptions): void;
  /** Whether the column's value holds this one. */
  holds(column: Column, value: Scalar): void;
  /** Whether the row meets the full-text search. */
  fullText(search: TextSearch): void;
  /** The row's rank in it, as a term of an ORDER BY. */
  rank(search: TextSearch, direction: "asc" | "desc"): void;
  /** A term of an ORDER BY. */
  sort(column: Column, direction: "asc" | "desc"): void;
  /** The value of an output in a group of rows. `emitWhere`: the condition of the rows that count; null = all. */
  aggregate(output: Output, emitWhere: (() => void) | null): void;
  /** The output at this place, from 0, by its number. */
  position(at: number): void;
  /** A source of the values of a JSON array, for the column's results. */
  filled(result: Column, list: string, alias: string): void;
  /** A whole number as a parameter. */
  number(value: number): void;
  /** LIMIT and OFFSET as parameters; no limit = all rows. */
  limit(limit: number | null, offset: number): void;
  /** The lock on the rows of a SELECT, where the engine has one. */
  rowLock(): void;
  /** Whether `rows` prints a query of one list for each column, instead of the rows of an INSERT. */
  takesLists(columns: readonly Column[], rows: readonly (readonly Scalar[])[]): boolean;
  /** The rows of an INSERT into the columns. */
  rows(columns: readonly Column[], rows: readonly (readonly Scalar[])[]): void;
  /** The replacement for columns and values of an INSERT in which the database fills all columns. */
  defaultValues(): void;
  /** The column plus `delta`, which is decimal text. */
  add(column: Column, delta: string): void;
  /** The time of a change (`stamp` in `core/query/statement.ts`). */
  stamp(column: Column, after: Column | null, now: string): void;
  /** A JSON object of these columns. */
  told(columns: readonly ToldColumn[], side: ToldSide): void;
  /** Whether the column differs. */
  differs(column: ToldColumn): void;
  /** The formula's result for a row. */
  formula(calculate: Calculate): void;
  /** A query of the configuration, with the value for each occurrence of its parameter. */
  parameterQuery(query: ParameterQuery, value: Scalar): void;
  /** The prefix that asks the planner about the SELECT after it. */
  explain(): void;
  /** The start of a count in a sample; the condition follows, then `sample`. */
  sampled(): void;
  /** The rest of a count in a sample. */
  sample(source: Source, halvings: number): void;
  /**
   * Writes `count` pieces, separated by `separator`, that differ only in values. The key has the first one and `count`.
   */
  repeat(count: number, separator: Word, emit: (at: number) => void): void;
}

export type LikeOptions = Omit<Extract<Condition, { kind: "like" }>, "kind" | "column" | "pattern">;
