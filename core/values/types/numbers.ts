/** Shared by the three types of numbers: digits of JSON numbers, limits as JSON Schema, and typed input. */
import { normalDecimal } from "../decimal.ts";
import { ExactNumber } from "../json.ts";
import type { JsonSchema } from "../json-schema.ts";
import { type Accepted, accepted, refused, type TypeDefaults, usual } from "./type-definition.ts";

/** Canonical digits of a JSON number; null for everything else and for numbers beyond every column. */
export function jsonNumber(value: unknown): string | null {
  if (typeof value !== "number")
    return value instanceof ExactNumber ? normalDecimal(value.source) : null;
  if (!Number.isFinite(value)) return null;
  const digits = String(value);
  // Without an exponent it is what it would become.
  return digits.includes("e") ? normalDecimal(digits) : digits;
}

/**
 * The greatest whole number that is not above a JSON number or its text, and whether it is that number; null for
 * everything else.
 */
export function floorOf(
  value: unknown,
): { readonly floor: bigint; readonly isExact: boolean } | null {
  const digits = typeof value === "string" ? normalDecimal(value) : jsonNumber(value);
  if (digits === null) return null;
  const [whole = "", fraction] = digits.split(".");
  if (fraction === undefined) return { floor: BigInt(whole), isExact: true };
  return { floor: BigInt(whole) - (whole.startsWith("-") ? 1n : 0n), isExact: false };
}

/** Digits that a double always preserves. */
export const doubleDigits = 15;

export const wholeText = String.raw`^-?\d+$`;
export const decimalText = String.raw`^-?\d+(\.\d+)?$`;
/** What `normalDecimal` reads. */
export const numberText = String.raw`^-?\d+(\.\d+)?([eE][+-]?\d{1,6})?$`;

/**
 * For a column that may store numbers of every kind: an integer if 64 bits hold it, else a double. Long integers are
 * shown and accepted as text.
 */
export function acceptAnyNumber(value: unknown): Accepted {
  const digits = typeof value === "string" ? normalDecimal(value) : jsonNumber(value);
  if (digits === null) return refused("must be a number");
  const number = Number(digits);
  if (digits.includes(".") || (typeof value !== "string" && !Number.isSafeInteger(number)))
    return accepted(number);
  const integer = BigInt(digits);
  return accepted(BigInt.asIntN(64, integer) === integer ? integer : number);
}

/** Such numbers as JSON Schema, shown and accepted. */
export const anyNumberSchema = { type: ["number", "string"], pattern: numberText } as const;

/** `minimum` and `maximum`, if a double represents them exactly. */
export function boundsOf(range: { readonly min: string; readonly max: string } | null): JsonSchema {
  const [minimum, maximum] = [exactNumber(range?.min), exactNumber(range?.max)];
  return { ...(minimum !== null && { minimum }), ...(maximum !== null && { maximum }) };
}

/** The number of canonical digits; null if a double would change them. */
export function exactNumber(digits: string | undefined): number | null {
  if (digits === undefined) return null;
  const number = Number(digits);
  return normalDecimal(String(number)) === digits ? number : null;
}

/** What differs from other types. `strict`: a number itself, not its digits as text. */
export const numeric: TypeDefaults = {
  ...usual,
  strict: {
    jsonType: "number",
    holds: (value) => typeof value === "number" || value instanceof ExactNumber,
    expected: "a number, not a text",
  },
  fromFilter: typedNumber,
  exportedAs: "number",
};

/**
 * A number may be half typed: a single sign or point counts as nothing, and a point may lack the digits on one side.
 */
function typedNumber(text: string): string {
  const [, sign, whole, fraction] = /^(-?)(\d*)(?:\.(\d*))?$/.exec(text.trim()) ?? [];
  if (sign === undefined) return text;
  if (!whole && !fraction) return "";
  return `${sign}${whole || "0"}${fraction ? `.${fraction}` : ""}`;
}

/** A whole number, or the number that a text of digits stands for, as forms and queries send it; else null. */
export function readWholeNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  // Adding 0 turns -0 into 0.
  return typeof number === "number" && Number.isInteger(number) ? number + 0 : null;
}
