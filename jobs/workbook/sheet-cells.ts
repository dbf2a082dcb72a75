/**
 * A cell as a plain value: texts of every kind joined, results of formulas, dates as ISO texts. Numbers keep the
 * stored value: a double as a number, longer digits as their text.
 */
import { InvalidWorkbook } from "./invalid-workbook.ts";
import type { DateStyles } from "./date-styles.ts";
import { readTimestamp } from "../../core/values/formats.ts";
import { dateOfSerial } from "./serial-date.ts";
import { ownText } from "./shared-strings.ts";
import { unescapeText } from "./sheet-text.ts";

/** A cell without a value: what Excel shows there, such as `#DIV/0!`, or that a formula has no result in the file. */
export interface CellError {
  readonly error: string;
}

/**
 * A date is `YYYY-MM-DD`, or ISO 8601 in UTC if its format shows a time or its value has one; a time of day is
 * `HH:mm:ss`. A number that a double would change is a text of digits.
 */
export type CellValue = string | number | boolean | CellError | null;

/** A cell as its tags contain it. */
export interface RawCell {
  reference: string;
  type: string;
  /** 0 where none is named. */
  style: number;
  hasFormula: boolean;
  /** The text of `v`; null without one. */
  value: string | null;
  /** The text of `is`; null without one. */
  inline: string | null;
}

/** What a cell refers to. */
export interface CellContext {
  readonly strings: readonly string[];
  readonly dateStyles: DateStyles;
  readonly is1904: boolean;
}

/** Throws `InvalidWorkbook` when the cell is inconsistent. */
export function cellValue(cell: RawCell, context: CellContext): CellValue {
  const { type, value } = cell;
  if (cell.inline !== null && (type === "inlineStr" || value === null))
    return ownText(unescapeText(cell.inline));
  if (value === null || (value === "" && type !== "str"))
    return cell.hasFormula && type !== "str" ? { error: "a formula without a result" } : null;
  switch (type) {
    case "":
    case "n":
      return numberValue(cell, value, context);
    case "s":
      return sharedString(cell, value, context.strings);
    case "str":
    case "inlineStr":
      return ownText(unescapeText(value));
    case "b":
      return value === "1" || value === "true";
    case "e":
      return { error: value.slice(0, 100) };
    case "d":
      return isoDate(value);
    default:
      throw fault(cell, "has an unknown type");
  }
}

function sharedString(cell: RawCell, value: string, strings: readonly string[]): string {
  const text = /^\d+$/.test(value) ? strings[Number(value)] : undefined;
  if (text === undefined) throw fault(cell, "refers to a text that is not in the file");
  return text;
}

/** Digits that a double prints at most: texts with more were not written from one. */
const doubleDigits = 17;
const numberText = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,5})?$/;

function numberValue(cell: RawCell, value: string, context: CellContext): CellValue {
  const text = value.trim();
  const number = Number(text);
  if (!numberText.test(text) || !Number.isFinite(number)) throw fault(cell, "is not a number");
  const kind = context.dateStyles[cell.style] ?? null;
  if (kind !== null) {
    const date = dateOfSerial(number, { kind, is1904: context.is1904 });
    if (date !== null) return date;
  }
  return isKeptByDouble(text, number) ? number + 0 : text;
}

function isKeptByDouble(text: string, number: number): boolean {
  if (text.length <= 15) return true;
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(number);
  const digits = text
    .replace(/[eE].*/, "")
    .replace(/\D/g, "")
    .replace(/^0+/, "");
  return digits.length <= doubleDigits;
}

/** Cells that contain a date as a text; other values stay as they are. */
function isoDate(value: string): string {
  const iso = readTimestamp(value)?.iso;
  if (iso === undefined) return ownText(value);
  return iso.endsWith("T00:00:00.000Z") ? iso.slice(0, 10) : iso;
}

const fault = (cell: RawCell, what: string): InvalidWorkbook =>
  new InvalidWorkbook(`Cell ${cell.reference.slice(0, 20) || "without a name"} ${what}`);
