/**
 * Positions of rows in an order, as MySQL and MariaDB compare them. Texts that are not a value of their type are
 * refused here, because the server would compare them by guessing.
 */
import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column, ColumnType } from "../../../core/values/types/column.ts";
import { normalDecimal } from "../../../core/values/decimal.ts";
import type { Marks } from "../../statements/dialect.ts";
import { geometries } from "./column.ts";
import { decimalType, wholeNumber } from "./parameters.ts";

export const marks: Marks = {
  term(column, name) {
    // Comparisons with a text would compare labels, but the order is that of their numbers.
    if (isNumbered(column)) return sql`(${name} + 0)`;
    return geometries.has(column.native) ? sql`hex(${name})` : sortedPart(column, name);
  },
  output: (column, term) => forms[column.type].output(column, term),
  decode: String,
  param: (column, placeholder) => forms[column.type].param(column, placeholder),
  bind: (column, mark) => (isNumbered(column) ? whole(mark) : forms[column.type].bind(mark)),
};

/**
 * The server sorts long texts only by their first `max_sort_length` bytes (1024), and more bytes would not fit into its
 * sort memory. This number of characters always fits, and comparisons use the same ones.
 */
export function sortedPart(column: Column, name: SQL): SQL {
  return isPlainText(column) && !isSortedWhole(column)
    ? sql`left(${name}, ${sql.raw(String(sortedCharactersMax))})`
    : name;
}

const sortedCharactersMax = 255;

/** Whether the server looks at all characters of the texts when it sorts. */
export const isSortedWhole = (column: Column): boolean =>
  (column.labels !== null ? sortedCharactersMax : (column.lengthMax ?? Infinity)) <=
  sortedCharactersMax;

const isNumbered = ({ native }: Column): boolean => /^(enum|set|bit)\b/.test(native);

const isPlainText = (column: Column): boolean => column.type === "text" && !isNumbered(column);

interface MarkForm {
  readonly output: (column: Column, term: SQL) => SQL;
  readonly param: (column: Column, placeholder: SQL) => SQL;
  readonly bind: (mark: string) => unknown;
}

const asText = (_column: Column, term: SQL): SQL => sql`cast(${term} as char)`;
const asItIs = (_column: Column, term: SQL): SQL => term;

const plain: MarkForm = { output: asText, param: asItIs, bind: (mark) => mark };

/** Accepts only what the server writes. */
const ofForm = (form: RegExp): MarkForm => ({
  ...plain,
  bind: (mark) => (form.test(mark) ? mark : undefined),
});

const whole = (mark: string): unknown =>
  /^-?\d{1,20}$/.test(mark) ? wholeNumber(BigInt(mark)) : undefined;

const date = String.raw`\d{4}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])`;

/** Stored dates may be no real days. */
const forms: Readonly<Record<ColumnType, MarkForm>> = {
  text: { ...plain, output: (column, term) => (isNumbered(column) ? asText(column, term) : term) },
  integer: { ...plain, bind: whole },
  decimal: {
    ...plain,
    param: (column, placeholder) => sql`cast(${placeholder} as ${decimalType(column)})`,
    bind: (mark) => normalDecimal(mark) ?? undefined,
  },
  float: {
    ...plain,
    // As text, a single-precision number is cut to six digits; the driver returns all of them.
    output: asItIs,
    bind: (mark) =>
      String(Number(mark)) === mark && Number.isFinite(Number(mark)) ? Number(mark) : undefined,
  },
  boolean: { ...plain, bind: whole },
  date: ofForm(new RegExp(`^${date}$`)),
  timestamp: ofForm(
    new RegExp(String.raw`^${date} (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?$`),
  ),
  time: ofForm(/^-?\d{2,3}:[0-5]\d:[0-5]\d(?:\.\d{1,6})?$/),
  uuid: ofForm(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/),
  json: plain,
  bytes: {
    ...plain,
    output: (_column, term) => sql`hex(${term})`,
    bind: (mark) => (/^(?:[\dA-F]{2})*$/.test(mark) ? Buffer.from(mark, "hex") : undefined),
  },
  array: plain,
  file: plain,
  other: plain,
};
