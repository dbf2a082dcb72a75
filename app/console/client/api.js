/** Requests to the service. Each one is kept for the drawer that shows them (`requests.js`). */
import { saveAs } from "./bytes.js";
import { sentence } from "./format.js";
import { jsonText, parseJson } from "./json.js";
import { authHeaders } from "./session.js";
import { acceptLanguage, t } from "./words.js";

/** @import { LoggedRequest } from "./types.d.ts" */

/** An error answer of the service. */
export class ApiError extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(
      sentence(body?.message ?? t("fault.status", { status: String(status) })) + holderOf(body),
    );
    this.status = status;
    /** @type {string} */
    this.error = body?.error ?? "";
    /** Messages by field. @type {Record<string, string[]>} */
    this.errors = body?.errors ?? {};
    this.data = body?.data ?? null;
  }
}

/** The holder of the lock that refused a write, and its remaining time. @param {any} body */
function holderOf(body) {
  const { locked_by: owner, ttl_remaining: seconds } = body?.data ?? {};
  if (!(seconds > 0)) return "";
  return ` ${t("lock.held", { owner: owner ?? t("somebody"), count: seconds })}`;
}

/** The requests of the current view, newest last. @type {LoggedRequest[]} */
export let log = [];

/** Begins the ids of this tab's requests. */
const ownIds = `console-${crypto.getRandomValues(new Uint32Array(4)).join("-")}.`;
let sentCount = 0;

/** Whether a change was made by a request of this tab. @param {string} requestId */
export const isOwnRequest = (requestId) => requestId.startsWith(ownIds);

/** @type {Set<() => void>} */
const watchers = new Set();

/** @param {() => void} watcher */
export const onRequest = (watcher) => void watchers.add(watcher);

const tell = () => watchers.forEach((watcher) => watcher());

export function forgetRequests() {
  log = [];
  tell();
}

/** @type {() => void} */
let refused = () => {};

/** @param {() => void} listener is called when the credentials are missing or no longer valid */
export const onRefused = (listener) => void (refused = listener);

/**
 * @typedef {object} Options
 * @property {string} [method]
 * @property {Record<string, string>} [headers]
 * @property {any} [json] the body
 * @property {BodyInit} [body]
 * @property {AbortSignal} [signal]
 * @property {boolean} [keepalive] goes on when the page is left
 * @property {boolean} [quiet] a request that repeats itself is not shown
 * @property {boolean} [isTrial] missing or wrong credentials are told to the caller alone
 */

/**
 * @param {string} path relative to the root of the service, as `api/demo/products/read`
 * @param {Options} [options]
 * @returns {Promise<Response>}
 */
export async function send(path, options = {}) {
  const { method, headers = {}, json, body, signal, quiet, keepalive = false } = options;
  const sent = { ...(json !== undefined && { "Content-Type": "application/json" }), ...headers };
  const text = json === undefined ? null : jsonText(json);
  const entry = {
    method: method ?? (text !== null || body !== undefined ? "POST" : "GET"),
    url: new URL(path, document.baseURI).href,
    headers: sent,
    body: text,
    status: /** @type {number | null} */ (null),
    ms: 0,
  };
  if (!quiet) {
    log = [...log.slice(-49), entry];
    tell();
  }
  const startMs = performance.now();
  try {
    const response = await fetch(path, {
      method: entry.method,
      headers: {
        Accept: "application/json",
        ...(acceptLanguage && { "Accept-Language": acceptLanguage }),
        "X-Request-Id": `${ownIds}${++sentCount}`,
        ...authHeaders(),
        ...sent,
      },
      body: text ?? body ?? null,
      signal: signal ?? null,
      cache: "no-cache",
      keepalive,
    });
    entry.status = response.status;
    return response;
  } finally {
    entry.ms = Math.round(performance.now() - startMs);
    if (!quiet) tell();
  }
}

/**
 * The body of an answer, and its ETag. Rejects with ApiError.
 * @param {string} path @param {Options} [options]
 * @returns {Promise<{ body: any, etag: string | null }>}
 */
export async function ask(path, options) {
  const response = await send(path, options).catch(unreachable);
  const body = await response.text().then(parseJson).catch(unreachable);
  if (response.status === 401 && !options?.isTrial) refused();
  if (!response.ok) throw new ApiError(response.status, body);
  return { body, etag: response.headers.get("ETag") };
}

/** @param {Error} error @returns {never} */
function unreachable(error) {
  if (error.name === "AbortError") throw error;
  throw new ApiError(0, { message: t("fault.unreachable") });
}

/** @param {string} path @param {any} json @param {Omit<Options, "json">} [options] */
export const post = (path, json, options) => ask(path, { ...options, json });

/**
 * Saves the file that the service sends. Rejects with ApiError.
 * @param {string} path
 */
export async function download(path) {
  const response = await send(path, { headers: { Accept: "*/*" } }).catch(unreachable);
  if (response.status === 401) refused();
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => null));
  const disposition = response.headers.get("Content-Disposition") ?? "";
  const coded = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  const name = coded ? decodeURIComponent(coded) : /filename="?([^";]+)/.exec(disposition)?.[1];
  saveAs(await response.blob(), name ?? "download");
}
