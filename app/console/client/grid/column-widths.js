/**
 * Widths of the columns, and those that stay at the left. Without widths of their own the browser fits the columns to
 * their values. Headings are dragged to move columns, and their edges to resize them; a double click on an edge fits.
 * On the heading with the focus, Shift and the arrow keys resize.
 */
import { h } from "../dom.js";
import { t } from "../words.js";
import { leadOf } from "./rows.js";

/**
 * @typedef {object} WidthsPlace
 * @property {HTMLTableElement} table
 * @property {HTMLElement} scroller
 * @property {import("./column-layout.js").ColumnLayout} layout
 * @property {() => readonly string[]} columns names of those that are shown
 * @property {() => void} onMove
 */

/** What stays at the left leaves room for the rest. */
const pinnedPart = 0.6;
/** A press on a heading that moves less is a click. */
const dragMinPx = 6;
const keySteps = new Map([
  ["ArrowLeft", -16],
  ["ArrowRight", 16],
]);

/** @param {WidthsPlace} place */
export function columnWidths({ table, scroller, layout, columns, onMove }) {
  const status = h("p.unseen", { role: "status" });
  const headings = () => [...(table.tHead?.rows[0]?.cells ?? [])];
  const nameOf = (/** @type {HTMLTableCellElement} */ heading) =>
    columns()[heading.cellIndex - leadOf(table)];

  /** The widths that the values have, one for each column. @param {string} [kind] `fitted`: long texts are not wrapped */
  function natural(kind = "measured") {
    const cells = headings();
    table.classList.remove("sized");
    table.classList.add(kind);
    table.style.width = "";
    for (const { style } of cells) style.width = "";
    const found = cells.map((cell) => Math.ceil(cell.getBoundingClientRect().width));
    table.classList.remove(kind);
    return found;
  }

  function size() {
    const names = [...Array.from({ length: leadOf(table) }, () => ""), ...columns()];
    const isSized = names.some((name) => layout.widths.has(name));
    if (!isSized && !table.classList.contains("sized")) return;
    const found = natural();
    if (!isSized) return;
    const widths = found.map((width, at) => layout.widths.get(names[at] ?? "") ?? width);
    const rest = scroller.clientWidth - widths.reduce((sum, one) => sum + one, 0);
    const last = names.findLastIndex((name) => name !== "" && !layout.widths.has(name));
    if (rest > 0 && last >= 0) widths[last] = (widths[last] ?? 0) + rest;
    headings().forEach(({ style }, at) => (style.width = `${widths[at]}px`));
    table.style.width = `${widths.reduce((sum, one) => sum + one, 0)}px`;
    table.classList.add("sized");
  }

  function pin() {
    const cells = headings();
    const shown = columns();
    const count = shown.filter((name) => layout.pinned.has(name)).length;
    /** @type {number[]} */
    const lefts = [];
    let left = 0;
    for (const cell of cells.slice(0, count > 0 ? count + leadOf(table) : 0)) {
      lefts.push(left);
      left += cell.getBoundingClientRect().width;
    }
    const isRoom = left <= scroller.clientWidth * pinnedPart;
    for (const line of table.rows)
      for (const cell of line.cells) {
        const at = isRoom ? lefts[cell.cellIndex] : undefined;
        cell.classList.toggle("pinned", at !== undefined);
        cell.classList.toggle(
          "pinned-end",
          at !== undefined && cell.cellIndex === lefts.length - 1,
        );
        cell.style.left = at === undefined ? "" : `${at}px`;
      }
    // The cell with the focus is scrolled to where neither headings nor these columns cover it.
    scroller.style.scrollPaddingLeft = isRoom ? `${left}px` : "";
    scroller.style.scrollPaddingTop = `${table.tHead?.offsetHeight ?? 0}px`;
  }

  function show() {
    size();
    pin();
  }

  /** @param {PointerEvent} event @param {HTMLTableCellElement} heading @param {string} name */
  function startResizing(event, heading, name) {
    const edge = /** @type {HTMLElement} */ (event.target);
    const [from, before] = [event.clientX, heading.getBoundingClientRect().width];
    let isMoved = false;
    edge.setPointerCapture(event.pointerId);
    edge.onpointermove = ({ clientX }) => {
      if (!isMoved && Math.abs(clientX - from) < 2) return;
      isMoved = true;
      layout.resize(name, before + clientX - from);
      show();
    };
    edge.onlostpointercapture = () => {
      edge.onpointermove = null;
      if (isMoved) layout.keepWidths();
    };
  }

  /** @param {PointerEvent} event @param {HTMLTableCellElement} heading @param {string} name */
  function startMoving({ clientX: from }, heading, name) {
    const ended = new AbortController();
    let isMoved = false;
    /** @type {{ other: string, isAfter: boolean } | null} */
    let to = null;
    const unmark = () => {
      for (const cell of headings()) cell.classList.remove("drop-before", "drop-after", "dragged");
    };
    const move = (/** @type {PointerEvent} */ { clientX }) => {
      if (!isMoved && Math.abs(clientX - from) < dragMinPx) return;
      isMoved = true;
      unmark();
      heading.classList.add("dragged");
      const { top, height } = heading.getBoundingClientRect();
      const under = document.elementFromPoint(clientX, top + height / 2);
      const over = headings().find((cell) => cell.contains(under));
      const other = over && nameOf(over);
      to = null;
      if (!over || other === undefined || over === heading) return;
      const { left, width } = over.getBoundingClientRect();
      const isAfter = clientX > left + width / 2;
      over.classList.add(isAfter ? "drop-after" : "drop-before");
      to = { other, isAfter };
    };
    const end = () => {
      ended.abort();
      unmark();
      if (!isMoved) return;
      // The click that follows would sort.
      const stop = (/** @type {Event} */ click) => click.stopPropagation();
      addEventListener("click", stop, { capture: true, once: true });
      setTimeout(() => removeEventListener("click", stop, { capture: true }));
      if (!to) return;
      layout.move(name, to);
      onMove();
    };
    const { signal } = ended;
    addEventListener("pointermove", move, { signal });
    addEventListener("pointerup", end, { signal });
    addEventListener("pointercancel", () => (ended.abort(), unmark()), { signal });
  }

  table.addEventListener("pointerdown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const heading = /** @type {HTMLTableCellElement | null} */ (target.closest("thead th"));
    const name = heading ? nameOf(heading) : undefined;
    if (!heading || name === undefined || event.button !== 0) return;
    if (target.matches(".edge")) startResizing(event, heading, name);
    // Fingers scroll.
    else if (event.pointerType !== "touch") startMoving(event, heading, name);
  });
  table.addEventListener(
    "click",
    (event) => /** @type {Element} */ (event.target).matches(".edge") && event.stopPropagation(),
    true,
  );
  table.addEventListener("dblclick", ({ target }) => {
    const edge = /** @type {Element} */ (target);
    const heading = /** @type {HTMLTableCellElement | null} */ (edge.closest("thead th"));
    const name = heading ? nameOf(heading) : undefined;
    if (!heading || name === undefined || !edge.matches(".edge")) return;
    layout.resize(name, natural("fitted")[heading.cellIndex] ?? 0);
    layout.keepWidths();
    show();
  });
  // Before the keys that move between headings.
  table.addEventListener(
    "keydown",
    (event) => {
      const heading = headings().find((cell) => cell === event.target);
      const name = heading ? nameOf(heading) : undefined;
      const step =
        event.shiftKey && !event.altKey && !event.ctrlKey ? keySteps.get(event.key) : undefined;
      if (!heading || name === undefined || step === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      layout.resize(name, heading.getBoundingClientRect().width + step);
      layout.keepWidths();
      show();
      heading.scrollIntoView({ block: "nearest", inline: "nearest" });
      const width = layout.widths.get(name) ?? 0;
      status.textContent = t("columns.width", { field: heading.innerText.trim(), width });
    },
    true,
  );
  const watch = new ResizeObserver(show);

  return {
    /** Tells screen readers how wide a column is now. */
    status,
    show,
    /** To be called when the headings were made. */
    start() {
      for (const heading of headings())
        if (nameOf(heading) !== undefined)
          heading.append(h("span.edge", { "aria-hidden": "true" }));
      watch.observe(scroller);
    },
    stop: () => watch.disconnect(),
  };
}
