/**
 * A value as the XML of a cell. Nothing ever becomes a formula: a text remains a text, whatever it begins with. Numbers
 * and dates that Excel would show changed (more than 15 digits, days before March 1900) are written as text.
 */
import type { Json } from "../../core/values/json.ts";
import { type DatePattern, parseDatePattern } from "./date-pattern.ts";
import { serialOf } from "./serial-date.ts";
import { cellLengthMax, cutText, escapeText } from "./sheet-text.ts";
import { type ColumnFormat, defaultPatterns, cellText } from "./table-column.ts";

/** How the cells of a column are written. */
export interface CellPlan {
  /** The number format, as Excel writes it; null for the usual one. */
  readonly code: string | null;
  /** The cell at `place` (the `r="A2"` and `s="1"` of its tag), for any value but null. */
  xml(value: Exclude<Json, null>, place: string): string;
}

/** `onCut` is called each time a text is cut. */
export function planCell(format: ColumnFormat | undefined, onCut: () => void): CellPlan {
  const textCell = (text: string, place: string): string => {
    if (text.length <= cellLengthMax) return textXml(text, place);
    onCut();
    return textXml(cutText(text), place);
  };
  const asItIs = (value: Exclude<Json, null>, place: string): string => {
    if (typeof value === "number") return numberXml(value, place);
    if (typeof value === "boolean") return booleanXml(value, place);
    return textCell(cellText(value), place);
  };
  switch (format?.type) {
    case undefined:
      return { code: null, xml: asItIs };
    case "text":
      return { code: null, xml: (value, place) => textCell(cellText(value), place) };
    case "boolean":
      return { code: null, xml: (value, place) => asItIs(labelOf(value, format), place) };
    case "number":
      return {
        code: numberCode(format.pattern),
        xml: (value, place) =>
          typeof value === "string" && isExactNumber(value)
            ? plainXml(value, place)
            : asItIs(value, place),
      };
    case "date":
    case "datetime": {
      const pattern = patternOf(format.type, format.pattern);
      return {
        code: pattern.excelCode,
        xml(value, place) {
          const serial = typeof value === "string" ? serialOf(value) : null;
          if (serial === null) return asItIs(value, place);
          return plainXml(String(pattern.hasTime ? serial : Math.floor(serial)), place);
        },
      };
    }
  }
}

/** Columns and expressions that mean true and false are numbers on some engines. */
const truths = new Map<Json, boolean>(
  [true, false].flatMap((is) =>
    [is, String(is), Number(is), String(Number(is))].map((value) => [value, is]),
  ),
);

/** The label of true or false; other values, and true and false without labels, as they are. */
export function labelOf(value: Exclude<Json, null>, format: ColumnFormat): Exclude<Json, null> {
  const is = truths.get(value);
  return (is === undefined ? null : is ? format.trueLabel : format.falseLabel) ?? value;
}

/** The pattern of a column of dates; the type's default where it has none, or one that shows no date. */
export function patternOf(type: "date" | "datetime", pattern: string | undefined): DatePattern {
  const parsed = pattern === undefined ? null : parseDatePattern(pattern);
  return parsed ?? parseDatePattern(defaultPatterns[type])!;
}

/** How many significant digits Excel keeps of a number. */
const digitsMax = 15;
const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** Excel reads numbers beyond them as damage or as zero. */
const sizeMax = 9.99e307;
const sizeMin = 2.3e-308;

/** Whether Excel keeps all digits of the text. */
function isExactNumber(text: string): boolean {
  if (!numberText.test(text)) return false;
  return text.length <= digitsMax || significantDigits(text) <= digitsMax;
}

const significantDigits = (text: string): number =>
  text.replace(/^-?[0.]*/, "").replace(".", "").length;

/** Whole numbers from here on lose digits. */
const roundedMin = 10 ** digitsMax;
/** Beyond them a number is printed with an exponent; the limits were measured. */
const wholeMax = 1e21;

/** The digits that answers show; but a whole number that Excel would round becomes a text. */
function numberXml(value: number, place: string): string {
  const size = Math.abs(value);
  const isRounded = size >= roundedMin && size < wholeMax && Number.isInteger(value);
  const isLost = size !== 0 && !(size >= sizeMin && size <= sizeMax);
  if (isRounded || isLost) return textXml(String(value), place);
  return plainXml(String(value + 0), place);
}

const plainXml = (digits: string, place: string): string => `<c${place}><v>${digits}</v></c>`;
const booleanXml = (value: boolean, place: string): string =>
  `<c${place} t="b"><v>${value ? 1 : 0}</v></c>`;

function textXml(text: string, place: string): string {
  const space = text.trim() === text ? "" : ' xml:space="preserve"';
  return `<c${place} t="inlineStr"><is><t${space}>${escapeText(text)}</t></is></c>`;
}

const codeLengthMax = 200;
const codeText =
  /^(?:[#0?,.%() $€£¥+/;-]|E[+-]0|"[^"]*"|\\[!-~]|\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow)\])+$/i;

/** The pattern, if Excel certainly accepts it: it treats a workbook with an unknown number format as damaged. */
function numberCode(pattern: string | undefined): string | null {
  if (pattern === undefined || pattern.length > codeLengthMax) return null;
  return codeText.test(pattern) && /[#0?]/.test(pattern) && pattern.split(";").length <= 4
    ? pattern
    : null;
}
