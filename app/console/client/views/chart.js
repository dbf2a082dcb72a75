/** Aggregates as a small chart: what to group by, what to count or add up, as bars or as a line. */
import { crumb } from "../crumb.js";
import { post } from "../api.js";
import { barChart, lineChart } from "../chart-drawing.js";
import { fill, h } from "../dom.js";
import { isNumber, labelText, textOf } from "../format.js";
import { labelOf } from "../labels.js";
import { loadEntity } from "../model.js";
import { tellFault } from "../notices.js";
import { keepInAddress } from "../router.js";

/** @typedef {import("../types.d.ts").Entity} Entity */
/** @typedef {import("../types.d.ts").Field} Field */

const barsMax = 30;
/** More days than these are put together to months. */
const daysMax = 45;
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

  const by = choice(
    "Group by",
    groups.map(({ name, label }) => [name, label]),
    query.get("by") ?? usual?.name ?? "",
  );
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
    query.get("as") ?? "bars",
  );
  const drawing = h("div.sheet", { "aria-live": "polite" });
  let asked = 0;

  async function draw() {
    const now = ++asked;
    const field = entity?.fields.get(by.value());
    if (!entity || !field)
      return fill(drawing, h("p.quiet", null, "There is nothing to group by."));
    keepInAddress(
      parts,
      new URLSearchParams({ by: by.value(), measure: measure.value(), as: form.value() }),
    );
    try {
      const chart = await chartOf(entity, {
        field,
        measure: measure.value(),
        isLine: form.value() === "line",
        width: Math.min(900, Math.max(280, drawing.clientWidth - paddings)),
      });
      if (now === asked) fill(drawing, chart);
    } catch (error) {
      tellFault(error);
    }
  }

  by.select.addEventListener("change", () => {
    const { type = "" } = entity.fields.get(by.value()) ?? {};
    form.select.value = type === "date" || type === "timestamp" ? "line" : "bars";
  });
  fill(
    place,
    h("div.head", null, crumb(entity), h("h1", null, `Chart: ${entity.title.toLowerCase()}`)),
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

/** @param {Entity} entity @param {{ field: Field, measure: string, isLine: boolean, width: number }} wanted the width in pixels */
async function chartOf(entity, { field, measure, isLine, width }) {
  const [operation = "count", measured = "*"] = measure.split(":");
  const { body } = await post(`${entity.path}/aggregate`, {
    operations: [{ function: operation, field: measured, alias: "value" }],
    group_by: [field.name],
    sort_columns: isLine
      ? [{ column: field.name, direction: "ASC" }]
      : [{ column: "value", direction: "DESC" }],
    limit: isLine ? 5000 : barsMax + 1,
  });
  const measuredField = entity.fields.get(measured);
  const write = (/** @type {number} */ value) =>
    textOf(
      value,
      operation === "count"
        ? { type: "integer" }
        : { type: "decimal", scale: measuredField?.scale ?? 2 },
    );
  /** @type {{ key: unknown, value: number }[]} */
  const groups = body.data.map((/** @type {any} */ row) => ({
    key: row[field.name],
    value: Number(row.value),
  }));
  if (groups.length === 0) return h("p.quiet", null, "There are no records yet.");
  const isTime = field.type === "date" || field.type === "timestamp";
  const canAdd = operation === "count" || operation === "sum";
  const shown = isLine && isTime && canAdd && groups.length > daysMax ? byMonth(groups) : groups;
  const points = await Promise.all(
    shown.slice(0, isLine ? 5000 : barsMax).map(async ({ key, value }) => ({
      label: await labelFor(entity, field, key),
      value,
      text: write(Math.round(value * 1e6) / 1e6),
    })),
  );
  const frame = { title: `${entity.title} by ${field.label.toLowerCase()}`, width };
  const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
  return [
    isLine ? lineChart(points, frame, (value) => short.format(value)) : barChart(points, frame),
    groups.length > barsMax && !isLine && h("p.quiet", null, `The ${barsMax} largest.`),
  ];
}

/** @param {{ key: unknown, value: number }[]} days */
function byMonth(days) {
  const months = Map.groupBy(days, ({ key }) => String(key).slice(0, 7));
  return [...months].map(([key, all]) => ({
    key,
    value: all.reduce((sum, { value }) => sum + value, 0),
  }));
}

/** @param {Entity} entity @param {Field} field @param {unknown} key */
async function labelFor(entity, field, key) {
  if (key === null) return "empty";
  if (field.references)
    return (await labelOf(entity.project, field.references, key)) ?? String(key).slice(0, 8);
  if (entity.status?.field === field.name) return labelText(String(key));
  return /^\d{4}-\d\d$/.test(String(key)) ? String(key) : textOf(key, field) || "empty";
}
