/** Changed values that are not saved yet, by record and field. They are kept while people page, sort and search. */
import { kindOf, textFor } from "../form-field.js";
import { idOf, keyOf, versionOf } from "../grid/rows.js";

/** @import { Entity, Field, Row } from "../types.d.ts" */

/**
 * @typedef {object} Change
 * @property {unknown} value null: emptied
 * @property {string | null} text what was entered and cannot be read as a value
 * @property {string} fault empty: none is known
 */

/**
 * What a person entered. Without a value, the field is emptied.
 * @typedef {{ row: Row, field: Field, value?: unknown, text?: string, fault?: string }} Entered
 */

/**
 * @typedef {object} ChangedRecord
 * @property {Row} row as it was when its first value was changed
 * @property {string | null} version of that row
 * @property {Map<string, Change>} cells
 */

/** @typedef {ReturnType<typeof pendingChanges>} Changes */

/** @param {Entity} entity @param {import("./rights.js").Rights} rights @param {() => void} onChange */
export function pendingChanges(entity, { schemas }, onChange) {
  /** @type {Map<string, ChangedRecord>} */
  const records = new Map();
  /** Faults of whole records, of saving and of deleting. @type {Map<string, { row: Row, text: string }>} */
  const faults = new Map();

  /** @param {Field} field @param {unknown} value */
  const written = (field, value) =>
    textFor(kindOf(field, schemas.get(field.name) ?? {}), value, field.scale);

  return {
    records,
    faults,
    /** @param {Iterable<Entered>} all */
    set(all) {
      for (const { row, field, value = null, text, fault = "" } of all) {
        const id = idOf(entity, row);
        if (id === null) continue;
        const record = records.get(id) ?? { row, version: versionOf(row), cells: new Map() };
        const isBack =
          fault === "" && written(field, value) === written(field, record.row[field.name]);
        if (isBack) record.cells.delete(field.name);
        else record.cells.set(field.name, { value, text: fault ? (text ?? null) : null, fault });
        if (record.cells.size > 0) records.set(id, record);
        else records.delete(id);
        faults.delete(id);
      }
      onChange();
    },
    /** After these fields of a record were saved in another way. @param {Row} row as it is now @param {string} name */
    renew(row, name) {
      const id = idOf(entity, row) ?? "";
      const record = records.get(id);
      record?.cells.delete(name);
      if (record) Object.assign(record, { row, version: versionOf(row) });
      if (record?.cells.size === 0) records.delete(id);
    },
    /** @param {Row} row @param {string} name @returns {Change | null} */
    of: (row, name) => records.get(idOf(entity, row) ?? "")?.cells.get(name) ?? null,
    /** @param {Row} row */
    faultOf: (row) => faults.get(idOf(entity, row) ?? "")?.text ?? "",
    /** Of one record, or of all. @param {string} [id] */
    drop(id) {
      if (id === undefined) records.clear();
      else records.delete(id);
      faults.clear();
      onChange();
    },
    /** @param {Iterable<{ row: Row, text: string }>} told */
    tellFaults(told) {
      faults.clear();
      for (const one of told) faults.set(idOf(entity, one.row) ?? "", one);
      onChange();
    },
    count: () => [...records.values()].reduce((sum, { cells }) => sum + cells.size, 0),
    /** The body of `bulk-update`, in the order of `records`. */
    request() {
      const all = [...records.values()];
      const etags = all.map(({ version }) => version);
      return {
        data: all.map(({ row, cells }) => ({
          ...keyOf(entity, row),
          ...Object.fromEntries([...cells].map(([name, { value }]) => [name, value])),
        })),
        ...(etags.some((one) => one !== null) && { etags }),
      };
    },
  };
}
