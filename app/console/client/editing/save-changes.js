/** Saves all changed cells in one request. Faults go to their cells; what somebody else changed meanwhile is a choice. */
import { ApiError, post } from "../api.js";
import { cellOf } from "../cells.js";
import { h, plainTable } from "../dom.js";
import { jsonText } from "../json.js";
import { fieldNamed } from "../model.js";
import { openDialog, tell, tellFault } from "../notices.js";
import { titleOf } from "../titles.js";
import { indexedFaults, keyConditions } from "../grid/rows.js";
import { t } from "../words.js";

/** @import { Entity, Row } from "../types.d.ts" */
/** @import { Changes } from "./changes.js" */

/** @typedef {{ id: string, row: Row, mine: Row, stored: Row | null, etag: string | null }} Conflict */

/** @param {Entity} entity @param {Changes} changes @param {number} recordsMax @returns {Promise<boolean>} whether the list has to be loaded again */
export async function saveChanges(entity, changes, recordsMax) {
  const { records } = changes;
  const unread = [...records.values()].flatMap(({ cells }) =>
    [...cells.values()].filter(({ text }) => text !== null),
  ).length;
  if (unread > 0) {
    tell(t("edit.unread", { count: unread }), "fault");
    return false;
  }
  if (records.size > recordsMax) {
    tell(t("edit.tooMany", { count: recordsMax }), "fault");
    return false;
  }
  const ids = [...records.keys()];
  const request = changes.request();
  try {
    await post(`${entity.path}/bulk-update`, request);
    changes.drop();
    tell(t("edit.saved", { count: ids.length }));
    return true;
  } catch (error) {
    const faults = await allFaults(entity, request, error);
    const moved = new Set(faults.flatMap(({ at, isMoved }) => (isMoved ? (ids[at] ?? []) : [])));
    if (moved.size > 0 && entity.actions.has("first")) return settle([...moved]);
    showFaults(error, faults);
    return false;
  }

  /** @param {unknown} error @param {ReturnType<typeof indexedFaults>} faults */
  function showFaults(error, faults) {
    if (faults.length === 0) return tellFault(error);
    const whole = [];
    for (const { at, field, text } of faults) {
      const record = records.get(ids[at] ?? "");
      const cell = record?.cells.get(field);
      if (cell) cell.fault = text;
      else if (record) whole.push({ row: record.row, text: field ? `${field}: ${text}` : text });
    }
    changes.tellFaults(whole);
    tell(t("edit.refused", { count: faults.length }), "fault");
  }

  /** @param {string[]} wanted */
  async function settle(wanted) {
    const conflicts = await Promise.all(wanted.map((id) => storedOf(id)));
    const choice = await choiceOf(entity, conflicts);
    if (choice === null) return false;
    for (const [at, { id, row, stored, etag }] of conflicts.entries()) {
      const record = records.get(id);
      if (stored === null || choice[at] === "stored" || !record) changes.drop(id);
      else Object.assign(record, { version: etag, row: { ...row, ...stored } });
    }
    return records.size === 0 || saveChanges(entity, changes, recordsMax);
  }

  /** @param {string} id @returns {Promise<Conflict>} */
  async function storedOf(id) {
    const { row, cells } = /** @type {import("./changes.js").ChangedRecord} */ (records.get(id));
    const mine = Object.fromEntries([...cells].map(([name, { value }]) => [name, value]));
    const where = keyConditions(entity, row);
    const { body, etag } = await post(`${entity.path}/first`, { where });
    return { id, row, mine, stored: body.data, etag };
  }
}

/**
 * Of what only the database finds, a refused request tells the first. A dry run of each record for itself tells all.
 * @param {Entity} entity @param {object} request @param {unknown} error
 * @returns {Promise<{ at: number, field: string, text: string, isMoved?: boolean }[]>} `isMoved`: changed or deleted by somebody else
 */
async function allFaults({ path }, request, error) {
  if (!(error instanceof ApiError)) return [];
  const told = indexedFaults(error.errors);
  if (error.status === 400 || told.length === 0) return told;
  const trial = { ...request, mode: "each", dry_run: true };
  const { body } = await post(`${path}/bulk-update`, trial);
  const refused = /** @type {any[]} */ (body.results).filter(({ success }) => !success);
  return refused.flatMap(({ index: at, error: kind, message, errors }) => {
    const isMoved = kind === "Precondition failed" || kind === "Not found";
    const fields = Object.entries(/** @type {Record<string, string[]>} */ (errors ?? {}));
    if (fields.length === 0) return [{ at, field: "", text: message, isMoved }];
    return fields.map(([field, texts]) => ({ at, field, text: texts.join(" "), isMoved }));
  });
}

/**
 * @param {Entity} entity @param {Conflict[]} conflicts
 * @returns {Promise<("mine" | "stored")[] | null>} null: go on editing
 */
function choiceOf(entity, conflicts) {
  const title = t("conflict.title", { count: conflicts.length });
  return openDialog(title, (/** @type {(value: ("mine" | "stored")[] | null) => void} */ close) => {
    /** @param {SubmitEvent} event */
    function submit(event) {
      event.preventDefault();
      const chosen = new FormData(/** @type {HTMLFormElement} */ (event.target));
      close(conflicts.map((_, at) => (chosen.get(`choice-${at}`) === "mine" ? "mine" : "stored")));
    }
    return h(
      "form",
      { onsubmit: submit },
      h("p", t("conflict.listNote")),
      conflicts.map((conflict, at) => conflictPart(entity, conflict, at)),
      h(
        "div.actions",
        h("button.button", { type: "button", onclick: () => close(null) }, t("cancel")),
        h("button.button.primary", { type: "submit" }, t("save")),
      ),
    );
  });
}

/** @param {Entity} entity @param {Conflict} conflict @param {number} at */
function conflictPart(entity, { row, mine, stored }, at) {
  const way = (
    /** @type {string} */ value,
    /** @type {string} */ text,
    /** @type {boolean} */ checked,
  ) => h("label.way", h("input", { type: "radio", name: `choice-${at}`, value, checked }), text);
  const shown = entity.columns.filter((name) => name in row);
  return h(
    "fieldset.conflict",
    h("legend", { dir: "auto" }, titleOf(entity, row)),
    stored === null
      ? h("p", t("conflict.dropped"))
      : [
          conflictTable(entity, { mine, before: row, stored, names: shown }),
          h(
            "div.button-row",
            way("mine", t("conflict.mine"), true),
            way("stored", t("conflict.theirs"), false),
          ),
        ],
  );
}

/**
 * The fields that were changed here or elsewhere, with both values.
 * @param {Entity} entity @param {{ mine: Row, before: Row, stored: Row, names: readonly string[] }} versions
 */
function conflictTable(entity, { mine, before, stored, names: edited }) {
  const theirs = edited.filter(
    (name) => name in stored && jsonText(stored[name]) !== jsonText(before[name]),
  );
  const names = [...new Set([...Object.keys(mine), ...theirs])];
  return h(
    "div.table-holder",
    plainTable(
      [t("field"), t("conflict.stored"), t("conflict.yours")],
      names.map((name) =>
        h(
          "tr",
          h("th", { scope: "row" }, fieldNamed(entity.fields, name).label),
          h("td", cellOf(stored[name], fieldNamed(entity.fields, name), entity)),
          h(
            "td",
            name in mine
              ? cellOf(mine[name], fieldNamed(entity.fields, name), entity)
              : h("span.none", t("conflict.same")),
          ),
        ),
      ),
    ),
  );
}
