/** Filters that have no column in the list, such as the record that the listed ones belong to; each can be taken away. */
import { fill, h, icon } from "../dom.js";
import { labelOf } from "../labels.js";
import { wordsOf } from "../model.js";
import { t } from "../words.js";

/** @import { Entity } from "../types.d.ts" */

/** @param {Entity} entity @param {import("../grid-state.js").GridState} state @param {() => void} onChange */
export function filterChips(entity, { filters }, onChange) {
  const place = h("p.chips");
  const show = () => {
    const hidden = [...filters].filter(([name]) => !entity.columns.includes(name));
    place.hidden = hidden.length === 0;
    fill(
      place,
      hidden.map(([name, text]) => chipOf(entity, { name, text, onRemove: () => remove(name) })),
    );
  };
  /** @param {string} name */
  function remove(name) {
    filters.delete(name);
    show();
    onChange();
  }
  show();
  return place;
}

/** @param {Entity} entity @param {{ name: string, text: string, onRemove: () => void }} filter */
function chipOf(entity, { name, text, onRemove }) {
  const { label, target } = meaningOf(entity, name);
  const value = h("strong", { dir: "auto" }, text.replace(/^=/, ""));
  if (target)
    void labelOf(entity.project, target, text.replace(/^=/, "")).then(
      (known) => known !== null && fill(value, known),
    );
  const title = t("filter.remove", { field: label });
  return h(
    "span.chip",
    `${label}: `,
    value,
    h("button", { type: "button", onclick: onRemove, "aria-label": title, title }, icon("close")),
  );
}

/** The label of a filter, and the endpoint that names its value. @param {Entity} entity @param {string} name */
export function meaningOf({ fields, relations }, name) {
  const field = fields.get(name);
  const many = field ? undefined : relations.get(name);
  const [key = ""] = many?.key ?? [];
  if (many) return { label: wordsOf(name), target: { endpoint: many.endpoint, field: key } };
  const named = [...fields.values()].find(
    ({ relation }) => relation && Object.keys(relation.columns).join() === name,
  );
  const { endpoint, columns } = named?.relation ?? {};
  const target = endpoint ? { endpoint, field: columns?.[name] ?? "" } : field?.references;
  return { label: named?.label ?? field?.label ?? name, target };
}
