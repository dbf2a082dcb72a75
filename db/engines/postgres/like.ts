/**
 * LIKE as PostgreSQL prints it. A case-insensitive LIKE has two tests. The server's own comparison folds text and
 * pattern again for each row, which is slow in collations other than C. So a first test, over ASCII letters only,
 * leaves few rows. The second test decides, and an index of trigrams serves it. Where the column has an index on its
 * text in lower case, the first test is a range of that index.
 */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/types/column.ts";
import { plainLetters, strokes } from "../../../core/values/text.ts";
import type { Dialect } from "../../statements/dialect.ts";
import { heads } from "../../statements/patterns.ts";

interface Range {
  readonly low: SQL;
  /** Behind its last text. */
  readonly high: SQL;
}

/** How case is folded beyond ASCII. */
export interface Folding {
  /** The collation that comparisons without case must name, quoted. */
  readonly collation: string;
  /** The collation of the database agrees with it on the letters of `heads.common`. */
  readonly isCommon: boolean;
}

/** `folding`: as in `dialect.ts`. */
export function createLike(folding: () => Folding | null): Dialect["like"] {
  return (text, pattern, options) => {
    const { column, ignoreCase, isExact, ignoreAccents, inOrder, ascii, begins, isHead } = options;
    if (isExact && column.isLoose) return sql`${text}::text collate "C" like ${pattern}::text`;
    const own = needsCollation(column) ? '"C"' : null;
    const compared = ignoreAccents ? unaccented(text) : text;
    if (!ignoreCase) return sql`${collated(compared, own)} like ${pattern}::text`;
    const collation = (ascii && own === null ? null : folding()?.collation) ?? own;
    const isCommon = !ascii && folding()?.isCommon === true;
    const hasRange = begins === "anywhere" || (begins === "common" && isCommon);
    const isIndexed = hasRange && !ignoreAccents && column.hasFoldedIndex === true;
    const matches = sql`${collated(compared, collation)} ilike concat(${pattern}::text)`;
    if (!isIndexed) return sql`${mayMatch(compared, pattern)} and ${matches}`;
    const letters = ascii ? "ascii" : isCommon ? "common" : "mixed";
    const range = withinRange(lowered(text), rangeOf(pattern, letters), inOrder);
    // ILIKE compares lower(text) too, so that in the collation of the index it finds no other rows than the range has.
    if (isHead && collation === null) return range;
    return sql`${range} and ${inOrder ? sql`case when ${matches} then true end is not null` : matches}`;
  };
}

const collated = (text: SQL, collation: string | null): SQL =>
  collation === null ? text : sql`${text} collate ${sql.raw(collation)}`;

/**
 * A range in the order of `text_pattern_ops`. The highest character ends what begins with the head. Its last letter may
 * be a sigma, of which the index has one small form or the other; they follow each other.
 */
function rangeOf(pattern: SQL, letters: "ascii" | "mixed" | "common"): Range {
  const head = sql`lower(substring(${pattern}::text from ${sql.raw(`'${heads[letters].source}'`)}))`;
  const [low, high] =
    letters === "common"
      ? [sql`translate(${head}, 'σ', 'ς')`, sql`translate(${head}, 'ς', 'σ')`]
      : [head, head];
  return { low, high: sql`(${high} || chr(1114111))` };
}

/**
 * The planner takes a narrow range for a single row, and sorts it as a whole. Where rows are wanted in the order of the
 * range, queries hide its ends: then the planner expects many rows, and reads them in order until there are enough.
 */
function withinRange(text: SQL, { low, high }: Range, inOrder: boolean): SQL {
  const end = (term: SQL): SQL => (inOrder ? sql`(select ${term})` : term);
  return sql`${text} ~>=~ ${end(low)} and ${text} ~<~ ${end(high)}`;
}

/** As the index has it that `catalog-queries.ts` looks for. */
export const lowered = (text: SQL): SQL => sql`lower(${text})`;

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
