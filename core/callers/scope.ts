/**
 * The rows that a caller may read and write. `scoped-session.ts` adds the scope's conditions to every statement;
 * `access.ts` determines the scope of a caller.
 */
import type { Column, ForeignKey, Source, Table } from "../values/column.ts";
import type { Row } from "../plans/ports.ts";
import type { Json } from "../values/json.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Condition } from "../query/statement.ts";

export interface Scope {
  /** Equal for scopes with the same rows; part of the key of cached answers. Empty: all rows. */
  readonly key: string;
  /** True: nothing is restricted for the caller. */
  readonly isWhole: boolean;
  /** True: `visibleRows` leaves rows out of some source. */
  readonly hides: boolean;
  /**
   * The rows of the source that the call is about, whoever the caller is: soft delete leaves some out. Null = all. They are
   * no secret, and a new row may be one of the others.
   */
  visibleRows(source: Source): Condition | null;
  /** The same for a row that a query of the operator's own gives of the table, as far as it shows the marks. */
  seesRow(table: Table, row: Row): boolean;
  /** The rows of the source that the caller may use; null = all. The condition uses columns of `source.columns`. */
  rowsOf(source: Source): Condition | null;
  /**
   * The rows that a foreign key may reference when the caller sees only some rows of that table, or some are marked as deleted; a row outside of them
   * counts as missing. Null = all rows that the database accepts.
   */
  referredRows(key: ForeignKey): { readonly table: Table; readonly rows: Condition } | null;
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
}

export const noFills: ReadonlyMap<string, Json> = new Map();

/** Every row of every source. */
export const wholeScope: Scope = Object.freeze({
  key: "",
  isWhole: true,
  hides: false,
  visibleRows: () => null,
  seesRow: () => true,
  rowsOf: () => null,
  referredRows: () => null,
  refusedColumn: () => null,
  fills: noFills,
});
