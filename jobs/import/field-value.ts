/**
 * From a cell to what the rules take for its column: spreadsheets have four kinds of values, and people write the rest as they see it.
 * What is not obvious stays as it is, so that the rules refuse it with their own words.
 */
import type { Column } from "../../core/values/column.ts";
import { headingKey } from "../../core/values/text.ts";
import type { Cell } from "../../core/plans/workbooks-port.ts";
import { columnTypes } from "../../core/values/column-types.ts";

/** Undefined: the cell is empty. `words`: texts that stand for true and false, in lower case. */
export function fieldValue(
  column: Column,
  cell: Exclude<Cell, { error: string }>,
  words: ReadonlyMap<string, boolean> | undefined,
): unknown {
  if (cell === null || cell === "") return undefined;
  const { fromCell, hasWords } = columnTypes[column.type];
  const value = fromCell(cell, column);
  if (!hasWords || value === undefined) return value;
  return words?.get(headingKey(String(value))) ?? value;
}
