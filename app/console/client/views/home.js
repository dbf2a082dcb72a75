/** The entities of every project, as cards. */
import { fill, h, icon } from "../dom.js";
import { loadIndex, wordsOf } from "../model.js";
import { addressOf } from "../router.js";
import { isListed } from "../shell.js";

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
        : h(
            "p.note",
            null,
            "The database of this project cannot be reached yet. The service keeps trying.",
          ),
    ]),
    projects.length === 0 &&
      h(
        "div.empty",
        null,
        h("h1", null, "Nothing to show"),
        h("p", null, "You may not use any endpoint here. Ask the operator for a role that may."),
      ),
    signIn &&
      projects.length > 0 &&
      h(
        "p.note",
        null,
        "There may be more for you here: ",
        h("a", { href: "#/sign-in" }, "sign in"),
        ".",
      ),
  );
}

/** @param {string} project @param {{ name: string, actions: string[] }} endpoint */
function cardOf(project, { name, actions }) {
  const may = (/** @type {string[]} */ ...names) => names.some((one) => actions.includes(one));
  const abilities = [
    may("read", "datatables") && "browse",
    may("create", "create-composite") && "create",
    may("update", "update-composite") && "edit",
    may("import-upload") && "import",
    may("export") && "export",
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
