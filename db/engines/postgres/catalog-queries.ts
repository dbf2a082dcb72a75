/** Queries of PostgreSQL's catalog. Lists come as JSON text; names without a schema are looked up in pg_catalog. */

/** A row if there are constraints that are checked at the COMMIT. */
export const deferredQuery = "select 1 from pg_catalog.pg_constraint where condeferred limit 1";

export const foldingQuery = `
  select quote_ident(collname) as name
  from pg_catalog.pg_collation
  where collname in ('pg_c_utf8', 'und-x-icu', 'C.utf8', 'C.UTF-8')
    and pg_catalog.to_regcollation(quote_ident(collname)) is not null
  order by pg_catalog.array_position('{pg_c_utf8,und-x-icu}', collname::text)
  limit 1`;

/**
 * Whether the collation of the database makes the same small letters as the other one of the letters of `heads.common`
 * in `patterns.ts`, and of those beyond them that become one of them: \u1E9E, \u2126, \u212A, \u212B, \u03F4. Of \u0130
 * both make an i, which the other may mark with a dot.
 */
export const agreementQuery = (folding: string): string => `
  select case when pg_catalog.getdatabaseencoding() = 'UTF8' then (
    select bool_and(
      lower(chr(n)) = lower(chr(n) collate ${folding})
      or n = 304 and lower(chr(n)) like 'i%' and lower(chr(n) collate ${folding}) = 'i' || chr(775)
    )
    from (
      select n from generate_series(65, 90) as ascii(n)
      union all select n from generate_series(192, 1119) as common(n) where n not in (329, 931, 962, 963)
      union all select unnest('{7838,8486,8490,8491,1012}'::int[])
    ) as letters(n)
  ) end as is_common`;

/** Of the class `c`. Dots of the schema are marked: without that, `b.c` in `a` would be `c` in `a.b`. */
const identityOf = (schema: string): string =>
  `replace(replace(${schema}.nspname, '/', '//'), '.', '/.') || '.' || c.relname`;

export const relationQuery = `
  select c.oid::text as oid, c.relkind in ('v', 'm') as is_view, ${identityOf("n")} as identity,
    -- Bits of tgtype: 1 for each row, 2 before, 4 insert, 8 delete, 16 update, 64 instead of.
    exists (
      select from pg_catalog.pg_trigger t
      where t.tgrelid = c.oid and t.tgenabled <> 'D' and (t.tgtype & 7 = 7 or t.tgtype & 69 = 69)
    ) as fills,
    -- The text of a trigger that runs afterwards tells whether it updates the table.
    exists (
      select from pg_catalog.pg_trigger t join pg_catalog.pg_proc p on p.oid = t.tgfoid
      where t.tgrelid = c.oid and not t.tgisinternal and t.tgenabled <> 'D' and t.tgtype & 66 = 0
        and p.prosrc ~* ('\\mupdate\\s+(only\\s+)?("?\\w+"?\\.)?"?' || regexp_replace(c.relname, '(\\W)', '\\\\\\1', 'g') || '\\M')
    ) as changes_returned,
    c.relkind = 'v' and pg_catalog.pg_relation_is_updatable(c.oid, false) & 8 <> 0 as definition_takes_inserts,
    c.relkind in ('v', 'm') and pg_catalog.pg_relation_is_updatable(c.oid, false) & 4 = 0 as lacks_locks,
    (
      select coalesce(json_agg(e.name), '[]')::text
      from (values (4, 'insert'), (8, 'delete'), (16, 'update')) as e(bit, name)
      where exists (
        select from pg_catalog.pg_trigger t
        where t.tgrelid = c.oid and t.tgenabled <> 'D' and (t.tgtype & 3 = 3 or t.tgtype & 65 = 65) and t.tgtype & e.bit <> 0
      )
    ) as passes_over
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relname = $1::text and c.relkind in ('r', 'p', 'f', 'v', 'm')
    and case when $2::text is null then pg_catalog.pg_table_is_visible(c.oid) else n.nspname = $2::text end`;

export const namesQuery = `
  select c.relname::text as name
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = current_schema() and c.relkind in ('r', 'p', 'f', 'v', 'm') and not c.relispartition
  order by 1`;

/** The labels of an enumerated type as JSON text; null for other types. */
const labels = (type: string): string => `case when ${type}.typtype = 'e' then (
        select json_agg(e.enumlabel order by e.enumsortorder)::text from pg_catalog.pg_enum e where e.enumtypid = ${type}.oid
      ) end`;

/**
 * Resolves domains to the type below, from a relation `attribute(place, type, typmod, required, has_default,
 * is_domain)`. With a type modifier of -1, `format_type` gives the name that stands for "of any length".
 */
const resolve = `
  resolved as (
    select * from attribute
    union all
    select r.place, t.typbasetype, case when r.typmod = -1 then t.typtypmod else r.typmod end,
      r.required or t.typnotnull, r.has_default or t.typdefault is not null, true
    from resolved r
    join pg_catalog.pg_type t on t.oid = r.type and t.typtype = 'd'
  ),
  typed as (
    select r.place, r.typmod, r.required, r.has_default, r.is_domain, pg_catalog.format_type(t.oid, -1) as native, t.typcategory::text as category,
      t.typtype::text as kind, case when t.typcategory = 'A' then (
        with recursive item(type, typmod) as (
          select t.typelem, r.typmod
          union all
          select d.typbasetype, d.typtypmod from item i join pg_catalog.pg_type d on d.oid = i.type and d.typtype = 'd'
        )
        select json_build_object('native', pg_catalog.format_type(d.oid, -1), 'category', d.typcategory::text, 'kind', d.typtype::text,
          'typmod', i.typmod, 'labels', ${labels("d")})::text
        from item i join pg_catalog.pg_type d on d.oid = i.type and d.typtype <> 'd'
      ) end as element,
      ${labels("t")} as labels
    from resolved r
    join pg_catalog.pg_type t on t.oid = r.type and t.typtype <> 'd'
  )`;

export const columnsQuery = `
  with recursive attribute(place, type, typmod, required, has_default, is_domain) as (
    select attnum::int, atttypid, atttypmod, attnotnull, atthasdef, false
    from pg_catalog.pg_attribute
    where attrelid = $1::oid and attnum > 0 and not attisdropped
  ), ${resolve}
  select a.attname::text as name, t.native, t.category, t.kind, t.is_domain, t.element, t.typmod, t.required, t.labels,
    t.has_default or a.attidentity <> '' as has_default,
    a.attidentity <> '' or coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid) like 'nextval(%', false) as identity,
    a.attgenerated <> '' or a.attidentity = 'a' or exists (
      select from pg_catalog.pg_class c
      where c.oid = $1::oid and c.relkind = 'v' and pg_catalog.pg_relation_is_updatable(c.oid, true) & 12 <> 0
        and not pg_catalog.pg_column_is_updatable(c.oid, a.attnum, true)
    ) as computed,
    (
      select quote_ident(n.nspname) || '.' || quote_ident(l.collname)
      from pg_catalog.pg_collation l join pg_catalog.pg_namespace n on n.oid = l.collnamespace
      where l.oid = a.attcollation and not l.collisdeterministic
    ) as loose,
    (
      select n.nspname || '.' || l.collname
      from pg_catalog.pg_collation l join pg_catalog.pg_namespace n on n.oid = l.collnamespace
      where l.oid = a.attcollation and l.collprovider <> 'd'
    ) as collation,
    a.attcollation = 'pg_catalog."default"'::pg_catalog.regcollation and pg_catalog.getdatabaseencoding() = 'UTF8' and exists (
      select from pg_catalog.pg_index i
      join pg_catalog.pg_class c on c.oid = i.indexrelid
      join pg_catalog.pg_am m on m.oid = c.relam and m.amname = 'btree'
      join pg_catalog.pg_opclass o on o.oid = i.indclass[0] and o.opcname in ('text_pattern_ops', 'varchar_pattern_ops')
      where i.indrelid = a.attrelid and i.indisvalid and i.indpred is null and i.indkey[0] = 0 and i.indoption[0] & 1 = 0
        and pg_catalog.pg_get_indexdef(i.indexrelid, 1, true) in ('lower(' || quote_ident(a.attname) || ')', 'lower(' || quote_ident(a.attname) || '::text)')
    ) as folded
  from typed t
  join pg_catalog.pg_attribute a on a.attrelid = $1::oid and a.attnum = t.place
  left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  order by t.place`;

/**
 * The server reports the type below a domain, so each column may be of a domain. A column that comes straight from a
 * table keeps its length and collation. An expression may have any collation.
 */
export const outputsQuery = `
  with recursive attribute(place, type, typmod, required, has_default, is_domain) as (
    select o.index, o.type, coalesce(a.atttypmod, -1), false, false, true
    from json_to_recordset($1::json) as o("index" int, "type" oid, "table" oid, "number" int)
    left join pg_catalog.pg_attribute a on a.attrelid = o.table and a.attnum = o.number and a.atttypid = o.type
  ), ${resolve}
  select t.native, t.category, t.kind, t.is_domain, t.element, t.typmod, t.labels, false as required, false as has_default, false as identity, false as computed, null as collation, false as folded,
    case when exists (
      select from pg_catalog.pg_collation l
      where not l.collisdeterministic and t.category = 'S' and (a.attnum is null or l.oid = a.attcollation)
    ) then '' end as loose
  from typed t
  join json_to_recordset($1::json) as o("index" int, "table" oid, "number" int) on o.index = t.place
  left join pg_catalog.pg_attribute a on a.attrelid = o.table and a.attnum = o.number and o.table <> 0
  order by t.place`;

/** Which columns of a view the database fills, like those of its table: by the origins that the server reports. */
export const filledQuery = `
  select o.index, a.attidentity <> '' or coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid) like 'nextval(%', false) as identity,
    a.attgenerated <> '' or a.attidentity = 'a' as computed
  from json_to_recordset($1::json) as o("index" int, "table" oid, "number" int)
  join pg_catalog.pg_attribute a on a.attrelid = o.table and a.attnum = o.number
  left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.atthasdef or a.attidentity <> ''`;

/** Keys of an index in their order, as JSON. Partial and expression indexes are no keys. */
export const keysQuery = `
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
export const affectedQuery = `
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
  select ${identityOf("n")} as identity,
    exists (select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal)
      or exists (select from pg_catalog.pg_rewrite r where r.ev_class = c.oid and r.ev_type <> '1')
      or c.relkind = 'f' as triggers
  from affected
  join pg_catalog.pg_class c on c.oid = affected.oid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace`;

/** Check and exclusion constraints with their columns, and those of domains of columns and elements, at any depth. */
export const checksQuery = `
  with recursive domain(number, oid) as (
    select a.attnum, a.atttypid from pg_catalog.pg_attribute a
    where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped
    union all
    select d.number, case when t.typtype = 'd' then t.typbasetype else t.typelem end from domain d
    join pg_catalog.pg_type t on t.oid = d.oid and (t.typtype = 'd' or t.typcategory = 'A')
  ), named(place, name, numbers) as (
    select k.oid, k.conname, k.conkey from pg_catalog.pg_constraint k
    where k.conrelid = $1::oid and k.contype in ('c', 'x')
    union all
    select k.oid, k.conname, array[d.number] from domain d
    join pg_catalog.pg_constraint k on k.contypid = d.oid and k.contype = 'c'
  )
  select n.name::text as name, (
    select coalesce(json_agg(a.attname order by a.attnum), '[]')::text
    from pg_catalog.pg_attribute a where a.attrelid = $1::oid and a.attnum = any(n.numbers)
  ) as columns
  from named n
  order by n.place`;

/**
 * Statements that the server would refuse on a relation, with a reason: missing rights on columns or on the whole,
 * missing rights on the sequences that number rows, and rules that replace a statement and cannot return its rows.
 */
export const refusalsQuery = `
  with lacking as (
    select v.statement, a.attnum, a.attname
    from pg_catalog.pg_attribute a
    cross join (values ('select'), ('insert'), ('update')) as v(statement)
    where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped
      and not pg_catalog.has_column_privilege(a.attrelid, a.attnum, v.statement)
  )
  select l.statement, json_agg(l.attname order by l.attnum)::text as columns, 'right' as kind, null::text as name
  from lacking l group by l.statement
  union all
  select v.statement, null, 'schema', n.nspname::text
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace and not pg_catalog.has_schema_privilege(n.oid, 'usage')
  cross join (values ('select'), ('insert'), ('update'), ('delete')) as v(statement)
  where c.oid = $1::oid
  union all
  select 'delete', null, 'right', null where not pg_catalog.has_table_privilege($1::oid, 'delete')
  union all
  select case r.ev_type when '2' then 'update' when '3' then 'insert' else 'delete' end, null, 'rule', r.rulename::text
  from pg_catalog.pg_rewrite r
  where r.ev_class = $1::oid and r.is_instead and r.ev_type in ('2', '3', '4')
    and pg_catalog.pg_get_ruledef(r.oid) !~* '\\mreturning\\M'
  union all
  select v.statement, null, 'view', null
  from pg_catalog.pg_class c
  cross join (values ('update', 4), ('insert', 8), ('delete', 16)) as v(statement, bit)
  where c.oid = $1::oid and c.relkind in ('v', 'm') and pg_catalog.pg_relation_is_updatable(c.oid, true) & v.bit = 0
  union all
  select 'insert', null, 'sequence', c.relname::text
  from pg_catalog.pg_attrdef d
  join pg_catalog.pg_depend p on p.classid = 'pg_catalog.pg_attrdef'::regclass and p.objid = d.oid
    and p.refclassid = 'pg_catalog.pg_class'::regclass
  join pg_catalog.pg_class c on c.oid = p.refobjid
  where d.adrelid = $1::oid
    -- In this order: the function fails for what is no sequence.
    and case when c.relkind = 'S' then not pg_catalog.has_sequence_privilege(c.oid, 'usage, update') end`;

export const referencesQuery = `
  select k.conname::text as name, (
    select json_agg(a.attname order by n.place)::text
    from unnest(k.conkey) with ordinality as n(number, place)
    join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = n.number
  ) as columns,
  case when pg_catalog.pg_table_is_visible(c.oid) then c.relname else s.nspname || '.' || c.relname end::text as referenced,
  ${identityOf("s")} as referenced_identity, (
    select json_agg(a.attname order by n.place)::text
    from unnest(k.confkey) with ordinality as n(number, place)
    join pg_catalog.pg_attribute a on a.attrelid = k.confrelid and a.attnum = n.number
  ) as referenced_columns
  from pg_catalog.pg_constraint k
  join pg_catalog.pg_class c on c.oid = k.confrelid
  join pg_catalog.pg_namespace s on s.oid = c.relnamespace
  where k.conrelid = $1::oid and k.contype = 'f'
  order by k.conname`;

/** The foreign keys that point at a table. Those of partitions are their parent's. */
export const pointingQuery = `
  select k.oid::text as id,
    case when pg_catalog.pg_table_is_visible(c.oid) then c.relname else s.nspname || '.' || c.relname end::text as table,
    child.attname::text as column, parent.attname::text as referenced,
    case k.confdeltype when 'c' then 'CASCADE' when 'n' then 'SET NULL' when 'd' then 'SET DEFAULT' else 'NO ACTION' end as on_delete,
    case k.confupdtype when 'c' then 'CASCADE' when 'n' then 'SET NULL' when 'd' then 'SET DEFAULT' else 'NO ACTION' end as on_update
  from pg_catalog.pg_constraint k
  join pg_catalog.pg_class c on c.oid = k.conrelid
  join pg_catalog.pg_namespace s on s.oid = c.relnamespace
  join pg_catalog.pg_class r on r.oid = k.confrelid
  join pg_catalog.pg_namespace n on n.oid = r.relnamespace
  cross join lateral unnest(k.conkey, k.confkey) with ordinality as part(own, other, place)
  join pg_catalog.pg_attribute child on child.attrelid = k.conrelid and child.attnum = part.own
  join pg_catalog.pg_attribute parent on parent.attrelid = k.confrelid and parent.attnum = part.other
  where k.contype = 'f' and k.conparentid = 0 and r.relname = $2::text
    and case when $1::text is null then pg_catalog.pg_table_is_visible(r.oid) else n.nspname = $1::text end
  order by s.nspname, c.relname, k.conname, part.place`;
