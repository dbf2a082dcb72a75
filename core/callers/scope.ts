/**
 * The rows that a caller may touch. `scoped-session.ts` puts a scope's conditions into every statement; `access.ts` says which scope a caller
 * has.
 */
import type { Column, ForeignKey, Source, Table } from "../values/column.ts";
import type { Json } from "../values/json.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Condition } from "../query/statement.ts";

export interface Scope {
  /** Equal for scopes that let the same rows through: a part of the key of answers that are kept. Empty: all rows. */
  readonly key: string;
  /** True: nothing is narrowed anywhere. */
  readonly isWhole: boolean;
  /** The rows of the source that the caller may touch; null = all of them. The condition names columns of `source.columns`. */
  rowsOf(source: Source): Condition | null;
  /**
   * The rows that a foreign key may point at, where the caller sees some rows of that table alone: one outside of them counts as not there.
   * Null = whatever the database lets it point at.
   */
  referredRows(key: ForeignKey): { readonly table: Table; readonly rows: Condition } | null;
  /**
   * The name of a column whose value would put a row outside of the scope, as far as that can be told from these values alone; null = none.
   * The database has the last word.
   */
  refusedColumn(values: ReadonlyMap<Column, Scalar>): string | null;
  /** Columns that a new record gets by itself when its body does not name them, so that it lies within the scope. */
  readonly fills: ReadonlyMap<string, Json>;
}

export const noFills: ReadonlyMap<string, Json> = new Map();

/** Every row of every source. */
export const wholeScope: Scope = Object.freeze({
  key: "",
  isWhole: true,
  rowsOf: () => null,
  referredRows: () => null,
  refusedColumn: () => null,
  fills: noFills,
});
