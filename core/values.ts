/**
 * What each type of column takes from JSON and shows as JSON: the same on every database. `accept` makes the one form of
 * a value that statements carry (see `Scalar`), or says why not: what a column cannot hold exactly is refused, never
 * changed. The show functions are the way back; the engines in `db/` decode what their drivers give with them.
 */
import { digitsFault, normalDecimal } from "./decimal.ts";
import type { Column, ColumnType } from "./column.ts";
import { fromBase64, isDate, readTime, readTimestamp, toBase64 } from "./writes/formats.ts";
import { ExactNumber, type Json } from "./json.ts";

import type { Scalar } from "./statement.ts";
import { isLonger, textFault, utf8Length } from "./text.ts";

/** A value in the form of its column, or a plain sentence about what it must be, to stand under the field's name. */
export type Accepted =
  | { readonly ok: true; readonly value: Scalar }
  | { readonly ok: false; readonly message: string };

/** `decimals` of project.json: whether numbers that may be long are shown as numbers where that is exact, or always as text. */
export type Decimals = "number" | "string";

/** The value of a JSON document (numbers may be `ExactNumber`s) for this column. Null is accepted: whether it may be stored is for `core/writes/rules.ts`. */
export function accept(column: Column, value: unknown): Accepted {
  return value === null ? acceptedNull : acceptors[column.type](column, value);
}

/**
 * A number where it is a safe integer, else its digits. With `decimals` "string" always digits: engines ask for that
 * only for columns of more than 32 bits.
 */
export function showInteger(raw: string | number | bigint, decimals: Decimals): number | string {
  if (decimals === "string") return String(raw);
  const number = Number(raw);
  return Number.isSafeInteger(number) ? number + 0 : String(raw);
}

/** A number where it prints back to the same value, else canonical digits; null for NaN and infinities. */
export function showDecimal(raw: string | number, decimals: Decimals): number | string | null {
  const number = Number(raw);
  if (Number.isNaN(number)) return null;
  // A double keeps fifteen digits whatever they are.
  if (decimals === "number" && (typeof raw === "number" || raw.length <= 15))
    return showFloat(number);
  const digits = normalDecimal(String(raw));
  if (digits === null) return showFloat(number);
  if (decimals === "string") return digits;
  return normalDecimal(String(number)) === digits ? number + 0 : digits;
}

/** The number; null for NaN and infinities, which JSON cannot say. */
export function showFloat(raw: string | number): number | null {
  const number = Number(raw);
  // Adding 0 turns -0 into 0.
  return Number.isFinite(number) ? number + 0 : null;
}

/**
 * ISO 8601 UTC with milliseconds, from `YYYY-MM-DD HH:MM:SS[.ffffff][+00]` or an ISO form; digits after the third are cut.
 * MySQL's zero date is null, and a text that is no instant of the years 1 to 9999 is shown as it is.
 */
export function showTimestamp(text: string): string | null {
  if (text.startsWith("0000-00-00")) return null;
  const end = zoneStart(text);
  const zone = text.slice(end);
  const isUtc = zone === "" || zone === "+00" || zone === "Z";
  if (
    isUtc &&
    end >= 19 &&
    end <= 29 &&
    text[4] === "-" &&
    text[16] === ":" &&
    (end === 19 || text[19] === ".")
  ) {
    const fraction = end === 19 ? "000" : text.slice(20, Math.min(end, 23)).padEnd(3, "0");
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
  }
  return readTimestamp(text)?.iso ?? text;
}

/** `YYYY-MM-DD`, from a date or the beginning of a timestamp; MySQL's zero date is null. */
export function showDate(text: string): string | null {
  if (text.startsWith("0000-00-00")) return null;
  return text[10] === " " || text[10] === "T" ? text.slice(0, 10) : text;
}

/** `HH:mm:ss`; fraction and zone are cut. MySQL's durations beyond a day are shown as they are. */
export function showTime(text: string): string {
  if (text[2] !== ":") return text;
  return text.length === 5 ? `${text}:00` : text.slice(0, 8);
}

/** Base64, padded. */
export function showBytes(bytes: Uint8Array): string {
  return toBase64(bytes);
}

const mayLoseDigits = /\d[\d.]{15}|\d[eE][+-]?\d/;

/** The value of a JSON text; a number in it that a double cannot hold is shown as its digits. A text that is no JSON is shown as it is. */
export function showJson(text: string): Json {
  try {
    return mayLoseDigits.test(text) ? JSON.parse(text, digitsAsText) : JSON.parse(text);
  } catch {
    return text;
  }
}

const acceptedNull: Accepted = { ok: true, value: null };
const accepted = (value: Scalar): Accepted => ({ ok: true, value });
const refused = (message: string): Accepted => ({ ok: false, message });

const acceptors: Readonly<Record<ColumnType, (column: Column, value: unknown) => Accepted>> = {
  text: acceptText,
  integer: acceptInteger,
  decimal: acceptDecimal,
  float: acceptFloat,
  boolean: acceptBoolean,
  date: (_column, value) =>
    typeof value === "string" && isDate(value)
      ? accepted(value)
      : refused("must be a date in the form YYYY-MM-DD"),
  timestamp: acceptTimestamp,
  time: acceptTime,
  uuid: (_column, value) =>
    typeof value === "string" && uuidText.test(value)
      ? accepted(value.toLowerCase())
      : refused("must be a UUID"),
  json: (_column, value) => acceptJson(value),
  bytes: acceptBytes,
  array: (_column, value) =>
    Array.isArray(value) ? acceptJson(value) : refused("must be an array"),
  other: (column, value) =>
    typeof value === "boolean" ? accepted(String(value)) : acceptText(column, value),
};

const uuidText = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function acceptText(column: Column, value: unknown): Accepted {
  const text = typeof value === "string" ? value : plainDigits(value);
  if (text === null) return refused("must be a text");
  const fault = textFault(text);
  if (fault !== null) return refused(fault);
  const { lengthMax, bytesMax } = column;
  if (column.labels !== null && !column.labels.includes(text)) {
    return refused(`must be one of: ${column.labels.join(", ")}`);
  }
  if (lengthMax !== null && isLonger(text, lengthMax))
    return refused(`must have at most ${lengthMax} characters`);
  if (bytesMax !== null && text.length * 3 > bytesMax && utf8Length(text) > bytesMax) {
    return refused(`must have at most ${bytesMax} bytes`);
  }
  if (column.fixedLength && text.endsWith(" ")) return refused("must not end with a blank");
  return accepted(text);
}

/** The digits of a number that has one obvious way to be written; null for all else. */
function plainDigits(value: unknown): string | null {
  if (value instanceof ExactNumber) return /[eE]/.test(value.source) ? null : value.source;
  if (typeof value !== "number") return null;
  const digits = String(value);
  return Number.isFinite(value) && !digits.includes("e") ? digits : null;
}

/** Canonical digits of a JSON number; null for all else and for numbers beyond every column. */
function jsonNumber(value: unknown): string | null {
  if (typeof value !== "number")
    return value instanceof ExactNumber ? normalDecimal(value.source) : null;
  if (!Number.isFinite(value)) return null;
  const digits = String(value);
  // Without an exponent it is what it would become.
  return digits.includes("e") ? normalDecimal(digits) : digits;
}

const digitString = /^-?\d+$/;

function acceptInteger({ range }: Column, value: unknown): Accepted {
  const integer = wholeNumber(value);
  if (integer === null) return refused("must be a whole number");
  return range !== null && (integer < range.min || integer > range.max)
    ? refused(`must be between ${range.min} and ${range.max}`)
    : accepted(integer);
}

function wholeNumber(value: unknown): bigint | null {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  // String(1e23) says what was sent, BigInt(1e23) what the double holds: the text is the one to keep.
  const digits =
    typeof value === "string"
      ? digitString.test(value)
        ? normalDecimal(value)
        : null
      : jsonNumber(value);
  return digits === null || digits.includes(".") ? null : BigInt(digits);
}

function acceptDecimal(column: Column, value: unknown): Accepted {
  const digits = typeof value === "string" ? normalDecimal(value) : jsonNumber(value);
  if (digits === null) return refused("must be a number");
  const fault = digitsFault(digits, column.precision, column.scale);
  return fault === null ? accepted(digits) : refused(fault);
}

function acceptFloat(column: Column, value: unknown): Accepted {
  const read = readFloat(value);
  const isKept = !read.ok || !column.isSingle || isSingle(read.value as number);
  return isKept
    ? read
    : refused("must be a number of some seven digits, which the column keeps exactly");
}

/** Whether a 32-bit float shows the number as it was given: its shortest text names the same number. */
function isSingle(number: number): boolean {
  const single = Math.fround(number);
  if (!Number.isFinite(single)) return false;
  const shown = [6, 7, 8, 9].map((digits) => Number(single.toPrecision(digits)));
  return shown.find((candidate) => Math.fround(candidate) === single) === number;
}

function readFloat(value: unknown): Accepted {
  if (typeof value === "number" && Number.isFinite(value)) return accepted(value + 0);
  const digits = typeof value === "string" ? normalDecimal(value) : jsonNumber(value);
  if (digits === null) return refused("must be a number");
  const number = Number(digits);
  const kept = Number.isFinite(number) ? normalDecimal(String(number)) : null;
  return kept === digits
    ? accepted(number)
    : refused("must be a number that a floating point column keeps exactly");
}

function acceptBoolean(_column: Column, value: unknown): Accepted {
  if (value === true || value === 1 || value === "true" || value === "1") return accepted(true);
  if (value === false || value === 0 || value === "false" || value === "0") return accepted(false);
  return refused("must be true or false");
}

function acceptTimestamp(column: Column, value: unknown): Accepted {
  const instant = typeof value === "string" ? readTimestamp(value) : null;
  if (instant === null) return refused("must be a date and time in the form YYYY-MM-DDTHH:mm:ssZ");
  const digitsMax = Math.min(column.fractionDigits, 3);
  for (let at = digitsMax; at < instant.fraction.length; at++) {
    if (instant.fraction[at] === "0") continue;
    return refused(
      digitsMax === 0
        ? "must be a whole second"
        : `must have at most ${digitsMax} digits of a second's fraction`,
    );
  }
  const { span } = column;
  // ISO texts of four-digit years sort by time.
  return span !== null && (instant.iso < span.first || instant.iso > span.last)
    ? refused(`must be between ${span.first} and ${span.last}`)
    : accepted(instant.iso);
}

function acceptTime(_column: Column, value: unknown): Accepted {
  const time = typeof value === "string" ? readTime(value) : null;
  return time === null ? refused("must be a time in the form HH:mm:ss") : accepted(time);
}

function acceptBytes(column: Column, value: unknown): Accepted {
  const bytes = typeof value === "string" ? fromBase64(value) : null;
  if (bytes === null) return refused("must be a base64 text");
  if (column.fixedLength && bytes.length !== column.bytesMax)
    return refused(`must have exactly ${column.bytesMax} bytes`);
  return column.bytesMax !== null && bytes.length > column.bytesMax
    ? refused(`must have at most ${column.bytesMax} bytes`)
    : accepted(bytes);
}

function acceptJson(value: unknown): Accepted {
  const fault = jsonFault(value);
  return fault === null ? accepted(JSON.stringify(value)) : refused(fault);
}

/** Why a value cannot be kept as JSON on every database; null when it can. */
function jsonFault(value: unknown): string | null {
  if (value === null || typeof value === "boolean") return null;
  if (typeof value === "string") return textFault(value);
  if (typeof value === "number") return Number.isFinite(value) ? null : "must be a JSON value";
  if (value instanceof ExactNumber) return "holds a number that cannot be kept exactly";
  if (typeof value !== "object") return "must be a JSON value";
  if (Array.isArray(value)) {
    for (const item of value) {
      const fault = jsonFault(item);
      if (fault !== null) return fault;
    }
    return null;
  }
  for (const [name, member] of Object.entries(value)) {
    const fault = textFault(name) ?? jsonFault(member);
    if (fault !== null) return fault;
  }
  return null;
}

/** Where the zone of a timestamp begins: behind the seconds and their fraction. */
function zoneStart(text: string): number {
  let end = 19;
  while (end < text.length && (text[end] === "." || (text[end]! >= "0" && text[end]! <= "9")))
    end++;
  return Math.min(end, text.length);
}

/** A reviver; its third argument is the text of a primitive. */
function digitsAsText(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const digits = normalDecimal(context.source);
  return digits === null || digits === normalDecimal(String(value)) ? value : digits;
}
