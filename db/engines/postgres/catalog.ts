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
  type UniqueConstraint,
} from "../../../core/values/column.ts";
import { changesWith } from "../changes-with.ts";
import type { Connection } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import type { OutputColumn, PostgresConnection } from "./connection.ts";

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
  const affected = await connection.run(affectedQuery, [relation["oid"]], false);
  const identity = String(relation["identity"]);
  return {
    kind: isView ? "view" : "table",
    schema,
    name,
    columns: new Map(
      attributes.rows.map((row) => [String(row["name"]), columnOf(row as unknown as ColumnRow)]),
    ),
    primaryKey: keys.rows
      .filter((row) => row["is_primary"] === true)
      .flatMap((row) => names(row["columns"])),
    unique: keys.rows.map((row): UniqueConstraint => ({
      name: String(row["name"]),
      columns: names(row["columns"]),
    })),
    foreignKeys: references.rows.map(foreignKeyOf),
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
  readonly typmod: number;
  readonly required: boolean;
  readonly has_default: boolean;
  readonly identity: boolean;
  readonly computed: boolean;
  /** JSON array of the labels of an enumerated type. */
  readonly labels: string | null;
}

function columnOf(row: ColumnRow): Column {
  const { native, typmod } = row;
  const type = typeOf(row);
  const isLengthed = native === "character varying" || native === "bpchar";
  const isNumeric = native === "numeric" && typmod >= 0;
  return {
    name: row.name,
    type,
    native,
    nullable: !row.required,
    hasDefault: row.has_default,
    generated: row.computed || isShownOnly(row) ? "computed" : row.identity ? "identity" : "none",
    lengthMax: isLengthed && typmod >= 0 ? typmod - 4 : null,
    bytesMax: native === "name" ? 63 : null,
    fixedLength: native === "bpchar",
    isSingle: native === "real",
    range: ranges.get(native) ?? null,
    precision: isNumeric ? ((typmod - 4) >> 16) & 0xffff : null,
    // Eleven bits with sign: a scale may be negative.
    scale: isNumeric ? (((typmod - 4) & 0x7ff) ^ 1024) - 1024 : null,
    fractionDigits: type === "timestamp" || type === "time" ? (typmod < 0 ? 6 : typmod) : 0,
    span: null,
    labels: row.labels === null ? null : names(row.labels),
  };
}

/** Rows within rows, and what the server alone makes of texts. */
const isShownOnly = ({ category, native }: ColumnRow): boolean =>
  category === "C" || native === "tsvector";

function typeOf({ category, labels, native }: ColumnRow): ColumnType {
  if (labels !== null) return "text";
  if (category === "A") return "array";
  return columnTypes.get(native) ?? (/(^|\.)citext$/.test(native) ? "text" : "other");
}

/** By the server's name of the type, as `format_type` gives it. */
const columnTypes: ReadonlyMap<string, ColumnType> = new Map<string, ColumnType>([
  ["text", "text"],
  ["character varying", "text"],
  ["bpchar", "text"],
  ["name", "text"],
  ["smallint", "integer"],
  ["integer", "integer"],
  ["bigint", "integer"],
  ["oid", "integer"],
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

const ranges: ReadonlyMap<string, { min: bigint; max: bigint }> = new Map([
  ["smallint", { min: -32_768n, max: 32_767n }],
  ["integer", { min: -2_147_483_648n, max: 2_147_483_647n }],
  ["bigint", { min: -9_223_372_036_854_775_808n, max: 9_223_372_036_854_775_807n }],
  ["oid", { min: 0n, max: 4_294_967_295n }],
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

const foldingQuery = `
  select quote_ident(collname) as name
  from pg_catalog.pg_collation
  where collname in ('pg_c_utf8', 'und-x-icu', 'C.utf8', 'C.UTF-8')
    and collencoding in (-1, pg_catalog.pg_char_to_encoding(pg_catalog.getdatabaseencoding()))
  order by pg_catalog.array_position('{pg_c_utf8,und-x-icu}', collname::text)
  limit 1`;

const relationQuery = `
  select c.oid::text as oid, c.relkind in ('v', 'm') as is_view, lower(n.nspname || '.' || c.relname) as identity
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relname = $1::text and c.relkind in ('r', 'p', 'f', 'v', 'm')
    and case when $2::text is null then pg_catalog.pg_table_is_visible(c.oid) else n.nspname = $2::text end`;

const namesQuery = `
  select c.relname::text as name
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = current_schema() and c.relkind in ('r', 'p', 'f', 'v', 'm') and not c.relispartition
  order by 1`;

/**
 * Follows domains down to the type below, from a relation `attribute(place, type, typmod, required, has_default)`.
 * A type modifier of -1 in `format_type` gives the name that stands for "of any length".
 */
const resolve = `
  resolved as (
    select * from attribute
    union all
    select r.place, t.typbasetype, case when r.typmod = -1 then t.typtypmod else r.typmod end,
      r.required or t.typnotnull, r.has_default or t.typdefault is not null
    from resolved r
    join pg_catalog.pg_type t on t.oid = r.type and t.typtype = 'd'
  ),
  typed as (
    select r.place, r.typmod, r.required, r.has_default, pg_catalog.format_type(t.oid, -1) as native, t.typcategory::text as category,
      case when t.typtype = 'e' then (
        select json_agg(e.enumlabel order by e.enumsortorder)::text from pg_catalog.pg_enum e where e.enumtypid = t.oid
      ) end as labels
    from resolved r
    join pg_catalog.pg_type t on t.oid = r.type and t.typtype <> 'd'
  )`;

const columnsQuery = `
  with recursive attribute(place, type, typmod, required, has_default) as (
    select attnum::int, atttypid, atttypmod, attnotnull, atthasdef
    from pg_catalog.pg_attribute
    where attrelid = $1::oid and attnum > 0 and not attisdropped
  ), ${resolve}
  select a.attname::text as name, t.native, t.category, t.typmod, t.required, t.labels,
    t.has_default or a.attidentity <> '' as has_default,
    a.attidentity <> '' or coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid) like 'nextval(%', false) as identity,
    a.attgenerated <> '' as computed
  from typed t
  join pg_catalog.pg_attribute a on a.attrelid = $1::oid and a.attnum = t.place
  left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  order by t.place`;

/** What comes straight from a table's column keeps that column's length. */
const outputsQuery = `
  with recursive attribute(place, type, typmod, required, has_default) as (
    select o.index, o.type, coalesce(a.atttypmod, -1), false, false
    from json_to_recordset($1::json) as o("index" int, "type" oid, "table" oid, "number" int)
    left join pg_catalog.pg_attribute a on a.attrelid = o.table and a.attnum = o.number and a.atttypid = o.type
  ), ${resolve}
  select native, category, typmod, labels, false as required, false as has_default, false as identity, false as computed
  from typed
  order by place`;

/** Keys of an index in their order, as JSON. Partial and expression indexes are no keys. */
const keysQuery = `
  select c.relname::text as name, i.indisprimary as is_primary, (
    select json_agg(a.attname order by k.place)::text
    from unnest(i.indkey::int2[]) with ordinality as k(number, place)
    join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
    where k.place <= i.indnkeyatts
  ) as columns
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  where i.indrelid = $1::oid and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
  order by i.indisprimary desc, c.relname`;

/** The table itself and those that change with it: by cascades of any depth, and as partitions of each other. */
const affectedQuery = `
  with recursive affected(oid) as (
    select $1::oid
    union
    select linked.oid from affected
    cross join lateral (
      select k.conrelid as oid from pg_catalog.pg_constraint k
      where k.contype = 'f' and k.confrelid = affected.oid
        and (k.confdeltype in ('c', 'n', 'd') or k.confupdtype in ('c', 'n', 'd'))
      union all
      select i.inhrelid from pg_catalog.pg_inherits i where i.inhparent = affected.oid
      union all
      select i.inhparent from pg_catalog.pg_inherits i where i.inhrelid = affected.oid
    ) linked
  )
  select lower(n.nspname || '.' || c.relname) as identity,
    exists (select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal)
      or exists (select from pg_catalog.pg_rewrite r where r.ev_class = c.oid and r.ev_type <> '1')
      or c.relkind = 'f' as triggers
  from affected
  join pg_catalog.pg_class c on c.oid = affected.oid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace`;

const referencesQuery = `
  select k.conname::text as name, (
    select json_agg(a.attname order by n.place)::text
    from unnest(k.conkey) with ordinality as n(number, place)
    join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = n.number
  ) as columns,
  case when pg_catalog.pg_table_is_visible(c.oid) then c.relname else s.nspname || '.' || c.relname end::text as referenced,
  lower(s.nspname || '.' || c.relname) as referenced_identity, (
    select json_agg(a.attname order by n.place)::text
    from unnest(k.confkey) with ordinality as n(number, place)
    join pg_catalog.pg_attribute a on a.attrelid = k.confrelid and a.attnum = n.number
  ) as referenced_columns
  from pg_catalog.pg_constraint k
  join pg_catalog.pg_class c on c.oid = k.confrelid
  join pg_catalog.pg_namespace s on s.oid = c.relnamespace
  where k.conrelid = $1::oid and k.contype = 'f'
  order by k.conname`;
