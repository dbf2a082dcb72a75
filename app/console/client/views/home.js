/** The entities of every project, as cards. */
import { fill, h, icon } from "../dom.js";
import { loadIndex, wordsOf } from "../model.js";
import { addressOf } from "../router.js";
import { isListed } from "../shell.js";
import { phrase, t } from "../words.js";

/** @type {import("../types.d.ts").View} */
export async function show(place) {
  document.title = "Rowgate";
  const { projects, signIn } = await loadIndex();
  fill(
    place,
    projects.map(({ name, status, endpoints, dashboard }) => [
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
        ? h(
            "ul.cards",
            null,
            endpoints.filter(isListed).map((one) => cardOf(name, one)),
          )
        : h("p.note", null, t("home.databaseAway")),
    ]),
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

/** @param {string} project @param {{ name: string, actions: string[] }} endpoint */
function cardOf(project, { name, actions }) {
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
      icon("table"),
      h("strong", null, wordsOf(name)),
      h("span", null, abilities.join(", ")),
    ),
  );
}
