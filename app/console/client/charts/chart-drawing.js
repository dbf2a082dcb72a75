/** Figures as SVG, without inline styles, which the page does not allow: bars of names, columns and lines along an axis. */
import { h, s } from "../dom.js";
import { locale } from "../words.js";

/** @import { Figure } from "./figures.js" */

/**
 * @typedef {object} Frame
 * @property {string} title for people who cannot see it
 * @property {number} width in pixels
 * @property {(value: number) => string} write a value with all of its digits and its unit
 */

const letterWidth = 7;
/** Of an axis, and of the text below it, in pixels. */
const axisHeight = 30;
const plotHeight = 260;

const short = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });

/** The chart and what its colours mean. @param {Figure} figure @param {Frame & { isLine: boolean }} frame */
export const drawn = (figure, { isLine, ...frame }) => [
  isLine || figure.isOrdered ? alongAxis(figure, { ...frame, isLine }) : barsOfNames(figure, frame),
  figure.series.length > 1 && legendOf(figure),
];

/** @param {Figure} figure */
const legendOf = ({ series }) =>
  h(
    "ul.legend",
    series.map(({ name }, at) =>
      h(
        "li",
        { dir: "auto" },
        s(
          "svg",
          { viewBox: "0 0 10 10", class: "swatch", "aria-hidden": "true" },
          s("rect", { class: `mark ${colourOf(at)}`, width: 10, height: 10, rx: 2 }),
        ),
        name,
      ),
    ),
  );

/** @param {number} at the place of a series */
const colourOf = (at) => `series-${at + 1}`;

/** What a category has: its whole and its parts. @param {Figure} figure @param {number} at @param {Frame["write"]} write */
function describedAt({ categories, series }, at, write) {
  const label = categories[at]?.label ?? "";
  const parts = series.flatMap(({ name, values }) => {
    const value = values[at] ?? null;
    if (value === null) return [];
    return series.length > 1 ? [`${name} ${write(value)}`] : [write(value)];
  });
  return `${label}: ${parts.length > 0 ? parts.join(", ") : "–"}`;
}

/** The pieces of a stack: those above zero one after the other, and those below. @param {Figure} figure @param {number} at */
function stackAt({ series }, at) {
  let [above, below] = [0, 0];
  return series.flatMap(({ values }, place) => {
    const value = values[at] ?? null;
    if (value === null || value === 0) return [];
    const from = value > 0 ? above : below;
    if (value > 0) above += value;
    else below += value;
    return [{ place, from, to: from + value }];
  });
}

/** The smallest and the largest value that is drawn; zero is among them. @param {Figure} figure @param {boolean} isStacked */
function rangeOf(figure, isStacked) {
  const all = figure.categories.flatMap((_, at) =>
    isStacked
      ? stackAt(figure, at).map(({ to }) => to)
      : figure.series.map(({ values }) => values[at] ?? 0),
  );
  return { least: Math.min(0, ...all), most: Math.max(0, ...all) };
}

/** Horizontal bars, for values that have names. @param {Figure} figure @param {Frame} frame */
function barsOfNames(figure, { title, width, write }) {
  const line = 30;
  const { categories, series } = figure;
  const longest = (/** @type {readonly string[]} */ texts) =>
    Math.max(...texts.map((text) => text.length)) * letterWidth + 20;
  const totals = categories.map((_, at) => {
    const values = series.flatMap(({ values }) => values[at] ?? []);
    return values.length > 0 ? write(values.reduce((one, other) => one + other)) : "–";
  });
  const start = Math.min(210, width * 0.38, longest(categories.map(({ label }) => label)));
  const end = width - Math.min(140, longest(totals));
  const { least, most } = rangeOf(figure, true);
  const x = (/** @type {number} */ value) =>
    start + ((value - least) / (most - least || 1)) * (end - start);
  return svg(
    { title, width, height: categories.length * line + 8 },
    categories.map(({ label }, at) => {
      const y = at * line + 6;
      const pieces = stackAt(figure, at);
      const far = Math.max(x(0), ...pieces.map(({ to }) => x(to)));
      return s(
        "g",
        { role: "listitem", "aria-label": describedAt(figure, at, write) },
        s("title", {}, describedAt(figure, at, write)),
        s(
          "text",
          { x: start - 10, y: y + 15, "text-anchor": "end" },
          clipped(label, Math.floor((start - 10) / letterWidth)),
        ),
        pieces.map(({ place, from, to }) =>
          s("rect", {
            class: `mark ${colourOf(place)}`,
            x: Math.min(x(from), x(to)),
            y,
            width: Math.max(1, Math.abs(x(to) - x(from))),
            height: 20,
            rx: pieces.length > 1 ? 0 : 3,
          }),
        ),
        s("text", { class: "value-text", x: far + 8, y: y + 15 }, totals[at]),
      );
    }),
  );
}

/** Lines, or columns that stack, along an axis. @param {Figure} figure @param {Frame & { isLine: boolean }} frame */
function alongAxis(figure, { title, width, write, isLine }) {
  const { categories } = figure;
  const { least, most } = rangeOf(figure, !isLine);
  const marks = marksBetween(least, most);
  const [low, high] = [marks[0] ?? 0, marks.at(-1) ?? 1];
  const written = marks.map((value) => short.format(value));
  const left = Math.max(...written.map((text) => text.length)) * letterWidth + 16;
  const [right, bottom] = [width - 12, 10 + plotHeight];
  const step = (right - left) / Math.max(1, categories.length - (isLine ? 1 : 0));
  const placeAt = (/** @type {number} */ at) => categories[at]?.place ?? null;
  const x = (/** @type {number} */ at) => {
    if (!isLine) return left + (at + 0.5) * step;
    return left + (placeAt(at) ?? at / Math.max(1, categories.length - 1)) * (right - left);
  };
  const y = (/** @type {number} */ value) =>
    bottom - ((value - low) / (high - low || 1)) * plotHeight;
  const plot = { figure, x, y, step, write };
  return svg({ title, width, height: bottom + axisHeight }, [
    marks.map((value, at) => [
      s("line", {
        class: value === 0 ? "rule base" : "rule",
        x1: left,
        x2: right,
        y1: y(value),
        y2: y(value),
      }),
      s("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, written[at]),
    ]),
    isLine ? lines(plot) : columns(plot),
    axisLabels(categories, { x, left, right, y: bottom + 20 }),
  ]);
}

/**
 * @typedef {object} Plot
 * @property {Figure} figure
 * @property {(at: number) => number} x the middle of a category
 * @property {(value: number) => number} y
 * @property {number} step the width of a category
 * @property {Frame["write"]} write
 */

/** @param {Plot} plot */
function columns({ figure, x, y, step, write }) {
  const width = Math.min(56, Math.max(1, step * 0.72));
  return figure.categories.map((_, at) =>
    s(
      "g",
      { role: "listitem", "aria-label": describedAt(figure, at, write) },
      s("title", {}, describedAt(figure, at, write)),
      stackAt(figure, at).map(({ place, from, to }) =>
        s("rect", {
          class: `mark ${colourOf(place)}`,
          x: x(at) - width / 2,
          y: Math.min(y(from), y(to)),
          width,
          height: Math.max(1, Math.abs(y(to) - y(from))),
        }),
      ),
    ),
  );
}

/** @param {Plot} plot */
function lines({ figure, x, y, write }) {
  const { categories, series } = figure;
  const radius = categories.length > 60 ? 1.5 : 3;
  const points = series.map(({ values }) =>
    categories.flatMap((_, at) => {
      const value = values[at] ?? null;
      return value === null ? [] : [{ at, x: x(at), y: y(value) }];
    }),
  );
  return [
    series.length === 1 && areaUnder(points[0] ?? [], y(0)),
    points.map((own, place) => s("path", { class: `stroke ${colourOf(place)}`, d: pathOf(own) })),
    categories.map((_, at) =>
      s(
        "g",
        { role: "listitem", "aria-label": describedAt(figure, at, write) },
        s("title", {}, describedAt(figure, at, write)),
        points.map((own, place) =>
          own
            .filter((one) => one.at === at)
            .map((one) =>
              s("circle", { class: `mark ${colourOf(place)}`, cx: one.x, cy: one.y, r: radius }),
            ),
        ),
      ),
    ),
  ];
}

/** A break where a category has no value. @param {readonly { at: number, x: number, y: number }[]} points */
const pathOf = (points) =>
  points
    .map(({ at, x, y }, index) => {
      const isNext = index > 0 && points[index - 1]?.at === at - 1;
      return `${isNext ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");

/** @param {readonly { at: number, x: number, y: number }[]} points @param {number} base */
function areaUnder(points, base) {
  const [first] = points;
  const last = points.at(-1);
  const isWhole = points.every(({ at }, index) => at === (first?.at ?? 0) + index);
  if (!first || !last || !isWhole) return null;
  const d = `${pathOf(points)}L${last.x.toFixed(1)} ${base.toFixed(1)}L${first.x.toFixed(1)} ${base.toFixed(1)}Z`;
  return s("path", { class: "area", d });
}

/**
 * As many as there is room for.
 * @param {Figure["categories"]} categories
 * @param {{ x: (at: number) => number, left: number, right: number, y: number }} axis
 */
function axisLabels(categories, { x, left, right, y }) {
  let free = 0;
  return categories.map(({ label }, at) => {
    const text = clipped(label, 16);
    const half = (text.length * letterWidth) / 2;
    // The first and the last one stay within the picture.
    const middle = Math.min(Math.max(x(at), left - 20 + half), right + 8 - half);
    if (middle - half < free) return null;
    free = middle + half + 14;
    return s("text", { class: "axis", x: middle, y, "text-anchor": "middle" }, text);
  });
}

/** Round values from below the least to above the most one. @param {number} least @param {number} most */
function marksBetween(least, most) {
  const rough = (most - least || 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((one) => one * power >= rough) ?? 10);
  const first = Math.floor(least / step);
  const last = Math.max(first + 1, Math.ceil(most / step));
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
}

/** @param {Pick<Frame, "title" | "width"> & { height: number }} frame @param {any} content */
const svg = ({ title, width, height }, content) =>
  s(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "list", "aria-label": title },
    content,
  );

/** @param {string} text @param {number} lengthMax */
const clipped = (text, lengthMax) =>
  text.length > lengthMax ? `${text.slice(0, Math.max(1, lengthMax - 1))}…` : text;
