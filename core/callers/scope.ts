/**
 * The rows that a caller may read and write. `scoped-session.ts` adds the scope's conditions to every statement;
 * `access.ts` determines the scope of a caller.
 */
import type { Column, ForeignKey, Source, Table } from "../values/types/column.ts";
import type { Row } from "../values/row.ts";
import type { Json } from "../values/json.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Condition } from "../query/statement.ts";
import type { BoundParams } from "../plans/query-params.ts";
import type { MarkedTable } from "../plans/soft-delete.ts";

/** What is done with a line of a document. */
export type LineUse = "read" | "write";

/** Rows that a foreign key may reference. */
export interface Referred {
  readonly table: Table;
  readonly rows: Condition;
  /**
   * The same without the rules that look at related records: a row that only such a rule hides is forbidden, not
   * missing. Null = all; absent: there is no such rule.
   */
  readonly besidePaths?: Condition | null;
}

export interface Scope {
  /** Equal for scopes with the same rows; part of the key of cached answers. Empty: all rows. */
  readonly key: string;
  /** True: nothing is restricted for the caller. */
  readonly isWhole: boolean;
  /** True: `visibleRows` leaves rows out of some source. */
  readonly hides: boolean;
  /**
   * The rows of the source that the call is about, for every caller: soft delete excludes some. Null = all. The others
   * are not secret, and a new row may be one of them.
   */
  visibleRows(source: Source): Condition | null;
  /** The same for a row of the table that the operator's own query returned, as far as it shows the marks. */
  seesRow(table: Table, row: Row): boolean;
  /** The table with its marks, if the call may write marked rows of it whose values get a suffix; else null. */
  suffixedRows(table: Table): MarkedTable | null;
  /** The rows of the source that the caller may use; null = all. The condition uses columns of `source.columns`. */
  rowsOf(source: Source): Condition | null;
  /**
   * The rows that a foreign key may reference if the caller sees only some rows of that table, or some are marked as
   * deleted. Other rows count as missing. Null = all rows that the database accepts.
   */
  referredRows(key: ForeignKey): Referred | null;
  /**
   * The name of a column whose value would put a row outside the scope, as far as these values show; null = none. The
   * final check is done by the database.
   */
  refusedColumn(values: ReadonlyMap<Column, Scalar>): string | null;
  /**
   * Columns that the service fills in a new record when its body does not contain them, so that the record is within
   * the scope.
   */
  readonly fills: ReadonlyMap<string, Json>;
  /**
   * The lines of a document within the scope that the caller may use, as the endpoints of their table say; null = all.
   * The condition uses columns of `source.columns`.
   */
  linesOf(source: Source, use: LineUse): Condition | null;
  /** As `fills`, for a new line of that table. */
  lineFills(table: Table): ReadonlyMap<string, Json>;
  /**
   * The scope of another endpoint that the caller's paths lead to, as reading it would have; null where the entity has
   * no relations.
   */
  readonly related: ((endpoint: string) => Scope) | null;
  /** Values for the parameters of the endpoint's queries; null: they have none. */
  readonly params: BoundParams | null;
  /** The same of the endpoint whose records are answered, in the scope of related records. */
  readonly answered?: BoundParams | null;
}

export const noFills: ReadonlyMap<string, Json> = new Map();

/** Every row of every source. */
export const wholeScope: Scope = Object.freeze({
  key: "",
  isWhole: true,
  hides: false,
  visibleRows: () => null,
  seesRow: () => true,
  suffixedRows: () => null,
  rowsOf: () => null,
  referredRows: () => null,
  refusedColumn: () => null,
  fills: noFills,
  linesOf: () => null,
  lineFills: () => noFills,
  related: null,
  params: null,
});
