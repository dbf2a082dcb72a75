/**
 * Views of a list by name: those of the project's files, and those that people keep in the browser for each endpoint.
 * A view is a query of the address. Views with fields that the caller does not see are left out.
 */
import { closeOutside, fill, h, icon } from "../dom.js";
import { filterText } from "../filters.js";
import { isViewOf, readState, writeState } from "../grid-state.js";
import { offerUndo, tell, tellFault } from "../notices.js";
import { addressOf } from "../router.js";
import { locale, t } from "../words.js";

/** @import { Entity } from "../types.d.ts" */
/** @import { GridState } from "../grid-state.js" */
/** The query by the name. @typedef {Map<string, string>} Views */

const nameLengthMax = 100;
const order = new Intl.Collator(locale, { numeric: true });

/** @param {Entity} entity @param {GridState} state */
export function viewsMenu(entity, state) {
  const place = `rowgate.views.${entity.path}`;
  const shared = new Map(entity.views.map((view) => [view.name, queryOf(entity, view)]));
  const title = h("span");
  const list = h("ul", { "aria-label": t("views") });
  const name = h("input", {
    type: "text",
    maxlength: nameLengthMax,
    "aria-label": t("views.name"),
    placeholder: t("views.name"),
    autocomplete: "off",
    oninput: showButton,
  });
  const button = h("button.button", { type: "submit" });
  const form = h(
    "form.menu-end",
    {
      onsubmit(/** @type {Event} */ event) {
        event.preventDefault();
        const wanted = nameIn(name);
        if (wanted !== "") keepShown(wanted);
      },
    },
    name,
    button,
  );
  const menu = h(
    "details.menu.views-menu",
    { ontoggle: () => menu.open && show() },
    h("summary.button", icon("star"), title),
    h("div.menu-list", list, form),
  );

  /** @returns {Views} */
  const kept = () => readKept(place);

  /** @param {(views: Views) => void} change @returns {boolean} */
  function keep(change) {
    const views = kept();
    change(views);
    try {
      localStorage.setItem(place, JSON.stringify([...views]));
    } catch {
      tell(t("views.noRoom"), "fault");
      return false;
    }
    show();
    return true;
  }

  /** Always with its columns, so that later changes to them leave the view as it is. @param {GridState} shown */
  function wholeQuery(shown) {
    const query = writeState({ ...shown, page: 1 }, entity);
    query.set("cols", shown.columns.join(","));
    return query;
  }

  /** @param {string} wanted */
  function keepShown(wanted) {
    const before = kept().get(wanted);
    if (!keep((views) => views.set(wanted, wholeQuery(state).toString()))) return;
    name.value = "";
    showButton();
    if (before === undefined) tell(t("views.saved"));
    else offerUndo(t("views.replaced"), () => keep((views) => views.set(wanted, before)));
  }

  /** @param {string} one */
  function remove(one) {
    const before = kept().get(one) ?? "";
    if (keep((views) => views.delete(one)))
      offerUndo(t("views.deleted"), () => keep((views) => views.set(one, before)));
    name.focus();
  }

  /** @param {string} one @param {HTMLElement} row */
  function rename(one, row) {
    const input = h("input", {
      type: "text",
      maxlength: nameLengthMax,
      value: one,
      "aria-label": t("views.name"),
      autocomplete: "off",
    });
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      const wanted = nameIn(input);
      if (wanted === "" || wanted === one) return show();
      if (kept().has(wanted)) return tellFault(t("views.taken", { name: wanted }));
      keep((views) => {
        views.set(wanted, views.get(one) ?? "");
        views.delete(one);
      });
    };
    fill(
      row,
      h(
        "form",
        {
          onsubmit: submit,
          onkeydown(/** @type {KeyboardEvent} */ event) {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            show();
          },
        },
        input,
        h("button.button", { type: "submit" }, t("views.rename")),
      ),
    );
    input.select();
  }

  /** @param {string} one @param {string} query @param {boolean} isOwn */
  function rowOf(one, query, isOwn) {
    const row = h("li", linkTo(one, query));
    const act = (
      /** @type {"refresh" | "pen" | "trash"} */ shape,
      /** @type {string} */ text,
      /** @type {() => void} */ onclick,
    ) =>
      h(
        "button.mini",
        { type: "button", "aria-label": `${text}: ${one}`, title: text, onclick },
        icon(shape),
      );
    if (isOwn)
      row.append(
        act("refresh", t("views.replace"), () => keepShown(one)),
        act("pen", t("views.rename"), () => rename(one, row)),
        act("trash", t("delete"), () => remove(one)),
      );
    return row;
  }

  /** @param {string} one @param {string} query */
  const linkTo = (one, query) =>
    h(
      "a",
      {
        href: addressOf([entity.project, entity.endpoint], new URLSearchParams(query)),
        "aria-current": isShown(query) && "true",
        dir: "auto",
        onclick: () => void (menu.open = false),
      },
      one,
    );

  /** Page and, where the view says none, columns and length can differ. @param {string} query */
  function isShown(query) {
    const said = new URLSearchParams(query);
    const [wanted, now] = [readState(said, entity), state].map((one) => {
      const whole = wholeQuery(one);
      for (const free of ["cols", "size"]) if (!said.has(free)) whole.delete(free);
      whole.sort();
      return whole.toString();
    });
    return wanted === now;
  }

  function show() {
    const own = [...kept()].toSorted(([a], [b]) => order.compare(a, b));
    const isKnown = (/** @type {[string, string]} */ [, query]) =>
      isViewOf(entity, new URLSearchParams(query));
    const all = [
      ...[...shared].filter(isKnown).map((one) => ({ one, isOwn: false })),
      ...own.filter(isKnown).map((one) => ({ one, isOwn: true })),
    ];
    const current = all.find(({ one: [, query] }) => isShown(query));
    fill(title, current?.one[0] ?? t("views"));
    if (!menu.open) return;
    fill(
      list,
      all.map(({ one: [known, query], isOwn }) => rowOf(known, query, isOwn)),
    );
    list.hidden = all.length === 0;
  }

  function showButton() {
    fill(button, t(kept().has(nameIn(name)) ? "views.replace" : "save"));
  }

  closeOutside(menu);
  showButton();
  show();
  return { element: menu, show };
}

/** @param {HTMLInputElement} input */
const nameIn = (input) => input.value.replaceAll(/\s+/g, " ").trim();

/** Of a view of the project's files, the query. @param {Entity} entity @param {import("../types.d.ts").ViewNote} view */
function queryOf({ fields }, { where = [], search_value: search, order: terms, columns, params }) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) query.set(`p.${name}`, String(value));
  if (search !== undefined) query.set("q", search);
  for (const condition of where)
    query.set(`f.${condition.key}`, filterText(condition, fields.get(condition.key)));
  if (terms) query.set("sort", terms.join(","));
  if (columns) query.set("cols", columns.join(","));
  return query.toString();
}

/** @param {string} place @returns {Views} */
function readKept(place) {
  try {
    /** @type {[string, string][]} */
    const pairs = JSON.parse(localStorage.getItem(place) ?? "[]");
    return new Map(pairs.filter((pair) => pair.every((one) => typeof one === "string")));
  } catch {
    return new Map();
  }
}
