/** What a value's type is called in PostgreSQL's own words. */
import type { Column } from "../../../core/values/column.ts";
import { arithmeticOf } from "../../../core/values/arithmetic.ts";

/** `name` would cut a long text in a comparison. */
export const castType = (column: Column): string => {
  if (column.isComputed) return computedType(column);
  return column.native === "name" ? "text" : column.native;
};

/** The widest type for the results of aggregates: whole numbers, decimals or floating point. */
function computedType(column: Column): string {
  const { isExact, isWhole } = arithmeticOf(column);
  if (!isExact) return "double precision";
  return isWhole ? "bigint" : "numeric";
}

/** Types without an order of their own, and arrays of them: their text is sorted. */
export const isUnordered = ({ native }: Column): boolean => unordered.test(native);

const unordered =
  /^(json|xml|point|line|lseg|box|path|polygon|circle|xid|cid|jsonpath|pg_snapshot)(\[\])?$/;
