/** The editor of one cell: the input that the field has in forms, until it is left or cancelled. */
import { formField } from "../form-field.js";
import { fill, h } from "../dom.js";

/** @import { Entity, Field } from "../types.d.ts" */
/** @typedef {"stay" | "down" | "up" | "next" | "previous"} Way where the focus goes */

/**
 * @typedef {object} EditorPlace
 * @property {Entity} entity
 * @property {Field} field
 * @property {import("../types.d.ts").Schema} schema
 * @property {boolean} isNeeded
 * @property {unknown} value
 * @property {import("./changes.js").Change | null} change
 * @property {boolean} isReplaced whether the first letter replaces the value
 * @property {(entered: { value?: unknown, text?: string, fault?: string } | null, way: Way | null) => void} onEnd
 *   `entered` is null if nothing was changed; `way` is null if the focus is elsewhere already
 */

/** Of a cell that is being edited, in pixels. */
const paddings = 8;

/** @param {HTMLTableCellElement} cell @param {EditorPlace} place */
export function openEditor(cell, place) {
  const { entity, field, schema, isNeeded, value, change, isReplaced, onEnd } = place;
  let isOpen = true;
  const { width } = cell.getBoundingClientRect();
  const editor = formField(field, {
    entity,
    schema,
    isNeeded,
    value: change && change.text === null ? change.value : value,
    // A choice in a list of records is made with one click.
    onInput: () => field.references && setTimeout(() => end("stay")),
  });
  const holder = h("div.cell-editor", editor.control);
  // Of its own, because an input would make the column wider.
  holder.style.width = `${Math.floor(width) - paddings}px`;
  fill(cell, holder);
  cell.classList.add("editing");
  const input = /** @type {HTMLInputElement} */ (holder.querySelector("input, select, textarea"));
  input.setAttribute("aria-label", field.label);
  // A text that was not understood is corrected, not written again.
  if (change?.text && input.tagName !== "SELECT") input.value = change.text;
  const before = editor.text();
  if (change?.fault) editor.showFaults([change.fault]);
  setTimeout(() => {
    if (!isOpen) return;
    editor.focus();
    holder.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  input.focus();
  if (isReplaced || input.type === "text") input.select?.();

  /** @param {Way | null} way */
  function end(way) {
    if (!isOpen) return;
    const fault = editor.fault();
    // What cannot be read is told at once; only a person who goes elsewhere leaves it.
    if (fault !== "" && way !== null) return editor.showFaults([fault]);
    isOpen = false;
    const text = editor.text();
    const isSame = text === before && !change?.fault;
    onEnd(isSame ? null : { value: editor.value() ?? null, ...(fault && { text, fault }) }, way);
  }

  holder.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    event.stopPropagation();
    // A list that is open takes the key.
    if (event.defaultPrevented || event.isComposing) return;
    const { key, shiftKey } = event;
    if (key === "Escape") {
      isOpen = false;
      onEnd(null, "stay");
    } else if (key === "Tab") end(shiftKey ? "previous" : "next");
    else if (key === "Enter" && !(shiftKey && input.tagName === "TEXTAREA"))
      end(shiftKey ? "up" : "down");
    else return;
    event.preventDefault();
  });
  holder.addEventListener("focusout", (/** @type {FocusEvent} */ { relatedTarget }) => {
    const to = /** @type {Element | null} */ (relatedTarget);
    // The list of a drop-down is elsewhere in the page; another window may have the focus for a while.
    if (!document.hasFocus() || (to && (holder.contains(to) || to.closest(".ts-dropdown")))) return;
    setTimeout(() => holder.contains(document.activeElement) || end(null));
  });
}
