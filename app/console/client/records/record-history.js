/** The tab that shows what changed in a record, newest first, and undoes one of the changes. */
import { ApiError, post } from "../api.js";
import { cellOf } from "../cells.js";
import { fill, h, plainTable } from "../dom.js";
import { sentence, textOf } from "../format.js";
import { keyOf } from "../grid/rows.js";
import { jsonText } from "../json.js";
import { fieldNamed, wordsOf } from "../model.js";
import { openDialog, tell, tellFault } from "../notices.js";
import { bodyOf, isClosed } from "./record-editing.js";
import { editableNames } from "./record-form.js";
import { t } from "../words.js";

/** @import { Entity, Row } from "../types.d.ts" */
/** @import { RecordPlace } from "./record-actions.js" */
/** @typedef {{ from: unknown, to: unknown }} FromTo */
/** @typedef {{ change_id: string, at: string, by: string | null, action: string, reason: string | null, changes: Record<string, FromTo> }} Change */
/** @typedef {"created" | "deleted" | "updated"} Kind */

const changesPerPage = 10;

/** In words; an action that is missing here shows its name. @type {Record<string, () => string>} */
const actionTexts = {
  create: () => t("history.by.create"),
  "create-composite": () => t("history.by.create-composite"),
  "bulk-create": () => t("history.by.bulk-create"),
  upsert: () => t("history.by.upsert"),
  update: () => t("history.by.update"),
  "update-composite": () => t("history.by.update-composite"),
  "bulk-update": () => t("history.by.bulk-update"),
  adjust: () => t("history.by.adjust"),
  delete: () => t("history.by.delete"),
  "bulk-delete": () => t("history.by.bulk-delete"),
  restore: () => t("history.by.restore"),
  "change-status": () => t("history.by.change-status"),
  "import-commit": () => t("history.by.import-commit"),
  revert: () => t("history.by.revert"),
};

/** The content of the tab. @param {Entity} entity @param {Row} row @param {RecordPlace} place */
export async function recordHistory(entity, row, place) {
  const list = h("ol.changes");
  const older = h("button.button", { type: "button", onclick: () => void add().catch(tellFault) });
  fill(older, t("history.older"));
  let page = 0;

  async function add() {
    older.disabled = true;
    try {
      const asked = { ...keyOf(entity, row), page: page + 1, per_page: changesPerPage };
      const { body } = await post(`${entity.path}/history`, asked);
      page += 1;
      const items = /** @type {Change[]} */ (body.data);
      list.append(...items.map((change) => itemOf(entity, row, { change, place })));
      older.hidden = !body.pagination.has_next;
    } finally {
      older.disabled = false;
    }
  }

  await add();
  return list.children.length === 0 ? h("p.quiet", t("history.none")) : [list, older];
}

/** @param {Entity} entity @param {Row} row @param {{ change: Change, place: RecordPlace }} shown */
function itemOf(entity, row, { change, place }) {
  const { at, by, action, reason, changes } = change;
  const kind = kindOf(entity, change);
  const names = Object.keys(changes);
  const canUndo =
    entity.actions.has("revert") &&
    !isClosed(entity, row) &&
    entity.actions.has(kind === "deleted" ? "restore" : "update") &&
    kind !== "created";
  return h(
    "li.change",
    h(
      "div.change-head",
      h("strong", actionTexts[action]?.() ?? wordsOf(action)),
      by !== null && h("span", { dir: "auto" }, by),
      h("time.quiet", { datetime: at, title: at }, textOf(at, { type: "timestamp" })),
      h("span.grow"),
      canUndo &&
        h(
          "button.button",
          { type: "button", onclick: () => void undo(entity, row, { change, place }) },
          t("history.undo"),
        ),
    ),
    reason !== null && h("p", { dir: "auto" }, t("history.reason", { reason })),
    names.length === 0
      ? h("p.quiet", t("history.noColumns"))
      : valuesTable(entity, { names, changes, kind }),
  );
}

/** A change of the whole record has its key among the columns. @param {Entity} entity @param {Change} change @returns {Kind} */
function kindOf({ key }, { action, changes }) {
  const [name = ""] = key;
  const ofKey = changes[name];
  if (["create", "create-composite", "bulk-create", "restore"].includes(action)) return "created";
  if (["delete", "bulk-delete"].includes(action) && ofKey?.to === null) return "deleted";
  if (ofKey) return ofKey.from === null ? "created" : ofKey.to === null ? "deleted" : "updated";
  return "updated";
}

/** @param {Entity} entity @param {{ names: string[], changes: Record<string, FromTo>, kind: Kind, heads?: string[] }} shown */
function valuesTable(
  entity,
  { names, changes, kind, heads = [t("history.before"), t("history.after")] },
) {
  const has = { from: kind !== "created", to: kind !== "deleted" };
  const [before = "", after = ""] = heads;
  return h(
    "div.table-holder",
    plainTable(
      [t("history.field"), has.from && before, has.to && after],
      names.map((name) =>
        h(
          "tr",
          { "data-field": name },
          h("th", { scope: "row" }, fieldIn(entity, name).label),
          has.from && h("td", cellOf(changes[name]?.from, fieldIn(entity, name), entity)),
          has.to && h("td", cellOf(changes[name]?.to, fieldIn(entity, name), entity)),
        ),
      ),
    ),
  );
}

/** With a reference where a relation to one says what the key names. @param {Entity} entity @param {string} name */
function fieldIn({ fields, relations }, name) {
  const field = fieldNamed(fields, name);
  const relation = [...relations.values()].find(
    ({ many, columns }) => !many && name in columns && Object.keys(columns).length === 1,
  );
  if (field.references || !relation) return field;
  const references = { endpoint: relation.endpoint, field: relation.columns[name] ?? "" };
  return { ...field, references };
}

/** @param {Entity} entity @param {Row} row @param {{ change: Change, place: RecordPlace }} shown */
async function undo(entity, row, { change, place }) {
  if (place.isTouched()) return tell(t("history.unsaved"));
  const kind = kindOf(entity, change);
  const schema = bodyOf(entity, "update")?.schema ?? {};
  const writable = editableNames(schema, entity, entity.key);
  const names = Object.keys(change.changes).filter(
    (name) =>
      kind === "deleted" ||
      (writable.includes(name) && jsonText(row[name]) !== jsonText(change.changes[name]?.from)),
  );
  const changes = Object.fromEntries(
    names.map((name) => {
      const from = change.changes[name]?.from;
      return [name, kind === "deleted" ? { from, to: null } : { from: row[name], to: from }];
    }),
  );
  const fault = h("p.fault-text", { role: "alert" });
  const heads =
    kind === "deleted" ? [t("history.value")] : [t("history.now"), t("history.afterwards")];
  const isDone = await openDialog(
    t("history.undoAsk"),
    (/** @type {(value: true | null) => void} */ close) => [
      h(
        "p",
        names.length === 0
          ? t("history.nothing")
          : kind === "deleted"
            ? t("history.back")
            : t("history.preview"),
      ),
      names.length > 0 && valuesTable(entity, { names, changes, kind, heads }),
      fault,
      h(
        "div.actions",
        h("button.button", { type: "button", onclick: () => close(null) }, t("cancel")),
        names.length > 0 &&
          h(
            "button.button.primary",
            { type: "button", onclick: () => void send(close) },
            t("history.undo"),
          ),
      ),
    ],
  );
  if (!isDone) return;
  tell(t("history.undone"));
  await place.again().catch(tellFault);

  /** @param {(value: true) => void} close */
  async function send(close) {
    const etag = place.etag();
    /** @type {Record<string, string>} */
    const known = etag === null ? {} : { "If-Match": etag };
    try {
      await place.lock.write((token) =>
        post(
          `${entity.path}/revert`,
          { change_id: change.change_id },
          { headers: { ...known, ...token } },
        ),
      );
      close(true);
    } catch (error) {
      fault.textContent = faultText(error);
    }
  }
}

/** @param {unknown} error */
function faultText(error) {
  if (!(error instanceof ApiError)) return String(error);
  if (error.status === 412) return t("history.conflict");
  if (
    error.status === 400 &&
    error.error === "Invalid payload" &&
    Object.keys(error.errors).length === 0
  )
    return t("history.made");
  return [error.message, ...Object.values(error.errors).flat()].map(sentence).join(" ");
}
