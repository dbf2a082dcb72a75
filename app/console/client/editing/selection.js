/** Rows that people select with boxes: single ones, ranges with Shift, and whole pages. Kept while they page and sort. */
import { h } from "../dom.js";
import { idOf, linesOf } from "../grid/rows.js";
import { titleOf } from "../titles.js";
import { t } from "../words.js";

/** @import { Entity, Row } from "../types.d.ts" */

/** @typedef {ReturnType<typeof rowSelection>} Selection */

/**
 * @param {Entity} entity
 * @param {{ table: HTMLTableElement, rowIn: (line: HTMLTableRowElement) => Row | null, onChange: () => void }} place
 */
export function rowSelection(entity, { table, rowIn, onChange }) {
  /** @type {Map<string, Row>} */
  const chosen = new Map();
  /** Where a range begins: the last row that was selected by itself. @type {HTMLTableRowElement | null} */
  let start = null;
  const whole = h("input", {
    type: "checkbox",
    tabindex: "-1",
    "aria-label": t("edit.selectPage"),
  });
  const isChosen = (/** @type {Row} */ row) => chosen.has(idOf(entity, row) ?? "");
  const lines = () => linesOf(table);
  const boxIn = (/** @type {HTMLTableRowElement} */ line) =>
    /** @type {HTMLInputElement | null} */ (line.querySelector(".pick input"));

  /** @param {HTMLTableRowElement} line @param {boolean} isOn */
  function set(line, isOn) {
    const row = rowIn(line);
    const id = row && idOf(entity, row);
    if (!row || id === null) return;
    if (isOn) chosen.set(id, row);
    else chosen.delete(id);
  }

  /** Marks the rows of the page, which may have been loaded anew. */
  function show() {
    let shown = 0;
    let on = 0;
    for (const line of lines()) {
      const row = rowIn(line);
      const id = row && idOf(entity, row);
      const box = boxIn(line);
      if (!row || id === null || !box) continue;
      shown += 1;
      const isOn = chosen.has(id);
      // A row that was loaded again has its newest version.
      if (isOn) chosen.set(id, row);
      on += isOn ? 1 : 0;
      box.checked = isOn;
      line.classList.toggle("chosen", isOn);
      line.setAttribute("aria-selected", String(isOn));
    }
    whole.checked = shown > 0 && on === shown;
    whole.indeterminate = on > 0 && on < shown;
    whole.disabled = shown === 0;
  }

  /** @param {HTMLTableRowElement} line @param {{ isOn: boolean, isRange: boolean }} way */
  function pick(line, { isOn, isRange }) {
    const all = lines();
    const [from, to] = [all.indexOf(start ?? line), all.indexOf(line)].toSorted((a, b) => a - b);
    if (isRange && (from ?? -1) >= 0)
      for (const one of all.slice(from, (to ?? 0) + 1)) set(one, isOn);
    else set(line, isOn);
    if (!isRange) start = line;
    onChange();
  }

  /** @param {boolean} isOn */
  function pickPage(isOn) {
    for (const line of lines()) set(line, isOn);
    onChange();
  }

  table.addEventListener("click", ({ target, shiftKey }) => {
    if (target === whole) return pickPage(whole.checked);
    const box = /** @type {HTMLElement} */ (target).closest(".pick input");
    const line = box?.closest("tr");
    if (line)
      pick(line, { isOn: /** @type {HTMLInputElement} */ (box).checked, isRange: shiftKey });
  });

  return {
    chosen,
    whole,
    show,
    pickPage,
    isChosen,
    /** @param {HTMLTableRowElement} line @param {boolean} isRange */
    toggle(line, isRange) {
      const row = rowIn(line);
      if (row) pick(line, { isOn: isRange || !isChosen(row), isRange });
    },
    /** @param {Row} row */
    box: (row) =>
      idOf(entity, row) !== null &&
      h("input", {
        type: "checkbox",
        tabindex: "-1",
        "aria-label": t("edit.select", { record: titleOf(entity, row) }),
      }),
    /** After a selected row was changed elsewhere. @param {Row} row */
    renew: (row) => void chosen.set(idOf(entity, row) ?? "", row),
    /** All, or those with these ids. @param {Iterable<string>} [ids] */
    clear(ids) {
      if (ids === undefined) chosen.clear();
      else for (const id of ids) chosen.delete(id);
      start = null;
      onChange();
    },
  };
}
