/** The entities of every project, as cards. */
import { fill, h, icon } from "../dom.js";
import { loadIndex, menuOf, titleOfEndpoint, wordsOf } from "../model.js";
import { addressOf } from "../router.js";
import { phrase, t } from "../words.js";

/** @type {import("../types.d.ts").View} */
export async function show(place) {
  document.title = "Rowgate";
  const { projects, signIn } = await loadIndex();
  fill(
    place,
    projects.map((project) => {
      const { name, status, dashboard } = project;
      return [
        h(
          "div.head",
          null,
          h("h1", null, wordsOf(name)),
          dashboard &&
            h(
              "a.button",
              { href: addressOf([name]) },
              icon("chart"),
              h("span", null, dashboard.title),
            ),
        ),
        status === "ready"
          ? menuOf(project).map(({ group, entries }) => [
              group && h("h2.group", null, group),
              h(
                "ul.cards",
                null,
                entries.map((entry) => cardOf(name, entry)),
              ),
            ])
          : h("p.note", null, t("home.databaseAway")),
      ];
    }),
    projects.length === 0 &&
      h("div.empty", null, h("h1", null, t("home.nothing")), h("p", null, t("home.noRights"))),
    signIn &&
      projects.length > 0 &&
      h(
        "p.note",
        null,
        phrase("home.more", { link: h("a", { href: "#/sign-in" }, t("home.signIn")) }),
      ),
  );
}

/** @param {string} project @param {import("../model.js").MenuEntry} entry */
function cardOf(project, { endpoint, title, lines }) {
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
    null,
    h(
      "a.card",
      { href: addressOf([project, name]) },
      icon(note?.icon ?? "table"),
      h("strong", null, title),
      h("span", null, abilities.join(", ")),
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
