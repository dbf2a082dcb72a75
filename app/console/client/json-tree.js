/** A JSON value as a tree whose branches fold: each one is made when it is opened, however deep and long the value is. */
import { h } from "./dom.js";
import { Digits, jsonText } from "./json.js";
import { t } from "./words.js";

/** Of one branch. */
const shownMax = 200;
/** So much of a text or of a folded branch. */
const shownLengthMax = 400;
const hintLengthMax = 60;

/** @param {unknown} value @param {string} [name] @returns {HTMLElement} */
export function jsonTree(value, name) {
  const label = name !== undefined && [h("span.json-name", { dir: "auto" }, name), ": "];
  const members = membersOf(value);
  if (members === null) return h("div.json-leaf", label, leafOf(value));
  const [start, end] = Array.isArray(value) ? "[]" : "{}";
  const hint = Array.isArray(value) ? ` ${members.length} ` : hintOf(members);
  const summary = h("summary", label, start, h("span.quiet", hint), end);
  if (members.length === 0) return h("div.json-leaf", label, `${start}${end}`);
  const place = h("div.json-members");
  const branch = h("details.json-branch", summary, place);
  let shown = 0;
  const more = () => {
    place.querySelector(":scope > button")?.remove();
    place.append(...members.slice(shown, shown + shownMax).map(([key, one]) => jsonTree(one, key)));
    shown += shownMax;
    const left = members.length - shown;
    if (left > 0)
      place.append(
        h("button.button", { type: "button", onclick: more }, t("json.more", { count: left })),
      );
  };
  branch.addEventListener("toggle", () => branch.open && shown === 0 && more());
  return branch;
}

/** The whole value, its first branch open. @param {unknown} value */
export function openTree(value) {
  const tree = jsonTree(value);
  if (tree instanceof HTMLDetailsElement) tree.open = true;
  return h("div.json-tree", tree);
}

/** Null: a value without members. @param {unknown} value @returns {[string, unknown][] | null} */
function membersOf(value) {
  if (typeof value !== "object" || value === null || value instanceof Digits) return null;
  return Object.entries(value);
}

/** The names of a folded branch. @param {[string, unknown][]} members */
function hintOf(members) {
  const names = members.slice(0, 10).map(([name]) => name);
  const text = names.join(", ");
  const isCut = text.length > hintLengthMax || members.length > names.length;
  return ` ${text.slice(0, hintLengthMax)}${isCut ? "…" : ""} `;
}

/** @param {unknown} value */
function leafOf(value) {
  const text = jsonText(value);
  const shown = text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text;
  return h(`span.json-${typeof value === "string" ? "text" : "plain"}`, { dir: "auto" }, shown);
}
