/**
 * The records that were opened last: their addresses and names, kept in the browser. Of people who signed in they go
 * with the tab, as their credentials do.
 */
import { mayOpen } from "./model.js";
import { credentials, recordsPlace as place } from "./session.js";

const keptMax = 8;

/** @typedef {{ parts: string[], title: string }} Recent */

/** @returns {Storage} */
const storage = () => (credentials() ? sessionStorage : localStorage);

/** Those that the caller may still open, the newest first. @returns {Recent[]} */
export function recentRecords() {
  try {
    /** @type {Recent[]} */
    const kept = JSON.parse(storage().getItem(place) ?? "[]");
    return kept.filter(({ parts: [project = "", endpoint = ""] }) => mayOpen(project, endpoint));
  } catch {
    return [];
  }
}

/** @param {string[]} parts of the record's address @param {string} title */
export function rememberRecord(parts, title) {
  const others = recentRecords().filter((one) => one.parts.join("/") !== parts.join("/"));
  try {
    storage().setItem(place, JSON.stringify([{ parts, title }, ...others].slice(0, keptMax)));
  } catch {
    // Without storage, or where it is full, nothing is kept.
  }
}
