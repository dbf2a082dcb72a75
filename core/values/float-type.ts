/** Floating point numbers of 64 or 32 bits. What they would change is refused. */
import type { Column } from "./column.ts";
import { normalDecimal } from "./decimal.ts";
import { doubleDigits, jsonNumber, numberText, strictNumber, typedNumber } from "./numbers.ts";
import {
  type Accepted,
  accepted,
  asItIs,
  isAboveByNature,
  refused,
  trimmedCell,
  type TypeDefinition,
} from "./type-definition.ts";

/** The largest double, all 309 digits of it. */
const doubleMax = String(BigInt(Number.MAX_VALUE));
const range = { min: `-${doubleMax}`, max: doubleMax };
/** The same of 32 bits. */
const singleMax = String(BigInt(2 ** 128 - 2 ** 104));
const singleRange = { min: `-${singleMax}`, max: singleMax };

export const floatType: TypeDefinition = {
  accept: acceptFloat,
  shownSchema: () => ({ type: "number" }),
  acceptedSchema: () => ({ type: ["number", "string"], pattern: numberText }),
  fromShown: Number,

  ruleNames: [],
  strict: strictNumber,
  bounds: "number",
  fromOther: asItIs,
  fromCell: trimmedCell(asItIs),
  cellForm: () => ({ words: "Number", format: null, width: 12 }),
  hasWords: false,
  fromFilter: typedNumber,
  exportedAs: "number",

  isCompared: true,
  isAbove: isAboveByNature,
  isSorted: true,
  isGrouped: true,
  hasExtremes: true,
  arithmetic: {
    isExact: false,
    isWhole: false,
    digitsKept: doubleDigits,
    rangeOf: ({ isSingle }) => (isSingle ? singleRange : range),
    fromDigits: Number,
  },
  isJoined: true,
  hasText: true,
  fromMember: null,
  wordsOf: null,
  findsRows: true,

  isText: false,
  isInstant: false,
  isForeign: false,
  isFolded: false,
  takesNewId: false,
  isShownAsGiven: false,
};

/** The number; null for NaN and infinities, which JSON cannot say. */
export function showFloat(raw: string | number): number | null {
  const number = Number(raw);
  // Adding 0 turns -0 into 0.
  return Number.isFinite(number) ? number + 0 : null;
}

function acceptFloat(column: Column, value: unknown): Accepted {
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
