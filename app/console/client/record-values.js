/** The read-only parts of a record: its title, its other values, its totals. */
import { cellOf } from "./cells.js";
import { h } from "./dom.js";
import { textOf } from "./format.js";
import { fieldOf, titleField } from "./model.js";

/** @typedef {import("./types.d.ts").Entity} Entity */
/** @typedef {import("./types.d.ts").Row} Row */

/** @param {Entity} entity @param {Row} row */
export function titleOf(entity, row) {
  const name = titleField(entity);
  const text = name === null ? "" : textOf(row[name], { type: "text" });
  return (text || entity.key.map((one) => String(row[one])).join(" · ")).slice(0, 120);
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
            h("div.value", null, cellOf(row[name], fieldNamed(name), entity, { whole: true })),
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
            `${fieldNamed(name).label}: `,
            cellOf(row[name], fieldNamed(name), entity, { whole: true }),
          ),
        ),
      ),
  ];
}

/** @param {Entity} entity @param {Row} row @param {readonly string[]} names */
export function totalsOf(entity, row, names) {
  if (names.length === 0) return null;
  return h(
    "dl.totals",
    { "aria-label": "Totals" },
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
