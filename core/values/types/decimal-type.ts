/** Decimals: numbers that keep every digit. */
import type { Column } from "./column.ts";
import { compareDecimals, digitsFault, normalDecimal } from "../decimal.ts";
import type { JsonSchema } from "../json-schema.ts";
import type { Scalar } from "../scalar.ts";
import { showFloat } from "./float-type.ts";
import { boundsOf, decimalText, doubleDigits, jsonNumber, numberText, numeric } from "./numbers.ts";
import {
  type Accepted,
  accepted,
  asItIs,
  type CellForm,
  type Decimals,
  defineType,
  type EdmType,
  type FilledCell,
  refused,
  trimmedCell,
} from "./type-definition.ts";

export const decimalType = defineType(numeric, {
  accept: acceptDecimal,
  shownSchema,
  acceptedSchema: (column) => ({
    type: ["number", "string"],
    pattern: numberText,
    ...boundsOf(rangeOf(column)),
  }),
  edmType,
  ruleNames: ["decimal", "number"],
  fromCell: trimmedCell(withinScale),
  cellForm: decimalForm,
  isAbove: (left: Scalar, right: Scalar) => compareDecimals(String(left), String(right)) > 0,
  arithmetic: { isExact: true, isWhole: false, digitsKept: null, rangeOf, fromDigits: asItIs },
});

/** A number if it prints back to the same value, else canonical digits; null for NaN and infinities. */
export function showDecimal(raw: string | number, decimals: Decimals): number | string | null {
  const number = Number(raw);
  if (Number.isNaN(number)) return null;
  // A double preserves any fifteen digits.
  if (decimals === "number" && (typeof raw === "number" || raw.length <= doubleDigits))
    return showFloat(number);
  const digits = normalDecimal(String(raw));
  if (digits === null) return showFloat(number);
  if (decimals === "string") return digits;
  return normalDecimal(String(number)) === digits ? number + 0 : digits;
}

function acceptDecimal(column: Column, value: unknown): Accepted {
  const digits = typeof value === "string" ? normalDecimal(value) : jsonNumber(value);
  if (digits === null) return refused("must be a number");
  const fault = digitsFault(digits, column.precision, column.scale, column.digitsKept);
  return fault === null ? accepted(digits) : refused(fault);
}

function rangeOf({ precision, scale }: Column): { min: string; max: string } | null {
  if (precision === null || scale === null) return null;
  const whole = "9".repeat(Math.max(precision - scale, 0)) || "0";
  const max = scale > 0 ? `${whole}.${"9".repeat(scale)}` : whole;
  return { min: `-${max}`, max };
}

/** Digits, from the first that is not zero, of any value; null = no limit known. */
const digitsShown = ({ digitsKept, precision }: Column): number | null => digitsKept ?? precision;

/** CSDL has no scale that is negative or above the precision. */
function edmType(column: Column): EdmType {
  const { scale } = column;
  const precision = digitsShown(column);
  const isFixed = scale !== null && scale >= 0 && (precision === null || scale <= precision);
  return {
    name: "Edm.Decimal",
    facets: {
      ...(precision !== null && { Precision: String(precision) }),
      Scale: isFixed ? String(scale) : "variable",
    },
  };
}

function shownSchema(column: Column, decimals: Decimals): JsonSchema {
  if (decimals === "string") return { type: "string", pattern: decimalText };
  const digits = digitsShown(column);
  const isNumber = digits !== null && digits <= doubleDigits;
  const form: JsonSchema = isNumber
    ? { type: "number" }
    : { type: ["number", "string"], pattern: decimalText };
  return { ...form, ...boundsOf(rangeOf(column)) };
}

/** Digits after the decimal point that a format shows; if there are more, each value shows its own. */
const shownScaleMax = 4;

function decimalForm({ precision, scale }: Column): CellForm {
  if (scale === null) return { words: "Number", format: null, width: 14 };
  const isShown = scale > 0 && scale <= shownScaleMax;
  return {
    words:
      precision === null
        ? `Number of at most ${scale} digits after the decimal point`
        : `Number of at most ${precision - scale} digits before the decimal point and ${scale} behind it`,
    format: isShown ? `#,##0.${"0".repeat(scale)}` : null,
    width: 14,
  };
}

/** Excel calculates with 15 digits and stores 17: 0.1 + 0.2 is 0.30000000000000004 in the file. */
function withinScale(cell: FilledCell, { scale }: Column): FilledCell {
  if (scale === null || typeof cell !== "number") return cell;
  const unit = 10 ** scale;
  // For most numbers the digits need no check, which takes longer than everything else.
  if (Math.round(cell * unit) / unit === cell) return cell;
  const digits = /\.(\d+)$/.exec(String(cell))?.[1]?.length ?? 0;
  return digits > scale ? Number(cell.toPrecision(doubleDigits)) : cell;
}
