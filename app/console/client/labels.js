/** The labels of records that others refer to: asked for together, and kept while the page is open. */
import { ask } from "./api.js";

/** @typedef {{ endpoint: string, field: string }} Reference */

/** More ids go into further requests. */
const idsMax = 100;

/** By `project/endpoint`, then by id. @type {Map<string, Map<string, Promise<string | null>>>} */
const known = new Map();
/** @type {Map<string, Map<string, (label: string | null) => void>>} */
let waiting = new Map();

export function forgetLabels() {
  known.clear();
}

/**
 * The label of a record; null where the caller's lookup does not have it.
 * @param {string} project @param {Reference} reference @param {unknown} id @returns {Promise<string | null>}
 */
export function labelOf(project, { endpoint }, id) {
  const place = `api/${project}/${endpoint}`;
  const labels = known.get(place) ?? new Map();
  known.set(place, labels);
  const key = String(id);
  const asked = labels.get(key) ?? new Promise((resolve) => wait(place, key, resolve));
  labels.set(key, asked);
  return asked;
}

/** @param {string} place @param {string} id @param {(label: string | null) => void} resolve */
function wait(place, id, resolve) {
  if (waiting.size === 0) setTimeout(askAll);
  const ids = waiting.get(place) ?? new Map();
  waiting.set(place, ids);
  ids.set(id, resolve);
}

function askAll() {
  const all = waiting;
  waiting = new Map();
  for (const [place, ids] of all) {
    const entries = [...ids];
    for (let at = 0; at < entries.length; at += idsMax)
      void askSome(place, new Map(entries.slice(at, at + idsMax)));
  }
}

/** @param {string} place @param {Map<string, (label: string | null) => void>} ids */
async function askSome(place, ids) {
  const found = await lookup(place, { ids: [...ids.keys()].join(",") }).catch(() => []);
  const labels = new Map(found.map(({ id, text }) => [String(id), text]));
  for (const [id, resolve] of ids) resolve(labels.get(id) ?? null);
}

/**
 * @param {string} place `api/demo/suppliers` @param {Record<string, string>} query
 * @returns {Promise<{ id: string | number, text: string }[]>}
 */
export async function lookup(place, query) {
  const { body } = await ask(`${place}/lookup?${new URLSearchParams(query)}`, {
    headers: { "X-Request-Mode": "dynamic" },
  });
  return body.data;
}
