/** Actions of a record: next statuses, adjusting, deleting, restoring. Also the choice after a conflict. */
import { post } from "./api.js";
import { cellOf } from "./cells.js";
import { h, icon, iconButton } from "./dom.js";
import { labelText, sentence } from "./format.js";
import { exactNumber, jsonText } from "./json.js";
import { fieldOf } from "./model.js";
import { isClosed } from "./record-editing.js";
import { confirmed, offerUndo, openDialog, tell, tellFault } from "./notices.js";
import { numberFault, readNumber } from "./numbers.js";
import { cameFrom, go } from "./router.js";

/** @typedef {import("./types.d.ts").Entity} Entity */
/** @typedef {import("./types.d.ts").Row} Row */

/**
 * @typedef {object} RecordPlace
 * @property {() => string | null} etag
 * @property {ReturnType<typeof import("./record-lock.js").recordLock>} lock
 * @property {() => Promise<void>} again shows the record as it is now
 */

/** @param {Entity} entity @param {Row} row */
const keysOf = ({ key }, row) => Object.fromEntries(key.map((name) => [name, row[name]]));
/** @param {Entity} entity @param {Row} row */
const whereOf = ({ key }, row) => key.map((name) => ({ key: name, value: row[name] }));

/** @param {Entity} entity @param {Row} row @param {RecordPlace} place */
export function recordActions(entity, row, place) {
  const may = (/** @type {string} */ action) => entity.actions.has(action);
  const mark = entity.deletedField === null ? null : row[entity.deletedField];
  // The field can be a flag, also as a number, or a time, which is set for deleted records.
  const isDeleted = Boolean(mark);
  const isOpen = !isClosed(entity, row);
  return [
    may("change-status") && entity.status && statusButtons(entity, row, place),
    isOpen &&
      may("adjust") &&
      entity.adjust &&
      h(
        "button.button",
        { type: "button", onclick: () => void adjust(entity, row, place) },
        "Adjust",
      ),
    isOpen &&
      may("restore") &&
      isDeleted &&
      h(
        "button.button",
        { type: "button", onclick: () => void restore(entity, row).then(place.again, tellFault) },
        "Restore",
      ),
    isOpen &&
      may("delete") &&
      !isDeleted &&
      iconButton("trash", "Delete", { onclick: () => void remove(entity, row, place) }),
  ];
}

/** @param {string} path @param {object} json @param {RecordPlace} place */
const write = (path, json, { etag, lock }) =>
  lock.write((token) => {
    const known = etag();
    const headers = { ...(known !== null && { "If-Match": known }), ...token };
    return post(path, json, { headers });
  });

/** Buttons for the possible next statuses, shown once the service has listed them. @param {Entity} entity @param {Row} row @param {RecordPlace} place */
function statusButtons(entity, row, place) {
  const { status } = entity;
  const holder = h("span.button-row");
  const current = String(row[status?.field ?? ""]);
  const known = status?.transitions?.[current];
  const asked = entity.actions.has("next-statuses")
    ? post(`${entity.path}/next-statuses`, keysOf(entity, row)).then(
        ({ body }) => body.data.allowed,
      )
    : Promise.resolve(known);
  asked
    .catch(() => known)
    .then((/** @type {string[] | null | undefined} */ allowed) => {
      const steps = (allowed ?? []).map((one) =>
        h(
          "button.button.status-step",
          { type: "button", onclick: () => void change(one) },
          icon("next"),
          h("span", null, labelText(one)),
        ),
      );
      holder.replaceChildren(...steps);
    });

  /** @param {string} next */
  async function change(next) {
    try {
      await write(`${entity.path}/change-status`, { ...keysOf(entity, row), status: next }, place);
      tell(`Status: ${labelText(next)}`);
      await place.again();
    } catch (error) {
      tellFault(error);
    }
  }
  return holder;
}

/** @param {Entity} entity @param {Row} row @param {RecordPlace} place */
async function adjust(entity, row, place) {
  const { fields = [], reasonRequired = false } = entity.adjust ?? {};
  const field = h(
    "select",
    { id: "adjust-field" },
    fields.map((name) => h("option", { value: name }, entity.fields.get(name)?.label ?? name)),
  );
  const amount = h("input", {
    id: "adjust-amount",
    type: "text",
    inputmode: "numeric",
    required: true,
    placeholder: "5 or -5",
    autocomplete: "off",
  });
  const reason = h("input", { id: "adjust-reason", type: "text", required: reasonRequired });
  const fault = h("p.fault-text", { role: "alert" });
  const isDone = await openDialog("Adjust", (/** @type {(value: true | null) => void} */ close) =>
    h(
      "form",
      {
        async onsubmit(/** @type {Event} */ event) {
          event.preventDefault();
          const read = readNumber(amount.value);
          if (read === null) {
            fault.textContent = numberFault;
            return amount.focus();
          }
          const value = exactNumber(read);
          const adjustments = [
            { field: field.value, value, ...(reason.value && { reason: reason.value }) },
          ];
          try {
            const asked = { ...keysOf(entity, row), adjustments };
            await place.lock.write((headers) => post(`${entity.path}/adjust`, asked, { headers }));
            close(true);
          } catch (error) {
            const { errors = {}, message } = /** @type {any} */ (error);
            fault.textContent = [message, ...Object.values(errors).flat()].map(sentence).join(" ");
          }
        },
      },
      h(
        "p.quiet",
        null,
        "Adds to the stored value, or takes from it; changes of others at the same time are kept.",
      ),
      h("div.field", null, h("label", { for: "adjust-field" }, "Field"), field),
      h("div.field", null, h("label", { for: "adjust-amount" }, "Change by"), amount),
      h(
        "div.field",
        null,
        h("label", { for: "adjust-reason" }, reasonRequired ? "Reason" : "Reason (optional)"),
        reason,
      ),
      fault,
      h("div.actions", null, h("button.button.primary", { type: "submit" }, "Adjust")),
    ),
  );
  if (!isDone) return;
  tell("Adjusted");
  await place.again();
}

/** @param {Entity} entity @param {Row} row @param {RecordPlace} place */
async function remove(entity, row, place) {
  const canRestore = entity.actions.has("restore");
  const text = canRestore ? "It can be restored later." : "This cannot be undone.";
  if (!(await confirmed("Delete this record?", text, "Delete"))) return;
  try {
    await write(`${entity.path}/delete`, { where: whereOf(entity, row) }, place);
    await place.lock.release();
    tell("Deleted");
    if (cameFrom()) history.back();
    else go([entity.project, entity.endpoint]);
    const again = () => dispatchEvent(new HashChangeEvent("hashchange"));
    if (canRestore)
      offerUndo("The record was deleted.", () => restore(entity, row).then(again, tellFault));
  } catch (error) {
    tellFault(error);
  }
}

/** @param {Entity} entity @param {Row} row */
async function restore(entity, row) {
  await post(`${entity.path}/restore`, { where: whereOf(entity, row) });
  tell("Restored");
}

/**
 * Asks which values to keep after another caller has changed the record.
 * @param {Entity} entity @param {{ mine: Row, before: Row, stored: Row | null, names: readonly string[] }} versions `names`: fields that are edited
 * @returns {Promise<"mine" | "stored" | null>} null: go on editing
 */
export function conflictChoice(entity, { mine, before, stored, names }) {
  if (stored === null)
    return openDialog("This record was deleted", (close) => [
      h("p", null, "Somebody else deleted it while you were editing."),
      h(
        "div.actions",
        null,
        h("button.button", { type: "button", onclick: () => close("stored") }, "Back to the list"),
      ),
    ]);
  return openDialog("Somebody else changed this record", (close) => [
    h("p", null, "It was saved by somebody else after you opened it. Which values shall it have?"),
    conflictTable(entity, { mine, before, stored, names }),
    h(
      "div.actions",
      null,
      h("button.button", { type: "button", onclick: () => close("stored") }, "Take what is stored"),
      h(
        "button.button.primary",
        { type: "button", onclick: () => close("mine") },
        "Save my changes",
      ),
    ),
  ]);
}

/**
 * The fields that were changed here or elsewhere, with both values.
 * @param {Entity} entity @param {{ mine: Row, before: Row, stored: Row, names: readonly string[] }} versions
 */
export function conflictTable(entity, { mine, before, stored, names: edited }) {
  const fieldNamed = (/** @type {string} */ name) =>
    entity.fields.get(name) ?? fieldOf(name, { type: "text" });
  const theirs = edited.filter(
    (name) => name in stored && jsonText(stored[name]) !== jsonText(before[name]),
  );
  const names = [...new Set([...Object.keys(mine), ...theirs])];
  return h(
    "div.table-holder",
    null,
    h(
      "table.plain",
      null,
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          ["Field", "Stored now", "Yours"].map((text) => h("th", { scope: "col" }, text)),
        ),
      ),
      h(
        "tbody",
        null,
        names.map((name) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, fieldNamed(name).label),
            h("td", null, cellOf(stored[name], fieldNamed(name), entity)),
            h(
              "td",
              null,
              name in mine
                ? cellOf(mine[name], fieldNamed(name), entity)
                : h("span.none", null, "not changed"),
            ),
          ),
        ),
      ),
    ),
  );
}
