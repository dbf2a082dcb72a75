/** The page at `/`: what runs here, for people. Links at the root are relative, so a proxy can add a prefix. */
import { html } from "hono/html";
import type { MenuEntry } from "../../core/openapi/menu.ts";
import { iconPath, stylePath } from "./page-files.ts";

export interface ShownEndpoint extends MenuEntry {
  /** As clients find it, `/api/shop/products`. */
  readonly path: string;
}

export interface ShownProject {
  readonly name: string;
  /** Whether the project's database was reached. */
  readonly status: "ready" | "unavailable";
  readonly endpoints: readonly ShownEndpoint[];
  /** Its dashboard as JSON, which the console draws; absent: the caller sees none. */
  readonly dashboard?: { readonly title: string; readonly path: string };
  /** Where AI agents find its tools; absent: the caller can use none. */
  readonly agents?: { readonly path: string };
}

export interface FrontPage {
  /** Null: hidden from the caller. */
  readonly version: string | null;
  /** Where the service is mounted, as `/rows`; empty at the root. */
  readonly basePath: string;
  readonly projects: readonly ShownProject[];
  /** How to see more; null: there is nothing more to see. */
  readonly signIn: string | null;
  /** Names and addresses of other pages, relative to the root. */
  readonly links: readonly PageLink[];
  /** An example request for a shell; null: there is none. */
  readonly example: string | null;
}

export interface PageLink {
  readonly title: string;
  readonly text: string;
  /** From the root, as `/docs`. */
  readonly path: string;
}

type Html = ReturnType<typeof html>;

/** The whole page as HTML. */
export async function frontPage(page: FrontPage): Promise<string> {
  const { version, projects, signIn, links, example } = page;
  const hasDocs = links.some(({ path }) => path === "/docs");
  // A page at `/rows` and one at `/rows/` would have different relative links.
  const root = page.basePath === "" ? "" : `${page.basePath}/`;
  return String(
    await html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>Rowgate</title>
          <link rel="icon" href="${root}${iconPath}" />
          <link rel="stylesheet" href="${root}${stylePath}" />
        </head>
        <body>
          <header>
            <h1>
              <img src="${root}${iconPath}" alt="" />Rowgate
              ${version && html`<small>${version}</small>`}
            </h1>
            <p class="lead">This service turns databases into HTTP APIs. It is running.</p>
            <nav aria-label="Pages">
              <ul class="links">
                ${links.map((link) => linkItem(link, root))}
              </ul>
            </nav>
          </header>
          <main>
            ${projects.map((one) => projectSection(one, hasDocs ? root : null))}
            ${signIn && signInNote(signIn, projects)}
            ${!signIn && projects.length === 0 && nothingNote()}
            ${
              example &&
              html`<h2>Try it</h2>
                <pre
                  class="example"
                  tabindex="0"
                  aria-label="Example request"
                ><code>${example}</code></pre>`
            }
          </main>
        </body>
      </html>`,
  );
}

const linkItem = ({ title, text, path }: PageLink, root: string): Html =>
  html`<li>
    <a href="${root}${path.slice(1)}">${title}<span>${text}</span></a>
  </li>`;

/** `root`: stands before the address of the documentation; null: there is none. */
const projectSection = ({ name, status, endpoints }: ShownProject, root: string | null): Html =>
  html`<section aria-labelledby="project-${name}">
    <h2 id="project-${name}">${name}</h2>
    ${
      status === "ready"
        ? html`<ul class="endpoints">
            ${endpoints.map((one) => endpointItem(one, root === null ? null : root + docsOf(name, one)))}
          </ul>`
        : html`<p class="note">
            The database of this project is not reachable yet. The service keeps trying.
          </p>`
    }
  </section>`;

/** Where the endpoint is described. */
const docsOf = (project: string, { name }: ShownEndpoint): string =>
  `docs?project=${encodeURIComponent(project)}#/${encodeURIComponent(name)}`;

const endpointItem = ({ name, path, actions }: ShownEndpoint, docs: string | null): Html =>
  html`<li>
    <div>
      <h3>${docs === null ? name : html`<a href="${docs}">${name}</a>`}</h3>
      <code>${path}</code>
    </div>
    <ul class="actions" aria-label="Actions of ${name}">
      ${actions.map((action) => html`<li>${action}</li>`)}
    </ul>
  </li>`;

const signInNote = (signIn: string, { length }: readonly ShownProject[]): Html =>
  html`<h2>Sign in</h2>
    <div class="note">
      <p>${length > 0 ? "There may be more for you here." : "What runs here is not public."}</p>
      <p>${signIn}.</p>
    </div>`;

const nothingNote = (): Html =>
  html`<p class="note">
    You may not use any endpoint here. Ask the operator for a role that may.
  </p>`;
