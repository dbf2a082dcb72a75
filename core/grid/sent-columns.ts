/** `columns` of the grid's request: what the library says of each of its columns, with the field that the column shows. */
import type { Column, Columns } from "../values/column.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { isFalse, listOf } from "./grid-parameters.ts";

export interface SentColumn {
  /** Null where the grid shows something that is no field of ours. */
  readonly column: Column | null;
  readonly isSearchable: boolean;
  readonly isOrderable: boolean;
  readonly search: unknown;
  /** What the extension ColumnControl adds. */
  readonly control: unknown;
}

/** A column that names no field gets one by its place only where it has no `data` at all. Rejects with Invalid payload. */
export function sentColumns(value: unknown, columns: Columns): SentColumn[] {
  const sent = listOf(value, "columns");
  if (sent.length > limits.gridColumnsMax) {
    throw invalidPayload(`columns takes at most ${limits.gridColumnsMax} columns`);
  }
  const byPosition = [...columns.values()];
  return sent.map((one, position) => {
    if (!isObject(one)) throw invalidPayload("columns must be an array of objects");
    const data = one["data"];
    const named = typeof data === "string" ? columns.get(data) : undefined;
    return {
      column: (data === undefined ? byPosition[position] : named) ?? null,
      isSearchable: !isFalse(one["searchable"]),
      isOrderable: !isFalse(one["orderable"]),
      search: one["search"],
      control: one["columnControl"],
    };
  });
}
