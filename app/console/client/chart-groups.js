/** The data of a chart: the records of the list in groups, counted or added up by the service. Times are sorted. */
import { post } from "./api.js";
import { counted } from "./format.js";
import { whereOf } from "./grid-state.js";

/** @typedef {import("./types.d.ts").Entity} Entity */
/** @typedef {import("./types.d.ts").Field} Field */

/**
 * @typedef {object} Wanted
 * @property {Field} field to group by
 * @property {string} operation of `aggregate`
 * @property {string} measured a field, or `*`
 * @property {boolean} isLine
 * @property {Pick<import("./grid-state.js").GridState, "search" | "filters">} state of the list
 * @property {number} barsMax
 */

/** `place`: of a time between the first and the last one, from 0 to 1. @typedef {{ key: unknown, value: number, place?: number | undefined }} Group */

/** The number of groups in an answer of the service. */
const groupsMax = 10_000;
/** Above this number, days are combined into months. */
const daysMax = 45;

/**
 * The groups in the order of drawing, and notes about those that are not drawn. Rejects with ApiError.
 * @param {Entity} entity @param {Wanted} wanted @returns {Promise<{ groups: Group[], notes: string[] }>}
 */
export async function loadGroups(entity, wanted) {
  const { field, operation, measured, isLine, state, barsMax } = wanted;
  const isTime = field.type === "date" || field.type === "timestamp";
  const { where, isWhole } = await whereOf(entity, state, knownFields(entity));
  // Where there are too many, the latest days and the largest values remain.
  const order = { column: field.name, direction: isTime ? "DESC" : "ASC" };
  const isWanted = isTime || isLine;
  const { body } = await post(`${entity.path}/aggregate`, {
    operations: [{ function: operation, field: measured, alias: "value" }],
    group_by: [field.name],
    ...(where && { where }),
    sort_columns: [isWanted ? order : { column: "value", direction: "DESC" }],
    limit: isWanted ? groupsMax : barsMax + 1,
  });
  /** @type {Group[]} */
  const all = body.data.map((/** @type {any} */ row) => ({
    key: row[field.name],
    value: Number(row.value),
  }));
  const timed = isTime ? all.filter(({ key }) => key !== null) : all;
  const ordered = isTime ? inTime(timed, field, operation) : all;
  const shown = isLine ? ordered : isTime ? ordered.slice(-barsMax) : ordered.slice(0, barsMax);
  const name = field.label.toLowerCase();
  const notes = [
    shown.length < ordered.length && `The ${isTime ? "latest" : "largest"} ${barsMax}.`,
    isWanted &&
      all.length === groupsMax &&
      `Only the ${isTime ? "latest" : "first"} ${counted(groupsMax, "value")} of ${name} are counted. Filter the list to see others.`,
    timed.length < all.length && `Records without ${name} are left out.`,
    !isWhole && "Filters on fields that charts do not have are left out.",
  ];
  return {
    groups: isTime ? placed(shown) : shown,
    notes: notes.filter((note) => note !== false),
  };
}

/** The fields that the service groups and filters by here. @param {Entity} entity */
function knownFields(entity) {
  const list = entity.deref(entity.body("aggregate")?.properties?.["group_by"]);
  const names = entity.deref(list.items).enum;
  return names ? /** @type {string[]} */ (names) : entity.shown;
}

/**
 * Combines moments into days, and many days into months, where the operation allows it; the earliest first.
 * @param {Group[]} groups the latest first @param {Field} field @param {string} operation
 */
function inTime(groups, field, operation) {
  const merge = merges.get(operation);
  const inOrder = groups.toReversed();
  if (!merge) return inOrder;
  const days = field.type === "timestamp" ? merged(inOrder, localDay, merge) : inOrder;
  return days.length > daysMax ? merged(days, (day) => String(day).slice(0, 7), merge) : days;
}

/** Combines the values of two days; averages cannot be combined. @typedef {(one: number, other: number) => number} Merge */

/** @type {ReadonlyMap<string, Merge>} */
const merges = new Map([
  ["count", (one, other) => one + other],
  ["sum", (one, other) => one + other],
  ["min", (one, other) => Math.min(one, other)],
  ["max", (one, other) => Math.max(one, other)],
]);

/** @param {Group[]} groups @param {(key: unknown) => string} keyOf @param {Merge} merge */
const merged = (groups, keyOf, merge) =>
  [...Map.groupBy(groups, ({ key }) => keyOf(key))].map(([key, all]) => ({
    key,
    value: all.map(({ value }) => value).reduce((one, other) => merge(one, other)),
  }));

/** The day of a moment in the browser's time zone, as lists show it. @param {unknown} moment */
function localDay(moment) {
  const at = new Date(String(moment));
  if (Number.isNaN(at.getTime())) return String(moment);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** @param {Group[]} groups in their order */
function placed(groups) {
  const times = groups.map(({ key }) => Date.parse(String(key)));
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const isSpread = last > first && times.every((time) => !Number.isNaN(time));
  return groups.map((group, at) => ({
    ...group,
    place: isSpread ? ((times[at] ?? 0) - first) / (last - first) : undefined,
  }));
}
