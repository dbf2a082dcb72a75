/** Aggregates as a chart: what to group by, what to divide it by, what to count or add up, as bars or as a line. */
import { crumb } from "../crumb.js";
import { drawn } from "../charts/chart-drawing.js";
import { groupables, loadFigure, usualWidth } from "../charts/chart-groups.js";
import { fill, h } from "../dom.js";
import { figureText, isNumber } from "../format.js";
import { readState, writeState } from "../grid-state.js";
import { labelOf } from "../labels.js";
import { loadEntity } from "../model.js";
import { ApiError } from "../api.js";
import { readNumber, writeNumber } from "../numbers.js";
import { paramsForm } from "../params.js";
import { keepInAddress } from "../router.js";
import { t, titled } from "../words.js";

/** @import { Groupable } from "../charts/chart-groups.js" */
/** @import { Entity } from "../types.d.ts" */
/** @import { GridState } from "../grid-state.js" */

/** Left and right of a sheet, in pixels. */
const paddings = 48;
const widthMax = 1100;

const days = [
  ["year", t("chart.years")],
  ["quarter", t("chart.quarters")],
  ["month", t("chart.months")],
  ["week", t("chart.weeks")],
  ["day", t("chart.days")],
];
const hours = [["hour", t("chart.hours")]];
const partsOfDays = [
  ["part:month", t("chart.monthsOfYear")],
  ["part:weekday", t("chart.daysOfWeek")],
];
const partsOfHours = [["part:hour", t("chart.hoursOfDay")]];

/** Of which a line is usual. */
const lineSpans = new Set([...days, ...hours].map(([value]) => value));

/** @type {import("../types.d.ts").View} */
export async function show(place, { parts, query }) {
  const [project = "", endpoint = ""] = parts;
  const entity = await loadEntity(project, endpoint);
  if (!entity?.actions.has("aggregate")) throw new Error(t("chart.noRight"));
  document.title = titled(t("chart"), entity.title);
  let state = readState(query, entity);
  const groups = await groupables(entity);
  const choices = choicesOf(entity, groups, query);
  const drawing = h("div.sheet", { "aria-live": "polite" });
  let asked = 0;
  const params = paramsForm(entity, state.params, (entered) => {
    state = { ...state, params: entered };
    showState();
    void draw();
  });

  async function draw() {
    const now = ++asked;
    const group = choices.group();
    if (params?.isMissing(state.params)) return fill(drawing, h("p.quiet", t("params.needed")));
    if (!entity || !group) return fill(drawing, h("p.quiet", t("chart.noGroups")));
    try {
      await choices.prepare(state);
      const kept = writeState(state, entity);
      for (const [name, value] of choices.state()) kept.set(name, value);
      keepInAddress(parts, kept);
      const wanted = { ...choices.wanted(group), state };
      const figure = await loadFigure(entity, wanted);
      const width = Math.min(widthMax, Math.max(280, drawing.clientWidth - paddings));
      if (now === asked) fill(drawing, chartOf(entity, figure, { ...wanted, width }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      params?.showFaults(error);
      if (now === asked) fill(drawing, h("p.fault-text", error.message));
    }
  }

  const head = h("div.head");
  const note = h("div");
  const title = h("h1", t("chart.of", { list: entity.title }));
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
    params?.element,
    note,
    h(
      "form.chart-choices",
      {
        onchange: () => void draw(),
        onsubmit: (/** @type {Event} */ event) => event.preventDefault(),
      },
      choices.elements,
    ),
    drawing,
  );
  await draw();
}

/**
 * The drop-downs; each of them depends on the ones before.
 * @param {Entity} entity @param {readonly Groupable[]} groups @param {URLSearchParams} query
 */
function choicesOf(entity, groups, query) {
  const find = (/** @type {string} */ path) => groups.find((one) => one.path === path);
  const by = choice("group-by", t("chart.groupBy"), [
    optionsOf(groups),
    query.get("by") ?? usualGroup(entity, groups),
  ]);
  const span = choice("in", t("chart.in"), [[], ""]);
  const width = h("input", { id: "chart-width", inputmode: "decimal", autocomplete: "off" });
  const widthField = h("div.field", h("label", { for: "chart-width" }, t("chart.width")), width);
  const none = plainGroup([["", t("chart.nothing")]]);
  const parts = [none, ...optionsOf(groups.filter(isNamed))];
  const divide = choice("divide-by", t("chart.divideBy"), [parts, query.get("divide") ?? ""]);
  const measure = choice("measure", t("chart.measure"), [
    measuresOf(entity),
    query.get("measure") ?? "count:*",
  ]);
  const forms = plainGroup([
    ["bars", t("chart.bars")],
    ["line", t("chart.line")],
  ]);
  const form = choice("as", t("chart.as"), [[forms], query.get("as") ?? ""]);
  const isBin = () => span.value() === "bins";

  /** @param {string} chosen */
  function offerSpans(chosen) {
    const options = spansOf(find(by.value()));
    const isKnown = options.some(([value]) => value === chosen);
    span.offer(options, isKnown ? chosen : usualSpan(options));
    span.element.hidden = options.length < 2;
  }
  const offerForm = () => void (form.select.value = lineSpans.has(span.value()) ? "line" : "bars");
  offerSpans(query.get("in") ?? "");
  if (!query.has("as")) offerForm();
  width.value = query.get("width") ?? "";
  by.select.addEventListener("change", () => {
    offerSpans("");
    offerForm();
    width.value = "";
  });

  return {
    elements: [by.element, span.element, widthField, divide.element, measure.element, form.element],
    group: () => find(by.value()) ?? null,
    /** Shows the width of bins, with a usual one where there is none. @param {GridState} state */
    async prepare(state) {
      widthField.hidden = !isBin();
      const group = find(by.value());
      const isSet = Number(readNumber(width.value)) > 0;
      if (isBin() && group && !isSet)
        width.value = writeNumber(String(await usualWidth(entity, group, state)));
    },
    /** For the address. */
    state: () =>
      Object.entries({
        by: by.value(),
        in: span.value(),
        width: isBin() ? width.value : "",
        divide: divide.value(),
        measure: measure.value(),
        as: form.value(),
      }).filter(([, value]) => value !== ""),
    /** @param {Groupable} group */
    wanted(group) {
      const [operation = "count", measured = "*"] = measure.value().split(":");
      const split = find(divide.value()) ?? null;
      return {
        group,
        by: isBin() ? (readNumber(width.value) ?? "1") : span.value(),
        split: split === group ? null : split,
        operation,
        measured,
        isLine: form.value() === "line",
      };
    },
  };
}

/** Whether its values are names, of which there are few. @param {Groupable} group */
const isNamed = ({ field: { type, references } }) =>
  ["text", "boolean"].includes(type) || references !== undefined;

/** @param {Entity} entity @param {readonly Groupable[]} groups */
function usualGroup({ status }, groups) {
  const usual =
    groups.find(({ path }) => path === status?.field) ??
    groups.find(({ of }) => of !== null) ??
    groups.find(({ field }) => field.references) ??
    groups[0];
  return usual?.path ?? "";
}

/** Own fields first, then those of each related record. @param {readonly Groupable[]} groups */
const optionsOf = (groups) =>
  [...Map.groupBy(groups, ({ of }) => of)].map(([title, own]) => ({
    title,
    options: own.map(({ path, field }) => [path, field.label]),
  }));

/** In which groups a field can be put. @param {Groupable | undefined} group @returns {string[][]} */
function spansOf(group) {
  const type = group?.field.type;
  if (type === "date") return [...days, ...partsOfDays];
  if (type === "timestamp") return [...days, ...hours, ...partsOfDays, ...partsOfHours];
  const each = ["", t("chart.each")];
  return group && isNumber(group.field) ? [["bins", t("chart.bins")], each] : [each];
}

/** @param {readonly string[][]} options */
const usualSpan = (options) =>
  (options.find(([value]) => value === "month") ?? options[0])?.[0] ?? "";

/** @param {Entity} entity */
function measuresOf({ fields, shown, key }) {
  const own = [...fields.values()].filter(
    ({ name }) => shown.includes(name) && !key.includes(name),
  );
  const numbers = own.filter(isNumber);
  const named = own.filter(({ type, references }) => type === "text" || references);
  const of = (
    /** @type {string} */ operation,
    /** @type {import("../words.js").TextName} */ words,
    /** @type {typeof own} */ some,
  ) => some.map(({ name, label }) => [`${operation}:${name}`, t(words, { field: label })]);
  return [
    plainGroup([["count:*", t("chart.number")]]),
    { title: t("chart.sum"), options: of("sum", "chart.sumOf", numbers) },
    { title: t("chart.average"), options: of("avg", "chart.averageOf", numbers) },
    {
      title: t("chart.extremes"),
      options: [...of("min", "chart.minimumOf", numbers), ...of("max", "chart.maximumOf", numbers)],
    },
    { title: t("chart.distinct"), options: of("countDistinct", "chart.distinctOf", named) },
  ].filter(({ options }) => options.length > 0);
}

/** @typedef {{ title: string | null, options: string[][] }} OptionGroup a title makes it a group of its own */

/** @param {string[][]} options @returns {OptionGroup} */
const plainGroup = (options) => ({ title: null, options });

/** @param {string} name @param {string} label @param {[OptionGroup[], string]} offered the groups, and the value that is chosen */
function choice(name, label, [groups, chosen]) {
  const id = `chart-${name}`;
  const optionOf = (/** @type {string[]} */ [value, text]) =>
    h("option", { value, selected: value === chosen }, text);
  const select = h(
    "select",
    { id },
    groups.map(({ title, options }) =>
      title === null
        ? options.map(optionOf)
        : h("optgroup", { label: title }, options.map(optionOf)),
    ),
  );
  return {
    select,
    element: h("div.field", h("label", { for: id }, label), select),
    value: () => /** @type {string} */ (select.value),
    /** @param {string[][]} options @param {string} value */
    offer(options, value) {
      fill(select, options.map(optionOf));
      select.value = value;
    },
  };
}

/**
 * @param {Entity} entity @param {import("../charts/figures.js").Figure} figure
 * @param {Omit<import("../charts/chart-groups.js").Wanted, "state"> & { width: number }} wanted the width in pixels
 */
function chartOf(entity, figure, { group, operation, measured, isLine, width }) {
  if (figure.categories.length === 0) return h("p.quiet", t("chart.empty"));
  const isCount = operation === "count" || operation === "countDistinct";
  const { type = "decimal", scale } = entity.fields.get(measured) ?? {};
  const column = isCount || type === "integer" ? { type: "integer", scale: 0 } : { type, scale };
  const write = (/** @type {number} */ value) => figureText(value, column);
  const title = t("chart.by", { list: entity.title, field: group.field.label });
  return [
    drawn(figure, { title, width, write, isLine }),
    figure.notes.map((note) => h("p.quiet", note)),
  ];
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
    return h("span", `${field?.label ?? name}: `, value, ". ");
  });
  return h(
    "p.note.chart-filter",
    `${t("chart.filtered")} `,
    search && h("span", `${t("search")}: `, h("strong", { dir: "auto" }, search), ". "),
    parts,
    h("button.button", { type: "button", onclick: onRemove }, t("chart.showAll")),
  );
}
