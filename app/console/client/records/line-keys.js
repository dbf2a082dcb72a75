/** Moving through the lines of a document by keyboard alone. */

/** @import { Line } from "./document-lines.js" */

/**
 * Enter goes to the next field, and from the last one to the next line or to a new one. The arrows go to the line above
 * or below, except in lists and in dates, which use them. Control and Delete removes the line.
 * @param {HTMLElement} body of the table
 * @param {{ lines: () => readonly Line[], begin: () => void, remove: (line: Line) => void }} place
 */
export function attachLineKeys(body, { lines, begin, remove }) {
  /** Whether the arrows have moved through an open list, so that Enter means the option there. */
  let isPicked = false;
  body.addEventListener("focusin", () => void (isPicked = false));
  // Before a drop-down takes Enter for its first option, although nothing was looked for.
  body.addEventListener("keydown", (event) => before(event), true);
  body.addEventListener("keydown", (event) => {
    const place = placeOf(event);
    const box = /** @type {HTMLInputElement} */ (event.target);
    if (!place || !isDropDown(box) || !isStep(event)) return;
    // What was typed and found nothing stays to be corrected.
    if (box.value === "") enter(event, place);
  });

  /** @param {KeyboardEvent} event */
  function before(event) {
    const place = placeOf(event);
    if (!place || event.isComposing) return;
    const box = /** @type {HTMLInputElement} */ (event.target);
    const isUpOrDown = event.key === "ArrowUp" || event.key === "ArrowDown";
    if (event.key === "Delete" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      remove(place.line);
    } else if (isDropDown(box)) {
      isPicked ||= isUpOrDown;
      if (isStep(event) && box.value === "" && !isPicked) enter(event, place);
    } else if (isStep(event)) enter(event, place);
    else if (isUpOrDown && !event.shiftKey && !event.altKey && hasFreeArrows(box)) {
      const all = lines();
      const other = all[all.indexOf(place.line) + (event.key === "ArrowUp" ? -1 : 1)];
      if (!other) return;
      event.preventDefault();
      focusIn(other, place.name);
    }
  }

  /** @param {KeyboardEvent} event @returns {{ line: Line, name: string } | null} */
  function placeOf({ target }) {
    for (const line of lines())
      for (const [name, { control }] of line.inputs)
        if (control.contains(/** @type {Node} */ (target))) return { line, name };
    return null;
  }

  /** @param {KeyboardEvent} event @param {{ line: Line, name: string }} place */
  function enter(event, { line, name }) {
    event.preventDefault();
    event.stopPropagation();
    const names = [...line.inputs.keys()];
    const next = names[names.indexOf(name) + 1];
    if (next !== undefined) return focusIn(line, next);
    const other = lines()[lines().indexOf(line) + 1];
    if (other) focusIn(other);
    else begin();
  }
}

/** @param {Line} line @param {string} [name] otherwise the first field */
export function focusIn({ inputs }, name = "") {
  (inputs.get(name) ?? [...inputs.values()][0])?.focus();
  const box = document.activeElement;
  if (box instanceof HTMLInputElement && hasFreeArrows(box)) box.select();
}

/** @param {KeyboardEvent} event */
const isStep = ({ key, shiftKey, ctrlKey, metaKey, altKey, isComposing }) =>
  key === "Enter" && !(shiftKey || ctrlKey || metaKey || altKey || isComposing);

/** @param {HTMLElement} box */
const isDropDown = (box) => box.closest(".ts-wrapper") !== null;

/** @param {HTMLElement} box */
const hasFreeArrows = (box) =>
  box instanceof HTMLInputElement && ["text", "checkbox"].includes(box.type) && !isDropDown(box);
