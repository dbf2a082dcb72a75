/** `GET /console`: people view and edit records in it, through the API. Its files are opened on the first request. */
import type { Hono } from "hono";
import { consolePage, type ConsolePaths } from "../console/console-page.ts";
import type { Handle } from "./exchange.ts";
import { pageAnswer } from "./page-answer.ts";
import { openedOnce } from "../../core/values/opened-once.ts";
import { type SentFiles, showSentFile } from "./send-files.ts";
import { getRoutes, type PageDeps } from "./via-hono.ts";

/** The files that the page loads. */
export interface ConsoleFiles extends SentFiles {
  readonly paths: ConsolePaths;
}

/** `off`: there is no such page. */
export type Console = "off" | (() => Promise<ConsoleFiles>);

/** Where the files of the page are. */
export const consoleFolder = "console/files/";

/** `issuers`: origins at which people sign in. */
const policyFor = (issuers: readonly string[]): string =>
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  `connect-src ${["'self'", ...issuers].join(" ")}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export interface ConsoleDeps extends PageDeps {
  readonly signInOrigins: readonly string[];
}

export function mountConsole(pages: Hono, files: Console, deps: ConsoleDeps): void {
  if (files === "off") return;
  const open = openedOnce(files);
  const showFile = showSentFile(open);
  getRoutes(pages, deps, {
    "/console": showConsole(open, policyFor(deps.signInOrigins)),
    [`/${consoleFolder}:version/:file`]: showFile,
    [`/${consoleFolder}:version/:folder/:file`]: showFile,
  });
}

const showConsole =
  (open: () => Promise<ConsoleFiles>, policy: string): Handle =>
  async (_incoming, exchange) => {
    const { paths } = await open();
    return pageAnswer(exchange, { text: await consolePage(paths), policy });
  };
