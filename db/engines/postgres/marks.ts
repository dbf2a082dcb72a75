/** Places of rows in an order, as PostgreSQL writes and reads them: any value as text, which the server casts back. */
import { sql } from "drizzle-orm/sql/sql";
import type { Marks } from "../../statements/dialect.ts";
import { baseTerm, castType, isUnordered } from "./types.ts";

export const marks: Marks = {
  term: (column, name) => (isUnordered(column) ? sql`${name}::text` : baseTerm(column, name)),
  output: (_column, term) => sql`${term}::text`,
  decode: null,
  param: (column, placeholder) =>
    isUnordered(column)
      ? sql`${placeholder}::text`
      : sql`${placeholder}::${sql.raw(castType(column))}`,
  // The server alone can read every type's text, and no text of its own has a NUL.
  bind: (_column, mark) => (mark.includes("\0") ? undefined : mark),
};
