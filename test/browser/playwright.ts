/**
 * Opens Chromium through Playwright. Playwright is installed in `programs/`, where the compiler does not see its types.
 * The interfaces here declare the part that the tests use.
 */
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { programs } from "./install.ts";

interface Look {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
}

interface Place {
  readonly locale?: string;
  readonly timezoneId?: string;
}

export interface Browser {
  newPage(options: Look & Place): Promise<Page>;
  newContext(options: Place): Promise<Context>;
  close(): Promise<void>;
}

/** A person's browser: its pages share the cache of files, and what pages keep. */
interface Context {
  newPage(): Promise<Page>;
  newCDPSession(page: Page): Promise<DevTools>;
}

export interface Page {
  setDefaultTimeout(timeoutMs: number): void;
  setViewportSize(size: Look["viewport"]): Promise<void>;
  emulateMedia(media: Pick<Look, "colorScheme">): Promise<void>;
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  /** The address that it shows. */
  url(): string;
  waitForURL(url: RegExp): Promise<void>;
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  readonly mouse: {
    move(x: number, y: number, options?: { steps: number }): Promise<void>;
    down(): Promise<void>;
    up(): Promise<void>;
  };
  waitForEvent(event: "download"): Promise<Download>;
  /** Runs a script in the page and gives its value. */
  evaluate(script: string): Promise<unknown>;
  locator(selector: string): Locator;
  on(event: "console", listener: (message: ConsoleMessage) => void): void;
  on(event: "pageerror", listener: (error: Error) => void): void;
  on(event: "dialog", listener: (dialog: Dialog) => void): void;
  on(event: "request", listener: (request: Request) => void): void;
  route(url: string, handler: (route: Route) => unknown): Promise<void>;
  context(): Context;
  screenshot(options: { path: string }): Promise<unknown>;
  close(): Promise<void>;
}

/** Waits for the element before it acts on it. */
export interface Locator {
  /** `position`: within the element; absent: its middle. */
  click(options?: {
    modifiers?: readonly "Shift"[];
    position?: { readonly x: number; readonly y: number };
  }): Promise<void>;
  dblclick(): Promise<void>;
  fill(text: string): Promise<void>;
  focus(): Promise<void>;
  setInputFiles(
    path: string | readonly { name: string; mimeType: string; buffer: Buffer }[],
  ): Promise<void>;
  isVisible(): Promise<boolean>;
  boundingBox(): Promise<{ x: number; y: number; width: number; height: number } | null>;
  /** Types key by key, as a person does. */
  pressSequentially(text: string): Promise<void>;
  press(key: string): Promise<void>;
  selectOption(value: string): Promise<unknown>;
  scrollIntoViewIfNeeded(): Promise<void>;
  /** Does not wait. */
  allTextContents(): Promise<string[]>;
  /** Does not wait. Only the text that can be seen. */
  allInnerTexts(): Promise<string[]>;
  /** Does not wait. Calls the function in the page. */
  // oxlint-disable-next-line no-explicit-any -- the compiler does not know elements of pages here
  evaluateAll<Value>(look: (elements: readonly any[]) => Value): Promise<Value>;
  innerText(): Promise<string>;
  inputValue(): Promise<string>;
  getAttribute(name: string): Promise<string | null>;
  count(): Promise<number>;
  waitFor(): Promise<void>;
  first(): Locator;
  last(): Locator;
  nth(index: number): Locator;
  locator(selector: string): Locator;
  filter(options: { hasText: string | RegExp }): Locator;
}

export interface Download {
  suggestedFilename(): string;
  path(): Promise<string>;
}

export interface Request {
  url(): string;
  method(): string;
  postData(): string | null;
  headers(): Record<string, string>;
}

export interface Route {
  request(): Request;
  continue(): Promise<void>;
  fulfill(answer: { contentType: string; body: string }): Promise<void>;
}

/** Chromium's own protocol. */
interface DevTools {
  send(method: string, params: object): Promise<unknown>;
  detach(): Promise<void>;
}

interface ConsoleMessage {
  type(): string;
  text(): string;
}

interface Dialog {
  type(): "alert" | "beforeunload" | "confirm" | "prompt";
  message(): string;
  dismiss(): Promise<void>;
  accept(): Promise<void>;
}

interface Playwright {
  chromium: {
    launch(options: {
      executablePath: string;
      args: readonly string[];
      env: Readonly<Record<string, string | undefined>>;
      chromiumSandbox: boolean;
    }): Promise<Browser>;
  };
}

/** From now on each request of the page takes so much longer. */
export async function slowDown(page: Page, latencyMs: number): Promise<void> {
  const tools = await page.context().newCDPSession(page);
  const unlimited = { downloadThroughput: -1, uploadThroughput: -1 };
  const conditions = { offline: false, latency: latencyMs, ...unlimited };
  await tools.send("Network.enable", {});
  await tools.send("Network.emulateNetworkConditions", conditions);
}

/**
 * Opens pages that find nothing of what earlier ones kept for the origin, but the files that they loaded: a console that
 * loads sixty anew opens in twice the time.
 */
export function pagesOf(browser: Browser) {
  const contexts = new Map<string, Promise<Context>>();
  return async (origin: string, { viewport, colorScheme = "light", ...place }: Look & Place) => {
    const key = JSON.stringify(place);
    const opening = contexts.get(key) ?? browser.newContext(place);
    contexts.set(key, opening);
    const context = await opening;
    const page = await context.newPage();
    const tools = await context.newCDPSession(page);
    const storageTypes = "cookies,local_storage,indexeddb";
    await Promise.all([
      page.setViewportSize(viewport),
      page.emulateMedia({ colorScheme }),
      tools.send("Storage.clearDataForOrigin", { origin, storageTypes }),
    ]);
    await tools.detach();
    return page;
  };
}

/** A headless browser with a temporary profile. */
export async function launchChromium(program: string): Promise<Browser> {
  const entry = pathToFileURL(join(programs, "node_modules/playwright-core/index.mjs")).href;
  const { chromium } = (await import(entry)) as Playwright;
  return chromium.launch({
    executablePath: program,
    args: [
      // Other hosts cannot be reached: a route for every request would slow pages down.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
    // Without UTF-8, it saves a file of another name than the one it was given.
    env: { ...process.env, LC_ALL: "C.UTF-8" },
    // Chromium refuses to run as root with its sandbox.
    chromiumSandbox: process.getuid?.() !== 0,
  });
}
