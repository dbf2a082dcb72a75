/** Values as people write them, in the language of the browser. */

import { jsonText } from "./json.js";
import { locale, t } from "./words.js";

/** @import { Field } from "./types.d.ts" */

/** Longer texts are cut in lists. */
const shownLengthMax = 160;

const dates = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 });

/** @type {Map<number, Intl.NumberFormat>} */
const scaled = new Map();

/** @param {number | undefined} scale */
function numbersOf(scale) {
  if (scale === undefined || scale > 8) return plain;
  const known =
    scaled.get(scale) ??
    new Intl.NumberFormat(locale, { minimumFractionDigits: scale, maximumFractionDigits: 20 });
  scaled.set(scale, known);
  return known;
}

/** @param {{ type: string }} field */
export const isNumber = ({ type }) => ["integer", "decimal", "float"].includes(type);

/** The whole text of a value; empty for null. @param {unknown} value @param {Pick<Field, "type" | "scale">} field */
export function textOf(value, { type, scale }) {
  if (value === null || value === undefined) return "";
  if (type === "boolean") return t(value ? "yes" : "no");
  if (isNumber({ type }) && (typeof value === "number" || typeof value === "string"))
    return numberText(value, scale);
  if (type === "date" && typeof value === "string") return dateText(value);
  if (type === "timestamp" && typeof value === "string") return momentText(value);
  if (type === "time" && typeof value === "string") return value.replace(/^(\d\d:\d\d):00$/, "$1");
  if (type === "file") return namesOf(value);
  return typeof value === "object" ? jsonText(value) : String(value);
}

/** Of files. @param {any} value */
const namesOf = (value) =>
  [value]
    .flat()
    .map((one) => one?.name ?? "")
    .join(", ");

/** @param {number | string} value @param {number | undefined} scale */
function numberText(value, scale) {
  // A text keeps digits that a number would lose.
  const text = numbersOf(scale).format(/** @type {any} */ (value));
  return text === "NaN" ? String(value) : text;
}

/** Digits that an average, or a quotient, shows beyond those of its column. */
const moreDigits = 2;

/** A result of a chart or a tile. @param {unknown} value @param {{ type: string, scale?: number | null }} column those that its values are of; without a scale, two digits */
export function figureText(value, { type, scale }) {
  const number = Number(value);
  const known = scale ?? (type === "integer" ? 0 : null);
  const shown = known ?? 2;
  const digits = Math.min(shown + (known === null ? 0 : moreDigits), 20);
  // Of a column without a scale, small values would be zeros.
  const isTiny = known === null && Math.abs(number) < 1;
  const rounded = Number(isTiny ? number.toPrecision(moreDigits + 1) : number.toFixed(digits));
  return textOf(rounded, { type: "decimal", scale: shown });
}

/** @param {string} value */
function dateText(value) {
  const at = new Date(`${value}T00:00:00Z`);
  return Number.isNaN(at.getTime()) ? value : dates.format(at);
}

/** @param {string} value */
function momentText(value) {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? value : moments.format(at);
}

/** For a cell of a list. @param {unknown} value @param {Pick<Field, "type" | "scale">} field */
export function shortText(value, field) {
  const text = textOf(value, field);
  return text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text;
}

/** A status or label as people write it: `on_hold` is "On hold". @param {string} value */
export const labelText = (value) =>
  /^[a-z\d]+([_-][a-z\d]+)*$/.test(value)
    ? value.charAt(0).toUpperCase() + value.slice(1).replaceAll(/[_-]/g, " ")
    : value;

/** With a capital letter and a full stop. @param {string} text */
export const sentence = (text) => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
};

/** `day`, `month` and `year` in the order of the browser's language. */
const dayParts = new Intl.DateTimeFormat(locale, { dateStyle: "short" })
  .formatToParts()
  .map(({ type }) => type)
  .filter((type) => type !== "literal");

/** A day as people type it, as `2026-03-14`; null: no such day. @param {string} text */
export function readDay(text) {
  const numbers = /^(\d+)\D{1,2}(\d+)\D{1,2}(\d+)\D?$/.exec(text)?.slice(1) ?? [];
  const names = (numbers[0]?.length ?? 0) > 2 ? ["year", "month", "day"] : dayParts;
  const part = (/** @type {string} */ name) => numbers[names.indexOf(name)] ?? "";
  const year = part("year").length === 2 ? `20${part("year")}` : part("year").padStart(4, "0");
  const day = `${year}-${part("month").padStart(2, "0")}-${part("day").padStart(2, "0")}`;
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day) ? day : null;
}
