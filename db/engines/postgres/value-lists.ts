/**
 * The values of a column in many rows as one array: an INSERT of 500 rows then has as many parameters as columns, and one text for all
 * numbers of rows. Server and driver take half the time for it that they take for a parameter each.
 */
import { sql } from "drizzle-orm/sql/sql";
import type { ValueLists } from "../../statements/dialect.ts";
import { castType } from "./types.ts";
import { valueForms } from "./value-forms.ts";

export const valueLists: ValueLists = {
  // `unnest` would take arrays of arrays apart; and of the other types, the server writes some arrays in ways of their own.
  takes: ({ type, markOf }) => type !== "array" && type !== "other" && markOf === undefined,
  param: (column, placeholder) => sql`${placeholder}::${sql.raw(castType(column))}[]`,
  rows: (lists) => sql` select * from unnest(${sql.join([...lists], sql`, `)})`,
  bind(column, values) {
    const { bind } = valueForms[column.type];
    let list = "";
    for (const value of values)
      list += value === null ? ",NULL" : `,"${escaped(String(bind(column, value)))}"`;
    return `{${list.slice(1)}}`;
  },
};

/** Most texts have nothing to escape. */
const escaped = (text: string): string =>
  text.includes('"') || text.includes("\\") ? text.replace(/["\\]/g, "\\$&") : text;
