/**
 * The pieces that a statement consists of. One walk of a statement (`walk.ts`) emits them in the order of its SQL, and there are two
 * emitters: `KeyEmitter` makes a short text of them that tells statements apart, `TextEmitter` the SQL of one engine. All that decides on the text
 * of a piece is in its key, or belongs to an object whose id is. So statements with equal keys have equal texts.
 */
import type { Column, Source, Table } from "../../core/values/column.ts";
import type { Calculate, Output, ParameterQuery } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Word } from "./words.ts";

export interface Emitter {
  /** SQL that all engines share: keywords, operators, brackets. */
  word(word: Word): void;
  /** What stands between the pieces of a list. */
  separator(word: Word): void;
  /** A name of our own, which the engine quotes. */
  identifier(name: string): void;
  /** From here on, columns are named with the alias of their source, as an alias of the output could be meant otherwise. */
  qualifyColumns(): void;
  /** These columns are not the source's own but those of the table or subquery with this alias. */
  qualify(columns: Iterable<Column>, alias: string): void;
  /** A table to be written to. */
  table(table: Table): void;
  /** A table or query to be read, with its alias. */
  source(source: Source, alias: string): void;
  /** A column's bare name, or the expression that stands for it. */
  name(column: Column): void;
  /** The column that an UPDATE gives what comes behind: `name = `. */
  assigned(column: Column): void;
  /** The text that answers show of the column. */
  textOf(column: Column): void;
  /** The column as a side of a comparison. */
  comparand(column: Column): void;
  /** `left = right`, of a join. */
  joined(left: Column, right: Column): void;
  /** A value that is compared with the column. As with all values, the column stands before it already, so the key need not have it again. */
  compared(column: Column, value: Scalar): void;
  /** Whether the column's text is one of the values, character by character; `negated`: whether it is none of them. */
  exactly(column: Column, values: readonly Scalar[], negated: boolean): void;
  /** A value to be stored in the column. */
  value(column: Column, value: Scalar): void;
  /** What a SELECT answers, each with its column's name. */
  outputs(columns: readonly Column[]): void;
  /** What a write answers, where the engine answers rows of it. `isForced`: where it does so of the written table alone. */
  returning(columns: readonly Column[], isForced?: boolean): void;
  /** Whether the column's text is like the pattern; false for columns without a text, negated or not. */
  like(column: Column, pattern: string, options: LikeOptions): void;
  /** Whether the column's value holds this one. */
  holds(column: Column, value: Scalar): void;
  /** A term of an ORDER BY. */
  sort(column: Column, direction: "asc" | "desc"): void;
  /** The value of an output in a group of rows. `column`: that of the output, which is not null. */
  aggregate(output: Output, column: Column): void;
  /** LIMIT and OFFSET as parameters; no limit = all rows. */
  limit(limit: number | null, offset: number): void;
  /** What locks the rows of a SELECT, where the engine can. */
  rowLock(): void;
  /** The rows of an INSERT into the columns. */
  rows(columns: readonly Column[], rows: readonly (readonly Scalar[])[]): void;
  /** What an INSERT has instead of columns and values, where the database fills all columns. */
  defaultValues(): void;
  /** The column plus `delta`, which is decimal text. */
  add(column: Column, delta: string): void;
  /** The time of a change (`stamp` in `core/query/statement.ts`). */
  stamp(column: Column, after: Column | null, now: string): void;
  /** What the formula makes of a row. */
  formula(calculate: Calculate): void;
  /** A query of the configuration, with the value in each place of its parameter. */
  parameterQuery(query: ParameterQuery, value: Scalar): void;
  /** What asks the planner about the SELECT behind it. */
  explain(): void;
  /** What counts the rows of a sample, up to the condition that stands between this and `sample`. */
  sampled(): void;
  /** The rest of it. */
  sample(source: Source, halvings: number): void;
  /**
   * Writes `count` pieces with `separator` between them, which differ in their values alone: the key has the first of them and their number.
   */
  repeat(count: number, separator: Word, emit: (at: number) => void): void;
}

export interface LikeOptions {
  readonly negated: boolean;
  readonly ignoreCase: boolean;
  readonly ignoreAccents?: boolean;
}
