/**
 * What a chart can group by and measure, as the service takes it: columns, spans of time, bins of numbers and columns of
 * related records; and the request for a choice of them.
 */
import { post } from "../api.js";
import { isNumber, labelText } from "../format.js";
import { figureOf, isTime, labelOfKey } from "./figures.js";
import { whereOf } from "../grid-state.js";
import { labelOf } from "../labels.js";
import { loadEntity } from "../model.js";
import { paramsIn } from "../params.js";
import { t } from "../words.js";

/** @import { AnswerColumn, Entity, Field } from "../types.d.ts" */

/** A field, or with a path that of a related record. @typedef {{ path: string, field: Field, of: string | null }} Groupable */

/**
 * @typedef {object} Wanted
 * @property {Groupable} group
 * @property {string} by a span of time, `part:weekday`, the width of bins; empty: each value
 * @property {Groupable | null} split
 * @property {string} operation of `aggregate`
 * @property {string} measured a field, or `*`
 * @property {boolean} isLine
 * @property {Pick<import("../grid-state.js").GridState, "search" | "filters" | "params">} state of the list
 */

/** The number of groups in an answer of the service. */
const groupsMax = 10_000;
const barsMax = 30;
const columnsMax = 60;
const pointsMax = 2_000;

const groupedTypes = [
  "text",
  "date",
  "boolean",
  "integer",
  "timestamp",
  "uuid",
  "decimal",
  "float",
];

/** Own fields, then those of records that relations to one lead to. @param {Entity} entity @returns {Promise<Groupable[]>} */
export async function groupables(entity) {
  const toOne = [...entity.relations].filter(([, { many }]) => !many);
  const others = await Promise.all(
    toOne.map(async ([name, { endpoint, titleField }]) => {
      const other = await loadEntity(entity.project, endpoint);
      if (!other) return [];
      const own = fieldsOf(other).map((field) => ({
        path: `${name}.${field.name}`,
        field,
        of: entity.fields.get(name)?.label ?? labelOfKey(textColumn, name),
      }));
      const isTitle = (/** @type {Groupable} */ { field }) => field.name === titleField;
      return [...own.filter(isTitle), ...own.filter((one) => !isTitle(one))];
    }),
  );
  // The names of the records are better groups than their keys.
  const named = new Set(
    toOne.flatMap(([, { columns, titleField }]) => (titleField ? Object.keys(columns) : [])),
  );
  return [
    ...fieldsOf(entity)
      .filter(({ name }) => !named.has(name))
      .map((field) => ({ path: field.name, field, of: null })),
    ...others.flat(),
  ];
}

/** @type {AnswerColumn} */
const textColumn = { name: "", label: null, type: "text", scale: null, role: "other", by: null };

/** @param {Entity} entity */
const fieldsOf = ({ fields, shown, key }) =>
  [...fields.values()].filter(
    ({ name, type }) => shown.includes(name) && !key.includes(name) && groupedTypes.includes(type),
  );

/** The figure, and what it does not show. Rejects with ApiError. @param {Entity} entity @param {Wanted} wanted */
export async function loadFigure(entity, wanted) {
  const { group, split, operation, measured, isLine, state } = wanted;
  const { where, isWhole } = await whereOf(entity, state, entity.shown);
  const x = columnOf(group, "x", wanted.by);
  const isAxis = x.by !== null || isTime(x);
  const categoriesMax = isLine ? pointsMax : isAxis ? columnsMax : barsMax;
  const isFilled = x.by !== null && !wanted.by.startsWith("part:") && !split;
  const { body } = await post(`${entity.path}/aggregate`, {
    operations: [{ function: operation, field: measured, alias: "value" }],
    group_by: [groupBy(group, wanted.by), ...(split ? [split.path] : [])],
    ...(group.field.type === "timestamp" && { time_zone: ownTimeZone() }),
    ...(isFilled && { fill: true }),
    ...(where && { where }),
    ...paramsIn(entity, state.params),
    // Where there are too many, the latest times and the largest values remain.
    sort_columns: [{ column: isAxis ? groupName(group, wanted.by) : "value", direction: "DESC" }],
    limit: isAxis || split ? groupsMax : barsMax + 1,
  });
  const rows = /** @type {import("../types.d.ts").Row[]} */ (body.data).map((row) => ({
    x: row[groupName(group, wanted.by)],
    ...(split && { split: row[split.path] }),
    value: row["value"],
  }));
  const measuredField = entity.fields.get(measured);
  const figure = await figureOf(rows, {
    x,
    split: split && columnOf(split, "split", ""),
    values: [
      {
        ...textColumn,
        name: "value",
        label: t("chart.value"),
        type: measuredField?.type ?? "integer",
      },
    ],
    categoriesMax,
    isAdditive: operation === "count" || operation === "sum",
    labelFor: (column, key) =>
      labelFor(entity, column.name === "x" ? group : (split ?? group), { column, key }),
  });
  const notes = [
    ...figure.notes,
    rows.length === groupsMax && t("chart.tooMany"),
    !isWhole && t("chart.leftOut"),
  ];
  return { ...figure, notes: notes.filter((note) => note !== false) };
}

/** The smallest and the largest number of the list, for the width of bins. @param {Entity} entity @param {Groupable} group @param {Wanted["state"]} state */
export async function usualWidth(entity, { path }, state) {
  const { where } = await whereOf(entity, state, entity.shown);
  const { body } = await post(`${entity.path}/aggregate`, {
    operations: ["min", "max"].map((name) => ({ function: name, field: path, alias: name })),
    ...(where && { where }),
    ...paramsIn(entity, state.params),
  });
  const rough = (Number(body.data.max) - Number(body.data.min)) / 15;
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  return Number((power * ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10)).toPrecision(3));
}

/** That of the browser, in which lists show times. */
const ownTimeZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** @param {Groupable} group @param {string} by */
function groupBy({ path }, by) {
  if (by === "") return path;
  if (by.startsWith("part:")) return { field: path, part: by.slice("part:".length), alias: "x" };
  return { field: path, by: /\d/.test(by) ? Number(by) : by, alias: "x" };
}

/** @param {Groupable} group @param {string} by */
const groupName = ({ path }, by) => (by === "" ? path : "x");

/** @param {Groupable} group @param {string} name @param {string} by @returns {AnswerColumn} */
function columnOf({ field }, name, by) {
  const { label, type, scale = null } = field;
  const part = by.startsWith("part:") ? by.slice("part:".length) : null;
  return {
    name,
    label,
    type: part === null ? type : "integer",
    scale: isNumber(field) ? scale : null,
    role: "group",
    by: part ?? (by || null),
  };
}

/** @param {Entity} entity @param {Groupable} group @param {{ column: AnswerColumn, key: unknown }} value */
async function labelFor(entity, { field, of }, { column, key }) {
  if (key === null) return t("chart.noValue");
  if (field.references)
    return (await labelOf(entity.project, field.references, key)) ?? String(key).slice(0, 8);
  const isStatus = of === null && entity.status?.field === field.name;
  return isStatus ? labelText(String(key)) : labelOfKey(column, key);
}
