/** Tells beside an open record that others changed or deleted it. What is typed stays as it is. */
import { idOf } from "../grid/rows.js";
import { jsonText } from "../json.js";
import { listenToOthers } from "../live-changes.js";
import { fieldOf, wordsOf } from "../model.js";
import { viewNotice } from "../notices.js";
import { go } from "../router.js";
import { locale, t } from "../words.js";

/** @typedef {import("../types.d.ts").Entity} Entity */
/** @typedef {import("../types.d.ts").Row} Row */

/**
 * @typedef {object} LivePlace
 * @property {() => Row} row as the form knows it
 * @property {() => Promise<{ row: Row } | null>} load null: it is no longer there
 * @property {() => void} show shows the new values
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

  const unlisten = listenToOthers(watched, (told) => {
    if (!mayConcern(told)) return;
    last = told;
    timer ||= setTimeout(() => {
      timer = 0;
      void look().catch(() => {});
    }, pauseMs);
  });

  /** False: the change is about other records. @param {import("../live-changes.js").Told} told */
  function mayConcern({ endpoint, type, keys }) {
    const of = watched.find((one) => one.endpoint === endpoint);
    if (!place || !of || keys === null) return true;
    const row = place.row();
    // Which document a line has come into is not told.
    if (of !== entity && type !== "deleted") return true;
    const known = of === entity ? [row] : linesIn(row);
    const ids = new Set(keys.map((key) => idOf(of, key)));
    return known.some((one) => ids.has(idOf(of, one)));
  }

  /** @param {Row} row @returns {Row[]} */
  const linesIn = (row) =>
    entity.lines.flatMap(({ name }) => /** @type {Row[]} */ (row[name] ?? []));

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
    const names = changedNames(entity, shown.row(), stored.row);
    if (names.length === 0) return notice.hide();
    const labels = names.map((name) => labelOf(entity, name));
    const { updated_by: by } = changedRow(names, shown.row(), stored.row);
    const owner = typeof by === "string" && by !== "" ? by : t("conflict.somebody");
    const time = times.format(at === null ? new Date() : new Date(at));
    const more = labels.length > namedMax ? " …" : "";
    const fields = labels.slice(0, namedMax).join(", ") + more;
    notice.show({
      text: t("live.changed", { owner, time, fields }),
      action: t("live.show"),
      act: shown.show,
    });
  }

  /** The record, or one of its lines where only these were changed. @param {string[]} names @param {Row} before @param {Row} after @returns {Row} */
  function changedRow(names, before, after) {
    if (names.some((name) => entity.lines.every((one) => one.name !== name))) return after;
    const known = new Set(linesIn(before).map((line) => jsonText(line)));
    return linesIn(after).find((line) => !known.has(jsonText(line))) ?? {};
  }

  return {
    element: notice.element,
    hide: notice.hide,
    /** When the record is shown, or shown again. @param {LivePlace} shown */
    attach(shown) {
      notice.hide();
      place = shown;
      void look().catch(() => {});
    },
    stop() {
      clearTimeout(timer);
      place = null;
      unlisten();
    },
  };
}

/** Fields and lines, without those that every change writes. @param {Entity} entity @param {Row} before @param {Row} after */
export const changedNames = ({ shown, lines }, before, after) =>
  [...new Set([...shown, ...lines.map(({ name }) => name)])].filter(
    (name) =>
      name in before &&
      name in after &&
      !/^updated_(at|by)$/.test(name) &&
      jsonText(before[name]) !== jsonText(after[name]),
  );

/** @param {Entity} entity @param {string} name */
const labelOf = ({ fields, lines }, name) =>
  lines.some((one) => one.name === name)
    ? wordsOf(name)
    : (fields.get(name) ?? fieldOf(name, { type: "text" })).label;
