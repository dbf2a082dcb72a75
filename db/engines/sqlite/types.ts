/**
 * From the type that a column is declared with to what the service knows of it. SQLite keeps any word as a type, so
 * the usual words of all databases are known here.
 */
import type { Column, ColumnType } from "../../../core/values/types/column.ts";

/** The facts from a declared type; the other facts of a column come from the table. */
export type TypeFacts = Omit<Column, "name" | "nullable" | "hasDefault" | "generated">;

/** `null`: an expression, or a column without a type. */
export function typeFacts(declared: string | null): TypeFacts {
  const native = (declared ?? "").trim();
  const word = native.replace(/\s*\(.*$/s, "").toUpperCase();
  const sizes = (/\(([^)]*)\)/.exec(native)?.[1] ?? "")
    .split(",")
    .map((size) => Number.parseInt(size, 10));
  const [first = null, second = null] = sizes.filter(
    (size) => Number.isSafeInteger(size) && size >= 0,
  );
  const type = typeOf(word);
  const isExact = type === "decimal";
  return {
    type,
    native,
    lengthMax: type === "text" ? first : null,
    bytesMax: null,
    fixedLength: false,
    range: type === "integer" ? (ranges.get(word) ?? int64) : null,
    // The column turns a text that is a number into a number.
    ...(type === "json" && { wholeRange: int64 }),
    precision: isExact ? (first ?? digitsMax) : null,
    scale: isExact && first !== null ? (second ?? 0) : null,
    // A double keeps fifteen digits, whatever was declared.
    ...(isExact && (first ?? 0) > digitsMax && { digitsKept: digitsMax }),
    fractionDigits: type === "timestamp" || type === "time" ? Math.min(first ?? 6, 6) : 0,
    span: null,
    labels: null,
    ...(ruleTypes[type].length > 0 && { ruleTypes: ruleTypes[type] }),
  };
}

/** How texts of a column of type `other` are shown and taken. SQLite gives an unknown type name numeric affinity. */
export function notationOf(
  { type, native }: Pick<Column, "type" | "native">,
  isStrict: boolean,
): Pick<Column, "notation"> {
  if (type !== "other") return {};
  const isKept = native === "" || (isStrict && native.toUpperCase() === "ANY");
  return { notation: isKept ? "anything" : "numberLike" };
}

/** A declared type does not tell whether text holds decimals or an integer holds booleans; a rule can set that. */
const ruleTypes: Readonly<Record<ColumnType, readonly ColumnType[]>> = {
  text: ["decimal"],
  integer: ["boolean"],
  decimal: [],
  float: ["decimal"],
  boolean: [],
  date: [],
  timestamp: [],
  time: [],
  uuid: [],
  json: [],
  bytes: [],
  array: [],
  file: [],
  other: [],
};

/** SQLite's rule for columns that keep text unchanged. */
export const isTextType = (native: string): boolean =>
  /CHAR|CLOB|TEXT/i.test(native) && !/INT/i.test(native);

/** A decimal that is kept as text, with all its digits. */
export const isExactDecimal = (column: Column): boolean =>
  column.type === "decimal" && (column.isComputed === true || isTextType(column.native));

const digitsMax = 15;

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

const ranges: ReadonlyMap<string, { min: bigint; max: bigint }> = new Map([
  ["TINYINT", { min: -128n, max: 127n }],
  ["SMALLINT", { min: -32_768n, max: 32_767n }],
  ["INT2", { min: -32_768n, max: 32_767n }],
  ["MEDIUMINT", { min: -8_388_608n, max: 8_388_607n }],
]);

/** Declared types that mean more than SQLite's rules define. */
export const words: ReadonlyMap<string, ColumnType> = new Map<string, ColumnType>([
  ["BOOLEAN", "boolean"],
  ["BOOL", "boolean"],
  ["DATE", "date"],
  ["DATETIME", "timestamp"],
  ["TIMESTAMP", "timestamp"],
  ["TIMESTAMPTZ", "timestamp"],
  ["TIMESTAMP WITH TIME ZONE", "timestamp"],
  ["TIMESTAMP WITHOUT TIME ZONE", "timestamp"],
  ["TIME", "time"],
  ["UUID", "uuid"],
  ["GUID", "uuid"],
  ["JSON", "json"],
  ["JSONB", "json"],
  ["DECIMAL", "decimal"],
  ["NUMERIC", "decimal"],
  ["DEC", "decimal"],
  ["MONEY", "decimal"],
  ["SMALLMONEY", "decimal"],
  ["CURRENCY", "decimal"],
  ["NUM", "decimal"],
  ["NUMBER", "decimal"],
  ["LONG", "integer"],
  ["DATETIME2", "timestamp"],
  ["SMALLDATETIME", "timestamp"],
  ["DATETIMEOFFSET", "timestamp"],
  ["TIME WITHOUT TIME ZONE", "time"],
  ["UNIQUEIDENTIFIER", "uuid"],
]);

function typeOf(word: string): ColumnType {
  const known = words.get(word);
  if (known !== undefined) return known;
  if (/INT/.test(word)) return "integer";
  if (isTextType(word) || word === "ENUM") return "text";
  if (/BLOB|BINARY|BYTEA/.test(word)) return "bytes";
  return /REAL|FLOA|DOUB/.test(word) ? "float" : "other";
}
