/** Whole numbers of any size, within the range of their column. */
import type { Column } from "./column.ts";
import { normalDecimal } from "./decimal.ts";
import type { JsonSchema } from "./json-schema.ts";
import { boundsOf, jsonNumber, strictNumber, typedNumber, wholeText } from "./numbers.ts";
import {
  type Accepted,
  accepted,
  asItIs,
  type CellForm,
  type Decimals,
  isAboveByNature,
  refused,
  trimmedCell,
  type TypeDefinition,
} from "./type-definition.ts";

export const integerType: TypeDefinition = {
  accept: acceptInteger,
  shownSchema: (column, decimals) =>
    column.isComputed === true || (decimals === "number" && isSafe(column))
      ? { type: "integer", ...boundsOf(rangeOf(column)) }
      : digitsToo(column),
  acceptedSchema: digitsToo,
  fromShown: (shown) => BigInt(String(shown)),

  ruleNames: ["integer"],
  strict: strictNumber,
  bounds: "number",
  // A boolean of a rule is stored as 1 or 0.
  fromOther: (sent, typed) => (typeof typed === "boolean" ? Number(typed) : sent),
  fromCell: trimmedCell(asItIs),
  cellForm: wholeNumberForm,
  hasWords: false,
  fromFilter: typedNumber,
  exportedAs: "number",

  isCompared: true,
  isAbove: isAboveByNature,
  isSorted: true,
  isGrouped: true,
  hasExtremes: true,
  arithmetic: { isExact: true, isWhole: true, digitsKept: null, rangeOf, fromDigits: BigInt },
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

/**
 * A number where it is a safe integer, else its digits. With `decimals` "string" always digits: engines ask for that
 * only for columns of more than 32 bits.
 */
export function showInteger(raw: string | number | bigint, decimals: Decimals): number | string {
  if (decimals === "string") return String(raw);
  const number = Number(raw);
  return Number.isSafeInteger(number) ? number + 0 : String(raw);
}

function acceptInteger({ range }: Column, value: unknown): Accepted {
  const integer = wholeNumber(value);
  if (integer === null) return refused("must be a whole number");
  return range !== null && (integer < range.min || integer > range.max)
    ? refused(`must be between ${range.min} and ${range.max}`)
    : accepted(integer);
}

const digitString = new RegExp(wholeText);

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

function rangeOf({ range }: Column): { min: string; max: string } | null {
  return range && { min: String(range.min), max: String(range.max) };
}

function wholeNumberForm(column: Column): CellForm {
  const { range } = column;
  const limits = range !== null && isSafe(column) ? ` from ${range.min} to ${range.max}` : "";
  return { words: `Whole number${limits}`, format: null, width: 12 };
}

const isSafe = ({ range }: Column): boolean =>
  range !== null &&
  range.min >= BigInt(Number.MIN_SAFE_INTEGER) &&
  range.max <= BigInt(Number.MAX_SAFE_INTEGER);

function digitsToo(column: Column): JsonSchema {
  return { type: ["integer", "string"], pattern: wholeText, ...boundsOf(rangeOf(column)) };
}
