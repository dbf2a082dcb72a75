/** A drop-down over the `lookup` of another endpoint: Tom Select, loaded with the first one. */
import { h } from "./dom.js";
import { labelOf, lookup } from "./labels.js";
import { t } from "./words.js";

/** @import { Reference } from "./types.d.ts" */

const offeredMax = 50;

/**
 * @typedef {object} RemoteChoice
 * @property {string} [fallback] the label of an id that the lookup does not have
 * @property {string} project
 * @property {Reference} reference
 * @property {string} value the id that is chosen; empty = none
 * @property {(value: string) => void} onChange
 */

/**
 * Makes a drop-down of the element, which is in the page already.
 * @param {HTMLElement} select @param {RemoteChoice} choice
 */
export async function remoteChoice(select, { project, reference, value, fallback, onChange }) {
  await import("./vendor/tom-select.js");
  const place = `api/${project}/${reference.endpoint}`;
  const TomSelect = /** @type {any} */ (globalThis).TomSelect;
  // The labels of all drop-downs in a form are requested together.
  const label = value === "" ? null : await labelOf(project, reference, value);
  const options = value === "" ? [] : [{ id: value, text: label ?? (fallback || value) }];
  if (!select.isConnected) return null;
  const made = new TomSelect(select, {
    valueField: "id",
    labelField: "text",
    searchField: ["text"],
    sortField: [{ field: "text" }, { field: "$score" }],
    maxOptions: offeredMax,
    maxItems: 1,
    preload: "focus",
    // People who know what they look for type it and press Enter; each of the two waits would be 300 ms.
    loadThrottle: 120,
    refreshThrottle: 60,
    // Tables scroll, and would cut the list off.
    dropdownParent: "body",
    allowEmptyOption: false,
    plugins: { clear_button: { title: t("choice.clear") } },
    render: { no_results: () => h("div.no-results", t("choice.none")) },
    options,
    items: value === "" ? [] : [value],
    load(/** @type {string} */ search, /** @type {(found?: any[]) => void} */ callback) {
      const query = { ...(search && { search: search.slice(0, 100) }), limit: String(offeredMax) };
      lookup(place, query).then(callback, () => callback());
    },
    onChange,
  });
  // Control and Enter saves. The first option is marked as soon as the list opens, and nobody chose it then.
  made.wrapper.addEventListener(
    "keydown",
    (/** @type {KeyboardEvent} */ { key, ctrlKey, metaKey }) => {
      const isFirst = made.activeOption === made.dropdown_content.querySelector(".option");
      if (key === "Enter" && (ctrlKey || metaKey) && isFirst && made.control_input.value === "")
        made.clearActiveOption();
    },
    true,
  );
  // Tab goes to the next field; Backspace clears, too.
  made.wrapper.querySelector(".clear-button")?.setAttribute("tabindex", "-1");
  // Replaced by the library's input, which has its label.
  select.setAttribute("aria-hidden", "true");
  return made;
}

/** Focuses a drop-down; a quiet one opens when people type, click it or press an arrow key. @param {any} made @param {boolean} isQuiet */
export function focusChoice(made, isQuiet) {
  if (!isQuiet) return made.focus();
  made.ignoreFocus = true;
  made.control_input.focus();
  made.ignoreFocus = false;
  made.control_input.addEventListener("keydown", (/** @type {KeyboardEvent} */ { key }) => {
    if (!made.isFocused && (key.length === 1 || key.startsWith("Arrow"))) made.onFocus();
  });
}
