/**
 * Runs in the browser, on the page `/docs`: loads the OpenAPI document, as the caller who signed in may see it, and shows it with
 * Swagger UI. The key or token stays in this script; nothing stores it.
 */
/* global SwaggerUIBundle */

const project = new URLSearchParams(location.search).get("project");
const documentPath =
  project === null ? "openapi.json" : `api/${encodeURIComponent(project)}/openapi.json`;

/** The headers with which the caller signed in. */
let credentials = {};

const find = (id) => document.getElementById(id);

function say(text) {
  find("message").textContent = text;
  find("message").hidden = text === "";
}

async function load(path) {
  const response = await fetch(path, {
    headers: { Accept: "application/json", ...credentials },
    cache: "no-store",
  });
  const body = await response.json();
  if (!response.ok) throw Object.assign(new Error(body.message), { status: response.status });
  return body;
}

async function show() {
  say("");
  let loaded;
  try {
    loaded = await load(documentPath);
  } catch (error) {
    find("view").replaceChildren();
    if (error.status === 401) find("sign-in").hidden = false;
    const isFirst = error.status === 401 && Object.keys(credentials).length === 0;
    say(isFirst ? "" : `The document could not be loaded: ${error.message}`);
    return;
  }
  if (Object.keys(loaded.components?.securitySchemes ?? {}).length > 0)
    find("sign-in").hidden = false;
  SwaggerUIBundle({
    spec: loaded,
    domNode: find("view"),
    deepLinking: true,
    docExpansion: "none",
    defaultModelsExpandDepth: 0,
    filter: true,
    syntaxHighlight: { activated: false },
    validatorUrl: null,
    requestInterceptor(request) {
      request.headers = { ...credentials, ...request.headers };
      return request;
    },
  });
  await showProjects();
}

/** Links to the documents of single projects, where there are several. */
async function showProjects() {
  const { projects } = await load("./").catch(() => ({ projects: [] }));
  const names = [null, ...projects.map(({ name }) => name)];
  if (names.length < 3) return;
  const links = names.map((name) => {
    const link = document.createElement("a");
    link.href = name === null ? "docs" : `docs?${new URLSearchParams({ project: name })}`;
    link.textContent = name ?? "all projects";
    if (name === project) link.setAttribute("aria-current", "page");
    return link;
  });
  find("projects").replaceChildren(...links);
}

find("document").href = documentPath;

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
void show();
