/**
 * The differences between the engines' SQL: how the pieces of a statement are printed, and how values are sent and
 * received. Each engine's folder implements it; statements are compiled without knowing the engine.
 */
import { type Quote } from "./quoted.ts";
import type { SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../core/values/types/column.ts";
import type { Json } from "../../core/values/json.ts";
import type { JsonWriter } from "./json-writer.ts";
import type { PatternKind } from "./patterns.ts";
import type { AggregateFunction } from "../../core/query/statement.ts";
import type { ToldSide } from "../../core/query/logging.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { TextSearch } from "../../core/values/types/text-index.ts";
import type { Bucket } from "../../core/values/types/bucket.ts";
import type { Formula } from "../../core/values/types/formula-tree.ts";

/** A row as the driver gives it. */
export type RawRow = Record<string, unknown>;

/** The same row as bytes of each value, in the order of the columns. */
export type RawList = readonly (Uint8Array | null)[];

/** Takes a row as it comes from the driver. */
export type TakeRow = (row: RawList) => void;

/** From the driver's value (never null) to the JSON value. */
export interface Decode {
  (raw: unknown): Json;
  /** Values of this JavaScript type are their own JSON values, and need no call. Absent: there is none. */
  readonly keeps?: "string" | "number";
}

/** Writes a value of a `RawList` as the JSON of its `Decode` result. */
export type WriteJson = (writer: JsonWriter, raw: Uint8Array) => void;

export interface ListForms {
  write(column: Column): WriteJson;
  /** The value of a `RawRow`, as the driver makes it of the bytes. */
  received(column: Column, raw: Uint8Array): unknown;
  /** Whether they are: a server may send texts in whatever encoding they were stored. */
  isUtf8(bytes: Uint8Array): boolean;
}

/** How to ask the planner for its estimates. */
export interface Estimates {
  /** The prefix of the SELECT to be explained, with a space at its end. */
  readonly explain: string;
  /** A whole number, from the explanation's rows. */
  read(rows: readonly RawRow[]): number;
  /** Undefined: the engine cannot read a part of a table. */
  readonly samples?: Samples;
}

/** The SQL of a sample, in three parts. It returns `rows`, `found` and `blocks`. */
export interface Samples {
  /** Up to the condition. */
  readonly before: string;
  /** From there to the table. */
  readonly between: string;
  readonly behind: (percent: number) => string;
}

/**
 * A row's position in the order of a column, as a text with all that the order compares. A client sends it back to
 * continue from there. `column` is the ordered column, not the mark.
 */
export interface Marks {
  /** What is compared, in the order that `sort` makes of the column; null where the row is among the nulls. */
  term(column: Column, name: SQL): SQL;
  /** The term as the driver must give it. */
  output(column: Column, term: SQL): SQL;
  /** The mark's text, from what the driver gives; null where it is that already. */
  readonly decode: ((raw: unknown) => string) | null;
  param(column: Column, placeholder: SQL): SQL;
  /**
   * The text in the driver's form. Undefined if `output` cannot have returned it, as far as known without the server.
   */
  bind(column: Column, mark: string): unknown;
}

/** What an engine learns of stored values while the service runs. Printed texts and bound values can depend on it. */
export interface Learned {
  /** Grows with each change; texts printed before are outdated. */
  readonly generation: number;
  /** Runs `print` and returns the facts that its text depends on. */
  restOf(print: () => void): readonly string[];
  /** Checks these facts again, when other programs can have written since. */
  refresh(restsOn: readonly string[]): void;
}

/** A column and its name in a statement. */
export interface NamedColumn {
  readonly column: Column;
  readonly name: SQL;
}

/** A column of a formula by its name. */
export type FindOperand = (name: string) => { readonly column: Column; readonly term: SQL };

/** How the values of a column in several rows are sent as one parameter. */
export interface ValueLists {
  /** Whether the column's values can be sent so. */
  takes(column: Column): boolean;
  /** The placeholder of a list, with the cast that it needs. */
  param(column: Column, placeholder: SQL): SQL;
  /** The rows of an INSERT (what follows its columns), from lists of equal length, one per column. */
  rows(lists: readonly SQL[]): SQL;
  /** The list in the form that the driver needs. */
  bind(column: Column, values: readonly Scalar[]): unknown;
}

/** A full-text search as it is printed. */
export interface PrintedSearch {
  readonly search: TextSearch;
  /** The placeholders of its values. */
  readonly values: readonly SQL[];
  name(column: Column): SQL;
  /** What stands in front of a name of the searched table, as `"source".` */
  readonly qualifier: SQL;
}

/** How full-text indexes are searched. */
export interface FullText {
  /** The values of a search, all of them texts, in the forms that the index takes. */
  values(search: TextSearch): readonly string[];
  /** Of a search's terms, all that its SQL depends on besides the number of values. */
  key(search: TextSearch): string;
  /** Takes each value once. */
  matches(printed: PrintedSearch): SQL;
  rank: FullTextRank;
}

export interface FullTextRank {
  values(search: TextSearch): readonly string[];
  /** A number, larger for better matches. Takes each value once. */
  print(printed: PrintedSearch): SQL;
}

/** A column in a write that tells what it changes, as it was and as it is. */
export interface ToldValue {
  readonly column: Column;
  readonly before: SQL;
  readonly after: SQL;
}

/** How a write also tells what it changes (`core/query/logging.ts`). */
export interface ChangeLogging {
  /** How many columns a statement returns at most, the earlier values among them. */
  readonly columnsMax: number;
  /** Whether the column's values can be told, and are those of its rows as answers show them. */
  takes(column: Column): boolean;
  differs(value: ToldValue): SQL;
  /** A JSON object, as a text. */
  object(values: readonly ToldValue[], side: ToldSide): SQL;
}

/** How statements are printed and values converted. Functions are pure; each shape of statement is printed once. */
export interface Dialect {
  readonly quote: Quote;
  /** `index` counts from 0. */
  placeholder(index: number): string;
  /** The placeholder of a value that is compared with or stored in the column, with the cast that it needs. */
  param(column: Column, placeholder: SQL): SQL;
  /** The value in the form that the driver needs for that placeholder. Never called with null. */
  bind(column: Column, value: Exclude<Scalar, null>): unknown;
  /** A selected column, also in RETURNING: `name` itself, or an expression (which gets the column's name as alias). */
  output(column: Column, name: SQL): SQL;
  /** From the driver's value (never null) to the JSON value; null when it is that already. */
  decode(column: Column): Decode | null;
  /** How lists are written row by row. Absent: the engine's rows come as objects and are written after the last one. */
  readonly lists?: ListForms;
  /**
   * The column as answers show it, for LIKE and search. Null = no text form (bytes, json, array, boolean): no match.
   */
  textOf(column: Column, name: SQL): SQL | null;
  /** The column's text or an equivalent: distinct for distinct texts, ordered by bytes, whatever the collation. */
  exact(column: Column, term: SQL): SQL;
  /** The text in the order of the column's folded index (`Column.hasFoldedIndex`). */
  folded(column: Column, term: SQL): SQL;
  /**
   * The condition that the column's text equals one of the values, character by character. Absent: by `exact`. It is
   * added to an ordinary comparison, so the planner must neither use an index for it nor expect fewer rows because of
   * it.
   */
  isExactly?(column: Column, name: SQL, values: readonly SQL[]): SQL;
  /**
   * Whether the column's JSON value or array contains `value`: as an element of an array, or as members of an object.
   * For an array column, `value` is an array of that one element. `value` is the placeholder as printed by `param`.
   */
  holds(column: Column, name: SQL, value: SQL): SQL;
  readonly fullText: FullText;
  /** The texts joined, null as an empty text. A string is a literal of the configuration. */
  concat(parts: readonly (SQL | string)[]): SQL;
  /** `text LIKE pattern` with backslash as escape character; `pattern` is a placeholder for a string. */
  like(
    text: SQL,
    pattern: SQL,
    options: PatternKind & {
      column: Column;
      ignoreCase: boolean;
      /** The text is compared character by character. */
      isExact: boolean;
      /** The text is compared without its accents; the pattern has none. */
      ignoreAccents: boolean;
      /** The rows are sorted by `folded` of the column first. */
      inOrder: boolean;
    },
  ): SQL;
  /**
   * The function over the column's values in a group. Sums and averages of integers and decimals are exact; averages
   * are rounded to the scale of `result`, halves away from zero. `name` null: the column as rows are grouped by it.
   */
  aggregate(name: AggregateFunction | null, column: Column, term: SQL, result: Column): SQL;
  /** How to ask the planner for the number of rows, if it can be asked. */
  readonly estimate?: Estimates;
  readonly marks: Marks;
  /** An ORDER BY term with nulls smallest. */
  sort(column: Column, name: SQL, direction: "asc" | "desc"): SQL;
  /** The right side of `column = column + delta`. Here and in `stamp`, values are placeholders from `param`. */
  add(column: Column, name: SQL, delta: SQL): SQL;
  /**
   * The formula's result for a row: exact, rounded once to the digits of `target`, halves away from zero. `operand`
   * finds a column that the formula names.
   */
  formula(formula: Formula, target: Column, operand: FindOperand): SQL;
  /** The value of a formula in a query: as `formula`, but null where it divides by zero. Throws if it is too long. */
  figure(formula: Formula, target: Column, operand: FindOperand): SQL;
  /** The bucket of the column's value; null where it is in none. */
  bucket(of: Column, name: SQL, bucket: Bucket): SQL;
  /** A source of one column, `v0`, with the values of a JSON array, and with its alias. `result`: their type. */
  filled(result: Column, list: SQL, alias: SQL): SQL;
  /** Right side of a `stamp` assignment (see statement.ts). */
  stamp(own: NamedColumn, after: NamedColumn | null, now: SQL): SQL;
  /**
   * The form of the column, or of a value for it, in a comparison, if it is not the plain one. `term` is `name` for the
   * column, else the placeholder as printed by `param`.
   */
  comparand(column: Column, term: SQL, name: SQL): SQL;
  /** The sides of a join, where they are not as `comparand` makes them. */
  joined(left: NamedColumn, right: NamedColumn): readonly [SQL, SQL] | null;
  readonly learned: Learned;
  /** `LIMIT … OFFSET …`, both placeholders of whole numbers, so that all pages share one text; no limit = all rows. */
  limit(limit: SQL | null, offset: SQL): SQL;
  /**
   * What stands around a table that a condition of an UPDATE or DELETE reads although the statement changes it, where
   * the engine refuses that as it is. Absent: the engine takes it.
   */
  readonly rereading?: readonly [before: string, behind: string];
  /** False: INSERT, UPDATE and DELETE return no rows; these are read back inside the transaction. */
  readonly returning: boolean;
  /** True: references are checked, or cascades follow, after each row that a statement deletes, not at its end. */
  readonly deletesRowByRow?: boolean;
  /**
   * The suffix of a SELECT that locks its rows until the transaction ends, with a leading space; empty if writers wait
   * anyway.
   */
  readonly rowLock: string;
  /** The suffix of an INSERT that leaves out rows whose key is taken, and waits for writers of the same key. */
  unlessTaken(key: readonly SQL[]): SQL;
  /** The replacement for columns and values of an INSERT in which the database fills all columns. */
  readonly defaultValues: string;
  /**
   * True: a prepared statement keeps its first plan. A long IN planned for an empty table compares every row with every
   * value: an import of 100,000 rows took minutes. False: plans do not depend on that, or are made per execution.
   */
  readonly keepsPlans: boolean;
  /** Absent: no statement can write to two tables. */
  readonly logging?: ChangeLogging;
  /** Absent: each value of each row is a parameter. */
  readonly valueLists?: ValueLists;
  /** Most parameters of one statement. */
  readonly paramsMax: number;
}

/** What most dialects have in common. */
export const dialectDefaults = {
  folded: (_column: Column, term: SQL) => term,
  joined: () => null,
  keepsPlans: false,
  learned: {
    generation: 0,
    restOf(print) {
      print();
      return [];
    },
    refresh: () => {},
  },
} satisfies Partial<Dialect>;
