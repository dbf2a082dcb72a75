/** Rows of a statement: single values, or one list of values per column where the engine accepts lists. */
import type { Column } from "../../core/values/types/column.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { ValueLists } from "./dialect.ts";
import type { Emitter } from "./emitter.ts";
import { words } from "./words.ts";

type Rows = readonly (readonly Scalar[])[];

/** Whether each column's values are one parameter. A single row has nothing to gain by it. */
export const travelAsLists = (
  lists: ValueLists | undefined,
  columns: readonly Column[],
  rows: Rows,
): boolean =>
  lists !== undefined && rows.length > 1 && columns.every((column) => lists.takes(column));

/** `values (…), (…)` */
export function emitRowByRow(to: Emitter, columns: readonly Column[], rows: Rows): void {
  to.word(words.values);
  to.repeat(rows.length, words.nextRow, (row) => {
    const values = rows[row]!;
    for (let at = 0; at < columns.length; at++) {
      if (at > 0) to.separator(words.comma);
      to.value(columns[at]!, values[at] ?? null);
    }
  });
  to.word(words.close);
}
