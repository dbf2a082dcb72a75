/** PostgreSQL's names of the types of values. */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column, ColumnType } from "../../../core/values/types/column.ts";
import { arithmeticOf } from "../../../core/values/types/arithmetic.ts";

/** `name` would cut a long text in a comparison. A type that the service does not know is compared as its text. */
export const castType = (column: Column): string => {
  if (column.isComputed) return computedType(column);
  if (column.isOpaque) return textType(column);
  if (column.native === "") return plainTypes[column.type];
  return column.native === "name" ? "text" : column.native;
};

/** Of a value that belongs to no table. */
const plainTypes: Readonly<Record<ColumnType, string>> = {
  text: "text",
  integer: "bigint",
  decimal: "numeric",
  float: "double precision",
  boolean: "boolean",
  date: "date",
  timestamp: "timestamptz",
  time: "time",
  uuid: "uuid",
  json: "jsonb",
  bytes: "bytea",
  array: "jsonb",
  file: "jsonb",
  other: "text",
};

/** The widest type for the results of aggregates: whole numbers, decimals or floating point; buckets of time. */
function computedType(column: Column): string {
  if (column.type === "date") return "date";
  if (column.type === "timestamp") return "timestamptz";
  const { isExact, isWhole } = arithmeticOf(column);
  if (!isExact) return "double precision";
  return isWhole ? "bigint" : "numeric";
}

/** Types without an order, and arrays of them: their text is compared and sorted. */
export const isUnordered = ({ native, isOpaque, element }: Column): boolean =>
  isOpaque === true ||
  (element ? isUnordered(element) : unordered.test(native) || isHstore(native));

const unordered = /^(json|xml|point|line|lseg|box|path|polygon|circle|jsonpath)$/;

/** Its name may begin with the extension's schema. It has an order, with special operators. */
export const isHstore = (native: string): boolean => /(^|\.)hstore$/.test(native);

/** A domain's column, cast to the base type if operators need that. */
export const baseTerm = ({ isDomain, native }: Column, term: SQL): SQL =>
  isDomain ? sql`${term}::${sql.raw(native)}` : term;

/** The value as text, or the array of the texts of its elements. */
export const textType = ({ type }: Column): string => (type === "array" ? "text[]" : "text");
