/**
 * The service with a fresh demo database, the pages on another origin, and Chromium, opened once per test file. A test
 * fails if one of its pages logged an error, opened an alert or sent a request to another host. A test that expects
 * such a fault removes it with `takeFaults`.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { createLog } from "../../app/start/observing/log.ts";
import type { Listening } from "../../app/start/servers/listening.ts";
import { listen } from "../../app/start/servers/node.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { createDemo } from "../../configs/demo/create.ts";
import { servePages, type PageServer } from "./page-server.ts";
import { type Browser, launchChromium, type Page, pagesOf, type Request } from "./playwright.ts";
import { productOverview } from "./product-overview.ts";

/** The address that the pages name, as a reader of the docs would see it. */
const shownUrl = "http://localhost:3000";

/** What a page has not done by then it never does. */
const pageTimeoutMs = 14_000;

export interface Visit {
  /** Of DataTables, 1 for 1.13; 3 where the page has none. */
  readonly version?: 1 | 2 | 3;
  /** A file of `pages/`. */
  readonly page: string;
  /** Texts of the page and their replacements for this visit. */
  readonly change?: Readonly<Record<string, string>>;
}

export interface Demo {
  /** A new page, loaded. The one before is closed. */
  visit(visit: Visit): Promise<Page>;
  /** The page's requests to the service since it was opened, in order, without preflights. */
  requests(): readonly Request[];
  /** What the page did that no page should do, and forgets it. */
  takeFaults(): string[];
  /** POSTs to an endpoint of the demo, `products/create`, and gives the answer; throws where it is no success. */
  call(path: string, body: object): Promise<Record<string, unknown>>;
  /** The first column of a query on the demo's database, past the service. */
  column(sql: string): unknown[];
  /** Keeps what the page shows in the folder of TEST_SCREENSHOTS, if there is one. */
  picture(name: string): Promise<void>;
  /** `http://127.0.0.1:<port>` of the service. */
  readonly url: string;
}

interface Parts {
  readonly folder: string;
  readonly database: Database.Database;
  readonly pages: PageServer;
  readonly service: Listening;
  readonly browser: Browser;
  readonly openPage: ReturnType<typeof pagesOf>;
}

export interface DemoOptions {
  /** Properties that replace those in the endpoint's file. */
  readonly products?: object;
  /** Makes pages that are not in `pages/`: the script of each, by name. */
  readonly scripts?: () => Promise<Readonly<Record<string, string>>>;
}

export function openDemo(options: DemoOptions = {}): Demo {
  let parts: Parts | null = null;
  let page: Page | null = null;
  let requests: Request[] = [];
  let faults: string[] = [];
  const opened = (): Parts => {
    if (!parts) throw new Error("The demo opens in beforeAll");
    return parts;
  };

  beforeAll(async () => {
    parts = await openParts(options);
  }, 60_000);
  afterEach(() => {
    expect(faults.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await parts?.browser.close();
    await parts?.pages.close();
    await parts?.service.stop();
    parts?.database.close();
    if (parts) rmSync(parts.folder, { recursive: true, force: true });
  });

  return {
    get url() {
      return opened().service.url;
    },
    async visit({ version = 3, page: file, change = {} }) {
      const { openPage, pages, service } = opened();
      await page?.close();
      requests = [];
      faults = [];
      page = await openPage(pages.origin, { viewport: { width: 1100, height: 800 } });
      page.setDefaultTimeout(pageTimeoutMs);
      watch(page, {
        origins: [pages.origin, service.url],
        onFault: (fault) => void faults.push(fault),
      });
      page.on("request", (request) => {
        if (request.url().startsWith(service.url)) requests.push(request);
      });
      const query = new URLSearchParams({ change: JSON.stringify(change) });
      await page.goto(`${pages.origin}/${version}/${file}?${query}`);
      return page;
    },
    requests: () => requests,
    takeFaults: () => faults.splice(0),
    async call(path, body) {
      const response = await fetch(`${opened().service.url}/api/demo/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as Record<string, unknown>;
      if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
      return answer;
    },
    column: (sql) => opened().database.prepare(sql).pluck().all(),
    async picture(name) {
      const folder = process.env["TEST_SCREENSHOTS"];
      if (!folder) return;
      mkdirSync(folder, { recursive: true });
      await page?.screenshot({ path: join(folder, `${name}.png`) });
    },
  };
}

async function openParts({ products = {}, scripts }: DemoOptions): Promise<Parts> {
  const program = inject("chromium");
  if (!program)
    throw new Error('No Chromium was found for this run: use "npm test -- --project browser".');
  const folder = mkdtempSync(join(tmpdir(), "rowgate-test-browser-"));
  const file = join(folder, "demo.db");
  createDemo(file);
  const views = new Database(file);
  views.exec(productOverview);
  views.close();
  let serviceUrl = "";
  const edit = (text: string) => text.replaceAll(shownUrl, serviceUrl);
  const pages = await servePages(edit, await scripts?.());
  const changes = {
    "demo/project.json": { cors: { origins: [pages.origin] } },
    "demo/products.json": products,
  };
  const service = await openDemoService(file, changes);
  serviceUrl = service.url;
  const browser = await launchChromium(program);
  const openPage = pagesOf(browser);
  const database = new Database(file, { readonly: true });
  return { folder, database, pages, service, browser, openPage };
}

/** The demo as it is, but for properties of its files. */
async function openDemoService(
  file: string,
  changes: Readonly<Record<string, object>>,
): Promise<Listening> {
  const folder = join(import.meta.dirname, "../../configs");
  const files = new Map(await readConfigFiles(folder));
  for (const [path, change] of Object.entries(changes)) {
    const content = JSON.parse(files.get(path) ?? "{}") as object;
    files.set(path, JSON.stringify({ ...content, ...change }));
  }
  const env = { DEMO_DATABASE_URL: `sqlite:${file}`, PORT: "0" };
  const importComponent = importFrom(folder);
  return listen(await openService({ files, env, log: createLog("silent"), importComponent }));
}

function watch(
  page: Page,
  { origins, onFault }: { origins: readonly string[]; onFault: (fault: string) => void },
): void {
  page.on("console", (message) => {
    if (message.type() === "error") onFault(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => onFault(`script: ${error.message}`));
  page.on("dialog", (dialog) => {
    onFault(`alert: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!origins.includes(new URL(url).origin) && !url.startsWith("data:"))
      onFault(`request: ${url}`);
  });
}
