/** `GET /docs`: a page that shows the OpenAPI document. Its files are opened on the first request. */
import type { Hono } from "hono";
import { docsMissingPage, docsPage, type DocsPaths } from "../pages/docs-page.ts";
import type { Handle } from "./exchange.ts";
import { pageAnswer, plainPagePolicy } from "./page-answer.ts";
import { openedOnce } from "../../core/values/opened-once.ts";
import { type SentFiles, showSentFile } from "./send-files.ts";
import { getRoutes, type PageDeps } from "./via-hono.ts";

/** The files that the page loads. */
export interface DocsFiles extends SentFiles {
  readonly paths: DocsPaths;
}

/** `off`: there is no such page. `without files`: the page only says where the document is. */
export type Docs = "off" | "without files" | (() => Promise<DocsFiles>);

/** Swagger UI has inline images in its style sheet. All scripts and styles are files of the service. */
const docsPagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Where the files of the page are. */
export const docsFolder = "docs/files/";

export function mountDocs(pages: Hono, docs: Docs, deps: PageDeps): void {
  if (docs === "off") return;
  if (docs === "without files") {
    getRoutes(pages, deps, { "/docs": showMissing });
    return;
  }
  const open = openedOnce(docs);
  getRoutes(pages, deps, {
    "/docs": showDocs(open),
    [`/${docsFolder}:folder/:file`]: showSentFile(open),
  });
}

const showDocs =
  (open: () => Promise<DocsFiles>): Handle =>
  async (_incoming, exchange) => {
    const { paths } = await open();
    return pageAnswer(exchange, { text: await docsPage(paths), policy: docsPagePolicy });
  };

const showMissing: Handle = async (_incoming, exchange) =>
  pageAnswer(exchange, { text: await docsMissingPage(), policy: plainPagePolicy, status: 404 });
