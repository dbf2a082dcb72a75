/** What a grid shows: search, filters, order, page, columns. It stands in the address, and becomes a request for `datatables` or `read`. */
import { post } from "./api.js";
import { conditionsOf } from "./filters.js";

/** @typedef {import("./types.d.ts").Condition} Condition */
/** @typedef {import("./types.d.ts").Entity} Entity */
/** @typedef {import("./types.d.ts").Group} Group */
/** @typedef {import("./types.d.ts").Row} Row */

/**
 * @typedef {object} GridState
 * @property {string} search
 * @property {Map<string, string>} filters by field, as people typed them
 * @property {{ field: string, isDown: boolean }[]} sort
 * @property {number} page from 1
 * @property {number} size
 * @property {string[]} columns
 */

export const pageSizes = [10, 25, 50, 100];
const usualSize = 25;

/** @param {URLSearchParams} query @param {Entity} entity @returns {GridState} */
export function readState(query, entity) {
  const known = (/** @type {string} */ name) => entity.columns.includes(name);
  const size = Number(query.get("size"));
  const columns = (query.get("cols") ?? "").split(",").filter(known);
  return {
    search: query.get("q") ?? "",
    filters: new Map(
      [...query].flatMap(([name, value]) =>
        name.startsWith("f.") && entity.fields.has(name.slice(2)) ? [[name.slice(2), value]] : [],
      ),
    ),
    sort: (query.get("sort") ?? "")
      .split(",")
      .filter((one) => known(one.replace(/^-/, "")))
      .map((one) => ({ field: one.replace(/^-/, ""), isDown: one.startsWith("-") })),
    page: Math.max(1, Math.floor(Number(query.get("page"))) || 1),
    size: pageSizes.includes(size) ? size : usualSize,
    columns: columns.length > 0 ? columns : usualColumns(entity),
  };
}

/** Only what differs from a grid that was just opened. @param {GridState} state @param {Entity} entity */
export function writeState(state, entity) {
  const query = new URLSearchParams();
  if (state.search) query.set("q", state.search);
  for (const [field, text] of state.filters) if (text) query.set(`f.${field}`, text);
  if (state.sort.length > 0)
    query.set("sort", state.sort.map(({ field, isDown }) => (isDown ? "-" : "") + field).join(","));
  if (state.page > 1) query.set("page", String(state.page));
  if (state.size !== usualSize) query.set("size", String(state.size));
  if (state.columns.join() !== usualColumns(entity).join())
    query.set("cols", state.columns.join(","));
  return query;
}

/** Generated keys and the columns that tell who changed a row are there for who asks. @param {Entity} entity */
export function usualColumns({ columns, fields, key }) {
  const usual = columns.filter((name) => {
    const { type = "", references } = fields.get(name) ?? {};
    const isOpaqueKey =
      key.includes(name) && /(^|_)(id|uuid|guid)$/i.test(name) && key.length === 1;
    const isAudit = /^(created|updated|deleted)_(at|by)$/.test(name);
    const isBulky = ["json", "bytes", "array"].includes(type);
    return !isAudit && !isBulky && !(isOpaqueKey && !references);
  });
  return usual.length > 0 ? usual.slice(0, 12) : columns.slice(0, 12);
}

/** @param {Entity} entity @param {GridState} state @returns {Condition[]} */
export const filterConditions = (entity, { filters }) =>
  [...filters].flatMap(([name, text]) => {
    const field = entity.fields.get(name);
    return (field && conditionsOf(field, text)) ?? [];
  });

/** A grid may have fewer columns than records have fields; `read` filters by all of them. @param {Entity} entity @param {GridState} state */
const isGrid = ({ actions, columns }, { filters }) =>
  actions.has("datatables") &&
  ([...filters.keys()].every((name) => columns.includes(name)) || !actions.has("read"));

/**
 * One page of the list. Rejects with ApiError.
 * @param {Entity} entity @param {GridState} state @param {AbortSignal} signal
 * @returns {Promise<{ rows: Row[], total: number, filtered: number }>}
 */
export async function loadPage(entity, state, signal) {
  const conditions = filterConditions(entity, state);
  const shared = {
    ...(conditions.length > 0 && { where: { conditions } }),
    ...(state.sort.length > 0 && {
      sort_columns: state.sort.map(({ field, isDown }) => ({
        column: field,
        direction: isDown ? "DESC" : "ASC",
      })),
    }),
  };
  if (isGrid(entity, state)) {
    const request = {
      draw: 1,
      start: (state.page - 1) * state.size,
      length: state.size,
      ...(state.search && { search: { value: state.search } }),
      ...shared,
    };
    const { body } = await post(`${entity.path}/datatables`, request, { signal });
    return { rows: body.data, total: body.recordsTotal, filtered: body.recordsFiltered };
  }
  const request = {
    page: state.page,
    per_page: state.size,
    ...(state.search && { search_value: state.search }),
    ...shared,
  };
  const { body } = await post(`${entity.path}/read`, request, { signal });
  const found = body.pagination.total_records;
  return { rows: body.data, total: found, filtered: found };
}
