/** The row of filters below the headings: one for each column, of the kind that fits its values. */
import { h } from "./dom.js";
import { conditionsOf, hintFor } from "./filters.js";
import { labelText } from "./format.js";
import { remoteChoice } from "./remote-choice.js";

/** @typedef {import("./types.d.ts").Entity} Entity */
/** @typedef {import("./types.d.ts").Field} Field */

const pauseMs = 350;

/**
 * @param {Entity} entity @param {readonly Field[]} fields @param {import("./grid-state.js").GridState} state
 * @param {(name: string, text: string) => void} onChange
 */
export function filterRow(entity, fields, { filters }, onChange) {
  const row = h("tr.filters", { hidden: filters.size === 0 });
  let isMade = false;
  // The grid takes the cells of hidden columns out of the row.
  const cells = fields.map(() => h("td"));
  row.append(...cells);

  function make() {
    isMade = true;
    fields.forEach((field, at) => {
      const text = filters.get(field.name) ?? "";
      const filter = filterOf(entity, field, text, (value) => onChange(field.name, value));
      cells[at]?.replaceChildren(h("div", null, filter));
    });
  }
  if (filters.size > 0) setTimeout(make);

  return {
    row,
    toggle() {
      row.hidden = !row.hidden;
      document.querySelector(".filters-button")?.setAttribute("aria-pressed", String(!row.hidden));
      if (!isMade) make();
      if (!row.hidden) row.querySelector("input, select")?.focus();
    },
  };
}

/** @param {Entity} entity @param {Field} field @param {string} text @param {(text: string) => void} onChange */
function filterOf(entity, field, text, onChange) {
  const label = `Filter by ${field.label}`;
  const options = optionsOf(entity, field);
  if (options) {
    const select = h(
      "select",
      { "aria-label": label },
      h("option", { value: "" }, ""),
      options.map(([value, shown]) => h("option", { value, selected: value === text }, shown)),
    );
    select.addEventListener("change", () => onChange(select.value));
    return select;
  }
  if (field.references) {
    const select = h("select", { "aria-label": label });
    const { references: reference } = field;
    setTimeout(() =>
      remoteChoice(select, { project: entity.project, reference, value: text, onChange }),
    );
    return select;
  }
  const input = h("input", {
    type: "text",
    "aria-label": label,
    placeholder: hintFor(field),
    value: text,
  });
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    const isUnderstood = conditionsOf(field, input.value) !== null;
    input.setAttribute("aria-invalid", String(!isUnderstood));
    if (isUnderstood) timer = setTimeout(() => onChange(input.value.trim()), pauseMs);
  });
  return input;
}

/** The few values that a field may have; null: there are too many to list. @param {Entity} entity @param {Field} field @returns {[string, string][] | null} */
function optionsOf(entity, { name, type }) {
  if (type === "boolean")
    return [
      ["true", "Yes"],
      ["false", "No"],
    ];
  const schema = entity.deref(entity.body("create")?.properties?.[name]);
  const values = (schema.enum ?? []).filter((one) => typeof one === "string");
  if (values.length === 0) return null;
  return values.map((value) => [`=${value}`, labelText(String(value))]);
}
