/**
 * Makes a `Column` of a type as MySQL and MariaDB write it (`int(10) unsigned`, `varchar(20)`, `enum('a','b')`, `datetime(3)`).
 * Everything about a column's limits stands in that text, so tables and queries share this one reading.
 */
import type { Column, ColumnType, Notation } from "../../../core/values/column.ts";

/** What the type's text does not say. */
export interface ColumnFacts {
  readonly name: string;
  /** COLUMN_TYPE of information_schema, lower case outside labels. */
  readonly native: string;
  /** MariaDB's JSON is a longtext that is checked. */
  readonly isJson: boolean;
  /** Whether the server counts the column's bytes in UTF-8. */
  readonly isUtf8: boolean;
  /** Null where the server does not say. */
  readonly collation: string | null;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  readonly generated: Column["generated"];
  /** The last instant of a TIMESTAMP on this server. */
  readonly timestampLast: string;
}

export function columnOf(facts: ColumnFacts): Column {
  const { native } = facts;
  const [, kind = "", details = ""] = /^(\w+)(?:\((.*)\))?/s.exec(native) ?? [];
  const [size = null, scale = null] = /^\d/.test(details) ? details.split(",").map(Number) : [];
  const type = facts.isJson ? "json" : typeOf(kind, size);
  const isText = type === "text" || type === "json";
  const bytes = bytesOf(kind, size);
  const isBits = kind === "bit" && type === "other";
  const notation = isBits ? "bits" : geometries.has(kind) ? "wkt" : notations.get(kind);
  const isOpaque = type === "other" && notation === undefined;
  return {
    name: facts.name,
    type,
    native,
    nullable: facts.nullable,
    hasDefault: facts.hasDefault,
    generated: isOpaque ? "computed" : facts.generated,
    lengthMax: kind === "char" || kind === "varchar" || isBits ? size : null,
    bytesMax: isText && !facts.isUtf8 ? null : bytes,
    fixedLength: kind === "char" || kind === "binary" || isBits,
    ...(notation && { notation }),
    ...(isOpaque && { isOpaque }),
    isSingle: kind === "float",
    isLoose: type === "text",
    ignoresCase: /^utf8mb4_\w+_ci$/.test(facts.collation ?? ""),
    range:
      type === "integer"
        ? rangeOf(kind, native.includes("unsigned"))
        : kind === "json"
          ? jsonRange
          : null,
    precision: type === "decimal" ? size : null,
    scale: type === "decimal" ? (scale ?? 0) : null,
    fractionDigits: type === "timestamp" || type === "time" ? (size ?? 0) : 0,
    ...(type === "time" && { isDuration: true }),
    span:
      kind === "timestamp"
        ? { first: "1970-01-01T00:00:01.000Z", last: facts.timestampLast }
        : null,
    labels: kind === "enum" && details !== "" ? labelsOf(native) : null,
    ...(kind === "set" && details !== "" && { members: labelsOf(native) }),
  };
}

/** The labels of an `enum(…)` or `set(…)`. */
function labelsOf(native: string): readonly string[] {
  return [...native.matchAll(/'((?:[^']|'')*)'/g)].map((match) => match[1]!.replaceAll("''", "'"));
}

function typeOf(kind: string, size: number | null): ColumnType {
  if ((kind === "tinyint" || kind === "bit") && size === 1) return "boolean";
  return nativeTypes.get(kind) ?? "other";
}

export const geometries: ReadonlySet<string> = new Set([
  "geometry",
  "point",
  "linestring",
  "polygon",
  "multipoint",
  "multilinestring",
  "multipolygon",
  "geometrycollection",
  "geomcollection",
]);

/** Other types whose texts the service can tell. */
const notations: ReadonlyMap<string, Notation> = new Map<string, Notation>([
  ["year", "year"],
  ["set", "set"],
  ["inet4", "ip4"],
  ["inet6", "ip6"],
]);

/** Every type that the service reads and writes. All others are only shown. */
export const nativeTypes: ReadonlyMap<string, ColumnType> = new Map<string, ColumnType>([
  ["tinyint", "integer"],
  ["smallint", "integer"],
  ["mediumint", "integer"],
  ["int", "integer"],
  ["bigint", "integer"],
  ["decimal", "decimal"],
  ["float", "float"],
  ["double", "float"],
  ["date", "date"],
  ["datetime", "timestamp"],
  ["timestamp", "timestamp"],
  ["time", "time"],
  ["char", "text"],
  ["varchar", "text"],
  ["tinytext", "text"],
  ["text", "text"],
  ["mediumtext", "text"],
  ["longtext", "text"],
  ["enum", "text"],
  ["uuid", "uuid"],
  ["json", "json"],
  ["binary", "bytes"],
  ["varbinary", "bytes"],
  ["tinyblob", "bytes"],
  ["blob", "bytes"],
  ["mediumblob", "bytes"],
  ["longblob", "bytes"],
  ["bit", "other"],
  ...[...notations.keys(), ...geometries].map((kind) => [kind, "other"] as const),
]);

/** Whole numbers that JSON of MySQL keeps with all digits; MariaDB keeps its text as it is. */
const jsonRange = { min: -(2n ** 63n), max: 2n ** 64n - 1n };

/** Bits of an integer, by its type. */
const integerBits: ReadonlyMap<string, bigint> = new Map([
  ["tinyint", 8n],
  ["smallint", 16n],
  ["mediumint", 24n],
  ["int", 32n],
  ["bigint", 64n],
]);

function rangeOf(kind: string, isUnsigned: boolean): Column["range"] {
  const bits = integerBits.get(kind) ?? 1n;
  return isUnsigned
    ? { min: 0n, max: (1n << bits) - 1n }
    : { min: -(1n << (bits - 1n)), max: (1n << (bits - 1n)) - 1n };
}

function bytesOf(kind: string, size: number | null): number | null {
  if (kind === "binary" || kind === "varbinary") return size ?? 1;
  if (/^tiny(text|blob)$/.test(kind)) return 255;
  if (/^(text|blob)$/.test(kind)) return 65_535;
  if (/^medium(text|blob)$/.test(kind)) return 16_777_215;
  return /^long(text|blob)$/.test(kind) ? 4_294_967_295 : null;
}
