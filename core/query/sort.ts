/** The client's `sort_columns` -> the beginning of a list's order. `core/lists/order.ts` makes it total. */
import type { Column, Columns } from "../values/column.ts";
import { invalidParameter } from "../values/errors.ts";
import type { Sort } from "./statement.ts";
import { columnTypes } from "../values/column-types.ts";
import { columnOf } from "./where.ts";

const shape =
  'sort_columns must be an array of {column, direction} with a direction of "ASC" or "DESC"';

/**
 * `[{column, direction?}]`, ascending when the direction is left out; each column once.
 * Rejects with Invalid parameter (shape, direction, a column without an order) or Invalid field (unknown column).
 */
export function parseSort(sortColumns: unknown, columns: Columns): Sort[] {
  if (sortColumns === undefined || sortColumns === null) return [];
  const sort = new Map<Column, Sort>();
  for (const item of itemsOf(sortColumns)) {
    const { column: name, direction = "ASC" } = (item ?? {}) as {
      column?: unknown;
      direction?: unknown;
    };
    if (
      typeof name !== "string" ||
      typeof direction !== "string" ||
      !/^(asc|desc)$/i.test(direction)
    ) {
      throw invalidParameter(shape);
    }
    const column = columnOf(name, columns, "sort_columns");
    if (!columnTypes[column.type].isSorted)
      throw invalidParameter(`Column "${name}" cannot be sorted`);
    // The first mention decides; a second one could not change the order.
    if (!sort.has(column))
      sort.set(column, { column, direction: direction.toLowerCase() as Sort["direction"] });
  }
  return [...sort.values()];
}

function itemsOf(sortColumns: unknown): unknown[] {
  if (!Array.isArray(sortColumns)) throw invalidParameter(shape);
  return sortColumns;
}
