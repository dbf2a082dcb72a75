/** A value as an element: for cells of lists and for fields that cannot be edited. */
import { bytesShown } from "./bytes.js";
import { h } from "./dom.js";
import { isNumber, labelText, shortText, textOf } from "./format.js";
import { openTree } from "./json-tree.js";
import { labelOf } from "./labels.js";
import { filesShown } from "./record-files.js";
import { mayOpen } from "./model.js";
import { addressOf } from "./router.js";
import { t } from "./words.js";

/** @import { Entity, Field, Row } from "./types.d.ts" */

/** The value of a row, or the name of a related record as a link to it. @param {Row} row @param {Field} field @param {Pick<Entity, "project" | "status" | "path" | "key">} entity @param {{ whole?: boolean }} [options] as `cellOf` @returns {HTMLElement} */
export function cellIn(row, field, entity, options) {
  if (field.relation)
    return nameLink(
      /** @type {Row | null} */ (row[field.relation.name]),
      field.relation,
      entity.project,
    );
  const value = valueIn(row, field);
  if (field.type !== "file" || field.isPath || !value) return cellOf(value, field, entity, options);
  return filesShown(value, field.name, { path: entity.path, key: entity.key, row });
}

/** @param {Row} row @param {Field} field */
export const valueIn = (row, { name, isPath }) =>
  isPath
    ? name.split(".").reduce((/** @type {any} */ at, step) => at?.[step] ?? null, row)
    : row[name];

/** @param {Row | null | undefined} other @param {NonNullable<Field["relation"]>} relation @param {string} project */
function nameLink(other, { endpoint, key, titleField }, project) {
  if (!other) return h("span.none", "–");
  const keys = key.map((name) => other[name]);
  const name = textOf(other[titleField], { type: "text" });
  const mayLead = keys.length > 0 && mayOpen(project, endpoint);
  const href = mayLead && addressOf([project, endpoint, "record", ...keys.map(String)]);
  const element = h(
    mayLead ? "a.reference" : "span.text",
    { href, dir: "auto" },
    name || t("untitled"),
  );
  const [field = ""] = key;
  // Such as a draft that gets its number later.
  if (name === "" && key.length === 1 && mayLead)
    void labelOf(project, { endpoint, field }, keys[0]).then(
      (label) => label && (element.textContent = label),
    );
  return element;
}

/**
 * @param {unknown} value @param {Field} field @param {Pick<Entity, "project" | "status">} entity
 * @param {{ whole?: boolean }} [options] `whole`: long texts are not cut
 * @returns {HTMLElement}
 */
export function cellOf(value, field, entity, { whole = false } = {}) {
  if (value === null || value === undefined) return h("span.none", "–");
  if (value === "") return h("span.none.empty-text", t("empty"));
  if (entity.status?.field === field.name) return statusBadge(String(value));
  if (field.references) return referenceLink(value, field, entity.project);
  if (field.type === "boolean")
    return h(`span.flag${value ? ".yes" : ""}`, t(value ? "yes" : "no"));
  if (field.type === "bytes") return bytesShown(String(value), field.label);
  if (field.type === "file") return filesShown(value, field.name, null);
  if (whole && typeof value === "object") return openTree(value);
  const text = whole ? textOf(value, field) : shortText(value, field);
  if (isNumber(field)) return h("span.number", text);
  const isTime = field.type === "timestamp" || field.type === "date";
  if (isTime) return h("span.moment", { title: String(value) }, text);
  const link = field.type === "text" && webLink(value, text);
  if (link) return link;
  // Isolates the text: one that runs from right to left must not reorder its neighbours.
  return h("span.text", { dir: "auto" }, text);
}

/** The text of an address as a link, or as a picture where the page may load it; null: it is no address of the web. @param {unknown} value @param {string} text */
function webLink(value, text) {
  const address = webAddress(value);
  if (address === null) return null;
  const link = h(
    "a.web",
    { href: address.href, target: "_blank", rel: "noopener noreferrer", dir: "auto" },
    text,
  );
  // The policy of the page forbids those of other hosts.
  if (address.origin === location.origin && /\.(png|jpe?g|gif|webp)$/i.test(address.pathname)) {
    const picture = h("img.small-picture", { src: address.href, alt: text, loading: "lazy" });
    picture.addEventListener("error", () => picture.replaceWith(text));
    link.replaceChildren(picture);
  }
  return link;
}

/** Only http and https: other schemes can run scripts. @param {unknown} value */
export function webAddress(value) {
  if (typeof value !== "string" || !/^https?:\/\/\S+$/i.test(value) || !URL.canParse(value))
    return null;
  return new URL(value);
}

/** @param {string} status @param {string} [text] where it has another name */
export const statusBadge = (status, text = labelText(status)) =>
  h("span.status", { "data-tone": String(toneOf(status)) }, text);

/** Gives a status the same colour everywhere; common words have the expected colour. @param {string} status */
function toneOf(status) {
  if (/^(draft|new|open|pending|created)$/i.test(status)) return "calm";
  if (/^(posted|done|completed|paid|closed|approved|delivered|active|shipped)$/i.test(status))
    return "good";
  if (/^(cancell?ed|rejected|failed|void|expired|blocked|overdue)$/i.test(status)) return "bad";
  return "busy";
}

/** The label of the other record, as a link to it. @param {unknown} value @param {Field} field @param {string} project */
function referenceLink(value, { references }, project) {
  const target = /** @type {NonNullable<Field["references"]>} */ (references);
  const link = h(
    "a.reference",
    { href: addressOf([project, target.endpoint, "record", String(value)]), dir: "auto" },
    String(value).length > 12 ? `${String(value).slice(0, 8)}…` : String(value),
  );
  void labelOf(project, target, value).then((label) => {
    if (label !== null) link.textContent = label;
  });
  return link;
}
