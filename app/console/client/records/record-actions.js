/** Actions of a record: next statuses, adjusting, deleting, restoring. */
import { post } from "../api.js";
import { h, icon, iconButton } from "../dom.js";
import { labelText, sentence } from "../format.js";
import { keyOf, keyConditions } from "../grid/rows.js";
import { exactNumber } from "../json.js";
import { isClosed } from "./record-editing.js";
import { confirmed, offerUndo, openDialog, tell, tellFault } from "../notices.js";
import { numberFault, readNumber } from "../numbers.js";
import { cameFrom, go } from "../router.js";
import { t } from "../words.js";

/** @import { Entity, Row } from "../types.d.ts" */

/**
 * @typedef {object} RecordPlace
 * @property {() => string | null} etag
 * @property {ReturnType<typeof import("./record-lock.js").recordLock>} lock
 * @property {() => boolean} isTouched something was typed that is not saved
 * @property {() => Promise<void>} again shows the record as it is now
 */

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
        t("adjust"),
      ),
    isOpen &&
      may("restore") &&
      isDeleted &&
      h(
        "button.button",
        { type: "button", onclick: () => void restore(entity, row).then(place.again, tellFault) },
        t("restore"),
      ),
    isOpen &&
      may("delete") &&
      !isDeleted &&
      iconButton("trash", t("delete"), { onclick: () => void remove(entity, row, place) }),
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
    ? post(`${entity.path}/next-statuses`, keyOf(entity, row)).then(({ body }) => body.data.allowed)
    : Promise.resolve(known);
  asked
    .catch(() => known)
    .then((/** @type {string[] | null | undefined} */ allowed) => {
      const steps = (allowed ?? []).map((one) =>
        h(
          "button.button.status-step",
          { type: "button", onclick: () => void change(one) },
          icon("next"),
          h("span", stepTo(one)),
        ),
      );
      holder.replaceChildren(...steps);
    });

  const stepTo = (/** @type {string} */ next) =>
    entity.steps.get(next) ?? t("record.step", { status: labelText(next) });

  /** Asks before a step that closes the record, or that no other can follow. @param {string} next */
  async function mayTake(next) {
    const step = stepTo(next);
    const closes = isClosed(entity, { [status?.field ?? ""]: next });
    // Without transitions, only a closed status is final.
    const isFinal = status?.transitions ? !status.transitions[next]?.length : closes;
    if (!closes && !isFinal) return true;
    const text = closes ? (isFinal ? "record.closesForGood" : "record.closes") : "record.isFinal";
    return confirmed(t("record.stepAsk", { step }), t(text), step);
  }

  /** @param {string} next */
  async function change(next) {
    if (!(await mayTake(next))) return;
    try {
      await write(`${entity.path}/change-status`, { ...keyOf(entity, row), status: next }, place);
      tell(t("record.statusIs", { status: labelText(next) }));
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
    placeholder: t("adjust.example"),
    autocomplete: "off",
  });
  const reason = h("input", { id: "adjust-reason", type: "text", required: reasonRequired });
  const fault = h("p.fault-text", { role: "alert" });
  const isDone = await openDialog(
    t("adjust"),
    (/** @type {(value: true | null) => void} */ close) =>
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
              const asked = { ...keyOf(entity, row), adjustments };
              await place.lock.write((headers) =>
                post(`${entity.path}/adjust`, asked, { headers }),
              );
              close(true);
            } catch (error) {
              const { errors = {}, message } = /** @type {any} */ (error);
              fault.textContent = [message, ...Object.values(errors).flat()]
                .map(sentence)
                .join(" ");
            }
          },
        },
        h("p.quiet", t("adjust.note")),
        h("div.field", h("label", { for: "adjust-field" }, t("field")), field),
        h("div.field", h("label", { for: "adjust-amount" }, t("adjust.by")), amount),
        h(
          "div.field",
          h(
            "label",
            { for: "adjust-reason" },
            t(reasonRequired ? "adjust.reason" : "adjust.reasonOptional"),
          ),
          reason,
        ),
        fault,
        h("div.actions", h("button.button.primary", { type: "submit" }, t("adjust"))),
      ),
  );
  if (!isDone) return;
  tell(t("adjust.done"));
  await place.again();
}

/** @param {Entity} entity @param {Row} row @param {RecordPlace} place */
async function remove(entity, row, place) {
  const canRestore = entity.actions.has("restore");
  const text = t(canRestore ? "delete.canRestore" : "cannotUndo", { count: 1 });
  if (!(await confirmed(t("delete.ask"), text, t("delete")))) return;
  try {
    await write(`${entity.path}/delete`, { where: keyConditions(entity, row) }, place);
    await place.lock.release();
    tell(t("delete.done"));
    if (cameFrom()) history.back();
    else go([entity.project, entity.endpoint]);
    const again = () => dispatchEvent(new HashChangeEvent("hashchange"));
    if (canRestore)
      offerUndo(t("delete.told", { count: 1 }), () => restore(entity, row).then(again, tellFault));
  } catch (error) {
    tellFault(error);
  }
}

/** @param {Entity} entity @param {Row} row */
async function restore(entity, row) {
  await post(`${entity.path}/restore`, { where: keyConditions(entity, row) });
  tell(t("restore.done"));
}

/** After somebody else has deleted the record. @returns {Promise<true | null>} null: go on editing */
export const askToLeave = () =>
  openDialog(t("conflict.gone"), (close) => [
    h("p", t("conflict.goneNote")),
    h(
      "div.actions",
      h("button.button", { type: "button", onclick: () => close(true) }, t("backToList")),
    ),
  ]);
