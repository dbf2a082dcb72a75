/** One record: its fields in a form, its lines, its next statuses, and what refers to it. */
import { crumb } from "../crumb.js";
import { ApiError, post } from "../api.js";
import { statusBadge } from "../cells.js";
import { documentLines } from "../records/document-lines.js";
import { fill, h, icon } from "../dom.js";
import { labelText, sentence } from "../format.js";
import { keyOf } from "../grid/rows.js";
import { changeOf, changeText, recordChanges } from "../records/live-record.js";
import { loadEntity } from "../model.js";
import { tell, tellFault } from "../notices.js";
import { askToLeave, recordActions } from "../records/record-actions.js";
import {
  bodyOf,
  guard,
  isClosed,
  isReadable,
  lineSchema,
  sendByKeys,
  showFaults,
  withoutInput,
} from "../records/record-editing.js";
import { recordForm } from "../records/record-form.js";
import { recordLock } from "../records/record-lock.js";
import { rememberRecord } from "../recent.js";
import { valuesOf } from "../record-values.js";
import { namesExpanded, titleOf } from "../titles.js";
import { relatedRecords } from "../records/related.js";
import { recordParts, go, restoreScroll } from "../router.js";
import { paramsIn, readParams } from "../params.js";
import { t, titled } from "../words.js";

/** @import { Entity, Row } from "../types.d.ts" */

/** @type {import("../types.d.ts").View} */
export async function show(place, { parts, query }) {
  const [project = "", endpoint = "", , ...keys] = parts;
  const entity = await loadEntity(project, endpoint);
  if (!entity) throw new Error(t("list.noRight"));
  const details = entity.lines.map(({ endpoint: own }) =>
    own === null ? null : loadEntity(project, own).catch(() => null),
  );
  const watched = [entity, ...(await Promise.all(details))].filter((one) => one !== null);
  const told = watched.filter(({ isLive }) => isLive);
  const live = told.length > 0 ? recordChanges(entity, told) : null;
  const params = paramsIn(entity, readParams(entity, query));
  const shown = await loadRecord(entity, keys, params).catch((error) => {
    live?.stop();
    throw error;
  });
  if (!shown) {
    live?.stop();
    fill(
      place,
      crumb(entity),
      h("div.empty", h("h1", t("record.missing")), h("p", t("record.missingNote"))),
    );
    return;
  }
  const leave = await showRecord(place, entity, { ...shown, live });
  return () => {
    const isLeft = leave();
    if (isLeft) live?.stop();
    return isLeft;
  };
}

/** @typedef {{ row: Row, etag: string | null }} Stored */
/** @typedef {Stored & { live: ReturnType<typeof recordChanges> | null }} Shown */

/** @param {Entity} entity @param {string[]} keys @param {object} [more] of the request @returns {Promise<Stored | null>} */
async function loadRecord(entity, keys, more = {}) {
  const { path, key, actions, lines } = entity;
  const where = key.map((name, at) => ({ key: name, value: keys[at] ?? "" }));
  const action = lines.length > 0 && actions.has("read-composite") ? "read-composite" : "first";
  const expand = namesExpanded(entity);
  const isExpanded = Object.keys(expand).length > 0;
  const { body, etag } = await post(`${path}/${action}`, {
    where,
    ...(isExpanded && { expand }),
    ...more,
  });
  return body.data && { row: body.data, etag };
}

/** Why a record is closed, and how people can go on. @param {Entity} entity @param {Row} row */
function closedText({ status, lines }, row) {
  const own = String(row[status?.field ?? ""]);
  const why = t(lines.length > 0 ? "closed.withLines" : "closed", { status: labelText(own) });
  const ways = (status?.transitions?.[own] ?? []).map(labelText);
  const statuses = ways.join(", ");
  return `${why} ${ways.length > 0 ? t("closed.ways", { statuses }) : t("closed.final")}`;
}

/** @param {HTMLElement} place @param {Entity} entity @param {Shown} shown */
async function showRecord(place, entity, shown) {
  const { row, live } = shown;
  /** What the form was filled with, or has taken since. */
  let { row: known, etag } = shown;
  const closed = isClosed(entity, row);
  const body = closed ? null : bodyOf(entity, "update");
  const banner = h("div.banner", { role: "status", hidden: true });
  const fault = h("div.banner.fault", { role: "alert", hidden: true });
  const lock = recordLock(entity, row, showHolder);
  const save = h("button.button.primary", { type: "submit" }, t("save"));
  const undo = h("button.button", { type: "button", onclick: () => void again() }, t("discard"));
  const saveBar = h(
    "div.save-bar",
    { hidden: true },
    save,
    undo,
    h("span.quiet", t("record.unsaved")),
  );
  const lineNames = entity.lines.map(({ name }) => name);
  const statusField = entity.actions.has("change-status") ? entity.status?.field : undefined;
  const form =
    body &&
    recordForm({
      schema: body.schema,
      fields: entity.fields,
      entity,
      row,
      needed: bodyOf(entity, "create")?.schema.required ?? [],
      without: [...lineNames, ...entity.key, ...(statusField ? [statusField] : [])],
      onInput: changed,
    });
  const inForm = new Set(form?.inputs.keys());
  const lines = entity.lines.flatMap((one) => {
    const rows = row[one.name];
    if (!Array.isArray(rows)) return [];
    const canEdit = body !== null && body.member !== null;
    return documentLines({
      entity,
      lines: one,
      schema: lineSchema(entity, one.name),
      record: row,
      rows,
      canEdit,
      onInput: changed,
    });
  });
  /** What others changed, found when this form was saved. @type {string[]} */
  const taken = [];
  const isTouched = () => (form?.isChanged() ?? false) || lines.some((one) => one.isChanged());

  function changed() {
    saveBar.hidden = !isTouched();
    if (!saveBar.hidden) lock.take();
  }

  /** @param {import("../records/record-lock.js").Holder | null} holder */
  function showHolder(holder) {
    banner.hidden = holder === null;
    if (holder === null) return;
    fill(banner, icon("lock"), sentence(t("lock.editing", { owner: holder.owner })));
  }

  const load = () =>
    loadRecord(
      entity,
      entity.key.map((name) => String(row[name])),
    );

  /** Shows the record as it is now. */
  async function again() {
    isDone = true;
    const [fresh] = await withoutInput(element, () => Promise.all([load(), lock.release()]));
    stop();
    if (!fresh) return go([entity.project, entity.endpoint]);
    stop = await showRecord(place, entity, { ...fresh, live });
  }

  /** @param {Event} [event] */
  async function submit(event) {
    event?.preventDefault();
    if (!body || !form || save.disabled || !isTouched()) return;
    save.disabled = true;
    if (!(await isReadable({ form, lines, fault }))) return void (save.disabled = false);
    const keys = keyOf(entity, row);
    const record = { ...keys, ...form.changes() };
    for (const one of lines) {
      const operations = one.operations();
      if (Object.keys(operations).length > 0) record[one.name] = operations;
    }
    const sent = body.member === null ? record : { [body.member]: record };
    /** @type {Record<string, string>} */
    const version = etag === null ? {} : { "If-Match": etag };
    try {
      await withoutInput(element, () =>
        lock.write((token) =>
          post(`${entity.path}/${body.action}`, sent, { headers: { ...version, ...token } }),
        ),
      );
      tell([t("saved"), ...taken].join(". "));
      await again();
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) await saveAfterOthers();
      else showFaults(error, { form, lines, fault });
    } finally {
      save.disabled = false;
    }
  }

  async function saveAfterOthers() {
    const fresh = await load();
    if (!fresh) return void ((await askToLeave()) && (await again()));
    const news = changeText(entity, known, fresh.row);
    if (news !== "") taken.push(news);
    take(fresh);
    save.disabled = false;
    // All that was typed can be what others have saved already.
    if (isTouched()) await submit();
    else await again();
  }

  /** Takes what others changed; what both changed is asked. @param {Stored} fresh @param {string | null} [at] */
  function take(fresh, at) {
    const isOther = isClosed(entity, fresh.row) !== closed;
    if (isOther && !isTouched()) return void again().catch(tellFault);
    const by = (/** @type {Row} */ one) =>
      t("live.by", changeOf("updated_by" in one ? one : fresh.row, at));
    form?.renew(known, fresh.row, by(fresh.row));
    for (const one of lines)
      one.renew(fresh.row, /** @type {Row[]} */ (fresh.row[one.name] ?? []), by);
    ({ row: known, etag } = fresh);
    showFacts();
    changed();
  }

  const totals = entity.lines.flatMap((one) => one.totals);
  // A drop-down already shows the name of the other record.
  const chosen = [...inForm]
    .map((name) => entity.fields.get(name))
    .filter((one) => one?.references);
  const isRepeated = (/** @type {string} */ name) =>
    chosen.some((field) => field?.label === entity.fields.get(name)?.label);
  const own = { etag: () => etag, lock, isTouched, again };
  const [head, closing, facts, related] = [h("div.head"), h("div"), h("div"), h("div")];

  /** What is no input. */
  function showFacts() {
    const title = titleOf(entity, known);
    document.title = titled(title, entity.title);
    rememberRecord(recordParts(entity, known), title);
    const status = entity.status && known[entity.status.field];
    const isNowClosed = isClosed(entity, known);
    fill(
      head,
      crumb(entity),
      h("h1", { dir: "auto" }, title),
      status ? statusBadge(String(status)) : null,
      h("span.grow"),
      recordActions(entity, known, own),
    );
    fill(
      closing,
      isNowClosed &&
        h("div.banner.closed", icon("lock"), h("span.grow", closedText(entity, known))),
    );
    fill(
      facts,
      valuesOf(
        entity,
        known,
        (name) => !inForm.has(name) && !totals.includes(name) && !isRepeated(name),
      ),
    );
    if (!related.contains(document.activeElement)) showRelated();
  }

  function showRelated() {
    // A change can only be undone while nothing newer is stored than what is shown.
    const [of, version] = [known, etag];
    void relatedRecords(entity, of, { ...own, etag: () => version })
      .then((found) => of === known && fill(related, found), tellFault)
      .then(() => place.isConnected && restoreScroll());
  }

  const element = h(
    "form",
    { onsubmit: submit, onkeydown: sendByKeys, novalidate: true },
    h("div.sheet", form?.element, facts),
    lines.map((one) => h("div.sheet", one.element)),
    saveBar,
  );
  showFacts();
  fill(place, head, closing, banner, fault, live?.element, element, related);
  void lock.look().catch(tellFault);
  live?.attach({ row: () => known, load, take });
  let isDone = false;
  const leave = guard(() => !isDone && isTouched());
  let stop = () => {
    const isLeft = leave();
    if (isLeft) void lock.release();
    return isLeft;
  };
  return () => stop();
}
