/**
 * Rows of an answer as a figure: categories along an axis, and one series of values or several. Times, bins and parts of
 * dates are sorted; empty spans between them are added.
 */
import { labelText, textOf } from "../format.js";
import { locale, t } from "../words.js";

/** @import { AnswerColumn, Row } from "../types.d.ts" */

/** `place`: of a time between the first and the last one, from 0 to 1. @typedef {{ key: unknown, label: string, place?: number }} Category */
/** `values`: one for each category; null where there is none. @typedef {{ name: string, values: (number | null)[] }} Series */

/**
 * @typedef {object} Figure
 * @property {Category[]} categories
 * @property {Series[]} series
 * @property {boolean} isOrdered the categories have an order of their own: times and numbers
 * @property {string[]} notes what it does not show
 */

/**
 * @typedef {object} Shape
 * @property {AnswerColumn} x
 * @property {AnswerColumn | null} split its values are the series; null: the columns of values are
 * @property {AnswerColumn[]} values
 * @property {number} categoriesMax the latest or largest ones are shown
 * @property {boolean} isAdditive whether values of two groups may be added up
 * @property {(column: AnswerColumn, key: unknown) => string | Promise<string>} [labelFor] absent: as lists show the value
 */

/** More series cannot be told apart. */
const seriesMax = 8;
/** Spans of time that are added between the first and the last one, at most. */
const addedMax = 2_000;

const spans = ["year", "quarter", "month", "week", "day", "hour"];
const parts = ["month", "weekday", "day", "hour"];

/** @param {AnswerColumn} column */
export const isTime = ({ type, by }) =>
  (by === null && (type === "date" || type === "timestamp")) || isSpan({ type, by });

/** @param {Pick<AnswerColumn, "type" | "by">} column */
const isSpan = ({ type, by }) => by !== null && spans.includes(by) && type !== "integer";

/** @param {AnswerColumn} column */
const isPart = ({ type, by }) => by !== null && parts.includes(by) && type === "integer";

/** @param {AnswerColumn} column */
const isOrdered = (column) => isTime(column) || column.by !== null;

/** @param {readonly Row[]} rows flat ones @param {Shape} shape @returns {Promise<Figure>} */
export async function figureOf(
  rows,
  { x, split, values, categoriesMax, isAdditive, labelFor = labelOfKey },
) {
  const hasAxis = isOrdered(x);
  const without = isTime(x) ? rows.filter((row) => row[x.name] === null).length : 0;
  const byKey = Map.groupBy(isTime(x) ? rows.filter((row) => row[x.name] !== null) : rows, (row) =>
    String(row[x.name]),
  );
  const all = hasAxis
    ? ordered(
        [...byKey.values()].map(([row]) => row?.[x.name]),
        x,
      )
    : [...byKey.values()].map(([row]) => row?.[x.name]);
  const weight = (/** @type {unknown} */ key) =>
    (byKey.get(String(key)) ?? []).reduce(
      (sum, row) => sum + Math.abs(Number(row[values[0]?.name ?? ""])),
      0,
    );
  const sorted = hasAxis || !split ? all : all.toSorted((a, b) => weight(b) - weight(a));
  const keys = hasAxis ? sorted.slice(-categoriesMax) : sorted.slice(0, categoriesMax);
  const series = split
    ? await seriesBy(split, {
        rows,
        keys,
        x,
        value: /** @type {AnswerColumn} */ (values[0]),
        isAdditive,
        labelFor,
      })
    : values.map((column) => ({
        name: headingOf(column),
        values: keys.map((key) => numberOf(byKey.get(String(key))?.[0]?.[column.name])),
      }));
  const labels = await Promise.all(keys.map((key) => labelFor(x, key)));
  const shown = series.slice(0, seriesMax);
  const notes = [
    keys.length < all.length &&
      t(hasAxis ? "chart.latest" : "chart.largest", { count: categoriesMax }),
    shown.length < series.length &&
      t("chart.largestParts", { count: seriesMax, total: series.length }),
    without > 0 && t("chart.without", { field: headingOf(x) }),
  ];
  return {
    categories: placed(keys, labels, x),
    series: shown,
    isOrdered: hasAxis,
    notes: notes.filter((note) => note !== false),
  };
}

/**
 * The values of the second group, the largest first. What is too much becomes one series, if values can be added up.
 * @param {AnswerColumn} split
 * @param {Pick<Shape, "x" | "isAdditive"> & { rows: readonly Row[], keys: readonly unknown[], value: AnswerColumn, labelFor: NonNullable<Shape["labelFor"]> }} parts
 * @returns {Promise<Series[]>}
 */
async function seriesBy(split, { rows, keys, x, value, isAdditive, labelFor }) {
  const places = new Map(keys.map((key, at) => [String(key), at]));
  const found = [...Map.groupBy(rows, (row) => String(row[split.name])).values()].map((own) => {
    /** @type {(number | null)[]} */
    const values = keys.map(() => null);
    for (const row of own) {
      const at = places.get(String(row[x.name]));
      if (at !== undefined) values[at] = numberOf(row[value.name]);
    }
    const size = values.reduce((/** @type {number} */ sum, one) => sum + Math.abs(one ?? 0), 0);
    return { key: own[0]?.[split.name], values, size };
  });
  const sorted = found.filter(({ values }) => values.some((one) => one !== null));
  sorted.sort((a, b) => b.size - a.size);
  const isFolded = isAdditive && sorted.length > seriesMax;
  const own = isFolded ? sorted.slice(0, seriesMax - 1) : sorted;
  const series = await Promise.all(
    own.map(async ({ key, values }) => ({ name: await labelFor(split, key), values })),
  );
  if (!isFolded) return series;
  const rest = sorted.slice(seriesMax - 1);
  const sums = keys.map((_, at) => rest.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  return [...series, { name: t("chart.others", { count: rest.length }), values: sums }];
}

/** @param {unknown} value */
const numberOf = (value) => (value === null || value === undefined ? null : Number(value));

/** In their order, with the empty spans between them. @param {unknown[]} keys @param {AnswerColumn} x */
function ordered(keys, x) {
  if (!isTime(x)) return bins(keys, x);
  const times = keys.toSorted((a, b) => Date.parse(String(a)) - Date.parse(String(b)));
  if (x.by === null || times.length < 2) return times;
  const known = new Map(times.map((key) => [Date.parse(String(key)), key]));
  const last = Date.parse(String(times.at(-1)));
  const filled = [];
  for (let at = Date.parse(String(times[0])); at <= last; at = afterSpan(at, x.by)) {
    if (filled.length > addedMax) return times;
    filled.push(known.get(at) ?? (x.by === "hour" ? new Date(at).toISOString() : dayOf(at)));
    known.delete(at);
  }
  // An hour can begin at any minute where the clocks are changed.
  return known.size === 0 ? filled : times;
}

/** Parts of dates, or bins with the empty ones between them. @param {unknown[]} keys @param {AnswerColumn} x */
function bins(keys, x) {
  const numbers = keys.filter((key) => key !== null).toSorted((a, b) => Number(a) - Number(b));
  const none = keys.filter((key) => key === null);
  const [first, last] = [Number(numbers[0]), Number(numbers.at(-1))];
  const width = Number(x.by);
  const count = Math.round((last - first) / width) + 1;
  if (isPart(x) || !(count <= addedMax)) return [...none, ...numbers];
  const known = new Map(numbers.map((key) => [Number(key), key]));
  const all = Array.from({ length: count }, (_, at) => exact(first + at * width));
  return [...none, ...all.map((key) => known.get(key) ?? key)];
}

/** Without the digits that binary sums add. @param {number} sum */
const exact = (sum) => Number(sum.toPrecision(15));

/** @param {number} at */
const dayOf = (at) => new Date(at).toISOString().slice(0, 10);

const monthsIn = new Map([
  ["year", 12],
  ["quarter", 3],
]);

/** @param {number} at @param {string} span */
function afterSpan(at, span) {
  const date = new Date(at);
  if (span === "hour") return at + 3_600_000;
  if (span === "day") date.setUTCDate(date.getUTCDate() + 1);
  else if (span === "week") date.setUTCDate(date.getUTCDate() + 7);
  else date.setUTCMonth(date.getUTCMonth() + (monthsIn.get(span) ?? 1));
  return date.getTime();
}

/** @param {readonly unknown[]} keys @param {readonly string[]} labels @param {AnswerColumn} x @returns {Category[]} */
function placed(keys, labels, x) {
  const times = isTime(x) ? keys.map((key) => Date.parse(String(key))) : [];
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  return keys.map((key, at) => ({
    key,
    label: labels[at] ?? "",
    ...(last > first && { place: ((times[at] ?? 0) - first) / (last - first) }),
  }));
}

/** @param {AnswerColumn} column */
export const headingOf = ({ label, name }) =>
  label ?? labelText(name.replaceAll(".", "_").toLowerCase());

/** @param {Intl.DateTimeFormatOptions} options */
const inUtc = (options) => new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options });
const months = inUtc({ month: "short", year: "numeric" });
const monthNames = inUtc({ month: "long" });
const weekdays = inUtc({ weekday: "long" });

/** @param {Date} at */
const quarterOf = (at) =>
  t("chart.quarter", {
    quarter: Math.floor(at.getUTCMonth() / 3) + 1,
    year: String(at.getUTCFullYear()),
  });

/** A group as people write it. @param {AnswerColumn} column @param {unknown} key @returns {string} */
export function labelOfKey(column, key) {
  if (key === null || key === undefined) return t("chart.noValue");
  const { type, by, scale } = column;
  const text = String(key);
  if (isPart(column)) return labelOfPart(by, Number(text));
  if (isSpan(column)) {
    const at = new Date(text);
    if (by === "year") return text.slice(0, 4);
    if (by === "quarter") return quarterOf(at);
    if (by === "month") return months.format(at);
    return textOf(key, { type: by === "hour" ? "timestamp" : "date" });
  }
  if (by !== null)
    return `${textOf(key, { type })} – ${textOf(exact(Number(text) + Number(by)), { type })}`;
  return textOf(key, { type, ...(scale !== null && { scale }) }) || t("chart.emptyText");
}

/** @param {string | null} part @param {number} value */
function labelOfPart(part, value) {
  if (part === "month") return monthNames.format(Date.UTC(2024, value - 1));
  // The first of January 2024 was a Monday.
  if (part === "weekday") return weekdays.format(Date.UTC(2024, 0, value));
  return part === "hour" ? `${value}:00` : String(value);
}
