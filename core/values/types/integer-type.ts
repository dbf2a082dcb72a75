/** Whole numbers of any size, within the range of their column. */
import type { Column } from "./column.ts";
import { normalDecimal } from "../decimal.ts";
import type { JsonSchema } from "../json-schema.ts";
import {
  acceptAnyNumber,
  anyNumberSchema,
  boundsOf,
  jsonNumber,
  numeric,
  wholeText,
} from "./numbers.ts";
import {
  type Accepted,
  accepted,
  type CellForm,
  type Decimals,
  defineType,
  type EdmType,
  refused,
} from "./type-definition.ts";

export const integerType = defineType(numeric, {
  accept: acceptInteger,
  shownSchema: (column, decimals) =>
    column.isSampled
      ? anyNumberSchema
      : column.isComputed === true || (decimals === "number" && isSafe(column))
        ? { type: "integer", ...boundsOf(rangeOf(column)) }
        : digitsToo(column),
  acceptedSchema: (column) => (column.isSampled ? anyNumberSchema : digitsToo(column)),
  fromShown: (shown) => BigInt(String(shown)),
  ruleNames: ["integer"],
  edmType,
  // A boolean of a rule is stored as 1 or 0.
  fromOther: (sent, typed) => (typeof typed === "boolean" ? Number(typed) : sent),
  cellForm: wholeNumberForm,
  arithmetic: { isExact: true, isWhole: true, digitsKept: null, rangeOf, fromDigits: BigInt },
});

/**
 * A number where it is a safe integer, else its digits. With `decimals` "string" always digits: engines ask for that
 * only for columns of more than 32 bits.
 */
export function showInteger(raw: string | number | bigint, decimals: Decimals): number | string {
  if (decimals === "string") return String(raw);
  const number = Number(raw);
  return Number.isSafeInteger(number) ? number + 0 : String(raw);
}

function acceptInteger({ range, isSampled }: Column, value: unknown): Accepted {
  if (isSampled) return acceptAnyNumber(value);
  const integer = wholeNumber(value);
  if (integer === null) return refused("must be a whole number");
  return range !== null && (integer < range.min || integer > range.max)
    ? refused(`must be between ${range.min} and ${range.max}`)
    : accepted(integer);
}

const digitString = new RegExp(wholeText);

function wholeNumber(value: unknown): bigint | null {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  // String(1e23) is the number that was sent, BigInt(1e23) the value of the double: the former is stored.
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

/** The smallest type that holds the whole range. */
function edmType({ range, isSampled }: Column): EdmType {
  if (isSampled) return { name: "Edm.Decimal", facets: { Scale: "variable" } };
  const bits = [16, 32, 64].find((count) => range === null || fits(range, count));
  if (range === null || bits === 64) return { name: "Edm.Int64", facets: {} };
  if (bits !== undefined) return { name: `Edm.Int${bits}`, facets: {} };
  return { name: "Edm.Decimal", facets: { Precision: String(`${range.max}`.length), Scale: "0" } };
}

const fits = ({ min, max }: NonNullable<Column["range"]>, bits: number): boolean =>
  min === BigInt.asIntN(bits, min) && max === BigInt.asIntN(bits, max);

const isSafe = ({ range }: Column): boolean =>
  range !== null &&
  range.min >= BigInt(Number.MIN_SAFE_INTEGER) &&
  range.max <= BigInt(Number.MAX_SAFE_INTEGER);

const digitsToo = (column: Column): JsonSchema => ({
  type: ["integer", "string"],
  pattern: wholeText,
  ...boundsOf(rangeOf(column)),
});
