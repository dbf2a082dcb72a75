/**
 * What PostgreSQL says of its tables, views and queries, read from pg_catalog. A domain counts as the type below it, with the
 * domain's NOT NULL, default and length.
 */
import {
  type Column,
  type ColumnType,
  derivedColumn,
  type ForeignKey,
  type Table,
  type TableRefusal,
  type UniqueConstraint,
  type WriteKind,
} from "../../../core/values/column.ts";
import { changesWith } from "../changes-with.ts";
import type { Connection } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import {
  affectedQuery,
  checksQuery,
  columnsQuery,
  foldingQuery,
  keysQuery,
  namesQuery,
  outputsQuery,
  referencesQuery,
  refusalsQuery,
  relationQuery,
} from "./catalog-queries.ts";
import { isHstore } from "./types.ts";
import type { OutputColumn, PostgresConnection } from "./session.ts";

/** Null when there is no such table or view. `schema` null = whatever the search path finds. */
export async function readTable(
  connection: Connection,
  schema: string | null,
  name: string,
): Promise<Table | null> {
  const relation = (await connection.run(relationQuery, [name, schema], false)).rows[0];
  if (!relation) return null;
  const isView = relation["is_view"] === true;
  const attributes = await connection.run(columnsQuery, [relation["oid"]], false);
  const keys = await connection.run(keysQuery, [relation["oid"]], false);
  const references = await connection.run(referencesQuery, [relation["oid"]], false);
  const checks = await connection.run(checksQuery, [relation["oid"]], false);
  const refusals = await connection.run(refusalsQuery, [relation["oid"]], false);
  const affected = await connection.run(affectedQuery, [relation["oid"]], false);
  const identity = String(relation["identity"]);
  return {
    kind: isView ? "view" : "table",
    schema,
    name,
    columns: new Map(
      attributes.rows.map((row) => [
        String(row["name"]),
        {
          ...columnOf(row as unknown as ColumnRow),
          ...(relation["fills"] === true &&
            row["computed"] !== true && { isFilledByTrigger: true }),
        },
      ]),
    ),
    primaryKey: keys.rows
      .filter((row) => row["is_primary"] === true)
      .flatMap((row) => names(row["columns"])),
    unique: keys.rows.map((row): UniqueConstraint => ({
      name: String(row["name"]),
      columns: names(row["columns"]),
    })),
    foreignKeys: references.rows.map(foreignKeyOf),
    checks: checks.rows.map((row) => ({
      name: String(row["name"]),
      columns: names(row["columns"]),
    })),
    refusals: refusals.rows.map(refusalOf),
    passesOver: new Set(names(relation["passes_over"]) as WriteKind[]),
    transactional: true,
    identity,
    changesWith: changesWith(identity, {
      links: affected.rows.map((row) => ({ from: identity, to: String(row["identity"]) })),
      triggered: new Set(
        affected.rows.flatMap((row) => (row["triggers"] === true ? [String(row["identity"])] : [])),
      ),
    }),
  };
}

/** Names of the tables and views of the default schema. */
export async function readNames(connection: Connection): Promise<readonly string[]> {
  const { rows } = await connection.run(namesQuery, [], false);
  return rows.map((row) => String(row["name"]));
}

/** The columns that a query gives, all of them nullable. Rejects with an Error that says what the server said. */
export async function readQuery(
  connection: PostgresConnection,
  text: string,
): Promise<readonly Column[]> {
  const outputs = await connection.outputColumns(text).catch((error: unknown) => {
    throw new Error(error instanceof Error ? error.message : String(error), { cause: error });
  });
  const twice = outputs.find(
    ({ name }, index) => outputs.findIndex((other) => other.name === name) !== index,
  );
  if (twice) {
    throw new Error(`column "${twice.name}" appears more than once; give each column its own name`);
  }
  const described = outputs.map(({ type, table, number }, index) => ({
    index,
    type,
    table,
    number,
  }));
  const { rows } = await connection.run(outputsQuery, [JSON.stringify(described)], false);
  return rows.map((row, index) =>
    columnOf({ ...(row as unknown as ColumnRow), name: outputs[index]!.name }),
  );
}

/** The columns of a result, as far as the numbers of the built-in types tell; all others are shown as the server writes them. */
export const outputsOf = (fields: readonly unknown[]): readonly Column[] =>
  (fields as readonly OutputColumn[]).map(({ name, type }) => {
    const native = builtIn.get(type) ?? "text";
    return derivedColumn(name, columnTypes.get(native)!, { native });
  });

/** By oid. Not those that the driver reads by itself: small integers, booleans. */
const builtIn: ReadonlyMap<number, string> = new Map([
  [17, "bytea"],
  [20, "bigint"],
  [114, "json"],
  [700, "real"],
  [701, "double precision"],
  [1082, "date"],
  [1083, "time without time zone"],
  [1114, "timestamp without time zone"],
  [1184, "timestamp with time zone"],
  [1700, "numeric"],
  [3802, "jsonb"],
]);

/**
 * The collation that comparisons without regard to case must name to be right beyond ASCII, whatever the collation of the
 * database or of a column is (C knows ASCII letters alone). Null where the server has none to offer.
 */
export async function readFoldingCollation(connection: Connection): Promise<string | null> {
  const { rows } = await connection.run(foldingQuery, [], false);
  return (rows[0]?.["name"] as string | undefined) ?? null;
}

interface ColumnRow {
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
  /** Whether the collation is not deterministic. */
  readonly loose: boolean;
  /** JSON array of the labels of an enumerated type. */
  readonly labels: string | null;
}

/** What is told of the elements of an array. */
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
  });

function columnOf(row: ColumnRow): Column {
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
    span: null,
    labels: row.labels === null ? null : names(row.labels),
    ...(row.loose && { isLooselyCollated: true }),
    ...((row.loose || isCitext(native)) && { isLoose: true }),
  };
}

/** The name without quotes would mean a single bit. */
const bits = '"bit"';

const bytesMaxes: ReadonlyMap<string, number> = new Map([
  ["name", 63],
  ['"char"', 1],
]);

function typeOf({ element, labels, native }: ColumnRow): ColumnType {
  if (labels !== null) return "text";
  // These two are called arrays, and take no text of one.
  if (element !== null && !native.endsWith("vector")) return "array";
  return columnTypes.get(native) ?? (isCitext(native) ? "text" : "other");
}

/** The other types of which the service knows that their texts can be taken back as they were shown. */
const isKnownText = ({ native, kind }: ColumnRow): boolean =>
  kind === "r" || kind === "m" || textTypes.has(native) || isHstore(native);

const isCitext = (native: string): boolean => /(^|\.)citext$/.test(native);

/** By the server's name of the type, as `format_type` gives it. */
const columnTypes: ReadonlyMap<string, ColumnType> = new Map<string, ColumnType>([
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
]);

/** By the same names. Ranges and hstore have none that is always the same. */
export const textTypes: ReadonlySet<string> = new Set([
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
]);

const ranges: ReadonlyMap<string, { min: bigint; max: bigint }> = new Map([
  ["smallint", { min: -32_768n, max: 32_767n }],
  ["integer", { min: -2_147_483_648n, max: 2_147_483_647n }],
  ["bigint", { min: -9_223_372_036_854_775_808n, max: 9_223_372_036_854_775_807n }],
]);

/** Lists come as JSON text. */
const names = (json: unknown): string[] => JSON.parse(String(json)) as string[];

function foreignKeyOf(row: RawRow): ForeignKey {
  return {
    name: String(row["name"]),
    columns: names(row["columns"]),
    referencedTable: String(row["referenced"]),
    referencedIdentity: String(row["referenced_identity"]),
    referencedColumns: names(row["referenced_columns"]),
  };
}

/** `kind`: what is refused, `name`: of the rule or sequence. */
function refusalOf({ statement, columns, kind, name }: RawRow): TableRefusal {
  const verb = String(statement).toUpperCase();
  const reason =
    kind === "schema"
      ? `whose schema "${String(name)}" the database user has no right to use`
      : kind === "rule"
        ? `where the rule "${String(name)}" takes the place of ${verb} and answers no rows`
        : kind === "sequence"
          ? `whose sequence "${String(name)}" the database user has no right to use`
          : `on which the database user has no right to ${verb}`;
  return {
    statement: statement as TableRefusal["statement"],
    columns: columns === null ? null : names(columns),
    reason,
  };
}
