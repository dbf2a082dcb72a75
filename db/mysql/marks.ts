/**
 * Places of rows in an order, as MySQL and MariaDB compare them. Texts that are no value of their type are refused here: the
 * server would compare them by guessing. Used by `dialect.ts`.
 */
import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../core/column.ts";
import { normalDecimal } from "../../core/decimal.ts";
import type { Marks } from "../engine.ts";
import { geometries } from "./column.ts";
import { decimalType, wholeNumber } from "./parameters.ts";

export const marks: Marks = {
  term(column, name) {
    // Comparisons with a text would compare labels, where the order is that of their numbers.
    if (isNumbered(column)) return sql`(${name} + 0)`;
    return geometries.has(column.native) ? sql`hex(${name})` : sortedPart(column, name);
  },
  output(column, term) {
    if (column.type === "bytes") return sql`hex(${term})`;
    // As text, a single precision number keeps six digits; the driver gives it whole.
    if (column.type === "float" || isPlainText(column)) return term;
    return sql`cast(${term} as char)`;
  },
  decode: String,
  param: (column, placeholder) =>
    column.type === "decimal" ? sql`cast(${placeholder} as ${decimalType(column)})` : placeholder,
  bind,
};

/**
 * The server sorts long texts by their first `max_sort_length` bytes (1024) alone, and more of them would not fit into its
 * memory for sorting. These characters always fit, and comparisons can look at the same ones.
 */
export function sortedPart(column: Column, name: SQL): SQL {
  const isLong = isPlainText(column) && (column.lengthMax ?? Infinity) > sortedCharactersMax;
  return isLong ? sql`left(${name}, ${sql.raw(String(sortedCharactersMax))})` : name;
}

const sortedCharactersMax = 255;

const isNumbered = ({ native }: Column): boolean => /^(enum|set|bit)\b/.test(native);

const isPlainText = (column: Column): boolean => column.type === "text" && !isNumbered(column);

function bind(column: Column, mark: string): unknown {
  if (isNumbered(column)) return whole(mark);
  switch (column.type) {
    case "integer":
    case "boolean":
      return whole(mark);
    case "decimal":
      return normalDecimal(mark) ?? undefined;
    case "float":
      return String(Number(mark)) === mark && Number.isFinite(Number(mark))
        ? Number(mark)
        : undefined;
    case "bytes":
      return /^(?:[\dA-F]{2})*$/.test(mark) ? Buffer.from(mark, "hex") : undefined;
    default:
      return forms.get(column.type)?.test(mark) === false ? undefined : mark;
  }
}

const whole = (mark: string): unknown =>
  /^-?\d{1,20}$/.test(mark) ? wholeNumber(BigInt(mark)) : undefined;

const date = String.raw`\d{4}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])`;

/** As the server writes them; days that are no real ones may be stored. */
const forms: ReadonlyMap<Column["type"], RegExp> = new Map([
  ["date", new RegExp(`^${date}$`)],
  ["timestamp", new RegExp(String.raw`^${date} (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?$`)],
  ["time", /^-?\d{2,3}:[0-5]\d:[0-5]\d(?:\.\d{1,6})?$/],
  ["uuid", /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/],
]);
