/** Where rows are read from and written to, as SQL: tables with their schema, and the operator's own queries. */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Source } from "../../core/values/types/column.ts";

/** The operator's SQL without a semicolon at its end. */
export const bareQuery = (text: string): string => text.replace(/;\s*$/, "");

/** The operator's SQL is put on separate lines, so that a comment at its end does not hide the bracket. */
export const from = (source: Source, alias = sql.identifier("source")): SQL =>
  source.kind === "query"
    ? sql`(\n${sql.raw(bareQuery(source.text))}\n) as ${alias}`
    : sql`${tableName(source.schema, source.name)} as ${alias}`;

export const tableName = (schema: string | null, name: string): SQL =>
  schema === null
    ? sql`${sql.identifier(name)}`
    : sql`${sql.identifier(schema)}.${sql.identifier(name)}`;
