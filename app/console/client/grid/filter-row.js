/** The row of filters below the headings: one for each column, according to its type. */
import { fill, h } from "../dom.js";
import { faultFor, hintFor, keptFilter, shownFilter } from "../filters.js";
import { labelText } from "../format.js";
import { remoteChoice } from "../remote-choice.js";
import { choicesOf } from "../search.js";
import { t } from "../words.js";

/** @import { Entity, Field } from "../types.d.ts" */

const pauseMs = 350;

/**
 * @param {Entity} entity @param {readonly Field[]} fields @param {import("../grid-state.js").GridState} state
 * @param {(name: string, text: string) => void} onChange
 */
export function filterRow(entity, fields, { filters }, onChange) {
  const row = h("tr.filters", { hidden: filters.size === 0 });
  let isMade = false;
  const cells = new Map(fields.map(({ name }) => [name, h("td")]));

  function make() {
    isMade = true;
    for (const field of fields) {
      const text = filters.get(field.name) ?? "";
      const filter = filterOf(entity, field, text, (value) => onChange(field.name, value));
      cells.get(field.name)?.replaceChildren(h("div", filter));
    }
  }
  if (filters.size > 0) setTimeout(make);

  return {
    row,
    /** Of these fields, in this order. @param {readonly Field[]} shown */
    cells: (shown) => shown.map(({ name }) => cells.get(name)),
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
  const label = t("filter.by", { field: field.label });
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
    value: shownFilter(field, text),
  });
  const fault = h("p.fault-text", { id: `filter-fault-${field.name}`, role: "alert" });
  input.setAttribute("aria-describedby", fault.id);
  const check = () => {
    const kept = keptFilter(field, input.value);
    input.setAttribute("aria-invalid", String(kept === null));
    fill(fault, kept === null ? faultFor(field) : "");
    return kept;
  };
  // The address can contain any text.
  check();
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    const kept = check();
    if (kept !== null) timer = setTimeout(() => onChange(kept), pauseMs);
  });
  return [input, fault];
}

/** The possible values of a field; null: there are too many to list. @param {Entity} entity @param {Field} field @returns {[string, string][] | null} */
function optionsOf(entity, { name, type }) {
  if (type === "boolean")
    return [
      ["true", t("yes")],
      ["false", t("no")],
    ];
  const values = choicesOf(entity, name);
  if (values.length === 0) return null;
  const isOpen = (/** @type {string} */ value) => !entity.status?.closed?.includes(value);
  const open = entity.status?.field === name ? values.filter(isOpen) : [];
  const isSome = open.length > 1 && open.length < values.length;
  return [
    ...(isSome ? [oneOf(open)] : []),
    ...values.map((value) => /** @type {[string, string]} */ ([`=${value}`, labelText(value)])),
  ];
}

/** @param {readonly string[]} values @returns {[string, string]} */
const oneOf = (values) => [values.map((value) => `=${value}`).join("|"), t("filter.open")];
