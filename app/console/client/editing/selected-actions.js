/** What people do with selected records: delete them, with a way back, or set one field of all of them. */
import { ApiError, post } from "../api.js";
import { fill, h } from "../dom.js";
import { sentence } from "../format.js";
import { formField } from "../form-field.js";
import { confirmed, offerUndo, openDialog, tell, tellFault } from "../notices.js";
import { titleOf } from "../titles.js";
import { idOf, indexedFaults, keyOf, versionOf, keyConditions } from "../grid/rows.js";
import { t } from "../words.js";

/** @import { Entity, Row } from "../types.d.ts" */

/**
 * @typedef {object} SelectedPlace
 * @property {import("./rights.js").Rights} rights
 * @property {import("./selection.js").Selection} selection
 * @property {import("./changes.js").Changes} changes
 * @property {() => void} reload
 */

/** Requests at the same time. */
const restoresAtOnce = 4;

/** @param {Entity} entity @param {SelectedPlace} place */
export async function deleteSelected(entity, { selection, changes, reload }) {
  const rows = [...selection.chosen.values()];
  const canRestore = entity.actions.has("restore");
  const text = t(canRestore ? "delete.canRestore" : "cannotUndo", { count: rows.length });
  const title = t("delete.askMany", { count: rows.length });
  if (!(await confirmed(title, text, t("delete")))) return;
  try {
    const keys = rows.map((row) => keyOf(entity, row));
    const etags = rows.map(versionOf);
    // Each for itself: a record that is still needed elsewhere does not hold the others.
    const { body } = await post(`${entity.path}/bulk-delete`, { keys, etags, mode: "each" });
    /** @type {any[]} */
    const results = body.results;
    const ids = rows.map((row) => idOf(entity, row) ?? "");
    const done = rows.filter((_, at) => results[at]?.success);
    const refused = results.filter(({ success }) => !success);
    for (const { index, success } of results) if (success) changes.drop(ids[index] ?? "");
    changes.tellFaults(
      refused.map(({ index, message, errors }) => ({
        row: /** @type {Row} */ (rows[index]),
        text:
          Object.values(errors ?? {})
            .flat()
            .join(" ") || message,
      })),
    );
    selection.clear(done.map((row) => idOf(entity, row) ?? ""));
    if (refused.length > 0)
      tell(t("delete.someRefused", { count: done.length, refused: refused.length }), "fault");
    else tell(t("delete.doneMany", { count: done.length }));
    if (canRestore && done.length > 0)
      offerUndo(t("delete.told", { count: done.length }), () =>
        restoreAll(entity, done).then(reload, tellFault),
      );
    reload();
  } catch (error) {
    tellFault(error);
  }
}

/** @param {Entity} entity @param {Row[]} rows */
async function restoreAll(entity, rows) {
  const left = rows.values();
  let count = 0;
  const work = async () => {
    for (const row of left) {
      const where = keyConditions(entity, row);
      const isDone = await post(`${entity.path}/restore`, { where }).then(() => true, tellFault);
      if (isDone) count += 1;
    }
  };
  await Promise.all(Array.from({ length: restoresAtOnce }, work));
  if (count > 0) tell(t("restore.doneMany", { count }));
}

/** @param {Entity} entity @param {SelectedPlace} place */
export async function changeSelected(entity, { rights, selection, changes, reload }) {
  const rows = [...selection.chosen.values()];
  const names = [...rights.schemas.keys()];
  const fieldNamed = (/** @type {string} */ name) =>
    /** @type {import("../types.d.ts").Field} */ (entity.fields.get(name));
  const choice = h(
    "select",
    { id: "change-field" },
    names.map((name) => h("option", { value: name }, fieldNamed(name).label)),
  );
  const holder = h("div");
  const hint = h("p.quiet");
  const fault = h("p.fault-text", { role: "alert" });
  /** @type {import("../form-field.js").FormField} */
  let input;
  function showField() {
    fill(fault);
    const isNeeded = rights.needed.has(choice.value);
    fill(hint, t(isNeeded ? "edit.changeNote" : "edit.changeOrEmpty"));
    input = formField(
      { ...fieldNamed(choice.value), label: t("edit.newValue") },
      {
        entity,
        schema: /** @type {any} */ (rights.schemas.get(choice.value)),
        isNeeded,
        value: null,
        onInput: () => {},
      },
    );
    fill(holder, input.element);
  }
  choice.addEventListener("change", showField);

  /** @param {(value: true | null) => void} close */
  async function submit(close) {
    const read = input.fault();
    if (read !== "") return input.showFaults([read]);
    const set = { [choice.value]: input.value() ?? null };
    const data = rows.map((row) => ({ ...keyOf(entity, row), ...set }));
    try {
      const { body } = await post(`${entity.path}/bulk-update`, {
        data,
        etags: rows.map(versionOf),
      });
      for (const [at, row] of rows.entries()) {
        const stored = { ...row, ...set, _version: body.etags[at] };
        changes.renew(stored, choice.value);
        selection.renew(stored);
      }
      close(true);
    } catch (error) {
      const faults = error instanceof ApiError ? indexedFaults(error.errors) : [];
      const texts = [...new Set(faults.map(({ text }) => text))];
      // A fault that all records have is one of the value.
      const isOfAll = texts.length === 1 && faults.length === rows.length;
      input.showFaults(isOfAll ? texts : []);
      fill(fault, isOfAll ? null : messageOf(error, faults));
    }
  }

  /** @param {unknown} error @param {ReturnType<typeof indexedFaults>} faults */
  function messageOf(error, faults) {
    if (faults.length === 0) return /** @type {Error} */ (error).message;
    const told = faults.slice(0, 5).map(({ at, text }) => {
      const row = rows[at];
      return h("span.line", `${row ? titleOf(entity, row) : at + 1}: ${sentence(text)}`);
    });
    return [
      t("edit.nothingChanged"),
      told,
      faults.length > 5 && t("edit.more", { count: faults.length - 5 }),
    ];
  }

  const title = t("edit.changeMany", { count: rows.length });
  const isDone = await openDialog(title, (/** @type {(value: true | null) => void} */ close) => {
    showField();
    return h(
      "form",
      {
        novalidate: true,
        onsubmit(/** @type {Event} */ event) {
          event.preventDefault();
          void submit(close);
        },
      },
      h("div.field", h("label", { for: "change-field" }, t("field")), choice),
      holder,
      hint,
      fault,
      h(
        "div.actions",
        h("button.button", { type: "button", onclick: () => close(null) }, t("cancel")),
        h("button.button.primary", { type: "submit" }, t("edit.change")),
      ),
    );
  });
  if (!isDone) return;
  tell(t("edit.changed", { count: rows.length }));
  reload();
}
