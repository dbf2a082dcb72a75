/** Makes a `Column` from a catalog row. A domain counts as its base type, with its own NOT NULL, default and length. */
import type { Alike, Column, ColumnType } from "../../../core/values/types/column.ts";
import { isHstore } from "./types.ts";

/** A column as the queries of `catalog-queries.ts` return it. */
export interface ColumnRow {
  readonly name: string;
  readonly native: string;
  readonly category: string;
  readonly is_domain: boolean;
  /** pg_type.typtype: `r` and `m` are ranges. */
  readonly kind: string;
  /** Arrays: JSON of an `Item`. */
  readonly element: string | null;
  readonly typmod: number;
  readonly required: boolean;
  readonly has_default: boolean;
  readonly identity: boolean;
  readonly computed: boolean;
  /** Quoted name of a nondeterministic collation, empty if unknown. Null: the collation is deterministic. */
  readonly loose: string | null;
  /** Null: the default one of the database, or unknown. */
  readonly collation: string | null;
  /** A B-tree index has `lower(<column>) text_pattern_ops` first. */
  readonly folded: boolean;
  /** JSON array of the labels of an enumerated type. */
  readonly labels: string | null;
}

/** The facts of an array's elements. */
type Item = Pick<ColumnRow, "native" | "category" | "kind" | "typmod" | "labels">;

const itemOf = (row: ColumnRow): Column =>
  columnOf({
    ...(JSON.parse(row.element ?? "{}") as Item),
    name: row.name,
    element: null,
    is_domain: false,
    required: false,
    has_default: false,
    identity: false,
    computed: false,
    loose: row.loose,
    collation: row.collation,
    folded: false,
  });

export function columnOf(row: ColumnRow): Column {
  const { native, typmod } = row;
  const type = typeOf(row);
  const element = type === "array" ? itemOf(row) : null;
  const isOpaque = element?.isOpaque ?? (type === "other" && !isKnownText(row));
  const isLengthed = native === "character varying" || native === "bpchar";
  const isBits = native === bits || native === "bit varying";
  const isNumeric = native === "numeric" && typmod >= 0;
  return {
    name: row.name,
    type,
    native,
    nullable: !row.required,
    hasDefault: row.has_default,
    generated: row.computed || isOpaque ? "computed" : row.identity ? "identity" : "none",
    lengthMax: typmod < 0 ? null : isLengthed ? typmod - 4 : isBits ? typmod : null,
    bytesMax: bytesMaxes.get(native) ?? null,
    fixedLength: native === "bpchar" || native === bits,
    ...(element && { element }),
    ...(isOpaque && { isOpaque }),
    ...(isBits && { notation: "bits" }),
    ...(native === "oid" && { notation: "word32" }),
    ...(native === "xid8" && { notation: "word64" }),
    ...(row.is_domain && row.labels !== null && { isDomain: true }),
    isSingle: native === "real",
    range: ranges.get(native) ?? null,
    precision: isNumeric ? ((typmod - 4) >> 16) & 0xffff : null,
    // Eleven bits with sign: a scale may be negative.
    scale: isNumeric ? (((typmod - 4) & 0x7ff) ^ 1024) - 1024 : null,
    fractionDigits: type === "timestamp" || type === "time" ? (typmod < 0 ? 6 : typmod) : 0,
    ...(type === "time" && { endsDays: true }),
    span: null,
    labels: row.labels === null ? null : names(row.labels),
    ...(row.loose !== null && { isLooselyCollated: true }),
    ...(row.collation !== null && { comparedIn: row.collation }),
    ...(row.folded && !row.is_domain && { hasFoldedIndex: true }),
    ...((row.loose !== null || isCitext(native)) && { isLoose: true }),
    ...(!isOpaque && alikeOf(row, type)),
  };
}

/**
 * Equal texts of a nondeterministic collation have equal hashes. Two hashes are combined because 64 bits may collide.
 * For other types, the server gives one text for all values of one meaning; it counts 24 hours as a day and 30 days as
 * a month.
 */
function alikeOf({ native, loose }: ColumnRow, type: ColumnType): { readonly alike?: Alike } {
  const asked = (before: string, behind: string) => ({ alike: { before, behind } });
  const isPadded = native === "bpchar";
  if (loose === "") return { alike: "loosely" };
  if (loose !== null)
    return asked(
      `(select concat(hashtextextended(t, 0), ' ', hashtextextended(t, 1)) from (select ${isPadded ? "rtrim(" : "("}`,
      `::text) collate ${loose}) as x(t))`,
    );
  if (isPadded) return { alike: "blanks" };
  if (isCitext(native)) return asked("lower(", "::text)");
  if (native === "interval") return asked("justify_interval(", "::text::interval)::text");
  return type === "other" ? asked("", `::text::${native}::text`) : {};
}

/** The name without quotes would mean a single bit. */
const bits = '"bit"';

const bytesMaxes: ReadonlyMap<string, number> = new Map([
  ["name", 63],
  ['"char"', 1],
]);

function typeOf({ element, labels, native }: ColumnRow): ColumnType {
  if (labels !== null) return "text";
  // The catalog calls these two arrays, but they do not accept the text of an array.
  if (element !== null && !native.endsWith("vector")) return "array";
  return nativeTypes.get(native) ?? (isCitext(native) ? "text" : "other");
}

/** Other types whose texts the server accepts in the form in which it writes them. */
const isKnownText = ({ native, kind }: ColumnRow): boolean =>
  kind === "r" || kind === "m" || nativeTypes.has(native) || isHstore(native);

const isCitext = (native: string): boolean => /(^|\.)citext$/.test(native);

/**
 * Every type that the service reads and writes, by the name that `format_type` gives; types without a kind travel as
 * text. Also supported: enumerated types, ranges, citext, hstore, and arrays. All others are only shown.
 */
export const nativeTypes: ReadonlyMap<string, ColumnType> = new Map<string, ColumnType>([
  ["text", "text"],
  ["character varying", "text"],
  ["bpchar", "text"],
  ["name", "text"],
  ['"char"', "text"],
  ["smallint", "integer"],
  ["integer", "integer"],
  ["bigint", "integer"],
  ["numeric", "decimal"],
  ["real", "float"],
  ["double precision", "float"],
  ["boolean", "boolean"],
  ["date", "date"],
  ["timestamp without time zone", "timestamp"],
  ["timestamp with time zone", "timestamp"],
  ["time without time zone", "time"],
  ["uuid", "uuid"],
  ["json", "json"],
  ["jsonb", "json"],
  ["bytea", "bytes"],
  ...[
    bits,
    "bit varying",
    "oid",
    "money",
    "interval",
    "time with time zone",
    "inet",
    "cidr",
    "macaddr",
    "macaddr8",
    "xml",
    "jsonpath",
    "tsquery",
    "xid8",
    "pg_lsn",
    "point",
    "line",
    "lseg",
    "box",
    "path",
    "polygon",
    "circle",
    "regclass",
    "regcollation",
    "regconfig",
    "regdictionary",
    "regnamespace",
    "regoper",
    "regoperator",
    "regproc",
    "regprocedure",
    "regrole",
    "regtype",
  ].map((native) => [native, "other"] as const),
]);

const ranges: ReadonlyMap<string, { min: bigint; max: bigint }> = new Map([
  ["smallint", { min: -32_768n, max: 32_767n }],
  ["integer", { min: -2_147_483_648n, max: 2_147_483_647n }],
  ["bigint", { min: -9_223_372_036_854_775_808n, max: 9_223_372_036_854_775_807n }],
]);

/** Lists come as JSON text. */
export const names = (json: unknown): string[] => JSON.parse(String(json)) as string[];
