/** Aggregates as a small chart: what to group by, what to count or add up, as bars or as a line. */
import { crumb } from "../crumb.js";
import { barChart, lineChart } from "../chart-drawing.js";
import { loadGroups } from "../chart-groups.js";
import { fill, h } from "../dom.js";
import { isNumber, labelText, textOf } from "../format.js";
import { readState, writeState } from "../grid-state.js";
import { labelOf } from "../labels.js";
import { loadEntity } from "../model.js";
import { tellFault } from "../notices.js";
import { keepInAddress } from "../router.js";

/** @typedef {import("../types.d.ts").Entity} Entity */
/** @typedef {import("../types.d.ts").Field} Field */
/** @typedef {import("../grid-state.js").GridState} GridState */

const barsMax = 30;
/** Left and right of a sheet, in pixels. */
const paddings = 48;
const functions = {
  count: "Number of records",
  sum: "Sum of",
  avg: "Average of",
  min: "Least",
  max: "Greatest",
};

/** @type {import("../types.d.ts").View} */
export async function show(place, { parts, query }) {
  const [project = "", endpoint = ""] = parts;
  const entity = await loadEntity(project, endpoint);
  if (!entity?.actions.has("aggregate")) throw new Error("You may not aggregate this list");
  document.title = `Chart – ${entity.title} – Rowgate`;
  const fields = [...entity.fields.values()].filter(({ name }) => entity.shown.includes(name));
  let state = readState(query, entity);
  const groups = fields.filter(
    ({ name, type }) =>
      !entity.key.includes(name) &&
      ["text", "date", "boolean", "integer", "timestamp", "uuid"].includes(type),
  );
  const numbers = fields.filter((field) => isNumber(field) && !entity.key.includes(field.name));
  const usual =
    groups.find(({ name }) => name === entity.status?.field) ??
    groups.find(({ references }) => references) ??
    groups[0];

  const chosen = query.get("by") ?? usual?.name ?? "";
  const by = choice(
    "Group by",
    groups.map(({ name, label }) => [name, label]),
    chosen,
  );
  const formFor = (/** @type {string} */ name) =>
    ["date", "timestamp"].includes(entity.fields.get(name)?.type ?? "") ? "line" : "bars";
  const measures = [
    ["count:*", functions.count],
    ...["sum", "avg", "min", "max"].flatMap((one) =>
      numbers.map(({ name, label }) => [
        `${one}:${name}`,
        `${functions[/** @type {"sum"} */ (one)]} ${label.toLowerCase()}`,
      ]),
    ),
  ];
  const measure = choice("Measure", measures, query.get("measure") ?? "count:*");
  const form = choice(
    "As",
    [
      ["bars", "Bars"],
      ["line", "Line"],
    ],
    query.get("as") ?? formFor(chosen),
  );
  const drawing = h("div.sheet", { "aria-live": "polite" });
  let asked = 0;

  async function draw() {
    const now = ++asked;
    const field = entity?.fields.get(by.value());
    if (!entity || !field)
      return fill(drawing, h("p.quiet", null, "There is nothing to group by."));
    const kept = writeState(state, entity);
    kept.set("by", by.value());
    kept.set("measure", measure.value());
    kept.set("as", form.value());
    keepInAddress(parts, kept);
    try {
      const [operation = "count", measured = "*"] = measure.value().split(":");
      const chart = await chartOf(entity, {
        field,
        operation,
        measured,
        isLine: form.value() === "line",
        state,
        width: Math.min(900, Math.max(280, drawing.clientWidth - paddings)),
      });
      if (now === asked) fill(drawing, chart);
    } catch (error) {
      tellFault(error);
    }
  }

  by.select.addEventListener("change", () => {
    form.select.value = formFor(by.value());
  });
  const head = h("div.head");
  const note = h("div");
  const title = h("h1", null, `Chart: ${entity.title.toLowerCase()}`);
  const showState = () => {
    fill(head, crumb(entity, writeState(state, entity)), title);
    fill(note, filterNote(entity, state, showAll));
  };
  const showAll = () => {
    state = { ...state, search: "", filters: new Map() };
    showState();
    void draw();
  };
  showState();
  fill(
    place,
    head,
    note,
    h(
      "form.chart-choices",
      {
        onchange: () => void draw(),
        onsubmit: (/** @type {Event} */ event) => event.preventDefault(),
      },
      by.element,
      measure.element,
      form.element,
    ),
    drawing,
  );
  await draw();
}

/** @param {string} label @param {string[][]} options @param {string} chosen */
function choice(label, options, chosen) {
  const id = `chart-${label.toLowerCase().replaceAll(" ", "-")}`;
  const select = h(
    "select",
    { id },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
  return {
    select,
    element: h("div.field", null, h("label", { for: id }, label), select),
    value: () => /** @type {string} */ (select.value),
  };
}

/**
 * @param {Entity} entity @param {Omit<import("../chart-groups.js").Wanted, "barsMax"> & { width: number }} wanted the width in pixels
 */
async function chartOf(entity, { width, ...wanted }) {
  const { field, operation, measured, isLine } = wanted;
  const { groups, notes } = await loadGroups(entity, { ...wanted, barsMax });
  const measuredField = entity.fields.get(measured);
  const write = (/** @type {number} */ value) =>
    textOf(
      value,
      operation === "count"
        ? { type: "integer" }
        : { type: "decimal", scale: measuredField?.scale ?? 2 },
    );
  if (groups.length === 0)
    return h("p.quiet", null, "No record fits. Group by another field, or show all records.");
  const points = await Promise.all(
    groups.map(async ({ key, value, place }) => ({
      label: await labelFor(entity, field, key),
      value,
      text: write(Math.round(value * 1e6) / 1e6),
      place,
    })),
  );
  const frame = { title: `${entity.title} by ${field.label.toLowerCase()}`, width };
  const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
  return [
    isLine ? lineChart(points, frame, (value) => short.format(value)) : barChart(points, frame),
    notes.map((note) => h("p.quiet", null, note)),
  ];
}

/** @param {Entity} entity @param {Field} field @param {unknown} key */
async function labelFor(entity, field, key) {
  if (key === null) return "No value";
  const text = String(key);
  if (field.references)
    return (await labelOf(entity.project, field.references, key)) ?? text.slice(0, 8);
  if (entity.status?.field === field.name) return labelText(text);
  if (/^\d{4}-\d\d$/.test(text)) return text;
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  return textOf(key, isDay ? { type: "date" } : field) || "Empty text";
}

/** Names the filters that limit the records of the chart. @param {Entity} entity @param {Pick<GridState, "search" | "filters">} state @param {() => void} onRemove */
function filterNote(entity, { search, filters }, onRemove) {
  if (search === "" && filters.size === 0) return null;
  const parts = [...filters].map(([name, text]) => {
    const field = entity.fields.get(name);
    const value = h("strong", { dir: "auto" }, text.replace(/^=/, ""));
    if (field?.references)
      void labelOf(entity.project, field.references, text).then(
        (label) => label !== null && fill(value, label),
      );
    return h("span", null, `${field?.label ?? name}: `, value, ". ");
  });
  return h(
    "p.note.chart-filter",
    null,
    "Only the records of the list. ",
    search && h("span", null, "Search: ", h("strong", { dir: "auto" }, search), ". "),
    parts,
    h("button.button", { type: "button", onclick: onRemove }, "Show all records"),
  );
}
