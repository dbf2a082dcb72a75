/**
 * The cells and headings of a list for the keyboard: one of them has the focus, arrow keys move it, and with Shift, or
 * with the mouse, people select a range of cells. Tab comes to that one cell, as in the ARIA pattern for grids. From
 * there it goes on through the cells, as in a spreadsheet, and leaves the list after the last one or after Escape.
 */
import { leadOf, linesOf } from "./rows.js";

/** @typedef {ReturnType<typeof cellCursor>} CellCursor */
/** Rows and columns as the page shows them, both ends included. @typedef {{ top: number, left: number, bottom: number, right: number }} Range */

/**
 * @typedef {object} CursorPlace
 * @property {HTMLTableElement} table
 * @property {HTMLElement} scroller
 * @property {() => { first: number, indexes: number[] }} position the number of the page's first row, and the number of each shown column among all, both from 1
 * @property {(step: 1 | -1) => boolean} turn to the page before or after this one, if there is one
 * @property {() => void} onEscape
 */

/** The headings stand above the first row of the page. */
const headings = -1;

/** @param {CursorPlace} place */
export function cellCursor({ table, scroller, position, turn, onEscape }) {
  let [top, left] = [0, 0];
  let isNew = true;
  /** The other corner of the range; null: no more than the cell with the focus is selected. @type {{ row: number, column: number } | null} */
  let corner = null;
  /** Where the mouse went down. @type {HTMLTableCellElement | null} */
  let pressed = null;
  let takesFocus = false;
  let isLeaving = false;
  /** @type {((event: KeyboardEvent, cell: HTMLTableCellElement) => boolean) | null} */
  let ownKeys = null;

  const lines = () => linesOf(table).filter(({ cells }) => !cells[0]?.matches(".dt-empty"));
  const headingCells = () => table.tHead?.rows[0]?.cells;
  /** @param {number} row @param {number} column */
  const cellAt = (row, column) =>
    (row === headings ? headingCells() : lines()[row]?.cells)?.[column] ?? null;
  const width = () => headingCells()?.length ?? 0;

  /** What takes the focus in a cell. @param {Element | null} cell */
  const target = (cell) =>
    /** @type {HTMLElement | null} */ (cell?.matches(".pick") ? cell.querySelector("input") : cell);

  /** The cell or heading in which something happened; filters are no part of the grid. @param {EventTarget | null} of */
  const cellOf = (of) =>
    /** @type {HTMLTableCellElement | null} */ (
      /** @type {Element} */ (of).closest("thead th, tbody td:not(.dt-empty)")
    );
  const rowOf = (/** @type {HTMLTableCellElement} */ cell) =>
    cell.tagName === "TH"
      ? headings
      : lines().indexOf(/** @type {HTMLTableRowElement} */ (cell.parentElement));

  /** Makes one cell the place that Tab comes to. @param {number} row @param {number} column */
  function settle(row, column) {
    const before = target(cellAt(top, left));
    if (before) before.tabIndex = -1;
    top = Math.max(headings, Math.min(row, lines().length - 1));
    left = Math.max(0, Math.min(column, width() - 1));
    const now = target(cellAt(top, left));
    if (now) now.tabIndex = 0;
    return now;
  }

  /** @param {number} row @param {number} column */
  function focusAt(row, column) {
    select(null);
    const now = settle(row, column);
    now?.focus();
    now?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** @returns {Range} */
  const range = () => {
    const { row, column } = corner ?? { row: top, column: left };
    return {
      top: Math.min(row, top),
      bottom: Math.max(row, top),
      left: Math.min(column, left),
      right: Math.max(column, left),
    };
  };

  /** @param {typeof corner} other */
  function select(other) {
    if (!corner && !other) return;
    const isOne = other?.row === top && other.column === left;
    corner = isOne ? null : other;
    const { top: first, bottom, left: start, right } = range();
    lines().forEach((line, row) => {
      for (const cell of line.cells) {
        const column = cell.cellIndex;
        const isIn = row >= first && row <= bottom && column >= start && column <= right;
        cell.classList.toggle("in-range", corner !== null && isIn);
        if (corner && isIn) cell.setAttribute("aria-selected", "true");
        else cell.removeAttribute("aria-selected");
      }
    });
  }

  /** Moves the focus to a cell and selects all that lies between it and the corner. @param {number} row @param {number} column */
  function extendTo(row, column) {
    const from = corner ?? { row: Math.max(0, top), column: Math.max(leadOf(table), left) };
    const now = settle(Math.max(0, row), Math.max(leadOf(table), column));
    now?.focus();
    now?.scrollIntoView({ block: "nearest", inline: "nearest" });
    select(from);
  }

  /** How many rows are in sight. */
  const screenful = () =>
    Math.max(1, Math.floor(scroller.clientHeight / (cellAt(top, left)?.offsetHeight || 40)) - 2);

  /** @param {1 | -1} step */
  function turnOr(step) {
    const end = step > 0 ? lines().length - 1 : 0;
    if (top !== end) return focusAt(Math.max(0, top + step * screenful()), left);
    if (!turn(step)) return;
    takesFocus = true;
    top = step > 0 ? 0 : Number.MAX_SAFE_INTEGER;
  }

  /** False: Tab leads out of the list. @param {1 | -1} step */
  function moveOn(step) {
    const lead = leadOf(table);
    const across = width() - lead;
    const at = top * across + (step < 0 ? Math.max(lead, left) : left) - lead + step;
    if (isLeaving || top < 0 || at < 0 || at >= lines().length * across) return false;
    focusAt(Math.floor(at / across), (at % across) + lead);
    return true;
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const cell = cellOf(event.target);
    if (!cell || event.altKey) return;
    const isControl = event.ctrlKey || event.metaKey;
    const isHeading = cell.tagName === "TH";
    if (!isHeading && ownKeys?.(event, cell)) return;
    if (event.key !== "Tab" && event.key !== "Shift") isLeaving = event.key === "Escape";
    if (event.key === "Tab") {
      if (!isControl && moveOn(event.shiftKey ? -1 : 1)) event.preventDefault();
      isLeaving = false;
      return;
    }
    const link = /** @type {HTMLElement | null} */ (
      (isControl ? null : cell.querySelector("a")) ?? cell.parentElement?.querySelector(".open")
    );
    /** @type {Record<string, [number, number]>} */
    const ways = {
      ArrowDown: [top + 1, left],
      ArrowUp: [top - 1, left],
      ArrowRight: [top, left + 1],
      ArrowLeft: [top, left - 1],
      Home: [top, 0],
      End: [top, width() - 1],
      "Control Home": [0, 0],
      "Control End": [lines().length - 1, width() - 1],
    };
    /** @type {Record<string, () => void>} */
    const actions = {
      PageDown: () => turnOr(1),
      PageUp: () => turnOr(-1),
      Enter: () => link?.click(),
      "Control Enter": () => link?.click(),
      Escape: () => (corner ? select(null) : onEscape()),
    };
    const sort = () =>
      cell.dispatchEvent(
        new MouseEvent("click", { ...event, bubbles: true, shiftKey: event.shiftKey }),
      );
    const headingActions = { Enter: sort, " ": sort };
    const key = isControl ? `Control ${event.key}` : event.key;
    const way = Object.hasOwn(ways, key) ? ways[key] : undefined;
    const own = isHeading && !cell.matches(".pick") ? { ...actions, ...headingActions } : actions;
    const action = Object.hasOwn(own, key) ? /** @type {any} */ (own)[key] : undefined;
    if (!way && !action) return;
    event.preventDefault();
    if (action) action();
    else if (way && event.shiftKey && !isHeading) extendTo(...way);
    else if (way) focusAt(...way);
  }

  table.addEventListener("keydown", onKey);
  table.addEventListener("focusin", ({ target: to }) => {
    const cell = cellOf(to);
    if (!cell) return;
    const row = rowOf(cell);
    if (row === top && cell.cellIndex === left) return;
    select(null);
    settle(row, cell.cellIndex);
  });
  table.addEventListener("pointerdown", (event) => {
    const cell = cellOf(event.target);
    pressed = null;
    if (event.button !== 0 || event.pointerType === "touch") return;
    if (!cell?.matches("td:not(.pick, .editing)")) return;
    if (event.shiftKey) {
      event.preventDefault();
      extendTo(rowOf(cell), cell.cellIndex);
    } else {
      pressed = cell;
      select(null);
    }
  });
  table.addEventListener("pointerover", ({ target: over, buttons }) => {
    const cell = pressed && buttons === 1 ? cellOf(over) : null;
    if (!cell?.matches("td:not(.editing)") || (cell === pressed && !corner)) return;
    // Within one cell the mouse selects its text.
    getSelection()?.removeAllRanges();
    extendTo(rowOf(cell), cell.cellIndex);
  });
  // A range is no click on its last row.
  table.addEventListener(
    "click",
    (event) => {
      const isInBody = /** @type {Element} */ (event.target).closest("tbody");
      if (isInBody && corner && !(/** @type {Element} */ (event.target).closest(".pick")))
        event.stopPropagation();
      if (isInBody && event.shiftKey) event.preventDefault();
    },
    true,
  );

  return {
    settle,
    focusAt,
    cellAt,
    cellOf,
    lines,
    range,
    width,
    /** Whether more than one cell is selected. */
    isWide: () => corner !== null,
    place: () => ({ top, left }),
    /** @param {NonNullable<typeof ownKeys>} keys true: the key is done with */
    takeKeys: (keys) => void (ownKeys = keys),
    /** The next rows that are drawn take the focus. */
    refocus: () => void (takesFocus = true),
    /** To be called when rows or columns were drawn. */
    drawn() {
      corner = null;
      if (isNew) left = leadOf(table);
      isNew = false;
      const { first, indexes } = position();
      const rows = [
        ...(headingCells() ? [/** @type {any} */ (table.tHead).rows[0]] : []),
        ...lines(),
      ];
      rows.forEach((line, at) => {
        line.ariaRowIndex = String(at === 0 ? 1 : first + at);
        for (const cell of line.cells) {
          cell.ariaColIndex = String(indexes[cell.cellIndex]);
          const taker = target(cell);
          if (taker) taker.tabIndex = -1;
          for (const link of cell.querySelectorAll("a, [role=button]")) link.tabIndex = -1;
        }
      });
      const now = settle(top, left);
      if (takesFocus && !document.querySelector("dialog[open]"))
        now?.focus({ preventScroll: true });
      takesFocus = false;
    },
  };
}
