/**
 * LIKE as PostgreSQL prints it. A case-insensitive LIKE has two tests. The server's own comparison folds text and
 * pattern again for each row, which is slow in collations other than C. So a first test, over ASCII letters only,
 * leaves few rows. The second test decides, and an index of trigrams serves it.
 */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/types/column.ts";
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
 * A coarse test that every match passes in every collation, and so does null. In all collations ASCII letters have only
 * their two forms, except i and k (İ, ı and the Kelvin sign), which become "any character". Letters beyond ASCII,
 * escaped characters and `_` become "any text", because one letter can become two.
 *
 * The planner multiplies its estimates for both tests. It should expect that nearly all rows pass this one, and run it
 * first. Hence the `is not null`, which it cannot estimate. `concat` in the other test is not computed in advance,
 * which makes both tests cost the same, and then the order of the text decides. The pattern is a query, so it is
 * computed once.
 */
const mayMatch = (text: SQL, pattern: SQL): SQL =>
  sql`case when lower(${text} collate "C") not like (select ${roughly(pattern)}) then null else true end is not null`;

const roughly = (pattern: SQL): SQL =>
  sql`translate(regexp_replace(lower(${pattern}::text collate "C"), '(\\\\.|_|[^ -~])+', '%', 'g'), 'ik', '__')`;

/** As `withoutAccents` in core; the extension unaccent need not be there. */
const unaccented = (text: SQL): SQL =>
  sql`translate(normalize(regexp_replace(normalize(${text}, nfd), '[\\u0300-\\u036f]', '', 'g'), nfc), ${sql.raw(`'${strokes}', '${plainLetters}'`)})`;

/** Whether LIKE fails without an explicit collation, which stops indexes from serving. Joined columns may have two. */
const needsCollation = ({ isLooselyCollated, parts = [] }: Column): boolean =>
  isLooselyCollated === true || parts.length > 1;
