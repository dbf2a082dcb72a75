/** `GET /docs`: a page that shows the OpenAPI document. Its files are opened when the page is first asked for. */
import type { Hono } from "hono";
import { notFound } from "../../core/values/errors.ts";
import { docsMissingPage, docsPage, type DocsPaths } from "../pages/docs-page.ts";
import type { ExchangeDeps, Handle } from "./exchange.ts";
import { getRoutes } from "./get-routes.ts";
import { fileAnswer, pageAnswer, plainPagePolicy } from "./page-answer.ts";

/** The files that the page loads. */
export interface DocsFiles {
  readonly paths: DocsPaths;
  /** `path`: one of `paths`. Null: there is no such file. `gzips`: the client takes gzip. */
  read(path: string, options: { readonly gzips: boolean }): Promise<DocsFile | null>;
}

export interface DocsFile {
  readonly mediaType: string;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly isGzipped: boolean;
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
  let opening: Promise<DocsFiles> | null = null;
  const open = (): Promise<DocsFiles> =>
    (opening ??= docs().catch((error: unknown) => {
      opening = null;
      throw error;
    }));
  getRoutes(app, deps, {
    "/docs": showDocs(open),
    [`/${docsFolder}:folder/:file`]: showDocsFile(open),
  });
}

const showDocs =
  (open: () => Promise<DocsFiles>): Handle =>
  async (_c, exchange) => {
    const { paths } = await open();
    return pageAnswer(exchange, { text: await docsPage(paths), policy: docsPagePolicy });
  };

const showMissing: Handle = async (_c, exchange) =>
  pageAnswer(exchange, { text: await docsMissingPage(), policy: plainPagePolicy, status: 404 });

const showDocsFile =
  (open: () => Promise<DocsFiles>): Handle =>
  async (c, exchange) => {
    const { read } = await open();
    const gzips = /\bgzip\b/.test(c.req.header("Accept-Encoding") ?? "");
    const file = await read(c.req.path.slice(1), { gzips });
    if (!file) throw notFound("No resource exists at this path");
    const headers = { Vary: "Accept-Encoding" };
    return fileAnswer(exchange, {
      ...file,
      headers: file.isGzipped ? { ...headers, "Content-Encoding": "gzip" } : headers,
    });
  };
