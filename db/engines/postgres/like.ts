/**
 * LIKE as PostgreSQL prints it. Without regard to case it is asked twice. The server's own comparison folds the text and the pattern again for
 * each row, and beyond the collation C that is slow; so a first test, over ASCII letters alone, leaves few rows to it. The second decides, and is
 * what an index of trigrams serves.
 */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/column.ts";
import { plainLetters, strokes } from "../../../core/values/text.ts";
import type { Dialect } from "../../statements/dialect.ts";

/** `foldingCollation`: as in `dialect.ts`. */
export function createLike(foldingCollation: () => string | null): Dialect["like"] {
  return (text, pattern, { column, ignoreCase, ignoreAccents, ascii }) => {
    const own = needsCollation(column) ? '"C"' : null;
    const compared = ignoreAccents ? unaccented(text) : text;
    if (!ignoreCase) return sql`${collated(compared, own)} like ${pattern}::text`;
    const collation = (ascii && own === null ? null : foldingCollation()) ?? own;
    return sql`${mayMatch(compared, pattern)} and ${collated(compared, collation)} ilike concat(${pattern}::text)`;
  };
}

const collated = (text: SQL, collation: string | null): SQL =>
  collation === null ? text : sql`${text} collate ${sql.raw(collation)}`;

/**
 * What no match in any collation fails, null like a match. In all of them the ASCII letters have their two forms and no others, but for i and k
 * (İ, ı and the sign of Kelvin): these stand for any character here. Letters beyond ASCII stand for any text, and so does what is escaped, and
 * `_`, as a letter may become two.
 *
 * The planner is to expect that nearly all rows pass, as it multiplies the shares of both tests, and to test this first. So it is asked whether
 * the outcome is null, which it cannot estimate; and `concat`, which it does not compute beforehand, makes the other test cost as much, upon
 * which the order of the text counts. The pattern is a query, to be computed once.
 */
const mayMatch = (text: SQL, pattern: SQL): SQL =>
  sql`case when lower(${text} collate "C") not like (select ${roughly(pattern)}) then null else true end is not null`;

const roughly = (pattern: SQL): SQL =>
  sql`translate(regexp_replace(lower(${pattern}::text collate "C"), '(\\\\.|_|[^ -~])+', '%', 'g'), 'ik', '__')`;

/** As `withoutAccents` in core; the extension unaccent need not be there. */
const unaccented = (text: SQL): SQL =>
  sql`translate(normalize(regexp_replace(normalize(${text}, nfd), '[\\u0300-\\u036f]', '', 'g'), nfc), ${sql.raw(`'${strokes}', '${plainLetters}'`)})`;

/** Whether LIKE is refused without a collation of its own, which would keep indexes from serving; columns that are joined may have several. */
const needsCollation = ({ isLooselyCollated, parts = [] }: Column): boolean =>
  isLooselyCollated === true || parts.length > 1;
