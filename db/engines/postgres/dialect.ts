/**
 * How PostgreSQL statements are printed; `value-forms.ts` converts the values. Every parameter is a text that is cast
 * to the column's own type (`$1::uuid`), so that indexes serve and nothing is inferred. `Column.native` holds that type
 * without length or scale: a cast to `varchar(20)` would cut silently, but storing refuses longer texts.
 */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/types/column.ts";
import type { AggregateFunction } from "../../../core/query/statement.ts";
import { isExact } from "../../../core/values/types/arithmetic.ts";
import { columnTypes } from "../../../core/values/types/column-types.ts";
import type { Decimals } from "../../../core/values/types/type-definition.ts";
import {
  type Dialect,
  dialectDefaults,
  type Marks,
  type NamedColumn,
  type Samples,
  type ValueLists,
} from "../../statements/dialect.ts";
import { bucketTerm } from "./buckets.ts";
import { createLike, type Folding, lowered } from "./like.ts";
import { createListForms } from "./list-forms.ts";
import { createLogging } from "./logging.ts";
import { baseTerm, castType, isUnordered, textType } from "./types.ts";
import { type FormulaWords, printFormula } from "../exact-formula.ts";
import { valuesOf } from "../value-forms.ts";
import { fullText } from "./full-text.ts";
import { valueForms } from "./value-forms.ts";

/** `folding`: the result of `readFolding` in `catalog.ts`, read when a statement is printed. */
export function createDialect(decimals: Decimals, folding: () => Folding | null): Dialect {
  return {
    ...dialectDefaults,
    fullText,
    quote: '"',
    returning: true,
    rowLock: " for update",
    unlessTaken: () => sql` on conflict do nothing`,
    defaultValues: "default values",
    keepsPlans: true,
    valueLists,
    logging: createLogging(decimals),
    // The driver refuses more.
    paramsMax: 65_533,
    placeholder: (index) => `$${index + 1}`,
    param: (column, placeholder) => sql`${placeholder}::${sql.raw(castType(column))}`,
    ...valuesOf(valueForms, decimals),
    lists: createListForms(decimals),
    exact: (_column, term) => byBytes(term),
    // The planner would multiply its estimates for both comparisons. It expects that nearly all rows are not null.
    isExactly: (_column, name, values) =>
      sql`nullif(${byBytes(name)} in (${sql.join(values.map(byBytes), sql`, `)}), false) is not null`,
    folded: (_column, term) => lowered(term),
    concat: (parts) => concat(parts.map(literalOr)),
    like: createLike(folding),
    aggregate,
    estimate: {
      explain: "explain (format json) ",
      read: (rows) => planRows(rows[0]!["QUERY PLAN"]),
      samples,
    },
    marks,
    sort(column, name, direction) {
      if (column.foldedOf !== undefined)
        return sql`${name} using ${sql.raw(direction === "asc" ? "~<~" : "~>~")}`;
      const term = marks.term(column, name);
      // Without nulls, NULLS FIRST and LAST are omitted: with them, an index serves only if it was made with them.
      if (!column.nullable) return direction === "asc" ? term : sql`${term} desc`;
      return direction === "asc" ? sql`${term} nulls first` : sql`${term} desc nulls last`;
    },
    // Integers stay integers: a sum that is too large is an error, never rounded.
    add: (_column, name, delta) => sql`${name} + ${delta}`,
    formula: (formula, target, operand) =>
      printFormula(formula, { target, operand, words: formulaWords }),
    figure: (formula, target, operand) =>
      printFormula(formula, { target, operand, words: formulaWords, isNullByZero: true }),
    bucket: bucketTerm,
    filled: (result, list, alias) =>
      sql`(select item::${sql.raw(castType(result))} as v0 from json_array_elements_text(${list}::json) as items(item)) as ${alias}`,
    stamp,
    // A type without operators is compared as text. The value is cast to the type first, so both are written alike.
    comparand(column, term) {
      if (!isUnordered(column)) return baseTerm(column, term);
      return holdsJson(column) ? asJson(column, term) : asText(column, term);
    },
    holds(column, name, value) {
      if (!holdsJson(column)) {
        if (!isUnordered(column)) return sql`${name} @> ${value}`;
        return sql`${asText(column, name)} @> ${asText(column, value)}`;
      }
      const [whole, part] = [asJson(column, name), asJson(column, value)];
      // The operator itself finds texts and numbers in a list, and objects only within another list.
      return column.type === "array"
        ? sql`${whole} @> ${part}`
        : sql`(${whole} @> ${part} or ${whole} @> jsonb_build_array(${part}))`;
    },
    limit: (limit, offset) =>
      limit === null
        ? sql`offset ${offset}::bigint`
        : sql`limit ${limit}::bigint offset ${offset}::bigint`,
  };
}

/** Any value as text, which the server casts back. */
const marks: Marks = {
  term: (column, name) => (isUnordered(column) ? sql`${name}::text` : baseTerm(column, name)),
  output: (_column, term) => sql`${term}::text`,
  decode: null,
  param: (column, placeholder) =>
    isUnordered(column)
      ? sql`${placeholder}::text`
      : sql`${placeholder}::${sql.raw(castType(column))}`,
  // Only the server can read every type's text. The server's texts never contain NUL.
  bind: (_column, mark) => (mark.includes("\0") ? undefined : mark),
};

/**
 * The values of a column in many rows as one array. An INSERT of 500 rows then has one parameter per column, and its
 * SQL is the same for any number of rows. It takes server and driver half the time of one parameter per value.
 */
const valueLists: ValueLists = {
  // `unnest` splits arrays of arrays. Of the other types, the server writes some arrays in special notations.
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

const byBytes = (term: SQL): SQL => sql`(${term}::text collate "C")`;

const holdsJson = ({ type, element }: Column): boolean => (element?.type ?? type) === "json";

const asText = (column: Column, term: SQL): SQL => sql`${term}::${sql.raw(textType(column))}`;

/** The type json has no operators. */
const asJson = ({ native, type }: Column, term: SQL): SQL =>
  native === "jsonb" ? term : type === "array" ? sql`to_jsonb(${term})` : sql`${term}::jsonb`;

/** A row's block is the first number of its ctid. The same blocks each time, so that all pages show the same count. */
const samples: Samples = {
  before:
    "select count(*) as rows, count(block) as found, count(distinct block) as blocks from (select case when ",
  between: " then (source.ctid::text::point)[0] end as block from ",
  behind: (percent) => ` tablesample system (${percent}) repeatable (1)) as sample`,
};

/** The estimated rows of the plan's top node. */
function planRows(explanation: unknown): number {
  const [{ Plan: plan }] = JSON.parse(String(explanation)) as [{ Plan: { "Plan Rows": number } }];
  return Math.round(plan["Plan Rows"]);
}

/** The server has no smallest uuid. Where it would divide with few digits, the zeros ask for more of them. */
function aggregate(
  name: AggregateFunction | null,
  column: Column,
  term: SQL,
  { scale }: Column,
): SQL {
  switch (name) {
    case null:
      return isUnordered(column) ? sql`${term}::text` : term;
    case "count":
      return sql`count(${term})`;
    case "countDistinct":
      return sql`count(distinct ${isUnordered(column) ? sql`${term}::text` : term})`;
    case "min":
    case "max":
      return column.type === "uuid"
        ? sql`${sql.raw(name)}(${term}::text)::uuid`
        : sql`${sql.raw(name)}(${baseTerm(column, term)})`;
    case "sum":
    case "avg": {
      const isFloat = !isExact(column);
      // The server's avg() also adds squares, which overflow a double sooner.
      if (isFloat && name === "avg") return sql`sum(${term}::double precision) / count(${term})`;
      if (isFloat) return sql`sum(${term}::double precision)`;
      const sum = sql`sum(${term})::numeric`;
      if (name === "sum") return sum;
      const zeros = sql.raw(`1.${"0".repeat(averageGuardDigits + (scale ?? 0))}`);
      return sql`round(${sum} * ${zeros} / count(${term}), ${sql.raw(String(scale ?? 0))})`;
    }
  }
}

const formulaWords: FormulaWords = {
  number: (digits) => sql`${sql.raw(digits)}::numeric`,
  exact: (_column, term) => sql`${term}::numeric`,
  wholeQuotient: (dividend, divisor) => sql`div(${dividend}, ${divisor})`,
};

/** Digits beyond the last one of an average, so that rounding it twice never shows. */
const averageGuardDigits = 14;

function stamp({ column, name }: NamedColumn, other: NamedColumn | null, now: SQL): SQL {
  const after = other?.name ?? null;
  if (!columnTypes[column.type].isInstant || column.fractionDigits === 0) return now;
  const unitMs = 10 ** (3 - Math.min(column.fractionDigits, 3));
  const latest = after ? sql`greatest(${name}, ${after})` : name;
  // Cut to milliseconds, as answers show it: an ETag made of the answer must equal the stored value.
  const next = sql`date_trunc('milliseconds', ${latest}) + interval '${sql.raw(String(unitMs))} milliseconds'`;
  return sql`greatest(${now}, ${next})`;
}

/** `concat` ignores nulls, and the server takes at most 100 arguments. */
function concat(parts: readonly SQL[]): SQL {
  if (parts.length <= argumentsMax) return sql`concat(${sql.join([...parts], sql`, `)})`;
  const half = Math.ceil(parts.length / 2);
  return sql`concat(${concat(parts.slice(0, half))}, ${concat(parts.slice(half))})`;
}

const argumentsMax = 100;

const literalOr = (part: SQL | string): SQL =>
  typeof part === "string" ? sql.raw(`'${part.replaceAll("'", "''")}'`) : part;
