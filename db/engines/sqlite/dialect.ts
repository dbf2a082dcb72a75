/**
 * How statements are printed on SQLite; `value-forms.ts` converts the values. `functions.ts` registers the functions
 * named `rowgate_…`.
 */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/types/column.ts";
import type { AggregateFunction } from "../../../core/query/statement.ts";
import { columnTypes } from "../../../core/values/types/column-types.ts";
import { isExact, scaleOf } from "../../../core/values/types/arithmetic.ts";
import type { Decimals } from "../../../core/values/types/type-definition.ts";
import type { Formula } from "../../../core/values/types/formula-tree.ts";
import {
  type Dialect,
  dialectDefaults,
  type FindOperand,
  type NamedColumn,
} from "../../statements/dialect.ts";
import { valuesOf } from "../value-forms.ts";
import { bucketTerm } from "./buckets.ts";
import { formulaCall } from "./formulas.ts";
import { comparedTerm, joinedTerms, sortedTerm } from "./forms/by-value.ts";
import { fullText } from "./full-text.ts";
import { createMarks } from "./marks.ts";
import type { StoredForms } from "./forms/stored-forms.ts";
import { isExactDecimal } from "./types.ts";
import { createValueForms } from "./value-forms.ts";

export function createDialect(decimals: Decimals, forms: StoredForms): Dialect {
  const marks = createMarks(forms);
  return {
    ...dialectDefaults,
    fullText,
    quote: '"',
    placeholder: () => "?",
    param: (_column, placeholder) => placeholder,
    ...valuesOf(createValueForms(forms), decimals),
    holds: (_column, name, value) => sql`rowgate_json_holds(${name}, ${value})`,
    exact: (_column, term) => sql`(${term} collate binary)`,
    isExactly: (_column, name, values) =>
      sql`${asExpression(name)} in (${sql.join(values.map(asExpression), sql`, `)})`,
    concat: (parts) => sql`(${sql.join(parts.map(textOrNothing), sql` || `)})`,
    folded: (_column, term) => sql`${term} collate nocase`,
    like(text, pattern, { column, ignoreCase, isExact, ignoreAccents, ascii, begins, isHead }) {
      const isIndexed = ignoreCase && !ignoreAccents && column.hasFoldedIndex === true;
      const within = (head: SQL): SQL =>
        sql`${text} collate nocase >= ${head} and ${text} collate nocase < ${head} || char(1114111)`;
      // SQLite itself does this for LIKE, but plans every execution anew for it. The inner `+` is for that, as in `limit`.
      if (isIndexed && isHead) return within(sql`rtrim(+${pattern}, '%')`);
      const compared = ignoreAccents ? sql`rowgate_without_accents(${text})` : text;
      const own = sql`${compared} like ${pattern} escape '\\'`;
      if (isExact) return sql`${own} and rowgate_like_exactly(${compared}, ${pattern})`;
      if (ascii || !ignoreCase) return own;
      const matches = sql`rowgate_like(${compared}, ${pattern})`;
      if (begins !== "anywhere" || !isIndexed) return matches;
      return sql`${within(sql`rowgate_head(${pattern})`)} and ${matches}`;
    },
    aggregate: (name, column, term, result) => {
      if (name === null) return sortedTerm(forms, column, term);
      if (name === "countDistinct")
        return sql`count(distinct ${isExactDecimal(column) ? sql`rowgate_decimal_key(${term})` : sortedTerm(forms, column, term)})`;
      const isExtreme = name === "min" || name === "max";
      return aggregate(name, column, isExtreme ? comparedTerm(forms, column, term) : term, result);
    },
    // No estimates: SQLite has statistics only after ANALYZE, and only for whole tables.
    marks,
    sort: (column, name, direction) => sql`${marks.term(column, name)} ${sql.raw(direction)}`,
    add,
    formula: (...about) => formula("rowgate_formula", ...about),
    figure: (...about) => formula("rowgate_figure", ...about),
    bucket: (of, name, bucket) => bucketTerm(forms, of, name, bucket),
    filled: (_result, list, alias) => sql`(select value as v0 from json_each(${list})) as ${alias}`,
    stamp: (own, after, now) => stamp(forms, own, after, now),
    comparand: (column, term, name) => comparand(forms, column, term, name),
    joined: (left, right) => joinedTerms(forms, left, right),
    learned: forms,
    // `+` keeps the parameter out of the plan. Without it SQLite plans every execution anew, which takes twice as long
    // as reading a row.
    limit: (limit, offset) =>
      sql`limit ${limit ? sql`+${limit}` : sql.raw("-1")} offset +${offset}`,
    returning: true,
    deletesRowByRow: true,
    rowLock: "",
    unlessTaken: () => sql` on conflict do nothing`,
    defaultValues: "default values",
    paramsMax: 32_766,
  };
}

/**
 * An expression has no collation, so it is compared by bytes. With COLLATE, the planner would use the index for a list
 * but sort the rows again, and would scan the whole table for a condition with OR.
 */
const asExpression = (term: SQL): SQL => sql`(${term} || '')`;

/**
 * SQLite adds decimals as doubles and fails beyond 64 bits. `aggregates.ts` computes exact sums, as text, with a call for
 * each value. So SQLite itself adds what is certainly an integer and cannot reach 64 bits, in half of the time.
 */
function aggregate(name: AggregateFunction | null, column: Column, term: SQL, result: Column): SQL {
  if (name === null) return term;
  // -1: values may have any number of digits.
  const scale = sql.raw(String(column.isSampled ? -1 : (scaleOf(column) ?? -1)));
  if (name === "sum" && column.type === "integer" && !column.isSampled && !column.derived) {
    const small = sql`typeof(${term}) = 'integer' and ${term} between -2147483648 and 2147483647`;
    return sql`rowgate_sum_of(sum(${term}) filter (where ${small}), rowgate_sum(${term}, ${scale}) filter (where not (${small})))`;
  }
  if (name === "sum" && isExact(column)) return sql`rowgate_sum(${term}, ${scale})`;
  if (name === "avg" && isExact(column))
    return sql`rowgate_avg(${term}, ${scale}, ${sql.raw(String(result.scale ?? 0))})`;
  if ((name === "min" || name === "max") && isExactDecimal(column))
    return sql`${sql.raw(`rowgate_${name}`)}(${term})`;
  return sql`${sql.raw(name)}(${term})`;
}

/**
 * Exact decimals are compared by a text that sorts like them. The type of an expression in a view is unknown until its
 * rows are read: what is compared with a number or bytes is converted to that type, if that is possible.
 */
function comparand(forms: StoredForms, column: Column, term: SQL, name: SQL): SQL {
  if (isExactDecimal(column)) return sql`rowgate_decimal_key(${term})`;
  if (columnTypes[column.type].fromMember !== null) return sql`rowgate_json_key(${term})`;
  const isOpen = column.type === "other" || (column.type === "text" && column.isSampled);
  if (!isOpen || term === name) return comparedTerm(forms, column, term);
  return sql`case typeof(${name}) when 'text' then ${term} when 'blob' then rowgate_bytes(${term}) else rowgate_number(${term}) end`;
}

function add(column: Column, name: SQL, delta: SQL): SQL {
  if (column.type !== "decimal") return sql`${name} + ${delta}`;
  if (isExactDecimal(column)) return sql`rowgate_decimal_add(${name}, ${delta})`;
  if (column.scale !== null)
    return sql`round(${name} + ${delta}, ${sql.raw(String(column.scale))})`;
  return sql`cast(printf('%!.15g', ${name} + ${delta}) as numeric)`;
}

/** The formula is passed as a text, which describes it once and not for each row. */
function formula(
  name: "rowgate_formula" | "rowgate_figure",
  formula: Formula,
  target: Column,
  operand: FindOperand,
): SQL {
  const operands = formula.names.map(operand);
  const plan = formulaCall(
    formula,
    target,
    operands.map(({ column }) => column.scale),
  );
  const args = [sql.raw(`'${plan}'`), ...operands.map(({ term }) => term)];
  return sql`${sql.raw(name)}(${sql.join(args, sql`, `)})`;
}

function stamp(forms: StoredForms, own: NamedColumn, other: NamedColumn | null, now: SQL): SQL {
  const call = stampCall(own, other, now);
  const sides = other === null ? [own] : [own, other];
  if (!sides.every(({ column }) => forms.seemsUsual(column))) return call;
  if (own.column.fractionDigits === 0) return now;
  // Nearly always the text of now is the greatest. A value of another form, by another program, is not compared as text.
  const isLater = sides.map(
    ({ name }) =>
      sql`(${name} is null or (${now} > ${name} and substr(${name}, 11, 1) = ' ' and substr(${name}, 12) not glob '*[^0-9:.]*'))`,
  );
  return sql`case when ${sql.join(isLater, sql` and `)} then ${now} else ${call} end`;
}

function stampCall(own: NamedColumn, other: NamedColumn | null, now: SQL): SQL {
  const id = ({ column }: NamedColumn): SQL =>
    sql.raw(`'${(column.stored?.id ?? "").replaceAll("'", "''")}'`);
  const latest = other === null ? sql`''` : id(other);
  return sql`rowgate_stamp(${id(own)}, ${now}, ${own.name}, ${latest}, ${other?.name ?? sql.raw("null")})`;
}

const textOrNothing = (part: SQL | string): SQL =>
  typeof part === "string"
    ? sql.raw(`'${part.replaceAll("'", "''")}'`)
    : sql`coalesce(${part}, '')`;
