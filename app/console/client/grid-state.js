/** The state of a grid: search, filters, order, page, columns. It is kept in the address, and becomes a request. */
import { post } from "./api.js";
import { conditionsOf, contains } from "./filters.js";
import { paramQuery, paramsIn, readParams } from "./params.js";
import { searchFor, showsLabel } from "./search.js";

/** @import { Condition, Entity, Group, Row } from "./types.d.ts" */

/**
 * @typedef {object} GridState
 * @property {string} search
 * @property {import("./params.js").Params} params
 * @property {Map<string, string>} filters by field, as people typed them
 * @property {import("./types.d.ts").Order[]} sort
 * @property {number} page from 1
 * @property {number} size
 * @property {string[]} columns
 */

export const pageSizes = [10, 25, 50, 100];
const usualSize = 25;

/** @param {URLSearchParams} query @param {Entity} entity @returns {GridState} */
export function readState(query, entity) {
  const known = (/** @type {string} */ name) => entity.columns.includes(name);
  const isSorted = (/** @type {string} */ name) => {
    const field = entity.fields.get(name);
    return known(name) && !(field && showsLabel(entity, field));
  };
  const sort = query.has("sort") ? readOrder(query.get("sort") ?? "") : entity.firstOrder;
  const size = Number(query.get("size"));
  const columns = (query.get("cols") ?? "").split(",").filter(known);
  return {
    search: query.get("q") ?? "",
    params: readParams(entity, query),
    filters: new Map(
      [...query].flatMap(([name, value]) =>
        name.startsWith("f.") && isFiltered(entity, name.slice(2)) ? [[name.slice(2), value]] : [],
      ),
    ),
    sort: sort.filter(({ field }) => isSorted(field)),
    page: Math.max(1, Math.floor(Number(query.get("page"))) || 1),
    size: pageSizes.includes(size) ? size : usualSize,
    columns: columns.length > 0 ? columns : usualColumns(entity),
  };
}

/** @param {string} text `-price,name` */
const readOrder = (text) =>
  text.split(",").map((one) => ({ field: one.replace(/^-/, ""), isDown: one.startsWith("-") }));

/** @param {readonly import("./types.d.ts").Order[]} sort */
const orderText = (sort) => sort.map(({ field, isDown }) => (isDown ? "-" : "") + field).join(",");

/** Fields, and by the key of a related record the relations to many. @param {Entity} entity @param {string} name */
const isFiltered = ({ fields, relations }, name) =>
  fields.has(name) || (relations.get(name)?.many === true && relations.get(name)?.key.length === 1);

/** Whether the caller sees all fields that the query names. @param {Entity} entity @param {URLSearchParams} query */
export function isViewOf(entity, query) {
  const { params, filters, sort, columns } = readState(query, entity);
  const named = (/** @type {string} */ start) =>
    [...query.keys()].filter((name) => name.startsWith(start));
  const listed = (/** @type {string} */ name) => (query.get(name) || "").split(",").filter(Boolean);
  return (
    named("f.").every((name) => filters.has(name.slice(2))) &&
    named("p.").every((name) => params.has(name.slice(2))) &&
    listed("sort").length === (query.has("sort") ? sort.length : 0) &&
    listed("cols").every((name) => columns.includes(name))
  );
}

/** Only the differences from a new grid. @param {GridState} state @param {Entity} entity */
export function writeState(state, entity) {
  const query = paramQuery(state.params);
  if (state.search) query.set("q", state.search);
  for (const [field, text] of state.filters) if (text) query.set(`f.${field}`, text);
  const isFirst = orderText(state.sort) === orderText(entity.firstOrder);
  if (!isFirst) query.set("sort", orderText(state.sort));
  if (state.page > 1) query.set("page", String(state.page));
  if (state.size !== usualSize) query.set("size", String(state.size));
  if (state.columns.join() !== usualColumns(entity).join())
    query.set("cols", state.columns.join(","));
  return query;
}

/** Generated keys and audit columns are hidden until people select them, if the endpoint does not say what is shown. @param {Entity} entity */
export function usualColumns({ columns, firstColumns, fields, key }) {
  if (firstColumns.length > 0) return firstColumns;
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

/** @param {Entity} entity @param {Pick<GridState, "filters">} state @returns {Condition[]} */
export const filterConditions = (entity, { filters }) =>
  [...filters].flatMap(([name, text]) => {
    const field = entity.fields.get(name);
    const [key] = entity.relations.get(name)?.key ?? [];
    if (field || key === undefined) return (field && conditionsOf(field, text)) ?? [];
    const where = { conditions: [{ key, operator: "=", value: text }] };
    return [{ key: name, operator: "ANY", where }];
  });

/** The own fields that a field, or a relation to many, is made of. @param {Entity} entity @param {string} name */
const ownFields = ({ fields, relations }, name) => {
  const field = fields.get(name);
  const relation = field?.isPath
    ? relations.get(name.split(".")[0] ?? "")
    : field
      ? field.relation
      : relations.get(name);
  return relation ? Object.keys(relation.columns) : [name];
};

/** Whether an action that has the own fields knows the field too. @param {Entity} entity @param {readonly string[]} own @param {string} name */
export const isKnown = (entity, own, name) =>
  own.includes(name) || ownFields(entity, name).every((one) => own.includes(one));

/**
 * Whether to request `datatables`. Its grid can lack fields of the records; `read` filters by all of them, and can
 * leave out files and pictures.
 * @param {Entity} entity @param {GridState} state
 */
const isGrid = (entity, { filters, columns }) =>
  entity.actions.has("datatables") &&
  (!entity.actions.has("read") ||
    (selected(entity, columns) === null &&
      [...filters.keys()].every((name) => isKnown(entity, entity.listed, name))));

/**
 * The columns to request from `read`, so that hidden columns with bytes are not loaded; null: all columns.
 * @param {Entity} entity @param {readonly string[]} shown
 */
function selected({ listed, fields, read }, shown) {
  const isNeeded = (/** @type {string} */ name) =>
    shown.includes(name) || fields.get(name)?.type !== "bytes";
  const needed = listed.filter(isNeeded);
  return needed.length < listed.length && needed.every((name) => read.includes(name))
    ? needed
    : null;
}

/** The paths to request for these columns: what names related records, and leads to them. @param {Pick<Entity, "fields">} entity @param {readonly string[]} columns */
export const pathsOf = ({ fields }, columns) =>
  columns.flatMap((column) => {
    if (fields.get(column)?.isPath) return [column];
    const { name, key, titleField } = fields.get(column)?.relation ?? { key: [], titleField: "" };
    const names = titleField === "" ? [] : new Set([titleField, ...key]);
    return [...names].map((one) => `${name}.${one}`);
  });

/**
 * The filters and the search of a list as the `where` of another action, for fields that it knows.
 * @param {Entity} entity @param {Pick<GridState, "search" | "filters">} state @param {readonly string[]} known
 * @returns {Promise<{ where: Group | null, isWhole: boolean }>} `isWhole`: no filter is left out
 */
export async function whereOf(entity, state, known) {
  const all = filterConditions(entity, state);
  const conditions = all.filter(({ key }) => isKnown(entity, known, key));
  // Names take the place of keys here too.
  const names = [
    ...known.filter((name) => entity.columns.includes(name) || !entity.listed.includes(name)),
    ...entity.columns.filter((name) => entity.fields.get(name)?.relation),
  ].filter((name) => entity.fields.has(name) && isKnown(entity, known, name));
  // Conditions cannot say what a full-text index finds.
  if (state.search && hasFullText(entity, "read", "datatables"))
    return { where: conditions.length > 0 ? { logic: "AND", conditions } : null, isWhole: false };
  const { group } = await searchFor(entity, state.search, [...new Set(names)]);
  const texts = names.filter((name) => entity.fields.get(name)?.type === "text");
  /** @type {Group} */
  const plain = { logic: "OR", conditions: texts.map((name) => contains(name, state.search)) };
  const parts = [...conditions, ...(state.search ? [group ?? plain] : [])];
  return {
    where: parts.length > 0 ? { logic: "AND", conditions: parts } : null,
    isWhole: conditions.length === all.length,
  };
}

/** The order as requests name it; no member where there is none. @param {GridState["sort"]} sort */
export const sortMember = (sort) =>
  sort.length > 0 && {
    sort_columns: sort.map(({ field, isDown }) => ({
      column: field,
      direction: isDown ? "DESC" : "ASC",
    })),
  };

/** Whether one of these actions searches in a full-text index. @param {Entity} entity @param {string[]} actions */
const hasFullText = (entity, ...actions) =>
  actions.some((action) =>
    entity.deref(entity.body(action)?.properties?.["search_mode"]).enum?.includes("fulltext"),
  );

/** The last word may be the beginning of one, as it is still being typed. @param {string} text */
const typedWords = (text) => (/[\p{L}\p{N}]$/u.test(text) ? `${text}*` : text);

/**
 * One page of the list. Rejects with ApiError.
 * @param {Entity} entity @param {GridState} state @param {AbortSignal} signal
 * @returns {Promise<{ rows: Row[], total: number, filtered: number, cut: string[] }>} `cut`: labels of fields that are searched for a part of their records
 */
export async function loadPage(entity, state, signal) {
  const isIndexed = hasFullText(entity, isGrid(entity, state) ? "datatables" : "read");
  const { group, cut } = isIndexed
    ? { group: null, cut: [] }
    : await searchFor(entity, state.search, entity.columns);
  signal.throwIfAborted();
  const search = group ? "" : isIndexed ? typedWords(state.search) : state.search;
  const conditions = [...filterConditions(entity, state), ...(group ? [group] : [])];
  const isEdited = ["bulk-update", "bulk-delete"].some((one) => entity.actions.has(one));
  const shared = {
    ...paramsIn(entity, state.params),
    ...(isEdited && { versions: true }),
    ...(conditions.length > 0 && { where: { conditions } }),
    ...(isIndexed && search && { search_mode: "fulltext" }),
    ...sortMember(state.sort),
  };
  const paths = pathsOf(entity, state.search === "" ? state.columns : entity.columns);
  if (isGrid(entity, state)) {
    const request = {
      draw: 1,
      start: (state.page - 1) * state.size,
      length: state.size,
      ...(paths.length > 0 && { columns: gridColumns(entity, paths) }),
      ...(search && { search: { value: search } }),
      ...shared,
    };
    const { body } = await post(`${entity.path}/datatables`, request, { signal });
    return { rows: body.data, total: body.recordsTotal, filtered: body.recordsFiltered, cut };
  }
  const own = selected(entity, state.columns);
  const select = [...(own ?? ["*"]), ...paths];
  const request = {
    page: state.page,
    per_page: state.size,
    ...((own || paths.length > 0) && { select }),
    ...(search && { search_value: search }),
    ...shared,
  };
  const { body } = await post(`${entity.path}/read`, request, { signal });
  const found = body.pagination.total_records;
  return { rows: body.data, total: found, filtered: found, cut };
}

/** The columns of a grid's request, which are those that are searched: of related records, only their names. @param {Entity} entity @param {string[]} paths */
function gridColumns({ columns, fields }, paths) {
  const own = columns.filter((name) => !fields.get(name)?.relation && !fields.get(name)?.isPath);
  return [...own, ...paths].map((data) => ({ data, searchable: columns.includes(data) }));
}
