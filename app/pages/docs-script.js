/**
 * Runs in the browser, on the page `/docs`: lists the endpoints that the caller can use. When one is opened, loads its
 * OpenAPI document, which Swagger UI shows. The key or token is kept only in this script's memory.
 */
/* global SwaggerUIBundle */

const project = new URLSearchParams(location.search).get("project");

/** The headers with which the caller signed in. */
let credentials = {};

/** Resolves when Swagger UI, which is large, is loaded. */
const swagger = new Promise((resolve) => addEventListener("load", resolve, { once: true }));

const find = (id) => document.getElementById(id);

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function say(text) {
  find("message").textContent = text;
  find("message").hidden = text === "";
}

async function load(path) {
  const response = await fetch(path, {
    headers: { Accept: "application/json", ...credentials },
    cache: "no-cache",
  });
  const body = await response.json();
  if (!response.ok) throw Object.assign(new Error(body.message), { status: response.status });
  return body;
}

async function show() {
  say("Loading the list of endpoints…");
  find("view").replaceChildren();
  let index;
  try {
    index = await load("./");
  } catch (error) {
    if (error.status === 401) find("sign-in").hidden = false;
    say(`The list could not be loaded: ${error.message}`);
    return;
  }
  say("");
  if (index.sign_in !== undefined || Object.keys(credentials).length > 0)
    find("sign-in").hidden = false;
  showProjects(index.projects);
  const shown = index.projects.filter(({ name }) => project === null || name === project);
  find("view").append(...shown.flatMap((one) => sectionsOf(one, shown.length > 1)));
  const many = shown.flatMap(({ endpoints }) => endpoints).length > 8;
  find("search").parentElement.hidden = !many;
  if (shown.length === 0 && index.sign_in === undefined)
    say("There is nothing here that you may use.");
  openNamed();
}

function sectionsOf({ name, status, endpoints }, isNamed) {
  const heading = isNamed ? [element("h2", { textContent: name })] : [];
  if (status === "unavailable")
    heading.push(
      element("p", { textContent: `The database of ${name} was not reached yet; reload later.` }),
    );
  return [...heading, ...endpoints.map((endpoint) => sectionOf(name, endpoint))];
}

/** Its documentation is loaded when it is opened for the first time. */
function sectionOf(ofProject, { name, actions }) {
  const view = element("div", { className: "endpoint-view" });
  const count = `${actions.length} ${actions.length === 1 ? "action" : "actions"}`;
  const section = element(
    "details",
    { className: "endpoint", id: `${ofProject}/${name}` },
    element(
      "summary",
      {},
      element("h3", { textContent: name }),
      element("span", { className: "quiet", textContent: count }),
    ),
    view,
  );
  let isAsked = false;
  section.addEventListener("toggle", () => {
    if (!section.open || isAsked) return;
    isAsked = true;
    const path = `api/${encodeURIComponent(ofProject)}/${encodeURIComponent(name)}`;
    showEndpoint(`${path}/openapi.json`, view).catch((error) => {
      isAsked = false;
      view.textContent = `The documentation could not be loaded: ${error.message}`;
    });
  });
  return section;
}

async function showEndpoint(path, view) {
  view.textContent = "Loading…";
  const [spec] = await Promise.all([load(path), swagger]);
  const shown = element("div");
  view.replaceChildren(shown);
  SwaggerUIBundle({
    spec,
    domNode: shown,
    docExpansion: "list",
    defaultModelsExpandDepth: -1,
    syntaxHighlight: { activated: false },
    validatorUrl: null,
    requestInterceptor(request) {
      request.headers = { ...credentials, ...request.headers };
      return request;
    },
  });
}

/** Opens the endpoint that the address names behind `#/`. */
function openNamed() {
  const name = decodeURIComponent(location.hash.slice(2));
  const section = find(name) ?? find(`${project}/${name}`);
  if (!section) return;
  section.open = true;
  section.scrollIntoView();
}

/** Links to single projects, where there are several. */
function showProjects(projects) {
  const names = [null, ...projects.map(({ name }) => name)];
  if (names.length < 3) return;
  const links = names.map((name) => {
    const link = element("a", {
      href: name === null ? "docs" : `docs?${new URLSearchParams({ project: name })}`,
      textContent: name ?? "all projects",
    });
    if (name === project) link.setAttribute("aria-current", "page");
    return link;
  });
  find("projects").replaceChildren(...links);
}

find("document").href =
  project === null ? "openapi.json" : `api/${encodeURIComponent(project)}/openapi.json`;

find("search").addEventListener("input", () => {
  const wanted = find("search").value.trim().toLowerCase();
  for (const section of document.querySelectorAll(".endpoint"))
    section.hidden = !section.id.toLowerCase().includes(wanted);
});

find("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  const kind = find("kind").value;
  const secret = find("secret").value.trim();
  credentials = { [kind]: kind === "Authorization" ? `Bearer ${secret}` : secret };
  void show();
});

const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
addEventListener("hashchange", openNamed);
void show();
