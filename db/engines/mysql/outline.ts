/** The tables and views of MySQL's and MariaDB's databases. */
import type { Outline } from "../../../core/plans/database-catalog.ts";
import { type Connection, rowsFor } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";

/** `schemas`: empty = only the database of the URL. */
export async function readOutlines(
  connection: Connection,
  schemas: readonly string[],
): Promise<readonly Outline[]> {
  const places = schemas.length > 0 ? schemas.map(() => "?").join(", ") : "database()";
  const read = (text: string): Promise<RawRow[]> =>
    rowsFor(connection, text.replaceAll(":schemas", places), schemas);
  const tables = await read(tablesQuery);
  const comments = byTable(await read(commentsQuery));
  const checks = byTable(await read((await namesTables(connection)) ? checksQuery : joinedChecks));
  return tables.map((row) => ({
    schema: row["is_default"] === 1 ? null : String(row["schema"]),
    name: String(row["name"]),
    kind: /view/i.test(String(row["kind"])) ? "view" : "table",
    comment: commentOf(row),
    columnComments: new Map(
      (comments.get(idOf(row)) ?? []).map((one) => [String(one["column"]), String(one["text"])]),
    ),
    checks: (checks.get(idOf(row)) ?? []).map((one) => String(one["text"])),
  }));
}

/** Those of the server itself are left out. */
export const schemasQuery = `
  select TABLE_SCHEMA as name from information_schema.TABLES
  where TABLE_SCHEMA not in ('information_schema', 'mysql', 'performance_schema', 'sys')
  group by TABLE_SCHEMA order by TABLE_SCHEMA = database() desc, TABLE_SCHEMA`;

export const referencesQuery = `
  select concat(k.CONSTRAINT_SCHEMA, '.', k.TABLE_NAME, '.', k.CONSTRAINT_NAME) as id,
    if(k.TABLE_SCHEMA = database(), k.TABLE_NAME, concat(k.TABLE_SCHEMA, '.', k.TABLE_NAME)) as \`table\`,
    k.COLUMN_NAME as \`column\`, k.REFERENCED_COLUMN_NAME as referenced, r.DELETE_RULE as on_delete,
    r.UPDATE_RULE as on_update
  from information_schema.KEY_COLUMN_USAGE k
  join information_schema.REFERENTIAL_CONSTRAINTS r
    on r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA and r.CONSTRAINT_NAME = k.CONSTRAINT_NAME and r.TABLE_NAME = k.TABLE_NAME
  where k.REFERENCED_TABLE_SCHEMA = coalesce(?, database()) and k.REFERENCED_TABLE_NAME = ?
  order by k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`;

/** A view's comment is always `VIEW`. */
function commentOf(row: RawRow): string | null {
  const comment = String(row["comment"] ?? "");
  return comment === "" || /view/i.test(String(row["kind"])) ? null : comment;
}

const idOf = (row: RawRow): string => JSON.stringify([row["schema"], row["name"]]);

const byTable = (rows: readonly RawRow[]): Map<string, RawRow[]> => Map.groupBy(rows, idOf);

/** MariaDB reports the table of a check; in MySQL, names of checks are unique. */
async function namesTables(connection: Connection): Promise<boolean> {
  const rows = await rowsFor(
    connection,
    `select 1 as found from information_schema.COLUMNS
      where TABLE_SCHEMA = 'information_schema' and TABLE_NAME = 'CHECK_CONSTRAINTS' and COLUMN_NAME = 'TABLE_NAME'`,
  );
  return rows.length > 0;
}

const tablesQuery = `
  select TABLE_SCHEMA as \`schema\`, TABLE_NAME as name, TABLE_TYPE as kind, TABLE_COMMENT as comment,
    TABLE_SCHEMA = database() as is_default
  from information_schema.TABLES
  where TABLE_SCHEMA in (:schemas) and TABLE_TYPE <> 'SEQUENCE' order by TABLE_SCHEMA, TABLE_NAME`;

const commentsQuery = `
  select TABLE_SCHEMA as \`schema\`, TABLE_NAME as name, COLUMN_NAME as \`column\`, COLUMN_COMMENT as text
  from information_schema.COLUMNS where TABLE_SCHEMA in (:schemas) and COLUMN_COMMENT <> ''`;

const checksQuery = `
  select CONSTRAINT_SCHEMA as \`schema\`, TABLE_NAME as name, CHECK_CLAUSE as text
  from information_schema.CHECK_CONSTRAINTS where CONSTRAINT_SCHEMA in (:schemas) order by CONSTRAINT_NAME`;

const joinedChecks = `
  select t.TABLE_SCHEMA as \`schema\`, t.TABLE_NAME as name, c.CHECK_CLAUSE as text
  from information_schema.TABLE_CONSTRAINTS t
  join information_schema.CHECK_CONSTRAINTS c
    on c.CONSTRAINT_SCHEMA = t.CONSTRAINT_SCHEMA and c.CONSTRAINT_NAME = t.CONSTRAINT_NAME
  where t.CONSTRAINT_TYPE = 'CHECK' and t.TABLE_SCHEMA in (:schemas) order by c.CONSTRAINT_NAME`;
