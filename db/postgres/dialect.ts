/**
 * How PostgreSQL statements are printed and values travel. Every parameter is a text that is cast to the column's own type
 * (`$1::uuid`), so that indexes serve and nothing is inferred; `Column.native` holds that type without length or scale, because
 * a cast to `varchar(20)` would cut silently where storing refuses.
 */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../core/column.ts";
import type { Json } from "../../core/json.ts";
import type { AggregateFunction, Scalar } from "../../core/statement.ts";
import { showBytes } from "../../core/values/bytes-type.ts";
import { showDate } from "../../core/values/date-type.ts";
import { showDecimal } from "../../core/values/decimal-type.ts";
import { showFloat } from "../../core/values/float-type.ts";
import { showInteger } from "../../core/values/integer-type.ts";
import { showJson } from "../../core/values/json-types.ts";
import { showTime } from "../../core/values/time-type.ts";
import { showTimestamp } from "../../core/values/timestamp-type.ts";
import type { Decimals } from "../../core/values/type-definition.ts";
import type { Dialect } from "../engine.ts";
import { marks } from "./marks.ts";
import { castType, isUnordered } from "./types.ts";
import { type FormulaWords, printFormula } from "../formula.ts";

/** `foldingCollation`: what `readFoldingCollation` in `catalog.ts` found, asked for when a statement is printed. */
export function createDialect(decimals: Decimals, foldingCollation: () => string | null): Dialect {
  return {
    quote: '"',
    returning: true,
    rowLocks: true,
    // The driver refuses more.
    paramsMax: 65_533,
    placeholder: (index) => `$${index + 1}`,
    param: (column, placeholder) => sql`${placeholder}::${sql.raw(castType(column))}`,
    bind,
    output,
    decode: (column) => decoderOf(column, decimals),
    textOf,
    concat: (parts) => sql`concat(${sql.join(parts.map(literalOr), sql`, `)})`,
    like(text, pattern, { ignoreCase, ascii }) {
      if (!ignoreCase) return sql`${text} like ${pattern}::text`;
      const collation = ascii ? null : foldingCollation();
      const folded = collation === null ? text : sql`${text} collate ${sql.raw(collation)}`;
      return sql`${folded} ilike ${pattern}::text`;
    },
    aggregate,
    estimate: {
      explain: (select) => sql`explain (format json) ${select}`,
      read: (rows) => planRows(rows[0]!["QUERY PLAN"]),
    },
    marks,
    sort(column, name, direction) {
      const term = marks.term(column, name);
      // The words are left out where they say nothing: with them, an index serves only if it was made with them.
      if (!column.nullable) return direction === "asc" ? term : sql`${term} desc`;
      return direction === "asc" ? sql`${term} nulls first` : sql`${term} desc nulls last`;
    },
    // Integers stay integers: a sum that is too large is an error, never rounded.
    add: (_column, name, delta) => sql`${name} + ${delta}`,
    formula: (formula, target, operand) =>
      printFormula(formula, { target, operand, words: formulaWords }),
    stamp,
    limit: (limit, offset) =>
      limit === null
        ? sql`offset ${offset}::bigint`
        : sql`limit ${limit}::bigint offset ${offset}::bigint`,
  };
}

/** What the topmost node of the plan gives. */
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
    case "min":
    case "max":
      return column.type === "uuid"
        ? sql`${sql.raw(name)}(${term}::text)::uuid`
        : sql`${sql.raw(name)}(${term})`;
    case "sum":
    case "avg": {
      const isFloat = column.type === "float";
      // The server's own avg() also adds squares, which leave the range of a double sooner.
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

/** The parameter as text; the driver sends strings unchanged. */
function bind(column: Column, value: Exclude<Scalar, null>): unknown {
  if (typeof value === "boolean") return value ? "t" : "f";
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  if (column.type === "array") {
    const items = JSON.parse(String(value)) as unknown[];
    return arrayLiteral(
      /^jsonb?\[\]$/.test(column.native) ? items.map((item) => JSON.stringify(item)) : items,
    );
  }
  return String(value);
}

/** A JSON array in the server's notation of arrays: `{"a",NULL,{"b"}}`. */
function arrayLiteral(value: unknown): string {
  if (value === null) return "NULL";
  if (Array.isArray(value)) return `{${value.map(arrayLiteral).join(",")}}`;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function output(column: Column, name: SQL): SQL {
  if (column.type === "array") return sql`to_jsonb(${name})::text`;
  // The cast takes the padding away.
  if (column.native === "bpchar") return sql`${name}::text`;
  if (column.native === "time with time zone") return sql`${name} at time zone 'UTC'`;
  return name;
}

/** From the driver's form (a number for small integers and floats, a boolean, else the server's text). */
function decoderOf(column: Column, decimals: Decimals): ((raw: unknown) => Json) | null {
  switch (column.type) {
    case "integer":
      return column.native === "bigint" ? (raw) => showInteger(raw as string, decimals) : null;
    case "decimal":
      return (raw) => showDecimal(raw as string, decimals);
    case "float":
      return (raw) => showFloat(raw as number);
    case "date":
      return (raw) => (isInfinite(raw as string) ? null : showDate(raw as string));
    case "timestamp":
      return (raw) => (isInfinite(raw as string) ? null : showTimestamp(raw as string));
    case "time":
      return (raw) => showTime(raw as string);
    case "json":
    case "array":
      return (raw) => showJson(raw as string);
    case "bytes":
      return (raw) => showBytes(Buffer.from((raw as string).slice(2), "hex"));
    default:
      return null;
  }
}

const isInfinite = (text: string): boolean => text === "infinity" || text === "-infinity";

function textOf(column: Column, name: SQL): SQL | null {
  switch (column.type) {
    case "boolean":
    case "json":
    case "bytes":
    case "array":
      return null;
    case "text":
      return column.native === "bpchar" || column.labels !== null ? sql`${name}::text` : name;
    case "decimal":
      return sql`trim_scale(${name})::text`;
    case "timestamp":
      return sql`to_char(${name}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    case "time":
      return sql`left((${output(column, name)})::text, 8)`;
    default:
      return sql`${name}::text`;
  }
}

function stamp(column: Column, name: SQL, after: SQL | null, now: SQL): SQL {
  if (column.type !== "timestamp" || column.fractionDigits === 0) return now;
  const unitMs = 10 ** (3 - column.fractionDigits);
  const latest = after ? sql`greatest(${name}, ${after})` : name;
  // Cut to milliseconds, as answers show it: an ETag made of the answer must equal the stored value.
  const next = sql`date_trunc('milliseconds', ${latest}) + interval '${sql.raw(String(unitMs))} milliseconds'`;
  return sql`greatest(${now}, ${next})`;
}

/** concat() itself takes a null for nothing. */
const literalOr = (part: SQL | string): SQL =>
  typeof part === "string" ? sql.raw(`'${part.replaceAll("'", "''")}'`) : part;
