/** Links to the records that refer to one: lists of other entities, filtered by it. */
import { h, icon } from "./dom.js";
import { loadEntity, mayUse, wordsOf } from "./model.js";
import { addressOf } from "./router.js";

/** @param {import("./types.d.ts").Entity} entity @param {import("./types.d.ts").Row} row */
export async function relatedLinks({ project, referencedBy, key }, row) {
  const [only, second] = key;
  if (referencedBy.length === 0 || only === undefined || second !== undefined) return null;
  const links = await Promise.all(
    referencedBy.map(async ({ endpoint, field }) => {
      const isRead = mayUse(project, endpoint, "read");
      const isTwice = referencedBy.filter((one) => one.endpoint === endpoint).length > 1;
      const other = isRead && !isTwice ? null : await loadEntity(project, endpoint);
      if (!isRead && !other?.columns.includes(field)) return null;
      const by = isTwice ? ` (${other?.fields.get(field)?.label ?? field})` : "";
      const href = addressOf([project, endpoint], { [`f.${field}`]: String(row[only]) });
      return h("a.button", { href }, wordsOf(endpoint) + by, icon("next"));
    }),
  );
  const found = links.filter((link) => link !== null);
  return (
    found.length > 0 &&
    h("nav.related", { "aria-label": "Related records" }, h("h2", null, "Related"), found)
  );
}
