/**
 * How statements are printed and values travel on SQLite. It has five storage classes and no more: decimals are floating
 * point unless their column is declared as text, timestamps are text in the form of CURRENT_TIMESTAMP. Functions named
 * `rowgate_…` are registered by `functions.ts`. Made by `engine.ts`.
 */
import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../core/column.ts";
import { showBytes } from "../../core/values/bytes-type.ts";
import { showDate } from "../../core/values/date-type.ts";
import { showDecimal } from "../../core/values/decimal-type.ts";
import { showFloat } from "../../core/values/float-type.ts";
import { showJson } from "../../core/values/json-types.ts";
import { showTime } from "../../core/values/time-type.ts";
import { showTimestamp } from "../../core/values/timestamp-type.ts";
import type { Decimals } from "../../core/values/type-definition.ts";
import type { Json } from "../../core/json.ts";
import type { AggregateFunction, Scalar } from "../../core/statement.ts";
import type { Formula } from "../../core/writes/formula.ts";
import type { Dialect, FindOperand } from "../engine.ts";
import { formulaCall } from "./formulas.ts";
import { marks } from "./marks.ts";
import { isExactDecimal } from "./types.ts";

export function createDialect(decimals: Decimals): Dialect {
  return {
    quote: '"',
    placeholder: () => "?",
    param: (_column, placeholder) => placeholder,
    bind,
    output: (column, name) => output(column, name, decimals),
    decode: (column) => decoder(column, decimals),
    textOf,
    concat: (parts) => sql`(${sql.join(parts.map(textOrNothing), sql` || `)})`,
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
    rowLocks: false,
    paramsMax: 32_766,
  };
}

/** `decimals: "string"` is about 64-bit integers that are declared as such; every INTEGER of SQLite could be one. */
const isBigint = (column: Column): boolean => /\b(BIGINT|INT8)\b/i.test(column.native);

function bind(column: Column, value: Exclude<Scalar, null>): unknown {
  switch (typeof value) {
    case "boolean":
      return value ? 1n : 0n;
    case "string":
      if (column.type === "timestamp") return storedTimestamp(value);
      return column.type === "decimal" && !isExactDecimal(column) ? Number(value) : value;
    case "object":
      return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    default:
      return value;
  }
}

/** `YYYY-MM-DD HH:MM:SS`, with the fraction where there is one: comparable with CURRENT_TIMESTAMP. */
function storedTimestamp(iso: string): string {
  const fraction = iso.slice(19, 23);
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}${fraction === ".000" ? "" : fraction}`;
}

/**
 * The driver gives integers as doubles. Those that a double cannot hold come as text instead; asking the driver for
 * BigInts would make one of every small number too.
 */
function output(column: Column, name: SQL, decimals: Decimals): SQL {
  if (column.type !== "integer" && column.type !== "other" && column.type !== "decimal")
    return name;
  if (isExactDecimal(column)) return name;
  if (column.type === "integer" && decimals === "string" && isBigint(column))
    return sql`cast(${name} as text)`;
  return sql`case when typeof(${name}) = 'integer' and (${name} > 9007199254740991 or ${name} < -9007199254740991) then cast(${name} as text) else ${name} end`;
}

function decoder(column: Column, decimals: Decimals): ((raw: unknown) => Json) | null {
  switch (column.type) {
    case "text":
    case "integer":
      return null;
    case "decimal":
      return decimalDecoder(column, decimals);
    case "float":
      return (raw) => (typeof raw === "number" ? showFloat(raw) : (raw as Json));
    case "boolean":
      return (raw) => (typeof raw === "string" ? /^(t|true|y|yes|1)$/i.test(raw) : Boolean(raw));
    case "bytes":
      return (raw) => showBytes(raw instanceof Uint8Array ? raw : Buffer.from(String(raw)));
    case "json":
    case "array":
      return (raw) => (typeof raw === "string" ? showJson(raw) : (raw as Json));
    case "other":
      return (raw) => (raw instanceof Uint8Array ? showBytes(raw) : (raw as Json));
    case "date":
      return ofText(showDate);
    case "timestamp":
      return ofText((text) =>
        isPlainTimestamp(text)
          ? `${text.slice(0, 10)}T${text.slice(11)}.000Z`
          : showTimestamp(text),
      );
    case "time":
      return ofText(showTime);
    case "uuid":
      return ofText((text) => text.toLowerCase());
  }
}

/** The form that we and CURRENT_TIMESTAMP store. */
const isPlainTimestamp = (text: string): boolean =>
  text.length === 19 &&
  text[4] === "-" &&
  text[10] === " " &&
  text[16] === ":" &&
  !text.startsWith("0000");

/** A column may hold a value of another class than it is declared for; a blob is shown as one, a number as it is. */
const ofText =
  (show: (text: string) => Json) =>
  (raw: unknown): Json =>
    typeof raw === "string"
      ? show(raw)
      : raw instanceof Uint8Array
        ? showBytes(raw)
        : (raw as Json);

/** Floating point sums carry noise behind the declared scale, or behind the fifteenth digit. */
function decimalDecoder({ scale }: Column, decimals: Decimals): (raw: unknown) => Json {
  const unit = 10 ** Math.min(scale ?? 0, 15);
  return (raw) => {
    if (typeof raw !== "number") return typeof raw === "string" ? showDecimal(raw, decimals) : null;
    // Most numbers carry none, and to see that costs less than to print them.
    const isClean = Math.round(raw * unit) / unit === raw;
    const number = isClean
      ? raw
      : Number(scale === null ? raw.toPrecision(15) : raw.toFixed(Math.min(scale, 100)));
    return decimals === "number" ? showFloat(number) : showDecimal(number, decimals);
  };
}

/** SQLite adds decimals as doubles, and fails where integers leave 64 bits: exact sums are made by `functions.ts`, as text. */
function aggregate(name: AggregateFunction | null, column: Column, term: SQL, result: Column): SQL {
  if (name === null) return term;
  const isExact = column.type === "integer" || column.type === "decimal";
  const scale = sql.raw(String(column.type === "integer" ? 0 : (column.scale ?? -1)));
  if (name === "sum" && isExact) return sql`rowgate_sum(${term}, ${scale})`;
  if (name === "avg" && isExact)
    return sql`rowgate_avg(${term}, ${scale}, ${sql.raw(String(result.scale ?? 0))})`;
  if ((name === "min" || name === "max") && isExactDecimal(column))
    return sql`${sql.raw(`rowgate_${name}`)}(${term})`;
  return sql`${sql.raw(name)}(${term})`;
}

function textOf(column: Column, name: SQL): SQL | null {
  switch (column.type) {
    case "boolean":
    case "json":
    case "array":
    case "bytes":
      return null;
    case "text":
      return name;
    case "uuid":
      return sql`lower(${name})`;
    case "date":
      return sql`substr(${name}, 1, 10)`;
    case "time":
      return sql`substr(${name}, 1, 8)`;
    case "timestamp":
      return sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${name})`;
    case "decimal":
      if (isExactDecimal(column)) return name;
      return numberText(
        column.scale === null ? name : sql`round(${name}, ${sql.raw(String(column.scale))})`,
      );
    case "float":
      return numberText(name);
    case "integer":
    case "other":
      return sql`cast(${name} as text)`;
  }
}

/** Without the `.0` that SQLite gives whole floating point numbers. */
const numberText = (name: SQL): SQL =>
  sql`cast(case when ${name} = cast(${name} as integer) then cast(${name} as integer) else ${name} end as text)`;

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
