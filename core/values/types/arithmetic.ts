/** Functions for columns of numbers of any type. */
import type { Column } from "./column.ts";
import { columnTypes } from "./column-types.ts";
import type { Arithmetic } from "./type-definition.ts";

/** Throws an Error for a column of another kind; callers have checked that at start. */
export function arithmeticOf({ type }: Pick<Column, "type">): Arithmetic {
  const { arithmetic } = columnTypes[type];
  if (arithmetic === null) throw new Error(`A ${type} column does not hold numbers`);
  return arithmetic;
}

/** Whether the column stores numbers, with every digit. */
export const isExact = ({ type }: Pick<Column, "type">): boolean =>
  columnTypes[type].arithmetic?.isExact === true;

/** Digits after the decimal point that the column stores; null = any number of them. */
export const scaleOf = ({ type, scale }: Pick<Column, "type" | "scale">): number | null =>
  columnTypes[type].arithmetic?.isWhole === true ? 0 : scale;
