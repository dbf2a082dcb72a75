/** The tables and views of a SQLite file. It stores no comments, and checks only in the text of CREATE TABLE. */
import type { Outline } from "../../../core/plans/database-catalog.ts";
import { type Connection, rowsFor } from "../engine.ts";

/** SQLite has one schema: `schemas` is ignored. */
export async function readOutlines(connection: Connection): Promise<readonly Outline[]> {
  const rows = await rowsFor(connection, outlineQuery);
  return rows.map((row) => ({
    schema: null,
    name: String(row["name"]),
    kind: row["type"] === "view" ? "view" : "table",
    comment: null,
    columnComments: new Map(),
    checks:
      row["type"] === "view" ? [] : checksIn(String(row["sql"] ?? "")).map(({ text }) => text),
  }));
}

/** Without virtual tables and their shadow tables: only their module knows what may be done with them. */
const outlineQuery = `
  select l.name, l.type, s.sql
  from pragma_table_list as l join sqlite_schema as s on s.name = l.name
  where l.schema = 'main' and l.type in ('table', 'view') and l.name not like 'sqlite\\_%' escape '\\'
  order by l.name`;

/**
 * The text in the brackets after each CHECK that is outside of quotes and comments, and what SQLite calls the
 * constraint: its name, or that text.
 */
export function checksIn(sql: string): { readonly name: string; readonly text: string }[] {
  const found: { name: string; text: string }[] = [];
  const token =
    /(?:\bconstraint\s+("(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|'[^']*'|[^\s"`[']+)\s+)?\bcheck\s*\(|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|[()]/gi;
  let name: string | undefined;
  let start = -1;
  let depth = 0;
  for (const { 0: text, 1: constraint, index } of sql.matchAll(token)) {
    if (start < 0) {
      if (/^(?:check|constraint)/i.test(text)) [start, depth] = [index + text.length, 1];
      name = constraint && unquoted(constraint);
      continue;
    }
    if (text.endsWith("(")) depth++;
    else if (text === ")" && --depth === 0) {
      const condition = sql.slice(start, index).trim();
      found.push({ name: name ?? condition, text: condition });
      start = -1;
    }
  }
  return found;
}

/** The names in an expression, in small letters: of columns, and words such as AND. */
export function namesIn(expression: string): ReadonlySet<string> {
  const token =
    /'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|[\p{L}_][\p{L}\p{N}_$]*(?![\p{L}\p{N}_$]|\s*\()/giu;
  const names = [...expression.matchAll(token)].filter(([text]) => !/^(?:'|--|\/\*)/.test(text));
  return new Set(names.map(([text]) => unquoted(text).toLowerCase()));
}

const unquoted = (name: string): string =>
  /^["`['].*["`\]']$/s.test(name) ? name.slice(1, -1).replaceAll('""', '"') : name;

/** The foreign keys that point at a table; a foreign key stays within its schema. */
export const referencesQuery = `
  select t.name || ' ' || f.id as id, coalesce(asked.schema || '.', '') || t.name as "table", f."from" as "column",
    f."to" as referenced, f.on_delete, f.on_update
  from (select ? as schema, ? as name) as asked, pragma_table_list as t, pragma_foreign_key_list(t.name, t.schema) as f
  where t.schema = coalesce(asked.schema, 'main') and t.type = 'table' and f."table" = asked.name collate nocase
  order by t.name, f.id, f.seq`;
