/**
 * Statements to a database, as plain frozen data. Core builds them from columns of an entity and from values that
 * `core/values/types/accept.ts` accepted; `db/statements/compile.ts` prints them as SQL for one engine.
 */
import type { TextForm } from "./list-text.ts";
import type { Logged } from "./logging.ts";
import type { Key, KeyValue } from "../values/types/key.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column, ColumnType, Hop, Source, Table } from "../values/types/column.ts";
import type { Formula } from "../values/types/formula-tree.ts";
import type { TextSearch } from "../values/types/text-index.ts";

export type Comparison = "=" | "!=" | "<" | "<=" | ">" | ">=";

/** A WHERE as a tree. A group without members is true for `and` and false for `or`. */
export type Condition =
  | { readonly kind: "and" | "or"; readonly members: readonly Condition[] }
  /** `value` is never null here: that is `null`. */
  | {
      readonly kind: "compare";
      readonly column: Column;
      readonly operator: Comparison;
      readonly value: Scalar;
    }
  | { readonly kind: "null"; readonly column: Column; readonly negated: boolean }
  /** No values: no row matches (negated: every row whose column is not null). */
  | {
      readonly kind: "in";
      readonly column: Column;
      readonly values: readonly Scalar[];
      readonly negated: boolean;
    }
  /**
   * The column's text is exactly one of these. Used together with `=` where the column's own comparison ignores case,
   * accents or trailing blanks (`Column.isLoose`).
   */
  | {
      readonly kind: "exact";
      readonly column: Column;
      /** At least one. */
      readonly values: readonly Scalar[];
      readonly negated: boolean;
    }
  | {
      readonly kind: "between";
      readonly column: Column;
      readonly low: Scalar;
      readonly high: Scalar;
      readonly negated: boolean;
    }
  /** The client's own `%` and `_`, over the text that the column shows. `ignoreCase` false: the engine's own rule. */
  | {
      readonly kind: "like";
      readonly column: Column;
      readonly pattern: string;
      readonly negated: boolean;
      readonly ignoreCase: boolean;
      /** Compares character by character on every engine. Not together with `ignoreCase`. Absent = false. */
      readonly isExact?: boolean;
      /** Compares the text without its accents, which the pattern has not. Only with `ignoreCase`. Absent = false. */
      readonly ignoreAccents?: boolean;
      /** The statement sorts by `foldedOf` of the column first, so that few matches need be read. Absent = false. */
      readonly inOrder?: boolean;
    }
  /**
   * The JSON value or array of the column contains the value: it is an element of it, or its members are among those of
   * the object.
   */
  | { readonly kind: "member" | "notMember"; readonly column: Column; readonly value: Scalar }
  /** The literal text occurs in what the column shows, ignoring case (Unicode), in the same way on every engine. */
  | { readonly kind: "contains"; readonly column: Column; readonly text: string }
  /** Over columns of the statement's own source, which is the table that has the index. */
  | { readonly kind: "fulltext"; readonly search: TextSearch }
  | Quantified;

/** A condition on the records to which a relation leads: that it is true for any, none or all of them. */
export interface Quantified {
  readonly kind: "quantified";
  readonly quantifier: "any" | "none" | "all";
  /** The steps to the records, one or two. The first one begins where its `before` ends. */
  readonly steps: readonly Hop[];
  /** Over the columns of the last step's source; null = it is true for each record. */
  readonly where: Condition | null;
  /** The rows of the steps, and the joins of `where`; only the session adds it. */
  readonly within?: {
    readonly steps: readonly Narrowed<JoinedHop>[];
    readonly joins: readonly Narrowed<JoinedHop>[];
  };
}

/** A step of a path as part of a statement. */
export interface JoinedHop {
  readonly hop: Hop;
  /** The rows of the hop's source that take part, over its columns; null = all. */
  readonly rows: Condition | null;
  /** The hop's source with values for the parameters of its query. Absent: it has none. */
  readonly source?: Source;
}

/** What a statement that names columns of other records has; only the session adds it, for the caller. */
export interface Joining {
  /** One for each hop, after the one before it; absent = the statement names no other record's columns. */
  readonly joins?: readonly Narrowed<JoinedHop>[] | undefined;
}

/** Nulls sort as smaller than every value, on every engine. */
export interface Sort {
  readonly column: Column;
  readonly direction: "asc" | "desc";
  /** By rank in this search, the best ones last; then `column` is that of the index. Absent: by the column. */
  readonly search?: TextSearch;
}

export interface Select extends Joining {
  readonly kind: "select";
  readonly source: Source;
  /** At least one. */
  readonly columns: readonly Column[];
  readonly where: Condition | null;
  readonly sort: readonly Sort[];
  readonly limit: number | null;
  readonly offset: number;
  /** True: the rows stay locked against other writers until the transaction ends (tables only). */
  readonly lock: boolean;
  /** At most `rows` of those with equal values in `by`, the first ones in the order. Absent: all of them. */
  readonly perGroup?: { readonly by: readonly Column[]; readonly rows: number };
  /** Rows are returned as JSON text. Absent: as values. */
  readonly asText?: TextForm;
}

/** By default all rows, in any order, without locks. */
export const selectFrom = (
  source: Source,
  asked: Pick<Select, "columns"> & Partial<Omit<Select, "kind" | "source">>,
): Select => ({
  kind: "select",
  source,
  where: null,
  sort: [],
  limit: null,
  offset: 0,
  lock: false,
  ...asked,
});

export interface Count extends Joining {
  readonly kind: "count";
  readonly source: Source;
  readonly where: Condition | null;
}

/** What an INSERT or UPDATE stores in a column. */
export type Assignment =
  | { readonly kind: "set"; readonly column: Column; readonly value: Scalar }
  /** The column stays unchanged, even if the database would change it with every UPDATE of its row. */
  | { readonly kind: "keep"; readonly column: Column }
  /** column = column + delta, computed by the database, exact for integers and decimals. `delta` is decimal text. */
  | { readonly kind: "add"; readonly column: Column; readonly delta: string }
  /**
   * The time of a change: `now`, or one unit of the column's precision (at least a millisecond) after the later of this
   * column's and `after`'s old value where that is not earlier than `now`, so that it grows with every change of a row.
   * Columns that keep whole seconds take `now` as it is.
   */
  | {
      readonly kind: "stamp";
      readonly column: Column;
      readonly after: Column | null;
      readonly now: string;
    };

export interface Insert extends Logged {
  readonly kind: "insert";
  readonly table: Table;
  /** Empty: the table has none. Only an engine that returns the stored rows accepts the statement then. */
  readonly key: Key;
  /** The columns that the rows give, in their order; the database fills the others. */
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Scalar[])[];
  /** Which values of the stored rows are answered. */
  readonly returning: readonly Column[];
  /** True: rows whose key is taken are left out; nothing is returned then. Absent: they are refused. */
  readonly leavesTaken?: true;
}

/** Changes the one row that `key` names, if `guard` holds for it. */
export interface UpdateOne extends Logged {
  readonly kind: "update";
  readonly table: Table;
  readonly key: Key;
  readonly keyValue: KeyValue;
  readonly guard: Condition | null;
  /** At least one. */
  readonly set: readonly Assignment[];
  readonly returning: readonly Column[];
}

/** Changes several rows, each to its own values; each key occurs once. */
export interface UpdateMany {
  readonly kind: "updateMany";
  readonly table: Table;
  readonly key: Key;
  /** What the rows' values are for, in their order. */
  readonly columns: readonly Column[];
  /** At least one. */
  readonly rows: readonly { readonly keyValue: KeyValue; readonly values: readonly Scalar[] }[];
  /** Rows for which it does not hold stay as they are; null = no such. */
  readonly guard: Condition | null;
  /** Changes that are the same for every row; there is at least one change, here or in `columns`. */
  readonly set: readonly Assignment[];
  readonly returning: readonly [];
}

/** Deletes every row that matches. `where` is never empty: the compiler refuses a DELETE without a condition. */
export interface Delete {
  readonly kind: "delete";
  readonly table: Table;
  /** Empty: the table has none. */
  readonly key: Key;
  readonly where: Condition;
  /** Which values of the deleted rows are answered; empty = only their number matters. */
  readonly returning: readonly Column[];
}

/** The rows that the planner expects of a count. */
export interface Estimate extends Joining {
  readonly kind: "estimate";
  readonly source: Source;
  readonly where: Condition | null;
}

/** Counts in blocks of a table that are chosen at random: rows, the rows that match, and the blocks of the latter. */
export interface Sample {
  readonly kind: "sample";
  readonly source: Source;
  readonly where: Condition;
  /** How often the table is halved to get the part. */
  readonly halvings: number;
}

export type AggregateFunction = "count" | "countDistinct" | "sum" | "avg" | "min" | "max";

/** A table in addition to the source. Its columns are separate objects, to distinguish them from the source's. */
export interface Join {
  readonly type: "left" | "inner" | "right";
  readonly source: Source;
  /** All columns of the joined table that the statement may name. */
  readonly columns: readonly Column[];
  /** Rows are joined if these two are equal. */
  readonly left: Column;
  readonly right: Column;
  /** The rows of `source` that take part, over `source.columns`; null = all. */
  readonly rows: Condition | null;
}

/**
 * One value of each answered row, a grouped column (`function` null) or an operation; `column` null counts rows.
 * `result` is what HAVING and the sort name, made by `resultOf` in `core/query/aggregate-results.ts`.
 */
export interface Output {
  /** The member of the answered row. It never gets into SQL. */
  readonly alias: string;
  readonly function: AggregateFunction | null;
  readonly column: Column | null;
  /** The rows of a group that an operation counts; absent or null = all. */
  readonly where?: Condition | null;
  readonly result: Column;
}

/** One row for each group; exactly one row when no output is a grouped column. */
export interface Aggregate {
  readonly kind: "aggregate";
  readonly source: Source;
  /** The rows of `source` that take part in the joins, over `source.columns`; null = all. */
  readonly rows: Condition | null;
  readonly joins: readonly Join[];
  /** As `joins` of a select: the hops of the columns that it names. */
  readonly paths?: readonly Narrowed<JoinedHop>[];
  /** At least one. */
  readonly outputs: readonly Output[];
  readonly where: Condition | null;
  /** Over the results of `outputs`, as is `sort`. */
  readonly having: Condition | null;
  readonly sort: readonly Sort[];
  readonly limit: number | null;
  /** Absent = 0. */
  readonly offset?: number;
  /** The values of the first output, as a JSON array, that are groups even if they have no rows; absent = none. */
  readonly filled?: string;
  /** One more value of each row: how many groups there are after HAVING. */
  readonly counted?: Output;
}

/** The operator's own SQL, one statement. `core/query/native.ts` makes it of a text and its parameters. */
export interface Native {
  readonly kind: "native";
  /** The SQL around the placeholders: one text more than there are of those. */
  readonly texts: readonly string[];
  /** For each placeholder, the place of its value in `values`. */
  readonly order: readonly number[];
  readonly values: readonly NativeValue[];
  /** False: it may change rows of unknown tables. */
  readonly isRead: boolean;
  /** Calls a procedure, with what is before it (`continues`): what the database refuses may be the client's fault. */
  readonly isCall?: "begins" | "continues";
}

/** A value for a place whose column is not known: its own type determines how it is sent. */
export interface NativeValue {
  readonly type: ColumnType;
  readonly value: Scalar;
}

/** A column that is computed from others of the same row. */
export interface Computation {
  readonly column: Column;
  readonly formula: Formula;
  /** The columns that the formula names. */
  readonly operands: readonly Column[];
}

/** Sets the column in every row that matches, exact, and rounded to the column's digits. */
export interface Calculate extends Computation {
  readonly kind: "calculate";
  readonly table: Table;
  readonly where: Condition;
}

/** A query of the configuration with one parameter. Its own order of rows is preserved. */
export interface ParameterQuery {
  /** The SQL around the places of the parameter: at least two texts. */
  readonly texts: readonly string[];
  /** Determines how the value is bound. */
  readonly parameter: Column;
  /** All columns that it returns. */
  readonly columns: readonly Column[];
}

export interface Ask {
  readonly kind: "ask";
  /** The table whose rows the query returns. */
  readonly about: Table;
  readonly query: ParameterQuery;
  readonly value: Scalar;
}

declare const narrowed: unique symbol;

/**
 * A statement to which a caller's scope was added, or which bypasses it by name: the only form that `db` accepts. Only
 * `core/callers/scoped-session.ts` creates them.
 */
export type Narrowed<Asked> = Asked & { readonly [narrowed]: true };

export type Statement =
  | Select
  | Count
  | Estimate
  | Sample
  | Aggregate
  | Ask
  | Insert
  | UpdateOne
  | UpdateMany
  | Calculate
  | Delete
  | Native;

/** All of the conditions that are there; null when there is none. */
export function allOf(...conditions: readonly (Condition | null)[]): Condition | null {
  const members = conditions.filter((condition) => condition !== null);
  if (members.length === 0) return null;
  return members.length === 1 ? members[0]! : { kind: "and", members };
}

export const noRow: Condition = { kind: "or", members: [] };

/** The source of a table's rows. */
export const sourceOf = (table: Table): Source => ({
  kind: "table",
  schema: table.schema,
  name: table.name,
  identity: table.identity,
  columns: table.columns,
  ...(table.locksRows === false && { locksRows: false }),
  ...(table.kind === "view" && { isView: true }),
});

/** The row or rows whose column holds the value; a null value means IS NULL. */
export function equals(column: Column, value: Scalar): Condition {
  return value === null
    ? { kind: "null", column, negated: false }
    : { kind: "compare", column, operator: "=", value };
}

/** Statements that can be run twice, because they change nothing. */
export const changesNothing = ({ kind }: Statement): boolean => reading.includes(kind);

const reading: readonly string[] = ["select", "count", "estimate", "sample", "aggregate", "ask"];
