/** What the caller can edit in a list: the fields that bulk-update takes, and whether rows can be deleted together. */
import { editableNames } from "../records/record-form.js";

/** @import { Entity, Schema } from "../types.d.ts" */

/**
 * @typedef {object} Rights
 * @property {Map<string, Schema>} schemas of the fields that can be changed, by name
 * @property {Set<string>} needed names of fields that must not be empty
 * @property {boolean} canDelete
 * @property {number} recordsMax per request
 */

/** Null: the list is for reading. @param {Entity} entity @returns {Rights | null} */
export function editingRights(entity) {
  const { actions, key, columns, fields, status } = entity;
  if (key.length === 0 || !key.every((name) => columns.includes(name))) return null;
  const records = listIn(entity, "bulk-update", "data");
  const record = entity.deref(records?.items);
  const byAction = actions.has("change-status") && status ? [status.field] : [];
  const names = editableNames(record, entity, [...key, ...byAction]).filter(
    (name) => fields.has(name) && !["bytes", "file"].includes(fields.get(name)?.type ?? ""),
  );
  const keys = listIn(entity, "bulk-delete", "keys");
  if (names.length === 0 && !keys) return null;
  return {
    schemas: new Map(names.map((name) => [name, entity.deref(record.properties?.[name])])),
    needed: new Set(entity.body("create")?.required ?? []),
    canDelete: keys !== null,
    recordsMax: records?.maxItems ?? keys?.maxItems ?? 1000,
  };
}

/** The list of records in the body of a bulk action. @param {Entity} entity @param {string} action @param {string} member @returns {Schema | null} */
function listIn(entity, action, member) {
  const body = entity.body(action);
  const forms = body ? [body, ...(body.anyOf ?? []).map(entity.deref)] : [];
  const form = forms.find(({ properties }) => properties?.[member]);
  return form ? entity.deref(form.properties?.[member]) : null;
}
