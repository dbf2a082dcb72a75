/** Rows as actions name them: by key, by version, and by their index in a request. */

/** @import { Entity, Row } from "../types.d.ts" */

/** The lines of the page. @param {HTMLTableElement} table */
export const linesOf = (table) => [...(table.tBodies[0]?.rows ?? [])];

/** How many columns stand before those of the fields: that of the boxes, if there is one. @param {HTMLTableElement} table */
export const leadOf = (table) => (table.tHead?.rows[0]?.cells[0]?.matches(".pick") ? 1 : 0);

/** Whether a key or the clipboard belongs to an input within a cell. @param {EventTarget | null} target */
export const isTyping = (target) =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && target.type !== "checkbox");

/** @param {Pick<Entity, "key">} entity @param {Row} row @returns {Row} */
export const keyOf = ({ key }, row) => Object.fromEntries(key.map((name) => [name, row[name]]));

/** The conditions that find the record. @param {Pick<Entity, "key">} entity @param {Row} row */
export const keyConditions = ({ key }, row) => key.map((name) => ({ key: name, value: row[name] }));

/** Names a record within the page; null: the row has no whole key. @param {Pick<Entity, "key">} entity @param {Row} row */
export function idOf({ key }, row) {
  const values = key.map((name) => row[name] ?? null);
  return values.includes(null) ? null : JSON.stringify(values.map(String));
}

/** The version that `etags` takes. @param {Row} row @returns {string | null} */
export const versionOf = ({ _version }) => (typeof _version === "string" ? _version : null);

/**
 * The faults of a bulk action by the index of their records; `field` is empty for faults of a whole record.
 * @param {Record<string, string[]>} errors @returns {{ at: number, field: string, text: string }[]}
 */
export const indexedFaults = (errors) =>
  Object.entries(errors).flatMap(([path, messages]) => {
    const [, at, field = ""] = /^\[(\d+)\](?:\.(.+))?$/.exec(path) ?? [];
    return at === undefined ? [] : [{ at: Number(at), field, text: messages.join(" ") }];
  });
