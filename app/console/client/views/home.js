/** The home page: a search over everything, what was opened last, and the endpoints of every project as cards. */
import { post } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { textOf } from "../format.js";
import { homeSearch, recordLinks } from "../home-search.js";
import { loadIndex, mayUse, menuOf, titleOfEndpoint, wordsOf } from "../model.js";
import { recentRecords } from "../recent.js";
import { addressOf } from "../router.js";
import { phrase, t } from "../words.js";

/** @type {import("../types.d.ts").View} */
export async function show(place) {
  document.title = "Rowgate";
  const { projects, signIn } = await loadIndex();
  const recent = recentRecords();
  const counts = cardCounts();
  const lists = projects
    .flatMap((project) =>
      menuOf(project).map(({ entries }) => ({ project: project.name, entries })),
    )
    .flatMap(({ project, entries }) =>
      entries.flatMap(({ endpoint, lines }) =>
        [endpoint, ...lines].map((one) => ({
          project,
          endpoint: one,
          title: titleOfEndpoint(project, one.name),
        })),
      ),
    );
  const rest = h("div");
  const search = homeSearch(lists, { onText: (isSearching) => (rest.hidden = isSearching) });
  fill(place, lists.length > 0 && [search.element, search.results], rest);
  fill(
    rest,
    recent.length > 0 && h("section.recent", h("p.group", t("home.recent")), recordLinks(recent)),
    projects.map((project) => projectOf(project, counts)),
    projects.length === 0 && h("div.empty", h("h1", t("home.nothing")), h("p", t("home.noRights"))),
    signIn &&
      projects.length > 0 &&
      h("p.note", phrase("home.more", { link: h("a", { href: "#/sign-in" }, t("home.signIn")) })),
  );
  return () => {
    search.stop();
    counts.stop();
  };
}

/** @typedef {ReturnType<typeof cardCounts>} Counts */

/** @param {import("../model.js").Project} project @param {Counts} counts */
function projectOf(project, counts) {
  const { name, status, dashboard } = project;
  return [
    h(
      "div.head",
      h("h1", wordsOf(name)),
      dashboard &&
        h("a.button", { href: addressOf([name]) }, icon("chart"), h("span", dashboard.title)),
    ),
    status === "ready"
      ? menuOf(project).map(({ group, entries }) => [
          group && h("h2.group", group),
          h(
            "ul.cards",
            entries.map((entry) => cardOf(name, entry, counts)),
          ),
        ])
      : h("p.note", t("home.databaseAway")),
  ];
}

/** @param {string} project @param {import("../model.js").MenuEntry} entry @param {Counts} counts */
function cardOf(project, { endpoint, title, lines }, counts) {
  const { name, actions, console: note } = endpoint;
  const may = (/** @type {string[]} */ ...names) => names.some((one) => actions.includes(one));
  const abilities = [
    may("read", "datatables") && t("can.browse"),
    may("create", "create-composite") && t("can.create"),
    may("update", "update-composite") && t("can.edit"),
    may("import-upload") && t("can.import"),
    may("export") && t("can.export"),
  ].filter(Boolean);
  return h(
    "li",
    h(
      "a.card",
      { href: addressOf([project, name]) },
      icon(note?.icon ?? "table"),
      h("strong", title, counts.of(project, endpoint)),
      h("span", abilities.join(", ")),
    ),
    lines.map((line) =>
      h(
        "a.card-lines",
        { href: addressOf([project, line.name]) },
        titleOfEndpoint(project, line.name),
      ),
    ),
  );
}

/**
 * How many records the endpoints have, as estimates: counting large tables would cost more than a home page may. Asked
 * for one after the other, and only for cards in sight. Own SQL with parameters is not counted.
 */
function cardCounts() {
  const leaving = new AbortController();
  /** @type {Map<Element, string>} */
  const paths = new Map();
  let queue = Promise.resolve();
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const path = paths.get(target);
      if (!isIntersecting || path === undefined) continue;
      paths.delete(target);
      watch.unobserve(target);
      queue = queue.then(() => count(/** @type {HTMLElement} */ (target), path).catch(() => {}));
    }
  });

  /** @param {HTMLElement} element @param {string} path */
  async function count(element, path) {
    const { signal } = leaving;
    signal.throwIfAborted();
    const request = { page: 1, per_page: 1, count: "estimated" };
    const { body } = await post(`${path}/read`, request, { signal, quiet: true });
    const { total_records: total, count_mode: mode } = body.pagination;
    const number = textOf(total, { type: "integer" });
    fill(element, mode === "estimated" ? t("home.about", { count: total }) : number);
  }

  return {
    /** @param {string} project @param {import("../model.js").Endpoint} endpoint */
    of(project, { name, takes_params: takesParams }) {
      if (takesParams || !mayUse(project, name, "read")) return null;
      const element = h("small.count");
      paths.set(element, `api/${project}/${name}`);
      watch.observe(element);
      return element;
    },
    stop() {
      watch.disconnect();
      leaving.abort();
    },
  };
}
