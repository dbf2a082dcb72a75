/** The tables and views of PostgreSQL's schemas, without partitions and objects of extensions. */
import type { Outline } from "../../../core/plans/database-catalog.ts";
import { type Connection, rowsFor } from "../engine.ts";

/** `schemas`: empty = only the default one. */
export async function readOutlines(
  connection: Connection,
  schemas: readonly string[],
): Promise<readonly Outline[]> {
  const rows = await rowsFor(connection, outlineQuery, [JSON.stringify(schemas)]);
  return rows.map((row) => ({
    schema: row["schema"] === null ? null : String(row["schema"]),
    name: String(row["name"]),
    kind: row["is_view"] === true ? "view" : "table",
    comment: row["comment"] === null ? null : String(row["comment"]),
    columnComments: new Map(
      Object.entries(JSON.parse(String(row["comments"])) as Record<string, string>),
    ),
    checks: (JSON.parse(String(row["checks"])) as string[]).map(conditionOf),
  }));
}

/** Schemas of the server itself, of extensions and of sessions are left out. */
export const schemasQuery = `
  select n.nspname::text as name
  from pg_catalog.pg_namespace n
  where n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
    and pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    and exists (
      select from pg_catalog.pg_class c
      where c.relnamespace = n.oid and c.relkind in ('r', 'p', 'f', 'v', 'm') and not c.relispartition
        and not exists (
          select from pg_catalog.pg_depend p
          where p.classid = 'pg_catalog.pg_class'::regclass and p.objid = c.oid and p.deptype = 'e'
        )
    )
  order by n.nspname = current_schema() desc, n.nspname`;

/** `CHECK ((qty >= 0)) NOT VALID` -> `(qty >= 0)`. */
const conditionOf = (definition: string): string =>
  /^CHECK \((.*)\)(?: NO INHERIT)?(?: NOT VALID)?$/s.exec(definition)?.[1] ?? definition;

/** The default schema has no name in the answer, as its tables need none. */
const outlineQuery = `
  select nullif(n.nspname, current_schema())::text as schema, c.relname::text as name,
    c.relkind in ('v', 'm') as is_view, pg_catalog.obj_description(c.oid, 'pg_class') as comment,
    (
      select coalesce(json_object_agg(a.attname, d.description), '{}')::text
      from pg_catalog.pg_description d
      join pg_catalog.pg_attribute a on a.attrelid = d.objoid and a.attnum = d.objsubid and not a.attisdropped
      where d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = c.oid and d.objsubid > 0
    ) as comments,
    (
      select coalesce(json_agg(pg_catalog.pg_get_constraintdef(k.oid) order by k.conname), '[]')::text
      from pg_catalog.pg_constraint k where k.conrelid = c.oid and k.contype = 'c'
    ) as checks
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'f', 'v', 'm') and not c.relispartition
    and case when $1::json::text = '[]' then n.nspname = current_schema()
      else n.nspname in (select pg_catalog.json_array_elements_text($1::json)) end
    and not exists (
      select from pg_catalog.pg_depend p
      where p.classid = 'pg_catalog.pg_class'::regclass and p.objid = c.oid and p.deptype = 'e'
    )
  order by n.nspname = current_schema() desc, n.nspname, c.relname`;
