/** An entity as a grid: search, filters, order, pages and columns, all in the address. DataTables draws the rows. */
import { h, fill, icon, iconButton } from "../dom.js";
import { exportDialog } from "../export-dialog.js";
import { columnLayout } from "../grid/column-layout.js";
import { columnsMenu } from "../grid/columns-menu.js";
import { listTable } from "../grid/list-table.js";
import { viewsMenu } from "../grid/saved-views.js";
import { pageSizes, readState, writeState } from "../grid-state.js";
import { loadEntity } from "../model.js";
import { tellFault } from "../notices.js";
import { addressOf } from "../router.js";
import { t, titled } from "../words.js";

/** @import { Entity } from "../types.d.ts" */
/** @import { GridState } from "../grid-state.js" */

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
        h("h1", t("list.missing")),
        h("p", `${t("list.noRight")} `, h("a", { href: "#/" }, t("list.others"))),
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
      h("p.note", t("list.notListed")),
    );
    return;
  }
  const layout = columnLayout(entity, state, query.has("cols"));
  const grid = listTable(entity, state, {
    layout,
    onMove() {
      columns.show();
      grid.relayout();
    },
    onShow: () => views.show(),
  });
  const columns = columnsMenu(entity, state, { layout, onChange: grid.relayout });
  const views = viewsMenu(entity, state);
  place.classList.add("list-view");
  fill(
    place,
    headOf(entity, state, grid.showFilters),
    grid.params,
    toolbarOf(entity, state, { grid, menus: [views.element, columns.element] }),
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
    h("h1", entity.title),
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
        h("span", t("chart")),
      ),
    may("export") &&
      iconButton("down", t("export"), {
        onclick: () => void exportDialog(entity, state).catch(tellFault),
      }),
    may("import-upload") &&
      h("a.button", { href: link("import") }, icon("up"), h("span", t("import"))),
    (may("create-composite") || may("create")) &&
      h("a.button.primary", { href: link("new") }, icon("plus"), h("span", t("new"))),
  );
}

/** @param {Entity} entity @param {GridState} state @param {{ grid: import("../grid/list-table.js").ListTable, menus: HTMLElement[] }} parts */
function toolbarOf(entity, state, { grid, menus }) {
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
    h("label.search", icon("search"), search),
    h("span.grow"),
    grid.info,
    size,
    menus,
  );
}
