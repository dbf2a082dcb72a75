/** The page at `/docs`, in which a script shows the OpenAPI documents of the endpoints. Equal for all callers. */
import { html } from "hono/html";
import { iconPath, stylePath } from "./page-files.ts";

/** Addresses of the files that the page loads, relative to the root. */
export interface DocsPaths {
  readonly styles: readonly string[];
  /** In the order in which they run. */
  readonly scripts: readonly string[];
}

export async function docsPage(paths: DocsPaths): Promise<string> {
  return String(
    await html`<!doctype html>
      <html lang="en">
        ${head(paths)}
        <body class="docs">
          <header>
            <h1><img src="${iconPath}" alt="" />Documentation</h1>
            <nav aria-label="Pages">
              <a href="./">What runs here</a>
              <a id="document" href="openapi.json">OpenAPI document</a>
              <span id="projects"></span>
            </nav>
            <form id="sign-in" class="note" hidden>
              <label for="kind">Sign in with</label>
              <select id="kind">
                <option value="X-Api-Key">an API key</option>
                <option value="Authorization">a token</option>
              </select>
              <label class="unseen" for="secret">The key or token</label>
              <input id="secret" type="password" autocomplete="off" spellcheck="false" required />
              <button>Show what I may use</button>
              <p class="quiet">
                The page sends it only to this service, and forgets it when you close or reload it.
              </p>
            </form>
            <p id="message" class="note" role="status">Loading…</p>
            <noscript>
              <p class="note">
                This page needs JavaScript. The <a href="openapi.json">OpenAPI document</a> says the
                same.
              </p>
            </noscript>
          </header>
          <p hidden>
            <label class="unseen" for="search">Find an endpoint</label>
            <input id="search" type="search" placeholder="Find an endpoint" autocomplete="off" />
          </p>
          <main id="view"></main>
        </body>
      </html>`,
  );
}

/** Replaces the page where the service has no files to send. */
export async function docsMissingPage(): Promise<string> {
  return String(
    await html`<!doctype html>
      <html lang="en">
        ${head({ styles: [], scripts: [] })}
        <body>
          <h1><img src="${iconPath}" alt="" />Documentation</h1>
          <p class="lead">This page is not available on Cloudflare Workers.</p>
          <p>
            The <a href="openapi.json">OpenAPI document</a> has everything that the page would show.
            Open it in a program for OpenAPI documents, such as Swagger Editor, Bruno or Postman.
          </p>
        </body>
      </html>`,
  );
}

const head = ({ styles, scripts }: DocsPaths) =>
  html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Rowgate: documentation</title>
    <link rel="icon" href="${iconPath}" />
    ${[...styles, stylePath].map((path) => html`<link rel="stylesheet" href="${path}" />`)}
    ${scripts.map((path) => html`<script src="${path}" defer></script>`)}
  </head>`;
