/**
 * Whether JSON of MariaDB holds a value, as `@>` of PostgreSQL means it. `json_contains` itself goes further: it takes a value for a part of an
 * array wherever in it an array within the array has it. So both sides are rewritten, until no array is an element or a member of another
 * value: an array becomes an object with the one member `a`, and an object one with the one member `o`. Then nothing is mistaken for the other.
 */
import { sql, type SQL } from "drizzle-orm/sql/sql";

/** The server looks at the rewritten texts only where its own function found something. Null where they are nested too deep for it. */
export function jsonHolds(whole: SQL, part: SQL): SQL {
  const [within, sought] = [rewritten(whole), rewritten(part)];
  const isWithin = sql`json_contains(${within}, ${sought})`;
  const isElement = sql`json_contains(json_extract(${within}, '$.a'), ${sought})`;
  return sql`(json_contains(${whole}, ${part}) and coalesce(${isWithin} or coalesce(${isElement}, ${isWithin}), true))`;
}

/** Each replaces every such bracket that stands outside of texts. */
const steps = [
  ["{", '{"o":{'],
  ["}", "}}"],
  ["[", '{"a":['],
  ["]", "]}"],
] as const;

const rewritten = (json: SQL): SQL =>
  steps.reduce(
    (text, [bracket, replacement]) =>
      sql`regexp_replace(${text}, ${literal(before(bracket))}, ${literal(`\\1${replacement}`)})`,
    json,
  );

/** All from the last match on to the next such bracket, with the texts in between as a whole. */
const before = (bracket: string): string =>
  String.raw`\G((?:[^"\#]++|"(?:[^"\\]++|\\.)*+")*+)\#`.replaceAll("#", bracket);

/** The backslash is an escape character in a literal of the server. */
const literal = (text: string): SQL =>
  sql.raw(`'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`);
