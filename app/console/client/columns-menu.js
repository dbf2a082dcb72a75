/** The choice of columns: a list of boxes to tick. */
import { fill, h, icon } from "./dom.js";
import { fieldOf } from "./model.js";
import { t } from "./words.js";

/** @param {import("./types.d.ts").Entity} entity @param {string[]} chosen @param {(columns: string[]) => void} onChange */
export function columnsMenu(entity, chosen, onChange) {
  const boxes = entity.columns.map((name) => {
    const { label } = entity.fields.get(name) ?? fieldOf(name, { type: "text" });
    const box = h("input", { type: "checkbox", name, checked: chosen.includes(name) });
    return { name, box, label: h("label", null, box, label) };
  });
  const name = h("span", null, nameOf(chosen.length, boxes.length));
  const menu = h(
    "details.menu",
    null,
    h("summary.button", null, icon("columns"), name),
    h(
      "div.menu-list",
      { role: "group", "aria-label": t("columns") },
      boxes.map(({ label }) => label),
    ),
  );
  menu.addEventListener("change", () => {
    const columns = boxes.filter(({ box }) => box.checked).map(({ name }) => name);
    if (columns.length === 0) return boxes[0]?.box.click();
    fill(name, nameOf(columns.length, boxes.length));
    onChange(columns);
  });
  closeOutside(menu);
  return menu;
}

/** Shows how much of a wide table is hidden. @param {number} shown @param {number} all */
const nameOf = (shown, all) =>
  shown < all ? t("columns.some", { shown, count: all }) : t("columns");

/** @param {HTMLDetailsElement} menu */
export function closeOutside(menu) {
  const close = (/** @type {Event} */ event) => {
    if (!menu.isConnected) return document.removeEventListener("click", close);
    if (menu.open && !menu.contains(/** @type {Node} */ (event.target))) menu.open = false;
  };
  document.addEventListener("click", close);
  menu.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
}
