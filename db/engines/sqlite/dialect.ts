/**
 * How statements are printed on SQLite; how values travel is in `value-forms.ts`. Functions named `rowgate_…` are registered
 * by `functions.ts`.
 */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/column.ts";
import type { AggregateFunction } from "../../../core/query/statement.ts";
import { isExact, scaleOf } from "../../../core/values/arithmetic.ts";
import type { Decimals } from "../../../core/values/type-definition.ts";
import type { Formula } from "../../../core/query/formula-tree.ts";
import type { Dialect, FindOperand } from "../../statements/dialect.ts";
import { valuesOf } from "../value-forms.ts";
import { formulaCall } from "./formulas.ts";
import { marks } from "./marks.ts";
import { isExactDecimal } from "./types.ts";
import { valueForms } from "./value-forms.ts";

export function createDialect(decimals: Decimals): Dialect {
  return {
    quote: '"',
    placeholder: () => "?",
    param: (_column, placeholder) => placeholder,
    ...valuesOf(valueForms, decimals),
    exact: (_column, name) => sql`(${name} collate binary)`,
    concat: (parts) => sql`(${sql.join(parts.map(textOrNothing), sql` || `)})`,
    exactText: (text) => sql`${text} collate binary`,
    like: (text, pattern, { ignoreCase, ascii }) =>
      ascii || !ignoreCase
        ? sql`${text} like ${pattern} escape '\\'`
        : sql`rowgate_like(${text}, ${pattern})`,
    aggregate,
    // No estimates: figures are there after ANALYZE alone, and only for whole tables.
    marks,
    sort: (column, name, direction) => sql`${marks.term(column, name)} ${sql.raw(direction)}`,
    add,
    formula,
    stamp,
    comparand,
    limit: (limit, offset) => sql`limit ${limit ?? sql.raw("-1")} offset ${offset}`,
    returning: true,
    rowLock: "",
    defaultValues: "default values",
    paramsMax: 32_766,
  };
}

/** SQLite adds decimals as doubles, and fails where integers leave 64 bits: exact sums are made by `functions.ts`, as text. */
function aggregate(name: AggregateFunction | null, column: Column, term: SQL, result: Column): SQL {
  if (name === null) return term;
  const scale = sql.raw(String(scaleOf(column) ?? -1));
  if (name === "sum" && isExact(column)) return sql`rowgate_sum(${term}, ${scale})`;
  if (name === "avg" && isExact(column))
    return sql`rowgate_avg(${term}, ${scale}, ${sql.raw(String(result.scale ?? 0))})`;
  if ((name === "min" || name === "max") && isExactDecimal(column))
    return sql`${sql.raw(`rowgate_${name}`)}(${term})`;
  return sql`${sql.raw(name)}(${term})`;
}

/**
 * Exact decimals are compared by a text that sorts as they do. The type of an expression in a view is not known before
 * its rows are: what it is compared with becomes a number where it is one.
 */
function comparand(column: Column, term: SQL, name: SQL): SQL {
  if (isExactDecimal(column)) return sql`rowgate_decimal_key(${term})`;
  if (column.type !== "other" || term === name) return term;
  return sql`iif(typeof(${name}) in ('integer', 'real'), cast(${term} as numeric), ${term})`;
}

function add(column: Column, name: SQL, delta: SQL): SQL {
  if (column.type !== "decimal") return sql`${name} + ${delta}`;
  if (isExactDecimal(column)) return sql`rowgate_decimal_add(${name}, ${delta})`;
  if (column.scale !== null)
    return sql`round(${name} + ${delta}, ${sql.raw(String(column.scale))})`;
  return sql`cast(printf('%!.15g', ${name} + ${delta}) as numeric)`;
}

/** The formula goes along as a text, which names what it is about once and not for each row. */
function formula(formula: Formula, target: Column, operand: FindOperand): SQL {
  const operands = formula.names.map(operand);
  const plan = formulaCall(
    formula,
    target,
    operands.map(({ column }) => column.scale),
  );
  const args = [sql.raw(`'${plan}'`), ...operands.map(({ term }) => term)];
  return sql`rowgate_formula(${sql.join(args, sql`, `)})`;
}

function stamp(column: Column, name: SQL, after: SQL | null, now: SQL): SQL {
  if (column.fractionDigits === 0) return now;
  const old =
    after === null
      ? millis(name)
      : sql`max(coalesce(${millis(name)}, ''), coalesce(${millis(after)}, ''))`;
  const next = sql`replace(strftime('%Y-%m-%d %H:%M:%f', ${old}, '+0.001 seconds'), '.000', '')`;
  // Nearly always the text of now is the greatest, and reading times out of text costs more than the UPDATE itself.
  const isLater = [name, ...(after === null ? [] : [after])].map(
    (term) => sql`${now} > coalesce(${term}, '')`,
  );
  return sql`case when ${sql.join(isLater, sql` and `)} then ${now} when ${old} >= ${millis(now)} then ${next} else ${now} end`;
}

/** Texts of one length, whatever form the instant is stored in: they sort by time. */
const millis = (term: SQL): SQL => sql`strftime('%Y-%m-%d %H:%M:%f', ${term})`;

const textOrNothing = (part: SQL | string): SQL =>
  typeof part === "string"
    ? sql.raw(`'${part.replaceAll("'", "''")}'`)
    : sql`coalesce(${part}, '')`;
