/**
 * Editing in a list, for endpoints with bulk actions: boxes to select rows, cells that can be edited, the clipboard,
 * and the bar below with what can be done with both.
 */
import { fill, h, icon } from "../dom.js";
import { sentence } from "../format.js";
import { tell, tellFault } from "../notices.js";
import { guard } from "../record-editing.js";
import { titleOf } from "../record-values.js";
import { copy } from "../requests.js";
import { cellGrid } from "./cell-grid.js";
import { pendingChanges } from "./changes.js";
import { copiedRows, pasteInto } from "./clipboard.js";
import { editingRights } from "./rights.js";
import { idOf, linesOf } from "./rows.js";
import { saveChanges } from "./save-changes.js";
import { changeSelected, deleteSelected } from "./selected-actions.js";
import { rowSelection } from "./selection.js";
import { t } from "../words.js";

/** @typedef {import("../types.d.ts").Entity} Entity */
/** @typedef {import("../types.d.ts").Field} Field */
/** @typedef {import("../types.d.ts").Row} Row */

/**
 * @typedef {object} ListPlace
 * @property {HTMLTableElement} table
 * @property {readonly Field[]} fields all columns in their order
 * @property {() => readonly string[]} columns names of those that are shown
 * @property {(row: Row, field: Field) => HTMLElement} shown a value as the list shows it
 * @property {(line: HTMLTableRowElement) => Row | null} rowIn
 * @property {() => void} reload
 */

/** @typedef {typeof listEditing} ListEditor */
/** @typedef {NonNullable<ReturnType<typeof listEditing>>} ListEditing */

const keysHint = t("edit.keys");

/** Null: the caller can change nothing here. @param {Entity} entity @param {ListPlace} place */
export function listEditing(entity, { table, fields, columns, shown, rowIn, reload: load }) {
  const rights = editingRights(entity);
  if (!rights) return null;
  const columnsShown = () => fields.filter(({ name }) => columns().includes(name));
  let takesFocus = false;
  const changes = pendingChanges(entity, rights, show);
  const selection = rowSelection(entity, { table, rowIn, onChange: showBar });
  const grid = cellGrid({
    entity,
    rights,
    table,
    rowIn,
    columns: columnsShown,
    shown,
    changes,
    selection,
    onSave: () => void save(),
  });
  const place = { entity, rights, table, rowIn, columns: columnsShown, changes, selection, grid };
  const bar = barOf(
    { rights, selection, changes },
    {
      change: () => act(changeSelected),
      remove: () => act(deleteSelected),
      copy: () => void copy(copiedRows(place)),
      save: () => void save(),
    },
  );
  const hint = h("p.unseen", { id: "grid-keys" }, keysHint);
  table.setAttribute("role", "grid");
  table.setAttribute("aria-multiselectable", "true");
  table.setAttribute("aria-describedby", hint.id);
  table.classList.add("edited");

  function show() {
    grid.show();
    showBar();
  }

  function showBar() {
    selection.show();
    bar.show(elsewhere());
  }

  /** Faults that no row of this page can show. */
  function elsewhere() {
    const here = linesOf(table).map((line) => {
      const row = rowIn(line);
      return row && idOf(entity, row);
    });
    const isAway = (/** @type {string} */ id) => !here.includes(id);
    const cells = [...changes.records].flatMap(([id, { row, cells: changed }]) =>
      isAway(id)
        ? [...changed].flatMap(([name, { fault }]) =>
            fault ? `${titleOf(entity, row)}, ${entity.fields.get(name)?.label}: ${fault}` : [],
          )
        : [],
    );
    const whole = [...changes.faults].flatMap(([id, { row, text }]) =>
      isAway(id) ? `${titleOf(entity, row)}: ${text}` : [],
    );
    return [...cells, ...whole];
  }

  function reload() {
    takesFocus = true;
    load();
  }

  /** @param {typeof changeSelected} action */
  const act = (action) => void action(entity, { ...place, reload }).catch(tellFault);

  let isSaving = false;
  async function save() {
    if (isSaving || changes.records.size === 0) return;
    isSaving = true;
    bar.setBusy(true);
    try {
      if (await saveChanges(entity, changes, place.rights.recordsMax)) reload();
    } catch (error) {
      tellFault(error);
    } finally {
      isSaving = false;
      bar.setBusy(false);
    }
  }

  table.addEventListener("copy", (event) => {
    if (isTyping(event.target) || String(getSelection() ?? "") !== "") return;
    event.clipboardData?.setData("text/plain", copiedRows(place));
    event.preventDefault();
  });
  table.addEventListener("paste", (event) => {
    if (isTyping(event.target) || !grid.focused()) return;
    event.preventDefault();
    const text = event.clipboardData?.getData("text/plain") ?? "";
    void pasteInto(place, text).then((told) => told && tell(sentence(told)), tellFault);
  });

  return {
    bar: [hint, bar.element],
    /** The heading of the boxes. */
    heading: () => h("th.pick", { scope: "col" }, selection.whole),
    box: selection.box,
    /** To be called when rows or columns were drawn. */
    drawn() {
      grid.show(takesFocus && !document.querySelector("dialog[open]"));
      takesFocus = false;
      showBar();
    },
    /** To be called when another search or another filter takes the place of the one before. */
    deselect: () => selection.clear(),
    leave: guard(() => changes.records.size > 0),
  };
}

/** @param {EventTarget | null} target */
const isTyping = (target) =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && target.type !== "checkbox");

/**
 * @param {Pick<import("./selected-actions.js").SelectedPlace, "rights" | "selection" | "changes">} place
 * @param {Record<"change" | "remove" | "copy" | "save", () => void>} actions
 */
function barOf({ rights, selection, changes }, actions) {
  /** @param {string} text @param {() => void} onclick @param {{ shape?: "trash" | "copy" | "close", kind?: string }} [look] */
  const button = (text, onclick, { shape, kind = "" } = {}) =>
    h(
      `button.button${kind}`,
      { type: "button", onclick },
      shape && icon(shape),
      h("span", null, text),
    );
  const selected = h("span.info");
  const changed = h("span.info");
  const faults = h("ul.edit-faults");
  const save = button(t("edit.saveAll"), actions.save, { kind: ".primary" });
  const selectedPart = h(
    "div.edit-part",
    { role: "group", "aria-label": t("edit.selection") },
    selected,
    rights.schemas.size > 0 && button(t("edit.change"), actions.change),
    rights.canDelete && button(t("delete"), actions.remove, { shape: "trash" }),
    button(t("copy"), actions.copy, { shape: "copy" }),
    button(t("edit.clear"), () => selection.clear(), { shape: "close" }),
  );
  const changedPart = h(
    "div.edit-part",
    { role: "group", "aria-label": t("edit.pending") },
    changed,
    save,
    button(t("discard"), () => changes.drop()),
  );
  const element = h("div.edit-bar", { hidden: true }, faults, selectedPart, changedPart);
  const status = h("p.unseen", { role: "status" });
  const faultsMax = 5;
  return {
    element: [element, status],
    /** @param {boolean} isBusy */
    setBusy: (isBusy) => void (save.disabled = isBusy),
    /** @param {string[]} away faults of records that the page does not show */
    show(away) {
      const count = changes.count();
      const [rows, chosen] = [changes.records.size, selection.chosen.size];
      selectedPart.hidden = chosen === 0;
      changedPart.hidden = count === 0;
      element.hidden = chosen === 0 && count === 0 && away.length === 0;
      fill(selected, t("edit.selected", { count: chosen }));
      fill(
        changed,
        t("edit.changes", { count }),
        h("span.wide", null, ` ${t("edit.inRecords", { count: rows })}`),
      );
      const rest = away.length - faultsMax;
      fill(
        faults,
        away.slice(0, faultsMax).map((text) => h("li", null, sentence(text))),
        rest > 0 && h("li", null, t("edit.moreElsewhere", { count: rest })),
      );
      const told = [chosen > 0 && selected.textContent, count > 0 && changed.textContent];
      const text = told.filter(Boolean).join(", ");
      if (status.textContent !== text) status.textContent = text;
    },
  };
}
