/** Filters of single columns: turns typed text into conditions of `where`. */
import { isNumber, readDay } from "./format.js";
import { parseJson } from "./json.js";
import { readNumber, writeNumber } from "./numbers.js";
import { t } from "./words.js";

/** @import { Condition, Field } from "./types.d.ts" */

/** A text that matches itself in LIKE. @param {string} text */
const literal = (text) => text.replaceAll(/[\\%_]/g, "\\$&");

/** @param {string} key @param {string} text @returns {Condition} */
export const contains = (key, text) => ({
  key,
  operator: "LIKE",
  value: `%${literal(text)}%`,
  sensitive: false,
});

/** An example of a filter for this field, shown in the empty input. @param {Field} field */
export function hintFor(field) {
  if (isNumber(field)) return t("filter.numberHint");
  if (isDate(field)) return t("filter.dateHint");
  if (field.type === "time") return t("filter.timeHint");
  if (field.type === "uuid") return "";
  return t("filter.textHint");
}

/** Why a filter of this field is not understood. @param {Field} field */
export function faultFor(field) {
  if (isNumber(field)) return t("filter.numberFault");
  if (field.type === "uuid") return t("filter.uuidFault");
  if (field.type === "time") return t("filter.timeFault");
  return t("filter.dateFault");
}

const isDate = (/** @type {Field} */ { type }) => type === "date" || type === "timestamp";

/**
 * A filter as addresses keep it, which people of another language can open: `> 1.234,5` is `> 1234.5`. Null: the text is
 * not complete or not valid.
 * @param {Field} field @param {string} text
 */
export function keptFilter(field, text) {
  const readPart = isNumber(field) ? readNumber : isDate(field) ? readPeriod : null;
  const kept = readPart && !field.references ? inParts(text, readPart) : text.trim();
  return kept !== null && conditionsOf(field, kept) ? kept : null;
}

/** A kept filter as people of this language write it. @param {Field} field @param {string} kept */
export const shownFilter = (field, kept) =>
  (isNumber(field) && !field.references && inParts(kept, numberShown)) || kept;

const numberShown = (/** @type {string} */ part) => numberRange(part) && writeNumber(part);

/** @param {string} text @param {(part: string) => string | null} change */
function inParts(text, change) {
  if (/^\s*[-–]?\s*$/.test(text)) return text.trim();
  const [, operator = "", operand = ""] = operatorPattern.exec(text.trim()) ?? [];
  const parts = operand.split("..").map((part) => change(part.trim()));
  return parts.includes(null) ? null : (operator && `${operator} `) + parts.join("..");
}

/** A day or month of this language as an ISO date; others stay. @param {string} text */
function readPeriod(text) {
  const [, month, year] = /^(\d{1,2})[./](\d{4})$/.exec(text) ?? [];
  return month ? `${year}-${month.padStart(2, "0")}` : (readDay(text) ?? text);
}

const operatorPattern = /^(>=|<=|>|<|=)?\s*(.*)$/;

/**
 * The conditions of a kept filter. `–` finds empty fields. Null: the text is not complete or not valid.
 * @param {Field} field @param {string} text @returns {Condition[] | null}
 */
export function conditionsOf({ name: key, type, references }, text) {
  const asked = text.trim();
  if (asked === "") return [];
  if (asked === "-" || asked === "–") return [{ key, operator: "IS NULL" }];
  if (type === "boolean") return [{ key, operator: "=", value: asked === "true" }];
  if (references) return [{ key, operator: "=", value: asked }];
  if (isNumber({ type })) return ranged(key, asked, numberRange);
  if (type === "date") return ranged(key, asked, dateRange);
  if (type === "timestamp") return ranged(key, asked, momentRange);
  if (type === "time") return ranged(key, asked, timeRange);
  if (type === "uuid") {
    const value = asked.replace(/^=\s*/, "");
    return uuid.test(value) ? [{ key, operator: "=", value }] : null;
  }
  if (type === "array") return [{ key, operator: "CONTAINS", value: asked }];
  if (type === "json") return [{ key, operator: "CONTAINS", value: elementIn(asked) }];
  if (asked.startsWith("=")) {
    const values = asked
      .slice(1)
      .split("|=")
      .map((one) => one.trim());
    return [
      values.length > 1
        ? { key, operator: "IN", value: values }
        : { key, operator: "=", value: values[0] },
    ];
  }
  return [contains(key, asked)];
}

/** A number, `true`, `false`, a text in quotes or an object, as JSON writes them; else the text. @param {string} text */
function elementIn(text) {
  try {
    const value = parseJson(text);
    return value === null || Array.isArray(value) ? text : value;
  } catch {
    return text;
  }
}

/** The filter that says a condition of a view. @param {Condition} condition @param {Field | undefined} field */
export function filterText({ operator, value }, field) {
  if (operator === "IS NULL") return "-";
  if (operator === "BETWEEN") return /** @type {unknown[]} */ (value).join("..");
  if (operator !== "=") return `${operator} ${value}`;
  return field?.type === "boolean" || field?.references ? String(value) : `=${value}`;
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const time = /^-?\d{1,3}:[0-5]\d(:[0-5]\d(\.\d+)?)?$/;

/** The first and the last value that a text stands for. @typedef {{ from: string, to: string }} Closed */
/** The last value, or the first one after it. @typedef {Closed | { from: string, next: string }} Range */

/** @param {string} key @param {string} text @param {(part: string) => Range | null} rangeOf @returns {Condition[] | null} */
function ranged(key, text, rangeOf) {
  const [, sent = "", operand = ""] = operatorPattern.exec(text) ?? [];
  const [first = "", last] = operand.split("..");
  const start = rangeOf(first.trim());
  const end = last === undefined ? start : rangeOf(last.trim());
  if (!start || !end) return null;
  const compared = (/** @type {string} */ operator, /** @type {string} */ value) => [
    { key, operator, value },
  ];
  const isClosed = "to" in end;
  const edge = isClosed ? end.to : end.next;
  const operator = last === undefined ? sent : "";
  if (operator === ">=" || operator === "<") return compared(operator, start.from);
  if (operator === ">") return compared(isClosed ? ">" : ">=", edge);
  if (operator === "<=") return compared(isClosed ? "<=" : "<", edge);
  if (!isClosed) return [...compared(">=", start.from), ...compared("<", edge)];
  if (start.from === edge) return compared("=", edge);
  return [{ key, operator: "BETWEEN", value: [start.from, edge] }];
}

/** As JSON has it, or else as this language writes it, for addresses that people typed. @param {string} text @returns {Closed | null} */
function numberRange(text) {
  const isPlain = (/** @type {string | null} */ one) => /^-?\d+(\.\d+)?$/.test(one ?? "");
  const number = isPlain(text) ? text : readNumber(text);
  return number !== null && isPlain(number) ? { from: number, to: number } : null;
}

/** `2026`, `2026-03` and `2026-03-14`. @param {string} text @returns {Closed | null} */
function dateRange(text) {
  const [, year, month, day] = /^(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?$/.exec(text) ?? [];
  if (year === undefined) return null;
  const two = (/** @type {string | number} */ part) => String(part).padStart(2, "0");
  if (Number(year) === 0) return null;
  if (month === undefined) return { from: `${year}-01-01`, to: `${year}-12-31` };
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const isDay = day === undefined || (Number(day) >= 1 && Number(day) <= days);
  if (Number(month) < 1 || Number(month) > 12 || !isDay) return null;
  const start = `${year}-${two(month)}`;
  if (day !== undefined) return { from: `${start}-${two(day)}`, to: `${start}-${two(day)}` };
  return { from: `${start}-01`, to: `${start}-${two(days)}` };
}

/** @param {string} text @returns {Range | null} */
const timeRange = (text) => (time.test(text) ? { from: text, to: text } : null);

const lastMoment = new Date("9999-12-31T23:59:59.999Z");

/** The days of the browser's own time zone. Databases keep more digits of a second than a browser. @param {string} text @returns {Range | null} */
function momentRange(text) {
  const days = dateRange(text);
  if (!days) return null;
  const [from, next] = [new Date(`${days.from}T00:00:00`), new Date(`${days.to}T00:00:00`)];
  next.setDate(next.getDate() + 1);
  if (Number.isNaN(from.getTime()) || Number.isNaN(next.getTime())) return null;
  return { from: from.toISOString(), next: (next < lastMoment ? next : lastMoment).toISOString() };
}
