/** `GET /docs`: a page that shows the OpenAPI document. Its files are opened when the page is first asked for. */
import type { Hono } from "hono";
import { docsMissingPage, docsPage, type DocsPaths } from "../pages/docs-page.ts";
import type { ExchangeDeps, Handle } from "./exchange.ts";
import { getRoutes } from "./get-routes.ts";
import { pageAnswer, plainPagePolicy } from "./page-answer.ts";
import { openedOnce, type SentFiles, showSentFile } from "./send-files.ts";

/** The files that the page loads. */
export interface DocsFiles extends SentFiles {
  readonly paths: DocsPaths;
}

/** `off`: there is no such page. `without files`: a page says where the document is. */
export type Docs = "off" | "without files" | (() => Promise<DocsFiles>);

/** Swagger UI has pictures in its style sheet. Scripts and styles are files of the service, without exception. */
const docsPagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Where the files of the page are. */
export const docsFolder = "docs/files/";

export function mountDocs(app: Hono, docs: Docs, deps: ExchangeDeps): void {
  if (docs === "off") return;
  if (docs === "without files") {
    getRoutes(app, deps, { "/docs": showMissing });
    return;
  }
  const open = openedOnce(docs);
  getRoutes(app, deps, {
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
