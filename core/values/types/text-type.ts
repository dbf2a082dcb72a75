/** Values of `text` columns. Enumerated types are texts with labels. */
import type { Column } from "./column.ts";
import { ExactNumber } from "../json.ts";
import type { JsonSchema } from "../json-schema.ts";
import type { Scalar } from "../scalar.ts";
import { hasAbove, isLonger, textFault, utf8Length } from "../text.ts";
import {
  type Accepted,
  accepted,
  type CellForm,
  defineType,
  type FilledCell,
  lengthFacet,
  refused,
  textFormat,
  usual,
} from "./type-definition.ts";

export const textType = defineType(usual, {
  accept: acceptText,
  shownSchema: (column) => ({ type: "string", ...limitsOf(column) }),
  acceptedSchema: (column) => ({ type: ["string", "number"], ...limitsOf(column) }),
  edmType: ({ lengthMax }) => ({ name: "Edm.String", facets: lengthFacet(lengthMax) }),
  ruleNames: ["string", "text"],
  strict: { jsonType: "string", holds: (value) => typeof value === "string", expected: "text" },
  fromOther: textOfOther,
  fromCell: textOfCell,
  cellForm: textForm,
  isText: true,
  isFolded: true,
  takesNewId: true,
  isShownAsGiven: true,
});

/** The text, or a number as its digits, within the column's limits and labels. */
export function acceptText(column: Column, value: unknown): Accepted {
  const text = typeof value === "string" ? value : plainDigits(value);
  if (text === null) return refused("must be text");
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
  if (column.fixedLength && text.endsWith(" ")) return refused("must not end with a space");
  if (column.codePointMax !== undefined && hasAbove(text, column.codePointMax))
    return refused("has characters that the column cannot hold");
  return accepted(text);
}

/** The digits of a number that has one obvious spelling; null for everything else. */
function plainDigits(value: unknown): string | null {
  if (value instanceof ExactNumber) return /[eE]/.test(value.source) ? null : value.source;
  if (typeof value !== "number") return null;
  const digits = String(value);
  return Number.isFinite(value) && !digits.includes("e") ? digits : null;
}

/** A number or boolean that a rule asked for becomes its text; a text is stored exactly as it was sent. */
export function textOfOther(sent: unknown, typed: Scalar): string {
  return typeof sent === "string" ? sent : String(typed);
}

/** The text that Excel shows of the cell, with its blanks. */
export function textOfCell(cell: FilledCell): FilledCell {
  if (typeof cell === "boolean") return cell ? "TRUE" : "FALSE";
  return typeof cell === "number" ? digitsOf(cell) : cell;
}

function textForm({ lengthMax, bytesMax, labels }: Column): CellForm {
  const width = Math.min(lengthMax ?? bytesMax ?? usualTextLength, usualTextLength);
  const words =
    labels !== null
      ? `One of: ${labels.join(", ")}`
      : lengthMax !== null
        ? `Text of at most ${lengthMax} characters`
        : bytesMax !== null
          ? `Text of at most ${bytesMax} bytes`
          : "Text";
  return { words, format: textFormat, width };
}

const usualTextLength = 24;

/** All digits of a whole number; other numbers may have an exponent, which no text column accepts. */
const digitsOf = (value: number): string =>
  Number.isSafeInteger(value) || !Number.isInteger(value)
    ? String(value)
    : BigInt(value).toString();

/** A character has one byte at least, so a limit of bytes is one of characters too. */
function limitsOf({ lengthMax, bytesMax, labels }: Column): JsonSchema {
  if (labels !== null) return { enum: labels };
  const max = Math.min(lengthMax ?? Infinity, bytesMax ?? Infinity);
  return Number.isFinite(max) ? { maxLength: max } : {};
}
