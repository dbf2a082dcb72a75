/** Hears what others change in an open record, so that its form can take it, and says who changed what. */
import { idOf } from "../grid/rows.js";
import { jsonText } from "../json.js";
import { listenToOthers } from "../live-changes.js";
import { fieldNamed, wordsOf } from "../model.js";
import { viewNotice } from "../notices.js";
import { go } from "../router.js";
import { locale, t } from "../words.js";

/** @import { Entity, Row } from "../types.d.ts" */

/**
 * @typedef {object} LivePlace
 * @property {() => Row} row as the form knows it
 * @property {() => Promise<{ row: Row } | null>} load null: it is no longer there
 * @property {(stored: any, at: string | null) => void} take shows the new values
 */

/** Several changes that come together are looked at once. */
const pauseMs = 150;
const namedMax = 4;
const times = new Intl.DateTimeFormat(locale, { timeStyle: "short" });

/**
 * To be called before the record is loaded, so that no change after that is missed.
 * @param {Entity} entity @param {Entity[]} watched those of the record and of its lines of which the caller is told
 */
export function recordChanges(entity, watched) {
  const notice = viewNotice();
  /** @type {LivePlace | null} */
  let place = null;
  /** The last change that was not looked at. @type {import("../live-changes.js").Told | null} */
  let last = null;
  let timer = 0;
  /** @type {Promise<unknown>} */
  let turn = Promise.resolve();

  const unlisten = listenToOthers(watched, (told) => {
    if (!mayConcern(told)) return;
    last = told;
    timer ||= setTimeout(() => {
      timer = 0;
      lookInTurn();
    }, pauseMs);
  });

  /** False: the change is about other records. @param {import("../live-changes.js").Told} told */
  function mayConcern({ endpoint, type, keys }) {
    const of = watched.find((one) => one.endpoint === endpoint);
    if (!place || !of || keys === null) return true;
    const row = place.row();
    // Which document a line has come into is not told.
    if (of !== entity && type !== "deleted") return true;
    const known = of === entity ? [row] : linesIn(entity, row);
    const ids = new Set(keys.map((key) => idOf(of, key)));
    return known.some((one) => ids.has(idOf(of, one)));
  }

  /** An older answer must not come after a newer one. */
  const lookInTurn = () => void (turn = turn.then(look).catch(() => {}));

  /** Without an answer, saving still finds what others changed. */
  async function look() {
    if (!place || !last) return;
    const [shown, { at }] = [place, last];
    last = null;
    const stored = await shown.load();
    if (shown !== place) return;
    if (stored === null)
      return notice.show({
        text: t("conflict.gone"),
        action: t("backToList"),
        act: () => go([entity.project, entity.endpoint]),
      });
    const text = changeText(entity, shown.row(), stored.row, at);
    shown.take(stored, at);
    if (text !== "") notice.show({ text });
  }

  return {
    element: notice.element,
    /** When the record is shown, or shown again. @param {LivePlace} shown */
    attach(shown) {
      notice.hide();
      place = shown;
      lookInTurn();
    },
    stop() {
      clearTimeout(timer);
      place = null;
      unlisten();
    },
  };
}

/** Who changed which fields and lines; empty: none. @param {Entity} entity @param {Row} before @param {Row} after @param {string | null} [at] */
export function changeText(entity, before, after, at) {
  const names = changedNames(entity, before, after);
  if (names.length === 0) return "";
  // Totals change with their lines.
  const totals = entity.lines.flatMap((one) => (names.includes(one.name) ? one.totals : []));
  const labels = names
    .filter((name) => !totals.includes(name))
    .map((name) => labelOf(entity, name));
  const more = labels.length > namedMax ? " …" : "";
  const fields = labels.slice(0, namedMax).join(", ") + more;
  return t("live.changed", {
    ...changeOf(changedRow(entity, names, { before, after }), at),
    fields,
  });
}

/** Who saved a record, and when, as far as it says so. @param {Row} row @param {string | null} [at] */
export function changeOf({ updated_by: by, updated_at: saved }, at) {
  const moment = new Date(String(at ?? saved));
  return {
    owner: typeof by === "string" && by !== "" ? by : t("conflict.somebody"),
    time: times.format(Number.isNaN(moment.getTime()) ? new Date() : moment),
  };
}

/** The record, or one of its lines where only these were changed. @param {Entity} entity @param {string[]} names @param {{ before: Row, after: Row }} rows @returns {Row} */
function changedRow(entity, names, { before, after }) {
  if (names.some((name) => entity.lines.every((one) => one.name !== name))) return after;
  const known = new Set(linesIn(entity, before).map((line) => jsonText(line)));
  return linesIn(entity, after).find((line) => !known.has(jsonText(line))) ?? {};
}

/** @param {Entity} entity @param {Row} row @returns {Row[]} */
const linesIn = ({ lines }, row) =>
  lines.flatMap(({ name }) => /** @type {Row[]} */ (row[name] ?? []));

/** Fields and lines, without those that every change writes. @param {Entity} entity @param {Row} before @param {Row} after */
const changedNames = ({ shown, lines }, before, after) =>
  [...new Set([...shown, ...lines.map(({ name }) => name)])].filter(
    (name) =>
      name in before &&
      name in after &&
      !/^updated_(at|by)$/.test(name) &&
      jsonText(before[name]) !== jsonText(after[name]),
  );

/** @param {Entity} entity @param {string} name */
const labelOf = ({ fields, lines }, name) =>
  lines.some((one) => one.name === name) ? wordsOf(name) : fieldNamed(fields, name).label;
