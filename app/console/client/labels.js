/** The labels of referenced records: requested together, and kept while the page is open. */
import { ask, post } from "./api.js";
import { loadEntity, mayUse } from "./model.js";
import { namesExpanded, titleOf } from "./titles.js";

/** @typedef {{ endpoint: string, field: string }} Reference */

/** Ids per request. */
const idsMax = 100;
/** Maximum of records that are requested one by one, because the lookup does not offer them. */
const recordsMax = 25;

/** @typedef {(label: string | null) => void} Resolve */
/** @typedef {{ project: string, reference: Reference, ids: Map<string, Resolve> }} Waiting */

/** By the path of the endpoint, then by id. @type {Map<string, Map<string, Promise<string | null>>>} */
const known = new Map();
/** By the path of the endpoint. @type {Map<string, Waiting>} */
let waiting = new Map();

export function forgetLabels() {
  known.clear();
}

/**
 * The label of a record; null where the caller does not see the record.
 * @param {string} project @param {Reference} reference @param {unknown} id @returns {Promise<string | null>}
 */
export function labelOf(project, reference, id) {
  const place = placeOf(project, reference);
  const labels = known.get(place) ?? new Map();
  known.set(place, labels);
  const key = String(id);
  const asked =
    labels.get(key) ??
    new Promise((resolve) => {
      if (waiting.size === 0) setTimeout(askAll);
      const group = waiting.get(place) ?? { project, reference, ids: new Map() };
      waiting.set(place, group);
      group.ids.set(key, resolve);
    });
  labels.set(key, asked);
  return asked;
}

/** @param {string} project @param {Reference} reference */
const placeOf = (project, { endpoint }) => `api/${project}/${endpoint}`;

function askAll() {
  const all = waiting;
  waiting = new Map();
  for (const { ids, ...group } of all.values()) {
    const entries = [...ids];
    for (let at = 0; at < entries.length; at += idsMax)
      void askSome({ ...group, ids: new Map(entries.slice(at, at + idsMax)) });
  }
}

/** @param {Waiting} group */
async function askSome({ project, reference, ids }) {
  const query = { ids: [...ids.keys()].join(",") };
  const found = mayUse(project, reference.endpoint, "lookup")
    ? await lookup(placeOf(project, reference), query).catch(() => [])
    : [];
  const labels = new Map(found.map(({ id, text }) => [String(id), text]));
  const others = [...ids.keys()].filter((id) => !labels.has(id));
  for (const [id, resolve] of ids) if (labels.has(id)) resolve(labels.get(id) ?? null);
  const titles = others
    .slice(0, recordsMax)
    .map((id) => titleAt(project, reference, id).catch(() => null));
  for (const [at, id] of others.entries()) ids.get(id)?.((await titles[at]) ?? null);
}

/**
 * The title of a record that drop-downs do not offer, such as one that is no longer active, or has no name yet.
 * @param {string} project @param {Reference} reference @param {string} id
 */
async function titleAt(project, { endpoint, field }, id) {
  const entity = await loadEntity(project, endpoint);
  if (!entity?.titleField || !entity.actions.has("first")) return null;
  const expand = namesExpanded(entity);
  const { body } = await post(`${entity.path}/first`, {
    where: { key: field, value: id },
    ...(Object.keys(expand).length > 0 && { expand }),
  });
  return body.data && titleOf(entity, body.data);
}

/**
 * @param {string} place `api/demo/suppliers` @param {Record<string, string>} query @param {AbortSignal} [signal]
 * @returns {Promise<{ id: string | number, text: string }[]>}
 */
export async function lookup(place, query, signal) {
  const { body } = await ask(`${place}/lookup?${new URLSearchParams(query)}`, {
    headers: { "X-Request-Mode": "dynamic" },
    ...(signal && { signal }),
  });
  return body.data;
}
