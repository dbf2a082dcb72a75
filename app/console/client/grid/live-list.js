/** Tells in a list that others changed its records. The rows stay as they are until people ask for the new ones. */
import { idOf, linesOf } from "./rows.js";
import { listenToOthers } from "../live-changes.js";
import { viewNotice } from "../notices.js";
import { t } from "../words.js";

/** @import { Entity, Row } from "../types.d.ts" */

/**
 * @param {Entity} entity
 * @param {{ table: HTMLTableElement, rowIn: (line: HTMLTableRowElement) => Row | null, reload: () => void }} place
 */
export function listChanges(entity, { table, rowIn, reload }) {
  const notice = viewNotice();
  /** Ids of changed records that the rows do not show yet. @type {Set<string>} */
  let waiting = new Set();
  let isCounted = true;
  /** Those that the next rows show for the first time. @type {Set<string>} */
  let fresh = new Set();

  const stop = listenToOthers([entity], ({ keys }) => {
    isCounted &&= keys !== null;
    for (const key of keys ?? []) waiting.add(idOf(entity, key) ?? "");
    notice.show({
      text: isCounted ? t("live.records", { count: waiting.size }) : t("live.some"),
      // Each number would be read out, one after the other.
      said: t("live.some"),
      action: t("live.show"),
      act: reload,
    });
  });

  return {
    element: notice.element,
    stop,
    /** To be called when rows are asked for. */
    asked() {
      fresh = new Set([...fresh, ...waiting]);
      waiting = new Set();
      isCounted = true;
      notice.hide();
    },
    /** To be called when rows were drawn. */
    drawn() {
      for (const line of linesOf(table)) {
        const row = rowIn(line);
        const id = row && idOf(entity, row);
        line.classList.toggle("told", id !== null && fresh.has(id));
      }
      fresh = new Set();
    },
  };
}
