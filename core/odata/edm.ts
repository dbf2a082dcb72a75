/** Values of columns as OData's JSON has them, and values of its requests as those of the service have them. */
import { normalDecimal } from "../values/decimal.ts";
import { invalidParameter } from "../values/errors.ts";
import { ExactNumber, type Json, parseOwnJson } from "../values/json.ts";
import type { Column } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import type { EdmType } from "../values/types/type-definition.ts";
import type { Literal } from "./expressions.ts";

export const edmTypeOf = (column: Column): EdmType => columnTypes[column.type].edmType(column);

/** How numbers of many digits are written. */
export interface NumberForm {
  /** As texts, for clients whose numbers are doubles (IEEE754Compatible); false: as numbers with all their digits. */
  readonly longNumbersAsText: boolean;
}

/** Writes the value that an answer of the service shows as JSON text. */
export type WriteValue = (value: Json, form: NumberForm) => string;

export const valueWriter = (column: Column): WriteValue =>
  writers[edmTypeOf(column).name] ?? ((value) => JSON.stringify(value));

/** Of Edm.Int64 and Edm.Decimal; the counts of an answer are Edm.Int64 too. */
export function longNumber(value: Json, { longNumbersAsText }: NumberForm): string {
  const digits = normalDecimal(String(value));
  return longNumbersAsText && digits !== null ? `"${digits}"` : String(digits);
}

const double: WriteValue = (value) =>
  typeof value === "number" ? String(value) : longNumber(value, { longNumbersAsText: false });

const textLike =
  (form: RegExp): WriteValue =>
  (value) =>
    JSON.stringify(form.test(String(value)) ? value : null);

const day = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])";

/**
 * A value that the type does not have is null, because clients stop reading at any other: a text in a column of numbers
 * of SQLite, a date of MySQL without a month or of PostgreSQL before the year 1, a time beyond a day.
 */
const writers: Readonly<Record<EdmType["name"], WriteValue>> = {
  "Edm.Int64": longNumber,
  "Edm.Decimal": longNumber,
  "Edm.Double": double,
  "Edm.Date": textLike(new RegExp(`^${day}$`)),
  "Edm.DateTimeOffset": textLike(new RegExp(`^${day}T`)),
  "Edm.TimeOfDay": textLike(/^(?:[01]\d|2[0-3]):/),
  "Edm.Guid": textLike(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/),
  // Texts and, as texts, what else a column has: values that hold others, and computed ones.
  "Edm.String": (value) =>
    typeof value === "string" || value === null
      ? JSON.stringify(value)
      : JSON.stringify(JSON.stringify(value)),
  "Edm.Binary": (value) =>
    JSON.stringify(
      typeof value === "string" ? value.replaceAll("+", "-").replaceAll("/", "_") : value,
    ),
};

/** The literal as read's `where` takes it for the column. Rejects with Invalid parameter. */
export function valueOf(literal: Exclude<Literal, { form: "null" }>, column: Column): unknown {
  const { form, value } = literal;
  const { spans, bounds, fromFilter, fromMember } = columnTypes[column.type];
  if (form === "number") return new ExactNumber(value);
  if (form === "instant" && spans === "days") return dayOf(value, column);
  if (form === "instant" && bounds === "time") return fromFilter(value);
  if (fromMember !== null) return jsonIn(String(value));
  return edmTypeOf(column).name === "Edm.Binary" ? base64Of(String(value)) : value;
}

/** Grids send the midnight of a day. */
function dayOf(instant: string, { name }: Column): string {
  const [day = "", time = ""] = instant.split(/T/i);
  if (/^00:00(?::00(?:\.0+)?)?(?:Z|[-+]00:00)?$/i.test(time)) return day;
  throw invalidParameter(`The value for column "${name}" must be a date, such as ${day}`);
}

/** With the usual signs, and padded. */
function base64Of(text: string): string {
  const digits = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
}

/** A text that is no JSON stands for itself. */
function jsonIn(text: string): unknown {
  try {
    return parseOwnJson(text);
  } catch {
    return text;
  }
}
