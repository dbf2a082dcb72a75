/**
 * Editing in a list, for endpoints with bulk actions: boxes to select rows, cells that can be edited, the clipboard,
 * and the bar below with what can be done with both.
 */
import { fill, h, icon } from "../dom.js";
import { sentence } from "../format.js";
import { tell, tellFault } from "../notices.js";
import { guard, withoutInput } from "../records/record-editing.js";
import { titleOf } from "../titles.js";
import { copy } from "../requests.js";
import { idOf, isTyping, linesOf } from "../grid/rows.js";
import { cellGrid } from "./cell-grid.js";
import { pendingChanges } from "./changes.js";
import { pasteInto } from "./pasted-text.js";
import { editingRights } from "./rights.js";
import { saveChanges } from "./save-changes.js";
import { changeSelected, deleteSelected } from "./selected-actions.js";
import { rowSelection } from "./selection.js";
import { t } from "../words.js";

/** @import { Entity, Field, Row } from "../types.d.ts" */

/**
 * @typedef {object} ListPlace
 * @property {HTMLTableElement} table
 * @property {() => Field[]} columns those that are shown
 * @property {(row: Row, field: Field) => HTMLElement} shown a value as the list shows it
 * @property {(line: HTMLTableRowElement) => Row | null} rowIn
 * @property {import("../grid/cell-cursor.js").CellCursor} cursor
 * @property {() => string} copied the selected rows as text
 * @property {() => void} reload
 */

/** @typedef {NonNullable<ReturnType<typeof listEditing>>} ListEditing */

/** Null: the caller can change nothing here. @param {Entity} entity @param {ListPlace} listPlace */
export function listEditing(entity, listPlace) {
  const { table, columns, rowIn, cursor } = listPlace;
  const rights = editingRights(entity);
  if (!rights) return null;
  const changes = pendingChanges(entity, rights, show);
  const selection = rowSelection(entity, { table, rowIn, onChange: showBar });
  const onSave = () => void save();
  const grid = cellGrid({ ...listPlace, entity, rights, changes, selection, onSave });
  const place = { entity, rights, columns, changes, selection, grid };
  const bar = barOf(
    { rights, selection, changes },
    {
      change: () => act(changeSelected),
      remove: () => act(deleteSelected),
      copy: () => void copy(listPlace.copied()),
      save: onSave,
    },
  );
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
    cursor.refocus();
    listPlace.reload();
  }

  /** @param {typeof changeSelected} action */
  const act = (action) => void action(entity, { ...place, reload }).catch(tellFault);

  let isSaving = false;
  async function save() {
    if (isSaving || changes.records.size === 0) return;
    isSaving = true;
    bar.setBusy(true);
    try {
      const isSaved = await withoutInput(table, () =>
        saveChanges(entity, changes, place.rights.recordsMax),
      );
      if (isSaved) reload();
    } catch (error) {
      tellFault(error);
    } finally {
      isSaving = false;
      bar.setBusy(false);
    }
  }

  table.addEventListener("paste", (event) => {
    if (isTyping(event.target)) return;
    event.preventDefault();
    const text = event.clipboardData?.getData("text/plain") ?? "";
    void pasteInto(place, text).then((told) => told && tell(sentence(told)), tellFault);
  });

  return {
    bar: bar.element,
    /** The heading of the boxes. */
    heading: () => h("th.pick", { scope: "col" }, selection.whole),
    box: selection.box,
    /** To be called when rows or columns were drawn. */
    drawn() {
      grid.show();
      showBar();
    },
    /** To be called when another search or another filter takes the place of the one before. */
    deselect: () => selection.clear(),
    chosen: () => [...selection.chosen.values()],
    changeOf: changes.of,
    /** @param {string} name */
    schemaOf: (name) => rights.schemas.get(name),
    leave: guard(() => changes.records.size > 0),
  };
}

/**
 * @param {Pick<import("./selected-actions.js").SelectedPlace, "rights" | "selection" | "changes">} place
 * @param {Record<"change" | "remove" | "copy" | "save", () => void>} actions
 */
function barOf({ rights, selection, changes }, actions) {
  /** @param {string} text @param {() => void} onclick @param {{ shape?: "trash" | "copy" | "close", kind?: string }} [look] */
  const button = (text, onclick, { shape, kind = "" } = {}) =>
    h(`button.button${kind}`, { type: "button", onclick }, shape && icon(shape), h("span", text));
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
        h("span.wide", ` ${t("edit.inRecords", { count: rows })}`),
      );
      const rest = away.length - faultsMax;
      fill(
        faults,
        away.slice(0, faultsMax).map((text) => h("li", sentence(text))),
        rest > 0 && h("li", t("edit.moreElsewhere", { count: rest })),
      );
      const told = [chosen > 0 && selected.textContent, count > 0 && changed.textContent];
      const text = told.filter(Boolean).join(", ");
      if (status.textContent !== text) status.textContent = text;
    },
  };
}
