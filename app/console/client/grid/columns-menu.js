/** The choice of columns: a list of boxes to tick, with buttons that move columns and keep them at the left. */
import { closeOutside, fill, h, icon, iconButton } from "../dom.js";
import { fieldNamed } from "../model.js";
import { t } from "../words.js";

/** @param {import("../types.d.ts").Entity} entity @param {import("../grid-state.js").GridState} state @param {{ layout: import("./column-layout.js").ColumnLayout, onChange: () => void }} place */
export function columnsMenu(entity, state, { layout, onChange }) {
  const name = h("span");
  const rows = new Map(entity.columns.map((column) => [column, rowOf(column)]));
  const list = h("ul", { "aria-label": t("columns") });
  const reset = iconButton("refresh", t("columns.reset"), {
    onclick() {
      layout.reset();
      changed();
    },
  });
  const menu = h(
    "details.menu.columns-menu",
    h("summary.button", icon("columns"), name),
    h("div.menu-list", list, h("div.menu-end", reset)),
  );

  /** @param {string} column */
  function rowOf(column) {
    const { label } = fieldNamed(entity.fields, column);
    const box = h("input", { type: "checkbox", name: column });
    /** @param {"higher" | "lower" | "pin"} shape @param {string} text @param {() => void} act */
    const button = (shape, text, act) =>
      h(
        "button.mini",
        {
          type: "button",
          "aria-label": `${text}: ${label}`,
          title: text,
          onclick(/** @type {{ currentTarget: HTMLElement }} */ { currentTarget }) {
            act();
            changed();
            // It moved with its row.
            currentTarget.focus();
          },
        },
        icon(shape),
      );
    const pin = button("pin", t("columns.pin"), () =>
      layout.pin(column, !layout.pinned.has(column)),
    );
    const up = button("higher", t("columns.up"), () => shift(column, -1));
    const down = button("lower", t("columns.down"), () => shift(column, 1));
    const element = h("li", h("label", box, h("span", label)), pin, up, down);
    return { element, box, pin, up, down };
  }

  /** @param {string} column @param {1 | -1} step */
  function shift(column, step) {
    const all = layout.all();
    const other = all[all.indexOf(column) + step];
    if (other !== undefined) layout.move(column, { other, isAfter: step > 0 });
  }

  function changed() {
    show();
    onChange();
  }

  function show() {
    const all = layout.all();
    const [shown, count] = [state.columns.length, all.length];
    // Shows how much of a wide table is hidden.
    fill(name, shown < count ? t("columns.some", { shown, count }) : t("columns"));
    all.forEach((column, at) => {
      const row = rows.get(column);
      if (!row) return;
      row.box.checked = state.columns.includes(column);
      row.pin.setAttribute("aria-pressed", String(layout.pinned.has(column)));
      row.up.disabled = at === 0;
      row.down.disabled = at === count - 1;
      // Rows in their place stay, and with them the focus.
      if (list.children[at] !== row.element) list.insertBefore(row.element, list.children[at]);
    });
    reset.disabled = !layout.isChanged();
  }

  menu.addEventListener("change", (/** @type {Event} */ { target }) => {
    const columns = layout.all().filter((column) => rows.get(column)?.box.checked);
    // A list without columns shows nothing.
    if (columns.length === 0) return /** @type {HTMLInputElement} */ (target).click();
    layout.show(columns);
    changed();
  });
  closeOutside(menu);
  show();
  return { element: menu, show };
}
