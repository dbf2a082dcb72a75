/** Indexes that `rowgate doctor` suggests, as requests to an engine. */
import type { Sort } from "../query/statement.ts";
import type { Column, Table } from "../values/types/column.ts";

/** What requests do with a column, for which an index is wanted. */
export interface IndexWish {
  readonly table: Table;
  readonly column: Column;
  /** Further columns of the same search; absent = none. */
  readonly others?: readonly Column[];
  /** `contains` and `begins`: texts regardless of case. */
  readonly use: "contains" | "begins" | "equals" | "sorts";
  /** The whole order of the rows, if it begins with the column; otherwise empty. */
  readonly order: readonly Sort[];
}

/** SQL for the operator, to be run in this order. At least one. */
export type IndexStatements = readonly string[];
