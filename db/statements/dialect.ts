/**
 * The differences between the engines' SQL: how the pieces of a statement are printed, and how values are sent and
 * received. Each engine's folder implements it; statements are compiled without knowing the engine.
 */
import type { SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../core/values/column.ts";
import type { Json } from "../../core/values/json.ts";
import type { JsonWriter } from "./json-writer.ts";
import type { AggregateFunction } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Formula } from "../../core/query/formula-tree.ts";

/** A row as the driver gives it. */
export type RawRow = Record<string, unknown>;

/** The same as the bytes of each value, in the order of the columns. */
export type RawList = readonly (Uint8Array | null)[];

/** Takes a row as it comes from the driver. */
export type TakeRow = (row: RawList) => void;

/** From the driver's value (never null) to the JSON value. */
export type Decode = (raw: unknown) => Json;

/** Writes a value of a `RawList` as the JSON of what `Decode` makes of it. */
export type WriteJson = (writer: JsonWriter, raw: Uint8Array) => void;

export interface ListForms {
  write(column: Column): WriteJson;
  /** The value of a `RawRow`, as the driver makes it of the bytes. */
  received(column: Column, raw: Uint8Array): unknown;
}

/** What the planner expects. */
export interface Estimates {
  /** The prefix of the SELECT to be explained, with a space at its end. */
  readonly explain: string;
  /** A whole number, from the explanation's rows. */
  read(rows: readonly RawRow[]): number;
  /** Undefined: the engine cannot read a part of a table. */
  readonly samples?: Samples;
}

/** The SQL of a sample. It answers `rows`, `found` and `blocks`. */
export interface Samples {
  /** Up to the condition. */
  readonly before: string;
  /** From there to the table. */
  readonly between: string;
  readonly behind: (percent: number) => string;
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

/** What an engine has learned about the forms of stored values. It can change while the service runs. */
export interface LearnedForms {
  /** Grows with each change; texts printed before are outdated. */
  readonly generation: number;
  /** Checks columns again, by the ids of their `stored`, when other programs may have written since. */
  refresh(ids: readonly string[]): void;
}

/** A column and its name in a statement. */
export interface NamedColumn {
  readonly column: Column;
  readonly name: SQL;
}

/** A column of a formula by its name. */
export type FindOperand = (name: string) => { readonly column: Column; readonly term: SQL };

/** How the values that a column gets in several rows travel as one parameter. */
export interface ValueLists {
  /** Whether the values of the column can. */
  takes(column: Column): boolean;
  /** The placeholder of a list, with the cast that it needs. */
  param(column: Column, placeholder: SQL): SQL;
  /** The rows that lists of equal length make, one list for each column: what stands behind the columns of an INSERT. */
  rows(lists: readonly SQL[]): SQL;
  /** The list in the form that the driver needs. */
  bind(column: Column, values: readonly Scalar[]): unknown;
}

/** How statements are printed and values travel. All functions are pure; printing happens once per shape of statement. */
export interface Dialect {
  readonly quote: '"' | "`";
  /** `index` counts from 0. */
  placeholder(index: number): string;
  /** The placeholder of a value that is compared with or stored in the column, with the cast that it needs. */
  param(column: Column, placeholder: SQL): SQL;
  /** The value in the form that the driver needs for that placeholder. Never called with null. */
  bind(column: Column, value: Exclude<Scalar, null>): unknown;
  /** A selected column: `name` itself, or an expression (it gets the column's name as alias). Also used after RETURNING. */
  output(column: Column, name: SQL): SQL;
  /** From the driver's value (never null) to the JSON value; null when it is that already. */
  decode(column: Column): Decode | null;
  /** How lists are written row by row; absent: the engine's rows come as objects, which are written when all are there. */
  readonly lists?: ListForms;
  /** The column as the text that answers show, for LIKE and search. Null = no text form (bytes, json, array, boolean): nothing matches. */
  textOf(column: Column, name: SQL): SQL | null;
  /** The column's text, or a value for it, so that different texts differ and sort by their bytes, whatever the collation is. */
  exact(column: Column, term: SQL): SQL;
  /**
   * The condition that the column's text is one of the values, character by character. Absent: by `exact`. It comes beside an ordinary
   * comparison of the column, so it is printed such that the planner neither takes an index for it nor expects fewer rows.
   */
  isExactly?(column: Column, name: SQL, values: readonly SQL[]): SQL;
  /**
   * Whether the JSON value or array of the column holds the other one: an element of an array is it, or an object that has its members. Of
   * an array, `value` has the one element. `value` is the placeholder as `param` printed it.
   */
  holds(column: Column, name: SQL, value: SQL): SQL;
  /** The texts one after the other, a null as nothing. A string is a literal of the configuration. */
  concat(parts: readonly (SQL | string)[]): SQL;
  /** `text LIKE pattern` with backslash as escape character; `pattern` is a placeholder for a string. */
  like(
    text: SQL,
    pattern: SQL,
    options: {
      column: Column;
      ignoreCase: boolean;
      /** The text is compared without its accents; the pattern has none. */
      ignoreAccents: boolean;
      ascii: boolean;
    },
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
  stamp(own: NamedColumn, after: NamedColumn | null, now: SQL): SQL;
  /**
   * How the column, or a value for it, enters a comparison, where that is not itself. `term` is `name` for the column,
   * else the placeholder as `param` printed it.
   */
  comparand?(column: Column, term: SQL, name: SQL): SQL;
  /** The sides of a join, where they are not as `comparand` makes them. */
  joined?(left: NamedColumn, right: NamedColumn): readonly [SQL, SQL] | null;
  /** Only for engines whose columns have a `stored`. */
  readonly forms?: LearnedForms;
  /** `LIMIT … OFFSET …`. Both are placeholders of whole numbers, so that all pages share one text; no limit = all rows. */
  limit(limit: SQL | null, offset: SQL): SQL;
  /** False: INSERT, UPDATE and DELETE do not answer rows, they are read back inside the transaction. */
  readonly returning: boolean;
  /**
   * The suffix that locks the rows of a SELECT until the transaction ends, with a space before it; empty when writers
   * wait anyway.
   */
  readonly rowLock: string;
  /** The replacement for columns and values of an INSERT in which the database fills all columns. */
  readonly defaultValues: string;
  /**
   * True: a prepared statement keeps the plan that was made for the table as it was then. That of a long IN over a table that was empty
   * compares every row with every value: an import of 100,000 rows took minutes. Absent: plans do not depend on that, or are made for
   * each execution.
   */
  readonly keepsPlans?: true;
  /** Absent: each value of each row is a parameter. */
  readonly valueLists?: ValueLists;
  /** Most parameters of one statement. */
  readonly paramsMax: number;
}
