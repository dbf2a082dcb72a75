/** The foreign keys of MySQL's tables that point at a table. */
import type { IncomingKey } from "../../../core/values/column.ts";
import type { Connection } from "../engine.ts";
import { incomingKeys } from "../incoming-keys.ts";

/** `schema` null = the database of the URL. */
export async function readReferencesTo(
  connection: Connection,
  schema: string | null,
  name: string,
): Promise<readonly IncomingKey[]> {
  return incomingKeys((await connection.run(query, [schema, name], false)).rows);
}

const query = `
  select concat(k.CONSTRAINT_SCHEMA, '.', k.TABLE_NAME, '.', k.CONSTRAINT_NAME) as id,
    if(k.TABLE_SCHEMA = database(), k.TABLE_NAME, concat(k.TABLE_SCHEMA, '.', k.TABLE_NAME)) as \`table\`,
    k.COLUMN_NAME as \`column\`, k.REFERENCED_COLUMN_NAME as referenced, r.DELETE_RULE as rule
  from information_schema.KEY_COLUMN_USAGE k
  join information_schema.REFERENTIAL_CONSTRAINTS r
    on r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA and r.CONSTRAINT_NAME = k.CONSTRAINT_NAME and r.TABLE_NAME = k.TABLE_NAME
  where k.REFERENCED_TABLE_SCHEMA = coalesce(?, database()) and k.REFERENCED_TABLE_NAME = ?
  order by k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`;
