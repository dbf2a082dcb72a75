/**
 * The console with a fresh demo database, in Chromium, opened once per test file. A test fails if its page logs an
 * error, opens an alert or calls another host, unless it removes that fault with `takeFaults`.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import type { Listening } from "../../app/start/servers/listening.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { listen } from "../../app/start/servers/node.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { createDemo } from "../../configs/demo/create.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { type Browser, launchChromium, type Page, pagesOf } from "./playwright.ts";
import { productOverview } from "./product-overview.ts";

const configs = join(import.meta.dirname, "../../configs");
const pageTimeoutMs = 14_000;

export interface ConsoleOptions {
  readonly engine?: "sqlite" | "postgres";
  /** Properties of files of the demo, by file: `products.json`. */
  readonly changes?: Readonly<Record<string, object>>;
  /** Further configuration files with their content: `open/project.json`. */
  readonly files?: Readonly<Record<string, object>>;
  /** SQL on the demo's database before the service starts. */
  readonly prepare?: string;
  /** Further origins that pages are allowed to contact. */
  readonly origins?: () => readonly string[];
}

export interface VisitOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  /** The language of the person, `en-GB` where it is left out. */
  readonly locale?: string;
}

export interface ConsolePlace {
  readonly url: string;
  /** A new page at `#/demo/products`; the one before is closed, unless `keeps`. */
  visit(hash: string, options?: VisitOptions): Promise<Page>;
  /** Another person's page at the same time. */
  other(hash: string): Promise<Page>;
  takeFaults(): string[];
  /** POSTs to an endpoint of the demo, `products/create`; throws where it is no success. */
  call(path: string, body: object): Promise<any>;
  /** Runs SQL past the service. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  /** Keeps what the page shows in the folder of TEST_SCREENSHOTS, if there is one. */
  picture(page: Page, name: string): Promise<void>;
  readonly folder: string;
}

interface Parts {
  readonly folder: string;
  readonly service: Listening;
  readonly browser: Browser;
  readonly openPage: ReturnType<typeof pagesOf>;
  readonly session: Awaited<ReturnType<typeof openSession>>;
  readonly close: () => Promise<void>;
}

export function openConsole(options: ConsoleOptions = {}): ConsolePlace {
  let parts: Parts | null = null;
  let pages: Page[] = [];
  const faults: string[] = [];
  const opened = (): Parts => {
    if (!parts) throw new Error("The console opens in beforeAll");
    return parts;
  };

  beforeAll(async () => {
    parts = await openParts(options);
  }, 90_000);
  afterEach(() => {
    expect(faults.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await parts?.browser.close();
    await parts?.service.stop();
    await parts?.close();
    if (parts) rmSync(parts.folder, { recursive: true, force: true });
  });

  async function open(
    hash: string,
    { width = 1280, height = 850, theme = "light", locale = "en-GB" }: VisitOptions,
    isOther = false,
  ) {
    const { browser, openPage, service } = opened();
    const size = { viewport: { width, height } };
    const look = { ...size, colorScheme: theme, locale, timezoneId: "Europe/Berlin" };
    const page = await (isOther ? browser.newPage(look) : openPage(service.url, look));
    pages.push(page);
    page.setDefaultTimeout(pageTimeoutMs);
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => void faults.push(`script: ${error.message}`));
    page.on("dialog", (dialog) => {
      if (dialog.type() === "beforeunload") return void dialog.accept();
      faults.push(`alert: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      const url = request.url();
      const origins = [service.url, "data:", "blob:", ...(options.origins?.() ?? [])];
      if (!origins.some((one) => url.startsWith(one))) faults.push(`request: ${url}`);
    });
    await page.goto(`${service.url}/console${hash}`);
    return page;
  }

  return {
    get url() {
      return opened().service.url;
    },
    get folder() {
      return opened().folder;
    },
    async visit(hash, visit = {}) {
      await Promise.all(pages.map((page) => page.close()));
      pages = [];
      return open(hash, visit);
    },
    other: (hash) => open(hash, {}, true),
    takeFaults: () => faults.splice(0),
    async call(path, body) {
      const response = await fetch(`${opened().service.url}/api/demo/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const answer = await response.json();
      if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
      return answer;
    },
    sql: (text) => opened().session.run(text),
    async picture(page, name) {
      const folder = process.env["TEST_SCREENSHOTS"];
      if (!folder) return;
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `${name}.png`) });
    },
  };
}

async function openParts({
  engine = "sqlite",
  changes = {},
  files: more = {},
  prepare,
}: ConsoleOptions): Promise<Parts> {
  const program = inject("chromium");
  if (!program)
    throw new Error('No Chromium was found for this run: use "npm test -- --project browser".');
  const folder = mkdtempSync(join(tmpdir(), "rowgate-test-console-"));
  const database = engine === "sqlite" ? demoFile(join(folder, "demo.db")) : await demoOnPostgres();
  const session = await openSession(engine, database.url);
  await session.run(productOverview);
  if (prepare !== undefined) await session.run(prepare);
  const files = new Map(await readConfigFiles(configs));
  for (const [name, change] of Object.entries(changes)) {
    const path = `demo/${name}`;
    files.set(path, JSON.stringify({ ...JSON.parse(files.get(path) ?? "{}"), ...change }));
  }
  for (const [path, content] of Object.entries(more)) files.set(path, JSON.stringify(content));
  const env = {
    DEMO_DATABASE_URL: database.url,
    STORAGE_URL: `file:${join(folder, "files")}`,
    PORT: "0",
  };
  const importComponent = importFrom(configs);
  const service = await listen(
    await openService({ files, env, log: createLog("silent"), importComponent }),
  );
  const browser = await launchChromium(program);
  return {
    folder,
    service,
    browser,
    openPage: pagesOf(browser),
    session,
    async close() {
      await session.close();
      await database.drop();
    },
  };
}

function demoFile(file: string): { url: string; drop: () => Promise<void> } {
  createDemo(file);
  return { url: `sqlite:${file}`, drop: async () => undefined };
}

async function demoOnPostgres(): Promise<{ url: string; drop: () => Promise<void> }> {
  const database = await freshDatabase("postgres");
  await promisify(execFile)(process.execPath, [join(configs, "demo/fill-postgres.ts")], {
    env: { ...process.env, DEMO_DATABASE_URL: database.url },
  });
  return { url: database.url, drop: async () => void (await database.drop()) };
}
