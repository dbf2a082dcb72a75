/**
 * How MySQL and MariaDB statements are printed. The server compares text with numbers by guessing (`code = 0` is true
 * for every code that is not a number), so each value is bound in its column's own type (`value-forms.ts`). The SQL
 * relies on the session that `connection.ts` sets up: UTC, strict, backslash as escape character.
 */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/types/column.ts";
import type { AggregateFunction } from "../../../core/query/statement.ts";
import { isExact } from "../../../core/values/types/arithmetic.ts";
import { columnTypes } from "../../../core/values/types/column-types.ts";
import { invalidParameter } from "../../../core/values/errors.ts";
import type { Decimals } from "../../../core/values/types/type-definition.ts";
import {
  type Dialect,
  dialectDefaults,
  type NamedColumn,
  type RawRow,
} from "../../statements/dialect.ts";
import { heads } from "../../statements/patterns.ts";
import { type FormulaWords, printFormula } from "../exact-formula.ts";
import { valuesOf } from "../value-forms.ts";
import { bucketTerm } from "./buckets.ts";
import { asDecimal, decimalSize, sizeOf } from "./decimals.ts";
import { fitsDecimals } from "./formula-digits.ts";
import { isSortedWhole, marks, sortedPart } from "./marks.ts";
import { fullText } from "./full-text.ts";
import { valueForms } from "./value-forms.ts";

export function createDialect(decimals: Decimals): Dialect {
  return {
    ...dialectDefaults,
    fullText,
    quote: "`",
    returning: false,
    deletesRowByRow: true,
    // MySQL (not MariaDB, which skips these comments) refuses to read the table that is changed (error 1093), unless as
    // a copy. The limit keeps the subquery from being merged into the statement, which would undo the copy.
    rereading: ["/*!80000 (select * from */ ", " /*!80000 limit 18446744073709551615) */"],
    rowLock: " for update",
    // INSERT IGNORE would take a shared lock on the row, so that two which then change it block each other.
    unlessTaken: ([key]) => sql` on duplicate key update ${key!} = ${key!}`,
    defaultValues: "() values ()",
    paramsMax: 65_535,
    placeholder: () => "?",
    param,
    ...valuesOf(valueForms, decimals),
    like,
    aggregate,
    estimate: {
      // MariaDB reports the rows that a condition leaves only so. MySQL's default format depends on a setting.
      explain: "explain /*M! extended */ /*!80000 format = traditional */ ",
      read: expectedRows,
    },
    marks,
    // Nulls sort as the smallest values by default.
    sort(column, name, direction) {
      const term = sortedPart(column, name);
      return direction === "asc" ? term : sql`${term} desc`;
    },
    add(column, name, delta) {
      // In decimal arithmetic an intermediate value of an unsigned column may be negative; only the result must fit.
      return isExact(column)
        ? sql`${name} + cast(${delta} as ${sql.raw(`decimal(65,${column.scale ?? 0})`)})`
        : sql`${name} + (${delta} + 0e0)`;
    },
    formula: (formula, target, operand) =>
      printFormula(formula, { target, operand, words: formulaWords }),
    figure(formula, target, operand) {
      const operands = formula.names.map((name) => operand(name).column);
      if (!fitsDecimals(formula, operands, target))
        throw invalidParameter("The formula has more digits than this database computes exactly");
      return printFormula(formula, { target, operand, words: formulaWords, isNullByZero: true });
    },
    bucket: bucketTerm,
    filled: (result, list, alias) =>
      sql`json_table(${list}, '$[*]' columns (v0 ${sql.raw(filledTypes[result.type] ?? "text")} path '$')) as ${alias}`,
    stamp,
    exact,
    comparand(column, term) {
      if (isCheckedText(column)) return wholeJson(term);
      return column.notation === "wkt" ? sql`st_astext(${term})` : term;
    },
    holds,
    concat: (parts) => sql`concat(${sql.join(parts.map(textOrNothing), sql`, `)})`,
    // The manual recommends this number for "all rows from here on".
    limit: (limit, offset) =>
      sql`limit ${limit ?? sql.raw("18446744073709551615")} offset ${offset}`,
  };
}

/** The product of the joined tables' rows, each reduced by its condition. Tables of subqueries have other ids. */
function expectedRows(steps: readonly RawRow[]): number {
  let expected = 1;
  for (const { id, rows, filtered } of steps) {
    if (Number(id) !== 1) continue;
    // Without a number there are no rows to find.
    expected *= (Number(rows ?? 0) * Number(filtered ?? 100)) / 100;
  }
  return Math.round(expected);
}

/** The zeros ask for digits beyond the last one of an average, so that rounding it twice never shows. */
function aggregate(
  name: AggregateFunction | null,
  column: Column,
  term: SQL,
  { scale }: Column,
): SQL {
  if (name === null) return term;
  if (name === "countDistinct") return sql`count(distinct ${term})`;
  if (name !== "avg" || !isExact(column)) return sql`${sql.raw(name)}(${term})`;
  return sql`round(sum(${term}) * 1.00000000000000 / count(${term}), ${sql.raw(String(scale ?? 0))})`;
}

/** Of the values of buckets. */
const filledTypes: Partial<Record<Column["type"], string>> = {
  date: "date",
  timestamp: "datetime",
  decimal: "decimal(65,30)",
  float: "double",
};

const formulaWords: FormulaWords = {
  number: (digits) => asDecimal(sql.raw(digits), decimalSize(digits)),
  // The cast makes unsigned columns signed, as differences need, and gives integers more than 64 bits.
  exact: (column, term) => asDecimal(term, sizeOf(column)),
  // Without the remainder, the division is exact and nothing is rounded.
  wholeQuotient: (dividend, divisor) =>
    sql`((${dividend} - mod(${dividend}, ${divisor})) / ${divisor})`,
};

function param(column: Column, placeholder: SQL): SQL {
  if (column.notation === "wkt" && column.markOf === undefined) return geometryOf(placeholder);
  // MySQL compares JSON with text as a JSON string; MariaDB has no such type.
  return column.native === "json"
    ? sql`cast(${placeholder} as json)`
    : marks.param(column, placeholder);
}

/**
 * MariaDB turns a text that is not a geometry into null, and would store that without an error. The cast makes the
 * server refuse to store it; elsewhere the cast does no harm.
 */
const geometryOf = (text: SQL): SQL =>
  sql`coalesce(st_geomfromtext(${text}), if(cast(concat('no geometry ', ${text}) as double) = 0, null, null))`;

/** MariaDB keeps JSON as a text that it checks; MySQL has a type whose values it compares itself. */
const isCheckedText = ({ type, native }: Column): boolean => type === "json" && native !== "json";

const holds = (column: Column, name: SQL, value: SQL): SQL =>
  isCheckedText(column) ? jsonHolds(name, value) : sql`json_contains(${name}, ${value})`;

/** One text for all ways to write a value. */
const wholeJson = (term: SQL): SQL => sql`cast(json_normalize(${term}) as binary)`;

/** Ignores case but not accents. This collation folds the case of all letters; older ones know only the first plane. */
function like(
  text: SQL,
  pattern: SQL,
  { column, ignoreCase, isExact, ignoreAccents, ascii, begins }: Parameters<Dialect["like"]>[2],
): SQL {
  const matches = (left: SQL, right: SQL): SQL => sql`${left} like ${right} escape '\\\\'`;
  const own = matches(text, pattern);
  if (isExact && column.isLoose)
    return sql`${own} and ${matches(sql`convert(${text} using utf8mb4) collate utf8mb4_bin`, pattern)}`;
  if (!ignoreCase) return own;
  if (ignoreAccents) return matches(loose(text), loose(pattern));
  // The first test is fast but ignores accents. The second then checks few rows. An index serves the column's own test.
  const isOwn = column.ignoresCase === true;
  const first = isOwn && ascii ? own : matches(loose(text), loose(pattern));
  if (isOwn && !ascii && begins !== null)
    return sql`((${beginsAlike(text, pattern)}) and ${first} and ${matches(folded(text), folded(pattern))})`;
  return sql`(${first} and ${matches(folded(text), folded(pattern))})`;
}

/**
 * Whether the text begins as the pattern in the column's own collation, of which each knows others of these forms to be
 * alike: i, dotted and dotless; k and the Kelvin sign; ß, small and capital. They are ranges of one index, read in order.
 */
function beginsAlike(text: SQL, pattern: SQL): SQL {
  const head = sql`regexp_substr(${pattern}, ${sql.raw(`'${heads.loose.source}'`)})`;
  const forms = [
    head,
    sql`replace(replace(replace(lower(${head}), 'i', '\u0130'), 'k', '\u212A'), 'ß', '\u1E9E')`,
    sql`replace(lower(${head}), 'i', '\u0131')`,
  ];
  return sql.join(
    forms.map((form) => sql`${text} like concat(${form}, '%') escape '\\\\'`),
    sql` or `,
  );
}

const folded = (text: SQL): SQL => sql`lower(${loose(text)}) collate utf8mb4_bin`;

/** For texts that the server does not sort in full: the beginning, and a hash that tells whether the rest differs. */
function exact(column: Column, name: SQL): SQL {
  const text = sql`convert(${columnText(column, name)} using utf8mb4)`;
  if (isSortedWhole(column)) return sql`cast(${text} as binary)`;
  return sql`cast(concat(left(${text}, 200), char(1 using utf8mb4), sha2(${text}, 256)) as binary)`;
}

const columnText = (column: Column, name: SQL): SQL =>
  valueForms[column.type].textOf?.(column, name) ?? name;

/** Without regard to case and accents. */
const loose = (text: SQL): SQL =>
  sql`convert(${text} using utf8mb4) collate utf8mb4_unicode_520_ci`;

function stamp({ column, name }: NamedColumn, other: NamedColumn | null, now: SQL): SQL {
  const after = other?.name ?? null;
  if (!columnTypes[column.type].isInstant) return now;
  const digits = Math.min(column.fractionDigits, 3);
  // Cut here: MySQL would round, possibly to a time in the future.
  if (digits === 0) return sql`cast(left(${now}, 19) as datetime)`;
  const moment = sql`cast(left(${now}, ${sql.raw(String(20 + digits))}) as ${sql.raw(`datetime(${digits})`)})`;
  // GREATEST of anything and NULL is NULL.
  const latest =
    after === null ? name : sql`greatest(coalesce(${name}, ${after}), coalesce(${after}, ${name}))`;
  const unit = sql.raw(String(10 ** (6 - digits)));
  return sql`greatest(${moment}, coalesce(${latest} + interval ${unit} microsecond, timestamp'1970-01-01 00:00:00'))`;
}

/** The backslash is an escape character in a literal of MySQL. */
const textOrNothing = (part: SQL | string): SQL =>
  typeof part === "string"
    ? sql.raw(`'${part.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`)
    : sql`coalesce(${part}, '')`;

/**
 * Whether JSON of MariaDB contains a value, in the meaning of PostgreSQL's `@>`. `json_contains` itself goes further:
 * it also finds a part of an array in any array that is nested in it. So both sides are rewritten until no array is an
 * element or member of another value: an array becomes an object with one member `a`, an object one with one member
 * `o`. Then neither is mistaken for the other.
 *
 * Rewritten texts are compared only where `json_contains` matches. Where nested too deep (null), that match
 * counts.
 */
function jsonHolds(whole: SQL, part: SQL): SQL {
  const [within, sought] = [rewritten(whole), rewritten(part)];
  const isWithin = sql`json_contains(${within}, ${sought})`;
  const isElement = sql`json_contains(json_extract(${within}, '$.a'), ${sought})`;
  return sql`(json_contains(${whole}, ${part}) and coalesce(${isWithin} or coalesce(${isElement}, ${isWithin}), true))`;
}

/** Each replaces all such brackets outside of strings. */
const jsonSteps = [
  ["{", '{"o":{'],
  ["}", "}}"],
  ["[", '{"a":['],
  ["]", "]}"],
] as const;

const rewritten = (json: SQL): SQL =>
  jsonSteps.reduce(
    (text, [bracket, replacement]) =>
      sql`regexp_replace(${text}, ${literal(before(bracket))}, ${literal(`\\1${replacement}`)})`,
    json,
  );

/** Everything from the last match to the next such bracket; strings are matched as a whole. */
const before = (bracket: string): string =>
  String.raw`\G((?:[^"\#]++|"(?:[^"\\]++|\\.)*+")*+)\#`.replaceAll("#", bracket);

/** The backslash is an escape character in a literal of the server. */
const literal = (text: string): SQL =>
  sql.raw(`'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`);
