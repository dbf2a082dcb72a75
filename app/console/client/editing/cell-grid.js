/**
 * The cells of a list that can be edited: Enter, F2 and a double click open their editor. Changed cells show their new
 * values and their faults.
 */
import { h } from "../dom.js";
import { isClosed } from "../records/record-editing.js";
import { sentence } from "../format.js";
import { idOf } from "../grid/rows.js";
import { openEditor } from "./cell-editor.js";
import { t } from "../words.js";

/** @import { Field, Row } from "../types.d.ts" */

/**
 * @typedef {object} CellGridPlace
 * @property {import("../types.d.ts").Entity} entity
 * @property {import("./rights.js").Rights} rights
 * @property {HTMLTableElement} table
 * @property {(line: HTMLTableRowElement) => Row | null} rowIn
 * @property {() => Field[]} columns those that are shown, without that of the boxes
 * @property {(row: Row, field: Field) => HTMLElement} shown
 * @property {import("../grid/cell-cursor.js").CellCursor} cursor
 * @property {import("./changes.js").Changes} changes
 * @property {import("./selection.js").Selection} selection
 * @property {() => void} onSave
 */

/** How many columns stand before those of the fields. */
const lead = 1;

/** @param {CellGridPlace} place */
export function cellGrid(place) {
  const { entity, rights, table, rowIn, columns, shown, cursor, changes, selection } = place;
  let isEditing = false;
  let touched = /** @type {Element | null} */ (null);
  const { cellAt, focusAt, lines } = cursor;

  /** @param {HTMLTableCellElement} cell @returns {{ row: Row, field: Field, schema: import("../types.d.ts").Schema } | null} null: it cannot be edited */
  function editable(cell) {
    const row = rowIn(/** @type {HTMLTableRowElement} */ (cell.parentElement));
    const field = columns()[cell.cellIndex - lead];
    const schema = rights.schemas.get(field?.name ?? "");
    if (!row || !field || !schema || isClosed(entity, row)) return null;
    return idOf(entity, row) !== null ? { row, field, schema } : null;
  }

  /** Shows the value of a cell, changed or not. @param {HTMLTableCellElement} cell */
  function draw(cell) {
    const row = rowIn(/** @type {HTMLTableRowElement} */ (cell.parentElement));
    const field = columns()[cell.cellIndex - lead];
    if (!row || !field) return;
    const change = changes.of(row, field.name);
    const isFirst = cell.cellIndex === lead;
    const faults = [change?.fault ?? "", isFirst ? changes.faultOf(row) : ""].filter(Boolean);
    const value = change ? { ...row, [field.name]: change.value } : row;
    const content = change?.text
      ? h("span.text", { dir: "auto" }, change.text)
      : shown(value, field);
    cell.replaceChildren(content);
    for (const fault of faults) cell.append(h("p.fault-text", sentence(fault)));
    cell.classList.remove("editing");
    cell.classList.toggle("changed", change !== null);
    cell.classList.toggle("faulty", faults.length > 0);
    cell.title = change ? t("edit.before", { value: shown(row, field).textContent ?? "" }) : "";
    if (faults.length > 0) cell.setAttribute("aria-invalid", "true");
    else cell.removeAttribute("aria-invalid");
    if (editable(cell)) cell.removeAttribute("aria-readonly");
    else cell.setAttribute("aria-readonly", "true");
  }

  /** The next cell that can be edited, in reading order. @param {1 | -1} step */
  function focusNext(step) {
    const width = cursor.width();
    const { top, left } = cursor.place();
    for (let at = top * width + left + step; at >= 0; at += step) {
      const cell = cellAt(Math.floor(at / width), at % width);
      if (!cell) break;
      if (editable(cell)) return focusAt(Math.floor(at / width), at % width);
    }
    focusAt(top, left);
  }

  /** @param {HTMLTableCellElement} cell @param {boolean} [isReplaced] */
  function edit(cell, isReplaced = false) {
    const found = editable(cell);
    if (!found || isEditing) return;
    const { row, field, schema } = found;
    cursor.settle(
      lines().indexOf(/** @type {HTMLTableRowElement} */ (cell.parentElement)),
      cell.cellIndex,
    );
    isEditing = true;
    openEditor(cell, {
      entity,
      field,
      schema,
      isNeeded: rights.needed.has(field.name),
      value: row[field.name],
      change: changes.of(row, field.name),
      isReplaced,
      onEnd(entered, way) {
        isEditing = false;
        draw(cell);
        if (entered) changes.set([{ row, field, ...entered }]);
        const { top, left } = cursor.place();
        if (way === "stay") focusAt(top, left);
        if (way === "down") focusAt(top + 1, left);
        if (way === "up") focusAt(Math.max(0, top - 1), left);
        if (way === "next" || way === "previous") focusNext(way === "next" ? 1 : -1);
      },
    });
  }

  /** Those of the selected range that can be edited. */
  function editableRange() {
    const { top, left, bottom, right } = cursor.range();
    return lines()
      .slice(top, bottom + 1)
      .flatMap(({ cells }) =>
        [...cells].slice(left, right + 1).flatMap((cell) => editable(cell) ?? []),
      );
  }

  cursor.takeKeys((event, cell) => {
    if (isEditing) return true;
    const line = /** @type {HTMLTableRowElement} */ (cell.parentElement);
    const isControl = event.ctrlKey || event.metaKey;
    const key = isControl ? `Control ${event.key}` : event.key;
    const found = editable(cell);
    /** @type {Record<string, () => void>} */
    const actions = {
      "Control a": () => selection.pickPage(true),
      "Control s": place.onSave,
      F2: () => edit(cell),
      ...(found && { Enter: () => edit(cell) }),
      " ": () => selection.toggle(line, event.shiftKey),
      Delete: () => changes.set(editableRange()),
    };
    const action = Object.hasOwn(actions, key) ? actions[key] : undefined;
    // The letter becomes the first one of the new value.
    if (!action && found && !isControl && key.length === 1) edit(cell, true);
    else if (!action) return false;
    // A box takes the space by itself.
    else if (key === " " && event.target !== cell) return true;
    else {
      event.preventDefault();
      action();
    }
    return true;
  });
  table.addEventListener("dblclick", (event) => {
    const cell = cursor.cellOf(event.target);
    if (cell && !(/** @type {Element} */ (event.target).closest("a, input"))) edit(cell);
  });
  // There is no double click on touch screens: the second touch of a cell edits it.
  table.addEventListener("pointerdown", ({ pointerType }) => {
    touched = pointerType === "touch" ? document.activeElement : null;
  });
  table.addEventListener("click", (event) => {
    const cell = cursor.cellOf(event.target);
    if (cell && cell === touched && !(/** @type {Element} */ (event.target).closest("a")))
      edit(cell);
  });

  return {
    /** Where pasted cells begin; null: a cell is being edited, or a heading has the focus. */
    start() {
      const { top, left } = cursor.range();
      return isEditing || top < 0 || left < lead ? null : { top, left: left - lead };
    },
    editableAt: (/** @type {number} */ row, /** @type {number} */ column) => {
      const cell = cellAt(row, column + lead);
      return cell && editable(cell);
    },
    isPast: (/** @type {number} */ row) => row >= lines().length,
    /** Draws all cells again, but for one that is being edited. */
    show() {
      const open = isEditing ? table.querySelector("td.editing") : null;
      isEditing = open !== null;
      for (const line of lines())
        for (const cell of line.cells) if (cell !== open && rowIn(line)) draw(cell);
    },
  };
}
