/**
 * Makes a `Column` of a type as MySQL and MariaDB write it: `int(10) unsigned`, `varchar(20)`, `enum('a','b')`,
 * `datetime(3)`. That text contains all limits of a column, so tables and queries share this parser.
 */
import type { Alike, Column, ColumnType, Notation } from "../../../core/values/types/column.ts";

/** What the type's text does not tell. */
export interface ColumnFacts {
  readonly name: string;
  /** COLUMN_TYPE of information_schema, lower case outside labels. */
  readonly native: string;
  /** MariaDB's JSON is a longtext with a check. */
  readonly isJson: boolean;
  /** Whether the server counts the column's bytes in UTF-8. */
  readonly isUtf8: boolean;
  /** Null if the server does not report it. */
  readonly collation: string | null;
  /** As `collation`. */
  readonly charset: string | null;
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
    ...(type === "text" && codePointsOf(facts)),
    fixedLength: kind === "char" || kind === "binary" || isBits,
    ...(notation && { notation }),
    ...(isOpaque && { isOpaque }),
    isSingle: kind === "float",
    isLoose: type === "text",
    ...(type === "text" && clashingOf(facts)),
    ...((type === "text" || kind === "set") && alikeOf(facts)),
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

/** Of other character sets, such as latin1, only the server knows the characters. */
function codePointsOf({ charset }: ColumnFacts): Pick<Column, "codePointMax"> {
  if (charset === "ascii") return { codePointMax: 0x7f };
  return charset !== null && /^(?:utf8|utf8mb3|ucs2)$/.test(charset)
    ? { codePointMax: 0xffff }
    : {};
}

/** A collation's weights are equal for equal texts; most collations ignore trailing spaces. */
function alikeOf({ collation, charset }: ColumnFacts): { readonly alike?: Alike } {
  // An expression: its collation is unknown.
  if (collation === null || charset === null) return { alike: "loosely" };
  const isPadded = !/_nopad_|_0900_/.test(collation);
  if (collation.endsWith("_bin")) return isPadded ? { alike: "blanks" } : {};
  const [trim, end] = isPadded ? ["rtrim(", ")"] : ["", ""];
  const before = `hex(weight_string(${trim}convert(`;
  const behind = ` using ${charset})${end} collate ${collation}))`;
  return {
    alike: { before, behind, ...(weighsCharacters.test(collation) && { isByCharacter: true }) },
  };
}

/** Not those of a language, which may sort two letters as one, nor those with more than one level of weights. */
const weighsCharacters =
  /^utf8mb[34]_(?:general|unicode|unicode_520|uca1400)_(?:nopad_)?(?:ai_)?ci$/;

/** The server refuses to compare columns of two collations, but takes a binary one before another. */
const clashingOf = ({ collation }: ColumnFacts): Pick<Column, "comparedIn"> =>
  collation === null || collation.endsWith("_bin")
    ? {}
    : { comparedIn: collation.replace(/^utf8mb[34]_/, "utf8_") };

/** The labels of an `enum(…)` or `set(…)`. */
const labelsOf = (native: string): readonly string[] =>
  [...native.matchAll(/'((?:[^']|'')*)'/g)].map((match) => match[1]!.replaceAll("''", "'"));

function typeOf(kind: string, size: number | null): ColumnType {
  if ((kind === "tinyint" || kind === "bit") && size === 1) return "boolean";
  return nativeTypes.get(kind) ?? "other";
}

/** How the driver returns the values of a type, and how they are shown: most types travel as texts. */
export function kindOf(native: string): string {
  const [, kind = "", size = null] = /^(\w+)(?:\((\d+)\))?/.exec(native) ?? [];
  const type = typeOf(kind, size === null ? null : Number(size));
  if (type === "float" || kind === "year") return kind;
  if (kind === "bit" && type !== "boolean") return kind;
  return type === "uuid" || type === "json" || type === "other" ? "text" : type;
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

/** Other types whose notation the service knows. */
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
