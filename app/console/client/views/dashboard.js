/** The dashboard of a project: the answers to its requests as numbers, lines, bars and tables. */
import { ApiError, ask, post } from "../api.js";
import { drawn } from "../charts/chart-drawing.js";
import { figureOf, headingOf, labelOfKey } from "../charts/figures.js";
import { fill, h, iconButton } from "../dom.js";
import { figureText, isNumber, textOf } from "../format.js";
import { wordsOf } from "../model.js";
import { t, titled } from "../words.js";

/** @import { AnswerColumn, Row, Tile } from "../types.d.ts" */
/** @typedef {{ title: string, batch: { max_steps: number } | null, tiles: Tile[] }} Dashboard */
/** The body of an answer, or why there is none. @typedef {{ body: any } | { fault: string }} Answer */

const barsMax = 20;
const pointsMax = 2_000;
/** Columns that are narrower than this cannot be told apart, in pixels. */
const columnWidthMin = 6;

/** @type {import("../types.d.ts").View} */
export async function show(place, { parts: [project = ""] }) {
  const path = `api/${encodeURIComponent(project)}`;
  /** @type {{ body: Dashboard }} */
  const { body: dashboard } = await ask(`${path}/dashboard.json`, { quiet: true });
  document.title = titled(dashboard.title, wordsOf(project));
  const tiles = dashboard.tiles.map(frameOf);
  const asOf = h("p.as-of.quiet", { role: "status" });
  let redraw = () => {};

  async function load() {
    fill(asOf, t("dashboard.loading"));
    const answers = await answersTo(dashboard, path);
    const draw = () => tiles.map(({ draw }, at) => draw(/** @type {Answer} */ (answers[at])));
    redraw = () => void draw();
    await Promise.all(draw());
    fill(
      asOf,
      t("dashboard.asOf", { time: textOf(new Date().toISOString(), { type: "timestamp" }) }),
    );
  }

  fill(
    place,
    h(
      "div.head",
      h("h1", dashboard.title),
      h("span.grow"),
      iconButton("refresh", t("refresh"), { onclick: () => void load() }),
      iconButton("print", t("print"), { onclick: () => print() }),
      asOf,
    ),
    h("div.tiles", grouped(tiles)),
  );
  const unwatch = watchWidth(place, () => redraw());
  await load();
  return unwatch;
}

const printing = matchMedia("print");

/** On paper, in pixels: tiles are not laid out for it before they are drawn. */
const printedWidths = { wide: 700, half: 330 };

/**
 * Calls when the width of the element changes, and before and after it is printed, because charts are drawn for one width.
 * @param {HTMLElement} element @param {() => void} listener @returns {() => void} ends it
 */
function watchWidth(element, listener) {
  let width = element.clientWidth;
  const watch = new ResizeObserver(() => {
    if (element.clientWidth === width || printing.matches) return;
    width = element.clientWidth;
    listener();
  });
  watch.observe(element);
  printing.addEventListener("change", listener);
  return () => {
    watch.disconnect();
    printing.removeEventListener("change", listener);
  };
}

/** Numbers that follow each other share a row. @param {readonly Frame[]} tiles */
const grouped = (tiles) =>
  tiles.map(({ tile, element }, at) => {
    if (tile.show !== "number") return element;
    if (tiles[at - 1]?.tile.show === "number") return null;
    const next = tiles.findIndex((one, index) => index > at && one.tile.show !== "number");
    const row = tiles.slice(at, next < 0 ? undefined : next);
    return h(
      "div.numbers",
      row.map((one) => one.element),
    );
  });

/** All requests in one, where the project has batches. @param {Dashboard} dashboard @param {string} path @returns {Promise<Answer[]>} */
async function answersTo({ batch, tiles }, path) {
  if (batch === null) return Promise.all(tiles.map((tile) => answerTo(tile, path)));
  const answers = [];
  for (let at = 0; at < tiles.length; at += batch.max_steps)
    answers.push(batched(tiles.slice(at, at + batch.max_steps), path));
  return (await Promise.all(answers)).flat();
}

/** @param {readonly Tile[]} tiles @param {string} path @returns {Promise<Answer[]>} */
async function batched(tiles, path) {
  const steps = tiles.map(({ endpoint, action, body }) => ({ endpoint, action, body }));
  try {
    const { body } = await post(`${path}/_batch`, { independent: true, steps });
    return body.data.map((/** @type {{ status: number, body: any }} */ { status, body }) =>
      status === 200 ? { body } : { fault: new ApiError(status, body).message },
    );
  } catch (error) {
    return tiles.map(() => faultOf(error));
  }
}

/** @param {Tile} tile @param {string} path @returns {Promise<Answer>} */
const answerTo = ({ endpoint, action, body }, path) =>
  post(`${path}/${encodeURIComponent(endpoint)}/${action}`, body).catch(faultOf);

/** @param {unknown} error */
function faultOf(error) {
  if (!(error instanceof ApiError)) throw error;
  return { fault: error.message };
}

/** @typedef {{ tile: Tile, element: HTMLElement, draw: (answer: Answer) => Promise<void> }} Frame */

/** @param {Tile} tile @returns {Frame} */
function frameOf(tile) {
  const place = h("div.tile-body", h("p.quiet", "…"));
  return {
    tile,
    element: h(`section.tile${tile.wide ? ".wide" : ""}`, h("h2", tile.title), place),
    async draw(answer) {
      const content =
        "fault" in answer
          ? h("p.fault-text", answer.fault)
          : await contentOf(tile, flat(answer.body.data, tile), widthFor(tile, place));
      fill(place, content);
    },
  };
}

/** @param {Tile} tile @param {HTMLElement} place */
const widthFor = ({ wide }, place) =>
  printing.matches ? printedWidths[wide ? "wide" : "half"] : place.clientWidth;

/** Rows whose related records are members with the names of their paths. @param {Row | Row[]} data @param {Tile} tile @returns {Row[]} */
const flat = (data, { action, columns }) =>
  [data]
    .flat()
    .map((row) =>
      action === "aggregate"
        ? row
        : Object.fromEntries(columns.map(({ name }) => [name, valueAt(row, name)])),
    );

/** @param {Row} row @param {string} path */
function valueAt(row, path) {
  if (Object.hasOwn(row, path)) return row[path];
  /** @type {any} */
  let value = row;
  for (const name of path.split(".")) value = value?.[name];
  return value ?? null;
}

/** @param {Tile} tile @param {Row[]} rows @param {number} width in pixels */
async function contentOf(tile, rows, width) {
  if (tile.show === "number") return numbersOf(tile, rows[0] ?? {});
  if (rows.length === 0) return h("p.quiet", t("dashboard.empty"));
  if (tile.show === "table") return tableOf(tile, rows);
  const [x, split = null] = tile.columns.filter(({ role }) => role === "group");
  if (!x) return null;
  const values = tile.columns.filter(({ role }) => role === "value");
  const isLine = tile.show === "line";
  const figure = await figureOf(rows, {
    x,
    split,
    values,
    categoriesMax: isLine
      ? pointsMax
      : x.by === null
        ? barsMax
        : Math.floor(width / columnWidthMin),
    isAdditive: isAdditive(tile),
  });
  const write = (/** @type {number} */ value) => numberText(tile, value, values[0]);
  return [
    drawn(figure, { title: tile.title, width: Math.max(240, width), write, isLine }),
    figure.notes.map((note) => h("p.quiet", note)),
  ];
}

/** Whether values of several groups may be added up. @param {Tile} tile */
function isAdditive({ action, body }) {
  /** @type {any} */
  const operations = body["operations"] ?? [];
  const names = operations.map((/** @type {{ function: string }} */ one) => one.function);
  return (
    action === "aggregate" && names.every((/** @type {string} */ one) => /^(count|sum)$/.test(one))
  );
}

/** @param {Tile} tile @param {unknown} value @param {AnswerColumn} [column] */
function numberText({ unit }, value, column) {
  const text = figureText(value, column ?? { type: "decimal" });
  return unit ? `${text}\u00a0${unit}` : text;
}

/** @param {Tile} tile @param {Row} row */
const numbersOf = (tile, row) =>
  h(
    "dl.figures",
    tile.columns.map((column) => {
      const value = row[column.name] ?? null;
      const text =
        value === null
          ? "–"
          : isNumber(column)
            ? numberText(tile, value, column)
            : labelOfKey(column, value);
      return h(
        "div",
        h("dt", { class: tile.columns.length === 1 ? "unseen" : "" }, headingOf(column)),
        h("dd", { dir: "auto" }, text),
      );
    }),
  );

/** @param {Tile} tile @param {Row[]} rows */
const tableOf = (tile, rows) =>
  h(
    "div.tile-table",
    { tabindex: "0", role: "group", "aria-label": tile.title },
    h(
      "table",
      h(
        "thead",
        h(
          "tr",
          tile.columns.map((column) =>
            h("th", { scope: "col", class: isValue(column) ? "number" : "" }, headingOf(column)),
          ),
        ),
      ),
      h(
        "tbody",
        rows.map((row) =>
          h(
            "tr",
            tile.columns.map((column) => cellOf(tile, column, row)),
          ),
        ),
      ),
    ),
  );

/** @param {AnswerColumn} column */
const isValue = (column) => isNumber(column) && column.role !== "group";

/** @param {Tile} tile @param {AnswerColumn} column @param {Row} row */
function cellOf(tile, column, row) {
  const value = row[column.name] ?? null;
  if (value === null) return h("td", { class: isValue(column) ? "number" : "" }, "–");
  return isValue(column)
    ? h(
        "td.number",
        column.role === "value"
          ? numberText(tile, value, column)
          : textOf(value, { ...column, scale: column.scale ?? undefined }),
      )
    : h("td", { dir: "auto" }, labelOfKey(column, value));
}
