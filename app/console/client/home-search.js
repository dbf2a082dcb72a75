/** The search on the home page: in the names of lists, and in every list that the caller may open records of, one after the other. */
import { post } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { lookup } from "./labels.js";
import { loadEntity, mayOpen, mayUse } from "./model.js";
import { titleOf } from "./titles.js";
import { addressOf, recordParts } from "./router.js";
import { t } from "./words.js";

/** A list as the search goes through it. @typedef {{ project: string, endpoint: import("./model.js").Endpoint, title: string }} Searched */
/** @typedef {{ parts: string[], title: string }} Hit */

const pauseMs = 300;
const lettersMin = 2;
/** Of one list. */
const hitsMax = 5;
const namedMax = 10;

/** @param {Searched[]} lists @param {{ onText: (isSearching: boolean) => void }} place */
export function homeSearch(lists, { onText }) {
  let asking = new AbortController();
  let timer = 0;
  const input = h("input", {
    type: "search",
    placeholder: t("home.search"),
    "aria-label": t("home.search"),
    maxlength: "100",
  });
  const status = h("p.quiet", { role: "status" });
  const found = h("div.hits");
  const results = h("section", { hidden: true, "aria-label": t("home.found") }, status, found);

  input.addEventListener("input", () => {
    clearTimeout(timer);
    asking.abort();
    const text = input.value.trim();
    const isSearching = text.length >= lettersMin;
    results.hidden = !isSearching;
    onText(isSearching);
    if (isSearching) timer = setTimeout(() => void search(text), pauseMs);
  });

  /** @param {string} text */
  async function search(text) {
    asking = new AbortController();
    const { signal } = asking;
    const named = lists.filter(({ title }) => title.toLowerCase().includes(text.toLowerCase()));
    fill(found, named.length > 0 && listsNamed(named));
    let count = named.length;
    for (const list of lists.filter(isSearched)) {
      fill(status, t("home.searching", { list: list.title }));
      // A list that cannot be searched now does not hold up the others.
      const hits = await hitsIn(list, text, signal).catch(() => []);
      if (signal.aborted) return;
      count += hits.length;
      if (hits.length > 0) found.append(hitsOf(list, hits, text));
    }
    fill(status, count > 0 ? t("home.found") : t("home.nothingFits"));
  }

  return {
    element: h("label.search.home-search", icon("search"), input),
    results,
    stop() {
      clearTimeout(timer);
      asking.abort();
    },
  };
}

/** Whether the search can look there. @param {Searched} list */
const isSearched = ({ project, endpoint: { name, takes_params: takesParams } }) =>
  !takesParams &&
  mayOpen(project, name) &&
  ["lookup", "read"].some((action) => mayUse(project, name, action));

/** By the names that `lookup` knows, else in all that `read` searches. @param {Searched} list @param {string} text @param {AbortSignal} signal @returns {Promise<Hit[]>} */
async function hitsIn({ project, endpoint: { name } }, text, signal) {
  const path = `api/${project}/${name}`;
  if (mayUse(project, name, "lookup")) {
    const query = { search: text, limit: String(hitsMax) };
    const hits = await lookup(path, query, signal);
    return hits.map(({ id, text: title }) => ({
      parts: [project, name, "record", String(id)],
      title,
    }));
  }
  const entity = await loadEntity(project, name);
  if (!entity || entity.key.length === 0 || signal.aborted) return [];
  const request = { page: 1, per_page: hitsMax, count: "none", search_value: text };
  const { body } = await post(`${path}/read`, request, { signal });
  return body.data.map((/** @type {import("./types.d.ts").Row} */ row) => ({
    parts: recordParts(entity, row),
    title: titleOf(entity, row),
  }));
}

/** @param {Searched[]} named */
const listsNamed = (named) =>
  h(
    "section.hit-list",
    h("h2", icon("menu"), t("frame.lists")),
    recordLinks(
      named
        .slice(0, namedMax)
        .map(({ project, endpoint, title }) => ({ parts: [project, endpoint.name], title })),
    ),
  );

/** @param {Searched} list @param {Hit[]} hits @param {string} text */
const hitsOf = ({ project, endpoint, title }, hits, text) =>
  h(
    "section.hit-list",
    h(
      "h2",
      icon(endpoint.console?.icon ?? "table"),
      h("a", { href: addressOf([project, endpoint.name], { q: text }) }, title),
    ),
    recordLinks(hits),
  );

/** @param {Hit[]} records */
export const recordLinks = (records) =>
  h(
    "ul.record-links",
    records.map(({ parts, title }) =>
      h("li", h("a", { href: addressOf(parts), dir: "auto" }, title)),
    ),
  );
