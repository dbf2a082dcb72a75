/**
 * What the functions of aggregate do with a column: which types they accept, and the column that represents the result
 * in HAVING, in the sort and in the answer.
 */
import { type Column, type ColumnType, derivedColumn } from "../values/types/column.ts";
import type { AggregateFunction } from "./statement.ts";
import { isExact, scaleOf } from "../values/types/arithmetic.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { limits } from "../values/limits.ts";

export const functionNames: readonly AggregateFunction[] = [
  "count",
  "countDistinct",
  "sum",
  "avg",
  "min",
  "max",
];

/** Whether the function counts, so that it is 0 where there is nothing. */
export const isCounting = (name: AggregateFunction | null): boolean =>
  name === "count" || name === "countDistinct";

/** The allowed form of an alias. */
export const aliasForm = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** Whether the function, or grouping (null), has a meaning for values of the type. */
export function takesType(name: AggregateFunction | null, type: ColumnType): boolean {
  if (name === "count") return true;
  const { isGrouped, hasExtremes, arithmetic } = columnTypes[type];
  if (name === null || name === "countDistinct") return isGrouped;
  return name === "sum" || name === "avg" ? arithmetic !== null : hasExtremes;
}

/** Digits that an average has after the decimal point beyond those of its column. */
const averageDigits = 4;
/** The same for a decimal column without a fixed scale. */
const openScale = 12;
/** The maximum of MySQL. */
const scaleMax = 30;

const star = new Map<string, Column>();
const results = new WeakMap<Column, Map<string, Column>>();

/**
 * The result of the function over the column (null: of counting rows) as the output at `position`, or the grouped
 * column (`name` null). The same object each time, because statements of one shape share their text by the identity of
 * columns.
 */
export function resultOf(
  name: AggregateFunction | null,
  column: Column | null,
  position: number,
): Column {
  const known = column === null ? star : (results.get(column) ?? new Map<string, Column>());
  if (column !== null) results.set(column, known);
  const key = `${name} ${position}`;
  let result = known.get(key);
  if (result === undefined) {
    result = Object.freeze(makeResult(name, column, `v${position}`));
    known.set(key, result);
  }
  return result;
}

function makeResult(name: AggregateFunction | null, column: Column | null, alias: string): Column {
  if (isCounting(name) || column === null)
    return { ...computed(alias, "integer"), range: { min: 0n, max: 2n ** 63n - 1n } };
  if (name !== "sum" && name !== "avg") {
    // The result belongs to the groups, wherever its column does.
    const { via: _, derived: __, ...plain } = column;
    return { ...plain, name: alias, nullable: true };
  }
  if (!isExact(column)) return computed(alias, "float");
  const scale = scaleOf(column);
  const places =
    column.derived?.kind === "formula"
      ? limits.figureQuotientDigits
      : Math.min((scale ?? openScale) + averageDigits, scaleMax);
  return { ...computed(alias, "decimal"), scale: name === "sum" ? scale : places };
}

const computed = (name: string, type: ColumnType): Column =>
  derivedColumn(name, type, { isComputed: true });
