/**
 * The body of a list as a grid of cells: one cell has the focus, arrow keys move it, Enter, F2 and a double click edit
 * it. Changed cells show their new values and their faults.
 */
import { h } from "../dom.js";
import { isClosed } from "../record-editing.js";
import { sentence } from "../format.js";
import { openEditor } from "./cell-editor.js";
import { idOf, linesOf } from "./rows.js";
import { t } from "../words.js";

/** @typedef {import("../types.d.ts").Field} Field */
/** @typedef {import("../types.d.ts").Row} Row */

/**
 * @typedef {object} CellGridPlace
 * @property {import("../types.d.ts").Entity} entity
 * @property {import("./rights.js").Rights} rights
 * @property {HTMLTableElement} table
 * @property {(line: HTMLTableRowElement) => Row | null} rowIn
 * @property {() => Field[]} columns those that are shown, without that of the boxes
 * @property {(row: Row, field: Field) => HTMLElement} shown
 * @property {import("./changes.js").Changes} changes
 * @property {import("./selection.js").Selection} selection
 * @property {() => void} onSave
 */

/** How many columns stand before those of the fields. */
const lead = 1;

/** @param {CellGridPlace} place */
export function cellGrid(place) {
  const { entity, rights, table, rowIn, columns, shown, changes, selection, onSave } = place;
  let [top, left] = [0, lead];
  let isEditing = false;
  let touched = /** @type {Element | null} */ (null);
  const lines = () => linesOf(table);

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
    if (content.tagName === "A") content.tabIndex = -1;
    for (const link of content.querySelectorAll("a")) link.tabIndex = -1;
    cell.replaceChildren(content);
    for (const fault of faults) cell.append(h("p.fault-text", null, sentence(fault)));
    cell.classList.remove("editing");
    cell.classList.toggle("changed", change !== null);
    cell.classList.toggle("faulty", faults.length > 0);
    cell.title = change ? t("edit.before", { value: shown(row, field).textContent ?? "" }) : "";
    if (faults.length > 0) cell.setAttribute("aria-invalid", "true");
    else cell.removeAttribute("aria-invalid");
    cell.tabIndex = -1;
    if (editable(cell)) cell.removeAttribute("aria-readonly");
    else cell.setAttribute("aria-readonly", "true");
  }

  /** @param {number} row @param {number} column */
  const cellAt = (row, column) => lines()[row]?.cells[column] ?? null;

  /** What takes the focus in a cell. @param {HTMLTableCellElement | null} cell */
  const target = (cell) =>
    /** @type {HTMLElement | null} */ (cell?.matches(".pick") ? cell.querySelector("input") : cell);

  /** Makes one cell the place that Tab comes to. @param {number} row @param {number} column */
  function settle(row, column) {
    const before = target(cellAt(top, left));
    if (before) before.tabIndex = -1;
    top = Math.max(0, Math.min(row, lines().length - 1));
    left = Math.max(0, Math.min(column, columns().length + lead - 1));
    const now = target(cellAt(top, left));
    if (now) now.tabIndex = 0;
    return now;
  }

  /** @param {number} row @param {number} column */
  function focusAt(row, column) {
    const now = settle(row, column);
    now?.focus();
    now?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** The next cell that can be edited, in reading order. @param {1 | -1} step */
  function focusNext(step) {
    const width = columns().length + lead;
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
    settle(
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
        cell.tabIndex = 0;
        if (entered) changes.set([{ row, field, ...entered }]);
        if (way === "stay") focusAt(top, left);
        if (way === "down") focusAt(top + 1, left);
        if (way === "up") focusAt(top - 1, left);
        if (way === "next" || way === "previous") focusNext(way === "next" ? 1 : -1);
      },
    });
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const cell = cellOf(event);
    if (!cell || isEditing || event.altKey) return;
    const line = /** @type {HTMLTableRowElement} */ (cell.parentElement);
    const isControl = event.ctrlKey || event.metaKey;
    const key = isControl ? `Control ${event.key}` : event.key;
    const found = editable(cell);
    const last = columns().length;
    const link = /** @type {HTMLAnchorElement | null} */ (cell.querySelector("a"));
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowDown: () => focusAt(top + 1, left),
      ArrowUp: () => focusAt(top - 1, left),
      ArrowRight: () => focusAt(top, left + 1),
      ArrowLeft: () => focusAt(top, left - 1),
      Home: () => focusAt(top, 0),
      End: () => focusAt(top, last),
      "Control Home": () => focusAt(0, 0),
      "Control End": () => focusAt(lines().length - 1, last),
      "Control Enter": () =>
        /** @type {HTMLElement | null} */ (line.querySelector(".open"))?.click(),
      "Control a": () => selection.pickPage(true),
      "Control s": onSave,
      Escape: () => selection.clear(),
      F2: () => edit(cell),
      Enter: () => (found ? edit(cell) : link?.click()),
      " ": () => selection.toggle(line, event.shiftKey),
      Delete: () => found && changes.set([found]),
    };
    const action = Object.hasOwn(actions, key) ? actions[key] : undefined;
    // The letter becomes the first one of the new value.
    if (!action && found && !isControl && key.length === 1) return edit(cell, true);
    if (!action || (key === " " && event.target !== cell)) return;
    event.preventDefault();
    action();
  }

  table.addEventListener("keydown", onKey);
  table.addEventListener("focusin", (event) => {
    const cell = cellOf(event);
    const line = /** @type {HTMLTableRowElement | undefined} */ (cell?.parentElement ?? undefined);
    if (cell && line && !isEditing) settle(lines().indexOf(line), cell.cellIndex);
  });
  table.addEventListener("dblclick", (event) => {
    const cell = cellOf(event);
    if (cell && !(/** @type {Element} */ (event.target).closest("a, input"))) edit(cell);
  });
  // There is no double click on touch screens: the second touch of a cell edits it.
  table.addEventListener("pointerdown", ({ pointerType }) => {
    touched = pointerType === "touch" ? document.activeElement : null;
  });
  table.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (cell && cell === touched && !(/** @type {Element} */ (event.target).closest("a")))
      edit(cell);
  });

  return {
    /** The cell with the focus, if it is not being edited. */
    focused: () => (isEditing ? null : cellAt(top, left)),
    place: () => ({ top, left: left - lead }),
    editableAt: (/** @type {number} */ row, /** @type {number} */ column) => {
      const cell = cellAt(row, column + lead);
      return cell && editable(cell);
    },
    isPast: (/** @type {number} */ row) => row >= lines().length,
    /** Draws all cells again, but for one that is being edited. @param {boolean} [takesFocus] */
    show(takesFocus = false) {
      const open = isEditing ? table.querySelector("td.editing") : null;
      isEditing = open !== null;
      for (const line of lines())
        for (const cell of line.cells) if (cell !== open && rowIn(line)) draw(cell);
      const now = settle(top, left);
      if (takesFocus) now?.focus({ preventScroll: true });
    },
  };
}

/** The cell of the body in which something happened. @param {Event} event */
const cellOf = ({ target }) =>
  /** @type {HTMLTableCellElement | null} */ (
    /** @type {Element} */ (target).closest("tbody td:not(.dt-empty)")
  );
