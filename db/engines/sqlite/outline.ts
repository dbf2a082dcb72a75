/** The tables and views of a SQLite file. It keeps no comments, and checks only in the text of CREATE TABLE. */
import type { Outline } from "../../../core/plans/database-catalog.ts";
import type { Connection } from "../engine.ts";

/** SQLite has one schema: `schemas` is not looked at. */
export async function readOutlines(connection: Connection): Promise<readonly Outline[]> {
  const { rows } = await connection.run(outlineQuery, [], false);
  return rows.map((row) => ({
    schema: null,
    name: String(row["name"]),
    kind: row["type"] === "view" ? "view" : "table",
    comment: null,
    columnComments: new Map(),
    checks: row["type"] === "view" ? [] : checksIn(String(row["sql"] ?? "")),
  }));
}

/** Virtual tables and their shadows belong to a module that knows what may be done with them. */
const outlineQuery = `
  select l.name, l.type, s.sql
  from pragma_table_list as l join sqlite_schema as s on s.name = l.name
  where l.schema = 'main' and l.type in ('table', 'view') and l.name not like 'sqlite\\_%' escape '\\'
  order by l.name`;

/** What stands between the brackets behind each CHECK, outside of quotes and comments. */
function checksIn(sql: string): string[] {
  const found: string[] = [];
  const token =
    /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|\bcheck\s*\(|[()]/gi;
  let start = -1;
  let depth = 0;
  for (const { 0: text, index } of sql.matchAll(token)) {
    if (start < 0) {
      if (/^check/i.test(text)) [start, depth] = [index + text.length, 1];
      continue;
    }
    if (text.endsWith("(")) depth++;
    else if (text === ")" && --depth === 0) {
      found.push(sql.slice(start, index).trim());
      start = -1;
    }
  }
  return found;
}
