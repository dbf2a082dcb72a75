/** What the three types of numbers share: digits of JSON numbers, limits as JSON Schema, and what people type. */
import { normalDecimal } from "./decimal.ts";
import { ExactNumber } from "./json.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { StrictForm } from "./type-definition.ts";

/** Canonical digits of a JSON number; null for all else and for numbers beyond every column. */
export function jsonNumber(value: unknown): string | null {
  if (typeof value !== "number")
    return value instanceof ExactNumber ? normalDecimal(value.source) : null;
  if (!Number.isFinite(value)) return null;
  const digits = String(value);
  // Without an exponent it is what it would become.
  return digits.includes("e") ? normalDecimal(digits) : digits;
}

/** The greatest whole number that is not above a number of JSON or its text, and whether it is that number; null for all else. */
export function floorOf(
  value: unknown,
): { readonly floor: bigint; readonly isExact: boolean } | null {
  const digits = typeof value === "string" ? normalDecimal(value) : jsonNumber(value);
  if (digits === null) return null;
  const [whole = "", fraction] = digits.split(".");
  if (fraction === undefined) return { floor: BigInt(whole), isExact: true };
  return { floor: BigInt(whole) - (whole.startsWith("-") ? 1n : 0n), isExact: false };
}

/** Digits that a double keeps, whatever they are. */
export const doubleDigits = 15;

export const wholeText = String.raw`^-?\d+$`;
export const decimalText = String.raw`^-?\d+(\.\d+)?$`;
/** What `normalDecimal` reads. */
export const numberText = String.raw`^-?\d+(\.\d+)?([eE][+-]?\d{1,6})?$`;

/** `minimum` and `maximum`, as far as a double says them exactly. */
export function boundsOf(range: { readonly min: string; readonly max: string } | null): JsonSchema {
  const [minimum, maximum] = [exactNumber(range?.min), exactNumber(range?.max)];
  return { ...(minimum !== null && { minimum }), ...(maximum !== null && { maximum }) };
}

/** The number of canonical digits; null where a double would change them. */
export function exactNumber(digits: string | undefined): number | null {
  if (digits === undefined) return null;
  const number = Number(digits);
  return normalDecimal(String(number)) === digits ? number : null;
}

/** A number as such, not its digits as text. */
export const strictNumber: StrictForm = {
  jsonType: "number",
  holds: (value) => typeof value === "number" || value instanceof ExactNumber,
  expected: "a number, not a text",
};

/** A number may be half typed: a lone sign or point is nothing yet, and a point may lack the digits on one side. */
export function typedNumber(text: string): string {
  const [, sign, whole, fraction] = /^\s*(-?)(\d*)(?:\.(\d*))?\s*$/.exec(text) ?? [];
  if (sign === undefined) return text;
  if (!whole && !fraction) return "";
  return `${sign}${whole || "0"}${fraction ? `.${fraction}` : ""}`;
}
