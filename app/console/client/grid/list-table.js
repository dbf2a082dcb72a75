/** The table of a list: loads its rows and draws them with DataTables, in the columns that people chose. */
import { h, fill } from "../dom.js";
import { cellIn, valueIn } from "../cells.js";
import { listEditing } from "../editing/list-editing.js";
import { isNumber } from "../format.js";
import { loadPage, writeState } from "../grid-state.js";
import { fieldNamed } from "../model.js";
import { tellFault } from "../notices.js";
import { paramQuery, paramsForm } from "../params.js";
import {
  addressOf,
  go,
  keepInAddress,
  recordParts,
  restoreScroll,
  stepInAddress,
} from "../router.js";
import { showsLabel } from "../search.js";
import DataTable from "../vendor/datatables.js";
import { t } from "../words.js";
import { cellCursor } from "./cell-cursor.js";
import { columnWidths } from "./column-widths.js";
import { copiedCells, copiedRows } from "./copied-cells.js";
import { filterChips } from "./filter-chips.js";
import { filterRow } from "./filter-row.js";
import { listChanges } from "./live-list.js";
import { isTyping } from "./rows.js";

/** @import { Entity, Field, Row } from "../types.d.ts" */
/** @import { GridState } from "../grid-state.js" */

/** @typedef {ReturnType<typeof listTable>} ListTable */

/**
 * @typedef {object} TablePlace
 * @property {import("./column-layout.js").ColumnLayout} layout
 * @property {() => void} onMove columns were moved by dragging
 * @property {() => void} onShow something else is shown: filters, order, page, columns
 */

/** @param {Entity} entity @param {GridState} state @param {TablePlace} place */
export function listTable(entity, state, { layout, onMove, onShow }) {
  const parts = [entity.project, entity.endpoint];
  const info = h("span.info", { role: "status" });
  const cutNote = h("p.note", { role: "status", hidden: true });
  const hint = h("p.unseen", { id: "grid-keys" });
  const table = h("table.grid", {
    role: "grid",
    "aria-label": entity.title,
    "aria-multiselectable": "true",
    "aria-describedby": hint.id,
  });
  const scroller = h("div.scroller", table);
  const pager = h("div.pager");
  const holder = h("div.grid-holder", scroller, pager);
  const known = new Map(entity.columns.map((name) => [name, fieldNamed(entity.fields, name)]));
  const fieldsOf = (/** @type {readonly string[]} */ names) =>
    names.flatMap((name) => known.get(name) ?? []);
  const shownFields = () => fieldsOf(state.columns);
  /** In the order of the columns of the table that was made last. @type {Field[]} */
  let fields = [];
  /** Those that it shows. @type {string[]} */
  let columnsMade = [];
  const params = paramsForm(entity, state.params, (entered) => change({ params: entered }));
  let loading = new AbortController();
  /** @type {any} */
  let made = null;
  /** The last answer, for a table that is made again. @type {{ recordsTotal: number, recordsFiltered: number, data: Row[] } | null} */
  let last = null;
  let isKept = false;
  // The first rows are those of the address.
  let isStep = false;
  const shown = (/** @type {Row} */ row, /** @type {Field} */ field) =>
    rowCell(entity, row, { field, isFirst: field.name === state.columns[0], params: state.params });
  const rowIn = (/** @type {HTMLTableRowElement} */ line) => made?.row(line).data() ?? null;
  const reload = () => made.draw("page");
  const cursor = cellCursor({
    table,
    scroller,
    position: () => ({
      first: (state.page - 1) * state.size + 1,
      indexes: [
        ...(editing ? [1] : []),
        ...state.columns.map((name) => layout.all().indexOf(name) + 1 + lead),
      ],
    }),
    turn(step) {
      const { page, pages } = made.page.info();
      if (page + step < 0 || page + step >= pages) return false;
      made.page(page + step).draw("page");
      return true;
    },
    onEscape: () => editing?.deselect(),
  });
  const copied = { table, rowIn, columns: shownFields, cursor };
  /** @type {ReturnType<typeof listEditing>} */
  const editing = listEditing(entity, {
    table,
    rowIn,
    reload,
    cursor,
    shown,
    columns: shownFields,
    copied: () => copiedRows({ ...copied, editing }),
  });
  // The boxes that select rows stand before the fields.
  const lead = editing ? 1 : 0;
  const live = entity.isLive ? listChanges(entity, { table, rowIn, reload }) : null;
  const filters = filterRow(entity, [...known.values()], state, (name, text) => {
    if (text === "") state.filters.delete(name);
    else state.filters.set(name, text);
    change({});
  });
  const widths = columnWidths({ table, scroller, layout, columns: () => state.columns, onMove });
  fill(hint, t(editing ? "edit.keys" : "list.keys"));

  table.addEventListener("copy", (/** @type {ClipboardEvent} */ event) => {
    if (isTyping(event.target) || String(getSelection() ?? "") !== "") return;
    const text = copiedCells({ ...copied, editing });
    if (text === null) return;
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
  });
  if (!editing) openOnClick();

  /** @param {any} asked @param {(answer: any) => void} answer */
  async function load(asked, answer) {
    if (isKept && last) {
      const kept = last;
      // Not before the table is made.
      queueMicrotask(() => answer({ draw: asked.draw, ...kept }));
      return;
    }
    state.page = Math.floor(asked.start / asked.length) + 1;
    state.sort = asked.order.flatMap((/** @type {any} */ { column, dir }) => {
      const field = fields[column - lead]?.name;
      return field && dir ? [{ field, isDown: dir === "desc" }] : [];
    });
    (isStep ? stepInAddress : keepInAddress)(parts, writeState(state, entity));
    isStep = true;
    onShow();
    loading.abort();
    loading = new AbortController();
    const none = { recordsTotal: 0, recordsFiltered: 0, data: [] };
    if (params?.isMissing(state.params)) {
      fill(info, t("params.needed"));
      answer({ draw: asked.draw, ...none });
      return;
    }
    holder.setAttribute("aria-busy", "true");
    live?.asked();
    try {
      const { rows, total, filtered, cut } = await loadPage(entity, state, loading.signal);
      cutNote.hidden = cut.length === 0;
      fill(cutNote, t("list.cut", { fields: cut.join(", ") }));
      if (rows.length === 0 && filtered > 0 && state.page > 1) {
        // The last rows of this page are gone.
        isStep = false;
        setTimeout(() => made.page("last").draw("page"));
      }
      fill(
        info,
        filtered === total
          ? t("list.count", { count: total })
          : t("list.found", { count: filtered, total }),
      );
      table.setAttribute("aria-rowcount", String(filtered + 1));
      // By them, the library says that there are no records, or none that fit. Without a grid, only those that fit count.
      const all = total || Number(state.search !== "" || state.filters.size > 0);
      last = { recordsTotal: all, recordsFiltered: filtered, data: rows };
      answer({ draw: asked.draw, ...last });
      holder.removeAttribute("aria-busy");
      restoreScroll();
    } catch (error) {
      if (/** @type {Error} */ (error).name === "AbortError") return;
      holder.removeAttribute("aria-busy");
      if (!params?.showFaults(error)) tellFault(error);
      restoreScroll();
      last = none;
      answer({ draw: asked.draw, ...none });
      fill(info, "");
      const again = { type: "button", onclick: () => made.draw("page") };
      const fault = h("p", null, /** @type {Error} */ (error).message);
      // The library says there that there are no records.
      for (const empty of table.querySelectorAll(".dt-empty"))
        fill(empty, h("div", null, fault, h("button.button", again, t("tryAgain"))));
    }
  }

  /** @param {Partial<GridState>} changes */
  function change(changes) {
    if (changes.size === undefined) editing?.deselect();
    Object.assign(state, changes);
    if (changes.size !== undefined) made.page.len(changes.size);
    made.draw();
  }

  function drawn() {
    live?.drawn();
    editing?.drawn();
    cursor.drawn();
    widths.show();
  }

  /** DataTables would write the headings anew as markup. */
  function dispose() {
    table.tHead?.replaceChildren();
    made?.destroy(true);
  }

  function make() {
    fields = fieldsOf(layout.all());
    columnsMade = state.columns;
    fill(
      table,
      h(
        "thead",
        h(
          "tr",
          editing?.heading(),
          fields.map((field) =>
            h(
              "th",
              {
                scope: "col",
                class: isNumber(field) ? "number" : "",
                title: showsLabel(entity, field) && t("list.noOrder"),
              },
              field.label,
            ),
          ),
        ),
        filters.row,
      ),
    );
    fill(filters.row, editing && h("td.pick"), filters.cells(fields));
    table.setAttribute("aria-colcount", String(fields.length + lead));
    made = new DataTable(table, {
      ...settings(),
      ajax: (/** @type {any} */ asked, /** @type {any} */ answer) => void load(asked, answer),
      columns: [
        ...(editing ? [boxColumn(editing.box)] : []),
        ...fields.map((field) => columnOf(field)),
      ],
      order: state.sort.map(({ field, isDown }) => [
        fields.findIndex(({ name }) => name === field) + lead,
        isDown ? "desc" : "asc",
      ]),
      pageLength: state.size,
      displayStart: (state.page - 1) * state.size,
    });
    // DataTables puts them below the table, where they would scroll with it.
    fill(pager, hint, holder.querySelector(".dt-paging"));
    made.on("draw", drawn);
    widths.start();
  }

  /** @param {Field} field */
  const columnOf = (field) => ({
    data: null,
    name: field.name,
    visible: state.columns.includes(field.name),
    className: isNumber(field) ? "number" : "",
    orderable: !showsLabel(entity, field),
    render: (/** @type {unknown} */ _, /** @type {string} */ type, /** @type {Row} */ row) =>
      type === "display" ? shown(row, field) : (valueIn(row, field) ?? null),
  });

  /** A click anywhere in a row opens its record, unless text is selected. */
  function openOnClick() {
    table.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (target.closest("a, button, input, select, thead") || event.shiftKey) return;
      if (String(getSelection() ?? "") !== "") return;
      const line = /** @type {HTMLTableRowElement | null} */ (target.closest("tbody tr"));
      const row = line && rowIn(line);
      if (row && opens(entity, row)) go(recordParts(entity, row), paramQuery(state.params));
    });
  }

  return {
    element: [
      filterChips(entity, state, () => change({})),
      cutNote,
      live?.element,
      holder,
      widths.status,
      editing?.bar,
    ],
    info,
    params: params?.element,
    change,
    showFilters() {
      filters.toggle();
      widths.show();
    },
    /** To be called when the layout changed. */
    relayout() {
      const { scrollTop, scrollLeft } = scroller;
      const before = columnsMade;
      keepInAddress(parts, writeState(state, entity));
      onShow();
      isKept = true;
      dispose();
      fill(scroller, table);
      make();
      isKept = false;
      made.one("draw", () => scroller.scrollTo(scrollLeft, scrollTop));
      // Bytes and names of related records are loaded only if they are shown.
      const isLoaded = (/** @type {string} */ name) => {
        const { type, relation, isPath } = entity.fields.get(name) ?? {};
        return before.includes(name) || (type !== "bytes" && !relation && !isPath);
      };
      if (state.columns.every(isLoaded)) return;
      isStep = false;
      reload();
    },
    start: make,
    stop() {
      if (editing?.leave() === false) return false;
      live?.stop();
      widths.stop();
      loading.abort();
      dispose();
      return true;
    },
  };
}

/** What all tables of lists have in common. */
const settings = () => ({
  serverSide: true,
  titleRow: 0,
  autoWidth: false,
  searching: false,
  processing: false,
  layout: { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null, bottom: "paging" },
  language: {
    emptyTable: t("list.empty"),
    zeroRecords: t("list.nothingFits"),
    loadingRecords: t("frame.starting"),
    aria: {
      orderable: `: ${t("list.sort")}`,
      orderableReverse: `: ${t("list.sortReverse")}`,
      orderableRemove: `: ${t("list.sortNot")}`,
      paginate: {
        first: t("list.firstPage"),
        last: t("list.lastPage"),
        next: t("list.nextPage"),
        previous: t("list.previousPage"),
      },
    },
    paginate: { first: "«", last: "»", next: "›", previous: "‹" },
  },
});

/** @param {(row: Row) => unknown} box */
const boxColumn = (box) => ({
  data: null,
  orderable: false,
  className: "pick",
  render: (/** @type {unknown} */ _, /** @type {string} */ type, /** @type {Row} */ row) =>
    type === "display" ? box(row) || "" : null,
});

/** The first column leads to the record. @param {Entity} entity @param {Row} row @param {{ field: Field, isFirst: boolean, params: GridState["params"] }} place */
function rowCell(entity, row, { field, isFirst, params }) {
  const cell = cellIn(row, field, entity);
  const isReference = cell.tagName === "A" && !cell.classList.contains("web");
  if (!isFirst || !opens(entity, row) || isReference || ["bytes", "file"].includes(field.type))
    return cell;
  const href = addressOf(recordParts(entity, row), paramQuery(params));
  return h("a.open", { href }, cell.tagName === "A" ? cell.textContent : cell);
}

/** @param {Entity} entity @param {Row} row */
const opens = ({ key, actions }, row) =>
  key.length > 0 &&
  key.every((name) => row[name] !== undefined && row[name] !== null) &&
  (actions.has("first") || actions.has("read-composite"));
