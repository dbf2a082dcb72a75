/** An entity as a grid: search, filters, order, pages and columns, all in the address. DataTables draws the rows. */
import { h, fill, icon, iconButton } from "../dom.js";
import { cellIn } from "../cells.js";
import { columnsMenu } from "../columns-menu.js";
import { exportDialog } from "../export-dialog.js";
import { filterChips } from "../filter-chips.js";
import { filterRow } from "../filter-row.js";
import { isNumber } from "../format.js";
import { loadPage, pageSizes, readState, writeState } from "../grid-state.js";
import { listChanges } from "../live-list.js";
import { fieldOf, loadEntity } from "../model.js";
import { tellFault } from "../notices.js";
import {
  addressOf,
  go,
  keepInAddress,
  recordParts,
  restoreScroll,
  stepInAddress,
} from "../router.js";
import { showsLabel } from "../search.js";
import { paramQuery, paramsForm } from "../params.js";
import DataTable from "../vendor/datatables.js";
import { t, titled } from "../words.js";

/** @typedef {import("../types.d.ts").Entity} Entity */
/** @typedef {import("../types.d.ts").Row} Row */
/** @typedef {import("../grid-state.js").GridState} GridState */

const searchPauseMs = 250;

/** @type {import("../types.d.ts").View} */
export async function show(place, { parts, query }) {
  const [project = "", endpoint = ""] = parts;
  const entity = await loadEntity(project, endpoint);
  if (!entity) {
    fill(
      place,
      h(
        "div.empty",
        null,
        h("h1", null, t("list.missing")),
        h("p", null, `${t("list.noRight")} `, h("a", { href: "#/" }, t("list.others"))),
      ),
    );
    return;
  }
  document.title = titled(entity.title);
  const state = readState(query, entity);
  const isListed = ["datatables", "read"].some((one) => entity.actions.has(one));
  if (!isListed) {
    fill(
      place,
      headOf(entity, state, () => {}),
      h("p.note", null, t("list.notListed")),
    );
    return;
  }
  const isEdited = ["bulk-update", "bulk-delete"].some((one) => entity.actions.has(one));
  const edit = isEdited ? (await import("../editing/list-editing.js")).listEditing : () => null;
  const grid = gridOf(entity, state, edit);
  fill(
    place,
    headOf(entity, state, grid.showFilters),
    grid.params,
    toolbarOf(entity, state, grid),
    grid.element,
  );
  grid.start();
  return grid.stop;
}

/** @param {Entity} entity @param {GridState} state @param {() => void} showFilters */
function headOf(entity, state, showFilters) {
  const { project, endpoint, actions } = entity;
  const may = (/** @type {string} */ action) => actions.has(action);
  const link = (/** @type {string} */ view) => addressOf([project, endpoint, view]);
  /** The chart then shows the records of the list. @param {Event} event */
  const openChart = ({ currentTarget }) => {
    const chart = /** @type {HTMLAnchorElement} */ (currentTarget);
    chart.href = addressOf([project, endpoint, "chart"], writeState(state, entity));
  };
  return h(
    "div.head",
    null,
    h("h1", null, entity.title),
    h("span.grow"),
    iconButton("filter", t("filters"), {
      class: "filters-button",
      onclick: showFilters,
      "aria-pressed": String(state.filters.size > 0),
    }),
    may("aggregate") &&
      h(
        "a.button",
        { onclick: openChart, href: link("chart") },
        icon("chart"),
        h("span", null, t("chart")),
      ),
    may("export") &&
      iconButton("down", t("export"), {
        onclick: () => void exportDialog(entity, state).catch(tellFault),
      }),
    may("import-upload") &&
      h("a.button", { href: link("import") }, icon("up"), h("span", null, t("import"))),
    (may("create-composite") || may("create")) &&
      h("a.button.primary", { href: link("new") }, icon("plus"), h("span", null, t("new"))),
  );
}

/** @param {Entity} entity @param {GridState} state @param {ReturnType<typeof gridOf>} grid */
function toolbarOf(entity, state, grid) {
  let timer = 0;
  const search = h("input", {
    type: "search",
    placeholder: t("list.search", { list: entity.title }),
    "aria-label": t("list.search", { list: entity.title }),
    value: state.search,
    maxlength: "1000",
  });
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => grid.change({ search: search.value.trim() }), searchPauseMs);
  });
  const size = h(
    "select",
    { "aria-label": t("list.perPage") },
    pageSizes.map((one) =>
      h("option", { value: one, selected: one === state.size }, t("list.rows", { count: one })),
    ),
  );
  size.addEventListener("change", () => grid.change({ size: Number(size.value) }));
  return h(
    "div.toolbar",
    null,
    h("label.search", null, icon("search"), search),
    h("span.grow"),
    grid.info,
    size,
    columnsMenu(entity, state.columns, grid.showColumns),
  );
}

/** @param {Entity} entity @param {GridState} state @param {(...place: Parameters<import("../editing/list-editing.js").ListEditor>) => import("../editing/list-editing.js").ListEditing | null} edit */
function gridOf(entity, state, edit) {
  const parts = [entity.project, entity.endpoint];
  const info = h("span.info", { role: "status" });
  const cutNote = h("p.note", { role: "status", hidden: true });
  const table = h("table.grid", { "aria-label": entity.title });
  const holder = h(
    "div.grid-holder",
    { tabindex: "0", role: "region", "aria-label": t("list.table", { list: entity.title }) },
    table,
  );
  const fields = entity.columns.map(
    (name) => entity.fields.get(name) ?? fieldOf(name, { type: "text" }),
  );
  const params = paramsForm(entity, state.params, (entered) => change({ params: entered }));
  let loading = new AbortController();
  /** @type {any} */
  let made = null;
  // The first rows are those of the address.
  let isStep = false;
  const shown = (/** @type {Row} */ row, /** @type {import("../types.d.ts").Field} */ field) => {
    const first = fields.find(({ name }) => state.columns.includes(name));
    return rowCell(entity, row, { field, isFirst: field === first, params: state.params });
  };
  const drawn = {
    table,
    rowIn: (/** @type {HTMLTableRowElement} */ line) => made?.row(line).data() ?? null,
    reload: () => made.draw("page"),
  };
  const editing = edit(entity, { ...drawn, fields, columns: () => state.columns, shown });
  const live = entity.isLive ? listChanges(entity, drawn) : null;
  // The boxes that select rows stand before the fields.
  const lead = editing ? 1 : 0;
  const filters = filterRow(entity, fields, state, (name, text) => {
    if (text === "") state.filters.delete(name);
    else state.filters.set(name, text);
    change({});
  });

  /** @param {any} asked @param {(answer: any) => void} answer */
  async function load(asked, answer) {
    state.page = Math.floor(asked.start / asked.length) + 1;
    state.sort = asked.order.flatMap((/** @type {any} */ { column, dir }) => {
      const field = fields[column - lead]?.name;
      return field && dir ? [{ field, isDown: dir === "desc" }] : [];
    });
    (isStep ? stepInAddress : keepInAddress)(parts, writeState(state, entity));
    isStep = true;
    loading.abort();
    loading = new AbortController();
    if (params?.isMissing(state.params)) {
      fill(info, t("params.needed"));
      answer({ draw: asked.draw, recordsTotal: 0, recordsFiltered: 0, data: [] });
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
      answer({ draw: asked.draw, recordsTotal: total, recordsFiltered: filtered, data: rows });
      holder.removeAttribute("aria-busy");
      restoreScroll();
    } catch (error) {
      if (/** @type {Error} */ (error).name === "AbortError") return;
      holder.removeAttribute("aria-busy");
      if (!params?.showFaults(error)) tellFault(error);
      restoreScroll();
      answer({ draw: asked.draw, recordsTotal: 0, recordsFiltered: 0, data: [] });
    }
  }

  /** @param {Partial<GridState>} changes */
  function change(changes) {
    if (changes.size === undefined) editing?.deselect();
    Object.assign(state, changes);
    if (changes.size !== undefined) made.page.len(changes.size);
    made.draw();
  }

  return {
    element: [
      filterChips(entity, state, () => change({})),
      cutNote,
      live?.element,
      holder,
      editing?.bar,
    ],
    info,
    params: params?.element,
    change,
    showFilters: filters.toggle,
    /** @param {string[]} columns */
    showColumns(columns) {
      const added = columns.filter((name) => !state.columns.includes(name));
      state.columns = columns;
      fields.forEach(({ name }, at) =>
        made.column(at + lead).visible(columns.includes(name), false),
      );
      keepInAddress(parts, writeState(state, entity));
      editing?.drawn();
      // Bytes and names of related records are loaded only if they are shown.
      const isLoaded = (/** @type {string} */ name) => {
        const { type, relation } = entity.fields.get(name) ?? {};
        return type !== "bytes" && !relation;
      };
      if (added.every(isLoaded)) return;
      isStep = false;
      made.draw("page");
    },
    start() {
      fill(
        table,
        h(
          "thead",
          null,
          h(
            "tr",
            null,
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
      if (editing) filters.row.prepend(h("td.pick"));
      made = new DataTable(table, {
        serverSide: true,
        ajax: (/** @type {any} */ asked, /** @type {any} */ answer) => void load(asked, answer),
        columns: [
          ...(editing ? [boxColumn(editing.box)] : []),
          ...fields.map((field) => ({
            data: null,
            name: field.name,
            visible: state.columns.includes(field.name),
            className: isNumber(field) ? "number" : "",
            orderable: !showsLabel(entity, field),
            render: (
              /** @type {unknown} */ _,
              /** @type {string} */ type,
              /** @type {Row} */ row,
            ) => (type === "display" ? shown(row, field) : (row[field.name] ?? null)),
          })),
        ],
        order: state.sort.map(({ field, isDown }) => [
          fields.findIndex(({ name }) => name === field) + lead,
          isDown ? "desc" : "asc",
        ]),
        titleRow: 0,
        pageLength: state.size,
        displayStart: (state.page - 1) * state.size,
        autoWidth: false,
        searching: false,
        processing: false,
        layout: {
          topStart: null,
          topEnd: null,
          bottomStart: null,
          bottomEnd: null,
          bottom: "paging",
        },
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
      if (live) made.on("draw", live.drawn);
      if (editing) made.on("draw", editing.drawn);
      else
        openOnClick(
          table,
          (row) => opens(entity, row) && go(recordParts(entity, row), paramQuery(state.params)),
          made,
        );
    },
    stop() {
      if (editing?.leave() === false) return false;
      live?.stop();
      loading.abort();
      made?.destroy();
      return true;
    },
  };
}

/** @param {(row: Row) => unknown} box */
const boxColumn = (box) => ({
  data: null,
  orderable: false,
  className: "pick",
  render: (/** @type {unknown} */ _, /** @type {string} */ type, /** @type {Row} */ row) =>
    type === "display" ? box(row) || "" : null,
});

/** The first column leads to the record. @param {Entity} entity @param {Row} row @param {{ field: import("../types.d.ts").Field, isFirst: boolean, params: GridState["params"] }} place */
function rowCell(entity, row, { field, isFirst, params }) {
  const cell = cellIn(row, field, entity);
  if (!isFirst || !opens(entity, row) || cell.tagName === "A") return cell;
  return h("a.open", { href: addressOf(recordParts(entity, row), paramQuery(params)) }, cell);
}

/** @param {Entity} entity @param {Row} row */
const opens = ({ key, actions }, row) =>
  key.length > 0 &&
  key.every((name) => row[name] !== undefined && row[name] !== null) &&
  (actions.has("first") || actions.has("read-composite"));

/** A click anywhere in a row opens its record, unless text is selected. @param {HTMLElement} table @param {(row: Row) => unknown} open @param {any} made */
function openOnClick(table, open, made) {
  table.addEventListener("click", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest("a, button, input, select, thead") || String(getSelection() ?? "") !== "")
      return;
    const line = target.closest("tbody tr");
    const row = line && made.row(line).data();
    if (row) open(row);
  });
}
