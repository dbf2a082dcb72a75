/** Bars and lines as SVG, without inline styles, which the page does not allow. */
import { s } from "./dom.js";

/** `place`: on a line over time, from 0 to 1. @typedef {{ label: string, value: number, text: string, place?: number | undefined }} Point */
/** @typedef {{ title: string, width: number }} ChartFrame the width in pixels */

const letterWidth = 7.5;
/** The width of a date below a line, with the space around it. */
const labelWidth = 112;

/** Horizontal bars, for values that have names. @param {readonly Point[]} points @param {ChartFrame} frame */
export function barChart(points, { title, width }) {
  const line = 30;
  const longest = (/** @type {readonly string[]} */ texts) =>
    Math.max(...texts.map((text) => text.length)) * letterWidth + 24;
  const start = Math.min(210, width * 0.4, longest(points.map(({ label }) => label)));
  const end = width - Math.min(130, longest(points.map(({ text }) => text)));
  const height = points.length * line + 12;
  const largest = Math.max(...points.map(({ value }) => Math.abs(value)), 0) || 1;
  return chart(
    { title, width, height },
    points.map(({ label, value, text }, at) => {
      const y = at * line + 8;
      const length = Math.max(2, (Math.abs(value) / largest) * (end - start));
      return s(
        "g",
        { role: "listitem", "aria-label": `${label}: ${text}` },
        s(
          "text",
          { x: start - 12, y: y + 15, "text-anchor": "end" },
          clipped(label, Math.floor((start - 12) / letterWidth)),
        ),
        s("rect", { class: "mark", x: start, y, width: length, height: 20, rx: 4 }),
        s("text", { class: "value-text", x: start + length + 10, y: y + 15 }, text),
      );
    }),
  );
}

/** A line over time. @param {readonly Point[]} points in their order @param {ChartFrame} frame @param {(value: number) => string} write */
export function lineChart(points, { title, width }, write) {
  const height = 340;
  const [left, right, top, bottom] = [90, width - 20, 16, height - 36];
  const largest = Math.max(...points.map(({ value }) => value), 0);
  const smallest = Math.min(...points.map(({ value }) => value), 0);
  const span = largest - smallest || 1;
  const x = (/** @type {number} */ at) =>
    left + (points[at]?.place ?? at / Math.max(1, points.length - 1)) * (right - left);
  const y = (/** @type {number} */ value) => bottom - ((value - smallest) / span) * (bottom - top);
  const path = points
    .map(({ value }, at) => `${at === 0 ? "M" : "L"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`)
    .join("");
  let free = 0;
  /** Leaves out labels that would overlap the one before. @param {number} at */
  const hasRoom = (at) => {
    if (x(at) < free) return false;
    free = x(at) + labelWidth;
    return true;
  };
  return chart({ title, width, height }, [
    [0, 0.25, 0.5, 0.75, 1].map((part) => {
      const value = smallest + part * span;
      return [
        s("line", { class: "rule", x1: left, x2: right, y1: y(value), y2: y(value) }),
        s("text", { x: left - 10, y: y(value) + 4, "text-anchor": "end" }, write(value)),
      ];
    }),
    s("path", { class: "area", d: `${path}L${x(points.length - 1)} ${bottom}L${left} ${bottom}Z` }),
    s("path", { class: "stroke", d: path }),
    points.map(({ label, value, text }, at) =>
      s(
        "g",
        { role: "listitem", "aria-label": `${label}: ${text}` },
        s(
          "circle",
          { class: "mark", cx: x(at), cy: y(value), r: points.length > 60 ? 1.5 : 3.5 },
          s("title", {}, `${label}: ${text}`),
        ),
        hasRoom(at) &&
          s(
            "text",
            { x: x(at), y: height - 12, "text-anchor": at === 0 ? "start" : "middle" },
            clipped(label, 14),
          ),
      ),
    ),
  ]);
}

/** @param {ChartFrame & { height: number }} frame @param {any} content */
const chart = ({ title, width, height }, content) =>
  s(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "list", "aria-label": title },
    content,
  );

/** @param {string} text @param {number} lengthMax */
const clipped = (text, lengthMax) =>
  text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
