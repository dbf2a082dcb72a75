/** The foreign keys of PostgreSQL's tables that point at a table. Those of partitions are their parent's. */
import type { IncomingKey } from "../../../core/values/column.ts";
import type { Connection } from "../engine.ts";
import { incomingKeys } from "../incoming-keys.ts";

/** `schema` null = whatever the search path finds. */
export async function readReferencesTo(
  connection: Connection,
  schema: string | null,
  name: string,
): Promise<readonly IncomingKey[]> {
  return incomingKeys((await connection.run(query, [name, schema], false)).rows);
}

const query = `
  select k.oid::text as id,
    case when pg_catalog.pg_table_is_visible(c.oid) then c.relname else s.nspname || '.' || c.relname end::text as table,
    child.attname::text as column, parent.attname::text as referenced,
    case k.confdeltype when 'c' then 'CASCADE' when 'n' then 'SET NULL' when 'd' then 'SET DEFAULT' else 'NO ACTION' end as rule
  from pg_catalog.pg_constraint k
  join pg_catalog.pg_class c on c.oid = k.conrelid
  join pg_catalog.pg_namespace s on s.oid = c.relnamespace
  join pg_catalog.pg_class r on r.oid = k.confrelid
  join pg_catalog.pg_namespace n on n.oid = r.relnamespace
  cross join lateral unnest(k.conkey, k.confkey) with ordinality as part(own, other, place)
  join pg_catalog.pg_attribute child on child.attrelid = k.conrelid and child.attnum = part.own
  join pg_catalog.pg_attribute parent on parent.attrelid = k.confrelid and parent.attnum = part.other
  where k.contype = 'f' and k.conparentid = 0 and r.relname = $1::text
    and case when $2::text is null then pg_catalog.pg_table_is_visible(r.oid) else n.nspname = $2::text end
  order by s.nspname, c.relname, k.conname, part.place`;
