/** The read-only parts of a record: its title and its other values. */
import { cellIn, cellOf } from "./cells.js";
import { h } from "./dom.js";
import { textOf } from "./format.js";
import { fieldNamed } from "./model.js";

/** @typedef {import("./types.d.ts").Entity} Entity */
/** @typedef {import("./types.d.ts").Row} Row */

/** Relations that one request expands. */
const expandedMax = 10;

/** @param {Entity} entity @param {Row} row */
export function titleOf(entity, row) {
  const name = entity.titleField;
  const text = name === null ? "" : textOf(row[name], { type: "text" });
  const key = entity.key.map((one) => String(row[one])).join(" · ");
  return (text || describedBy(entity, row) || key).slice(0, 120);
}

/** What people know a record by that has no name yet: its date, and whom it refers to. @param {Entity} entity @param {Row} row */
function describedBy({ relations, fields }, row) {
  const date = [...fields.values()].find(({ name, type }) => type === "date" && row[name]);
  const names = [...relations.values()].flatMap(({ name, many, titleField = "" }) => {
    const other = /** @type {Row | null | undefined} */ (many ? null : row[name]);
    return textOf(other?.[titleField], { type: "text" }) || [];
  });
  return [...(date ? [textOf(row[date.name], date)] : []), ...names].slice(0, 2).join(" · ");
}

/** The names of related records to request beside a record, as `expand` takes them. @param {Entity} entity */
export const namesExpanded = ({ relations }) =>
  Object.fromEntries(
    [...relations.values()]
      .filter(isNamed)
      .slice(0, expandedMax)
      .map(({ name, key, titleField = "" }) => [
        name,
        { select: [...new Set([titleField, ...key])] },
      ]),
  );

/** A relation to one over a single field, in whose place the name stands. @param {import("./types.d.ts").Relation} relation */
const isNamed = ({ many, titleField, columns }) =>
  !many && titleField !== undefined && Object.keys(columns).length === 1;

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
            h("span.label", null, fieldNamed(entity.fields, name).label),
            h("div.value", null, valueOf(entity, row, fieldNamed(entity.fields, name))),
          ),
        ),
      ),
    facts.length > 0 &&
      h(
        "div.facts",
        null,
        facts.map((name) =>
          h(
            "span",
            null,
            `${fieldNamed(entity.fields, name).label}: `,
            valueOf(entity, row, fieldNamed(entity.fields, name)),
          ),
        ),
      ),
  ];
}
