/** What a value's type is called in PostgreSQL's own words. Used by `dialect.ts` and `marks.ts`. */
import type { Column } from "../../core/column.ts";

/** `name` would cut a long text in a comparison. */
export const castType = (column: Column): string => {
  if (column.isComputed) return computedTypes[column.type]!;
  return column.native === "name" ? "text" : column.native;
};

const computedTypes: Readonly<Record<string, string>> = {
  integer: "bigint",
  decimal: "numeric",
  float: "double precision",
};

/** Types without an order of their own, and arrays of them: their text is sorted. */
export const isUnordered = ({ native }: Column): boolean => unordered.test(native);

const unordered =
  /^(json|xml|point|line|lseg|box|path|polygon|circle|xid|cid|jsonpath|pg_snapshot)(\[\])?$/;
