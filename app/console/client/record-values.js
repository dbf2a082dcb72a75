/** The read-only parts of a record: its values beside the form. */
import { cellIn } from "./cells.js";
import { h } from "./dom.js";
import { fieldNamed } from "./model.js";
import { isNamed } from "./titles.js";

/** @import { Entity, Row } from "./types.d.ts" */

/** @param {Entity} entity @param {Row} row @param {import("./types.d.ts").Field} field */
function valueOf(entity, row, field) {
  const relation = [...entity.relations.values()].find(
    (one) => isNamed(one) && field.name in one.columns && row[one.name],
  );
  return relation
    ? cellIn(row, { ...field, relation: { titleField: "", ...relation } }, entity)
    : cellIn(row, field, entity, { whole: true });
}

/** Read-only fields; audit columns are at the end. @param {Entity} entity @param {Row} row @param {(name: string) => boolean} isWanted */
export function valuesOf(entity, row, isWanted) {
  const isFact = (/** @type {string} */ name) =>
    entity.key.includes(name) || /^(created|updated|deleted)_(at|by)$/.test(name);
  const names = entity.shown.filter(
    (name) => name in row && isWanted(name) && name !== entity.status?.field,
  );
  const plain = names.filter((name) => !isFact(name));
  const facts = names.filter((name) => isFact(name) && row[name] !== null);
  return [
    plain.length > 0 &&
      h(
        "div.fields.values",
        plain.map((name) =>
          h(
            "div.field",
            h("span.label", fieldNamed(entity.fields, name).label),
            h("div.value", valueOf(entity, row, fieldNamed(entity.fields, name))),
          ),
        ),
      ),
    facts.length > 0 &&
      h(
        "div.facts",
        facts.map((name) =>
          h(
            "span",
            `${fieldNamed(entity.fields, name).label}: `,
            valueOf(entity, row, fieldNamed(entity.fields, name)),
          ),
        ),
      ),
  ];
}
