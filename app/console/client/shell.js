/** The frame of every view: the bar at the top, the list of entities at the side, the drawer of requests. */
import { fill, h, icon, iconButton } from "./dom.js";
import { menuOf, titleOfEndpoint, wordsOf } from "./model.js";
import { noticesPlace } from "./notices.js";
import { createDrawer } from "./requests.js";
import { addressOf } from "./router.js";
import { credentials, signOut } from "./session.js";
import { themeButton } from "./theme.js";
import { chooseLanguage, language, languages, nameOf, t } from "./words.js";

/** @import { Index } from "./model.js" */
/** @import { Route } from "./types.d.ts" */

/** @param {HTMLElement} app */
export function createShell(app) {
  const { drawer, button, docs } = createDrawer();
  const main = h("main", { id: "main", tabindex: "-1" });
  const side = h("nav.side", { id: "side", "aria-label": t("frame.lists") });
  const person = h("span.person");
  const loading = h("p.loading", { role: "status", hidden: true });
  const menu = iconButton("menu", t("frame.lists"), {
    compact: true,
    class: "menu-button",
    "aria-controls": "side",
    "aria-expanded": "false",
    onclick: () => open(!app.classList.contains("side-open")),
  });

  /** @param {boolean} isOpen */
  function open(isOpen) {
    app.classList.toggle("side-open", isOpen);
    menu.setAttribute("aria-expanded", String(isOpen));
  }

  fill(
    app,
    h("a.skip", { href: "#main", onclick: focusMain }, t("frame.skip")),
    h(
      "header.bar",
      menu,
      h("a.brand", { href: "#/" }, h("img", { src: markPath(), alt: "" }), "Rowgate"),
      h("span.grow"),
      person,
      button,
      themeButton(),
    ),
    loading,
    h("div.frame", side, main, drawer),
    noticesPlace(),
  );
  side.addEventListener("click", () => open(false));
  addEventListener("keydown", ({ key }) => key === "Escape" && open(false));

  /** @param {Event} event */
  function focusMain(event) {
    // The address is that of the view.
    event.preventDefault();
    main.focus();
  }

  /** @type {Index | null} */
  let known = null;

  return {
    main,
    /** Marks the chosen place before its view is loaded. @param {Route} route @param {string} title */
    startLoading(route, title) {
      if (known) fill(side, sideOf(known, route));
      fill(loading, title ? t("frame.loading", { title }) : t("frame.starting"));
      loading.hidden = false;
      main.setAttribute("aria-busy", "true");
    },
    endLoading() {
      loading.hidden = true;
      main.removeAttribute("aria-busy");
    },
    /** @param {Index} index @param {Route} route */
    show(index, route) {
      known = index;
      fill(side, sideOf(index, route));
      scrollToCurrent(side);
      fill(person, personOf(index));
      docs.hidden = index.links["docs"] === undefined;
      open(false);
    },
  };
}

/** A long menu shows the chosen place. @param {HTMLElement} side */
function scrollToCurrent(side) {
  const current = side.querySelector("[aria-current]")?.getBoundingClientRect();
  const { top, bottom } = side.getBoundingClientRect();
  if (current && (current.top < top || current.bottom > bottom))
    side.scrollTop += current.top - (top + bottom) / 2;
}

/** The icon of the page, whose address changes with its content. */
const markPath = () => document.querySelector('link[rel="icon"]')?.getAttribute("href") ?? "";

/** @param {Index} index */
function personOf({ signIn }) {
  const known = credentials();
  if (known)
    return [
      h("span.person-name", { title: known.name }, known.name),
      h("button.button", { type: "button", onclick: leave }, t("signIn.out")),
    ];
  return signIn ? h("a.button", { href: "#/sign-in" }, t("signIn.in")) : null;
}

function leave() {
  signOut();
  location.hash = "#/";
  location.reload();
}

/** @param {Index} index @param {Route} route */
function sideOf({ projects, links, version }, { parts }) {
  const [project, endpoint] = parts;
  const isAt = (/** @type {string} */ name, /** @type {string | undefined} */ one) =>
    name === project && one === endpoint;
  /** @param {string} name @param {import("./model.js").Endpoint} one @param {...any} content */
  const linkTo = (name, one, ...content) =>
    h(
      "a",
      { href: addressOf([name, one.name]), "aria-current": isAt(name, one.name) ? "page" : null },
      content,
    );
  return [
    projects.map((each) => {
      const { name, status, dashboard } = each;
      return h(
        "section",
        h("h2", wordsOf(name)),
        status === "ready"
          ? h(
              "ul",
              dashboard &&
                h(
                  "li",
                  h(
                    "a",
                    {
                      href: addressOf([name]),
                      "aria-current": isAt(name, undefined) ? "page" : null,
                    },
                    icon("chart"),
                    dashboard.title,
                  ),
                ),
              menuOf(each).map(({ group, entries }) => [
                group && h("li.side-group", group),
                entries.map(({ endpoint: one, title, lines }) =>
                  h(
                    "li",
                    linkTo(name, one, icon(one.console?.icon ?? "table"), title),
                    lines.length > 0 &&
                      h(
                        "ul.side-lines",
                        lines.map((line) =>
                          h("li", linkTo(name, line, titleOfEndpoint(name, line.name))),
                        ),
                      ),
                  ),
                ),
              ]),
            )
          : h("p.quiet", t("frame.databaseAway")),
      );
    }),
    h(
      "ul.side-more",
      projects.length > 0 &&
        h(
          "li",
          h(
            "a",
            {
              href: "#/jobs",
              "aria-current": project === "jobs" && endpoint === undefined ? "page" : null,
            },
            icon("jobs"),
            t("jobs"),
          ),
        ),
      links["jobs_board"] &&
        h("li", h("a", { href: links["jobs_board"].slice(1) }, icon("out"), t("frame.jobsBoard"))),
      links["docs"] &&
        h("li", h("a", { href: links["docs"].slice(1) }, icon("out"), t("frame.docs"))),
      h("li", h("a", { href: "./" }, icon("out"), t("frame.status"))),
    ),
    languages.length > 1 && languageChoice(),
    version && h("p.version", `Rowgate ${version}`),
  ];
}

function languageChoice() {
  const choice = h(
    "select",
    { "aria-label": t("frame.language") },
    languages.map((one) =>
      h("option", { value: one, lang: one, selected: one === language }, nameOf(one)),
    ),
  );
  choice.addEventListener("change", () => chooseLanguage(choice.value));
  // Choosing is no way to another view, for which narrow screens close the side.
  choice.addEventListener("click", (/** @type {Event} */ event) => event.stopPropagation());
  return h("p.language", choice);
}
