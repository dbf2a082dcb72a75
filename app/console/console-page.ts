/** The page at `/console`: the modules of `client/` show projects, entities and records. Equal for all callers. */
import { html } from "hono/html";
import { iconPath } from "../pages/page-files.ts";

/** Addresses of the files that the page loads, relative to the root. */
export interface ConsolePaths {
  readonly styles: readonly string[];
  /** The module that starts the console. */
  readonly start: string;
  /** Modules that every visit needs, to be loaded at the same time. */
  readonly modules: readonly string[];
  /** Those that the texts of the console are there in. */
  readonly languages: readonly string[];
}

export async function consolePage({
  styles,
  start,
  modules,
  languages,
}: ConsolePaths): Promise<string> {
  return String(
    await html`<!doctype html>
      <html lang="en" data-languages="${languages.join(" ")}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>Rowgate</title>
          <link rel="icon" href="${iconPath}" />
          ${styles.map((path) => html`<link rel="stylesheet" href="${path}" />`)}
          ${modules.map((path) => html`<link rel="modulepreload" href="${path}" />`)}
          <script type="module" src="${start}"></script>
        </head>
        <body>
          <div id="app">
            <p class="loading" role="status">Rowgate …</p>
            <noscript>
              <p>The console needs JavaScript. <a href="./">What runs here</a></p>
            </noscript>
          </div>
        </body>
      </html>`,
  );
}
