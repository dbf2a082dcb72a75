/** The foreign keys of SQLite's tables that point at a table; a key never leaves its schema. */
import type { IncomingKey } from "../../../core/values/column.ts";
import type { Connection } from "../engine.ts";
import { incomingKeys } from "../incoming-keys.ts";

/** `schema` null = `main`. */
export async function readReferencesTo(
  connection: Connection,
  schema: string | null,
  name: string,
): Promise<readonly IncomingKey[]> {
  return incomingKeys((await connection.run(query, [schema, schema ?? "main", name], false)).rows);
}

const query = `
  select t.name || ' ' || f.id as id, coalesce(? || '.', '') || t.name as "table", f."from" as "column",
    f."to" as referenced, f.on_delete as rule
  from pragma_table_list as t, pragma_foreign_key_list(t.name, t.schema) as f
  where t.schema = ? and t.type = 'table' and f."table" = ? collate nocase
  order by t.name, f.id, f.seq`;
