/** The read-only parts of a record: its values beside the form, its totals. */
import { cellIn, cellOf } from "./cells.js";
import { h } from "./dom.js";
import { textOf } from "./format.js";
import { fieldOf } from "./model.js";
import { isNamed } from "./titles.js";
import { t } from "./words.js";

/** @typedef {import("./types.d.ts").Entity} Entity */
/** @typedef {import("./types.d.ts").Row} Row */

/** @param {Entity} entity @param {Row} row @param {import("./types.d.ts").Field} field */
function valueOf(entity, row, field) {
  const relation = [...entity.relations.values()].find(
    (one) => isNamed(one) && field.name in one.columns && row[one.name],
  );
  return relation
    ? cellIn(row, { ...field, relation: { titleField: "", ...relation } }, entity)
    : cellOf(row[field.name], field, entity, { whole: true });
}

/** Read-only fields; audit columns are at the end. @param {Entity} entity @param {Row} row @param {(name: string) => boolean} isWanted */
export function valuesOf(entity, row, isWanted) {
  const isFact = (/** @type {string} */ name) =>
    entity.key.includes(name) || /^(created|updated|deleted)_(at|by)$/.test(name);
  const names = entity.shown.filter(
    (name) => name in row && isWanted(name) && name !== entity.status?.field,
  );
  const fieldNamed = (/** @type {string} */ name) =>
    entity.fields.get(name) ?? fieldOf(name, { type: "text" });
  const plain = names.filter((name) => !isFact(name));
  const facts = names.filter((name) => isFact(name) && row[name] !== null);
  return [
    plain.length > 0 &&
      h(
        "div.fields.values",
        null,
        plain.map((name) =>
          h(
            "div.field",
            null,
            h("span.label", null, fieldNamed(name).label),
            h("div.value", null, valueOf(entity, row, fieldNamed(name))),
          ),
        ),
      ),
    facts.length > 0 &&
      h(
        "div.facts",
        null,
        facts.map((name) =>
          h("span", null, `${fieldNamed(name).label}: `, valueOf(entity, row, fieldNamed(name))),
        ),
      ),
  ];
}

/** @param {Entity} entity @param {Row} row @param {readonly string[]} names */
export function totalsOf(entity, row, names) {
  if (names.length === 0) return null;
  return h(
    "dl.totals",
    { "aria-label": t("record.totals") },
    names.map((name) => {
      const field = entity.fields.get(name) ?? fieldOf(name, { type: "decimal" });
      return h(
        "div",
        null,
        h("dt", null, field.label),
        h("dd", { "data-total": name }, textOf(row[name], field)),
      );
    }),
  );
}
