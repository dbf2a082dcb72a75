/** Floating point numbers of 64 or 32 bits. A number that they would change is refused. */
import type { Column } from "./column.ts";
import { normalDecimal } from "../decimal.ts";
import { acceptAnyNumber, anyNumberSchema, doubleDigits, jsonNumber, numeric } from "./numbers.ts";
import { type Accepted, accepted, defineType, refused } from "./type-definition.ts";

/** The largest double, all 309 digits of it. */
const doubleMax = String(BigInt(Number.MAX_VALUE));
const range = { min: `-${doubleMax}`, max: doubleMax };
/** The same of 32 bits. */
const singleMax = String(BigInt(2 ** 128 - 2 ** 104));
const singleRange = { min: `-${singleMax}`, max: singleMax };

export const floatType = defineType(numeric, {
  accept: acceptFloat,
  shownSchema: ({ isSampled }) => (isSampled ? anyNumberSchema : { type: "number" }),
  acceptedSchema: () => anyNumberSchema,
  fromShown: Number,
  edmType: ({ isSingle }) => ({ name: isSingle ? "Edm.Single" : "Edm.Double", facets: {} }),
  ruleNames: [],
  cellForm: () => ({ words: "Number", format: null, width: 12 }),
  arithmetic: {
    isExact: false,
    isWhole: false,
    digitsKept: doubleDigits,
    rangeOf: ({ isSingle }) => (isSingle ? singleRange : range),
    fromDigits: Number,
  },
});

/** The number; null for NaN and infinities, which JSON does not have. */
export function showFloat(raw: string | number): number | null {
  const number = Number(raw);
  // Adding 0 turns -0 into 0.
  return Number.isFinite(number) ? number + 0 : null;
}

function acceptFloat(column: Column, value: unknown): Accepted {
  if (column.isSampled) return acceptAnyNumber(value);
  const number = readFloat(value);
  if (typeof number === "string") return refused(number);
  return column.isSingle && !isSingle(number)
    ? refused(
        "must be a number with at most about 7 significant digits, so that the column stores it exactly",
      )
    : accepted(number);
}

/** Whether a 32-bit float shows the number as it was given: its shortest text names the same number. */
function isSingle(number: number): boolean {
  const single = Math.fround(number);
  if (!Number.isFinite(single)) return false;
  const shown = [6, 7, 8, 9].map((digits) => Number(single.toPrecision(digits)));
  return shown.find((candidate) => Math.fround(candidate) === single) === number;
}

/** The number, or what is wrong with it. */
function readFloat(value: unknown): number | string {
  if (typeof value === "number" && Number.isFinite(value)) return value + 0;
  const digits = typeof value === "string" ? normalDecimal(value) : jsonNumber(value);
  if (digits === null) return "must be a number";
  const number = Number(digits);
  const kept = Number.isFinite(number) ? normalDecimal(String(number)) : null;
  return kept === digits
    ? number
    : "must be a number that a floating-point column can store exactly";
}
