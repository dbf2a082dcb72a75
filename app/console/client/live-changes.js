/**
 * What others change in a list, while a view shows it: one stream of events for the tab. A page in the background has
 * none, because browsers open only six connections to a host; it is told later of what happened meanwhile.
 */
import { ApiError, ask, isOwnRequest, post } from "./api.js";
import { keptJobs } from "./jobs.js";
import { parseJson } from "./json.js";
import { credentials } from "./session.js";

/** @import { Entity, Row } from "./types.d.ts" */
/** `keys`: of the records; null: too many, or not known. Others that are null: not known. @typedef {{ endpoint: string | null, type: string | null, keys: Row[] | null, at: string | null }} Told */
/** @typedef {(told: Told) => void} Listener */

/** The next view often shows the same list. */
const lingerMs = 2000;
const hiddenMs = 5000;
/** Each pause is twice the one before, until a stream has lasted for a while. */
const firstPauseMs = 1000;
const pauseMaxMs = 60_000;

/** @type {ReturnType<typeof openStream> | null} */
let stream = null;

/** Calls back with changes of others until the returned function is called. @param {Entity[]} entities of one project @param {Listener} listener */
export function listenToOthers(entities, listener) {
  const project = entities[0]?.project ?? "";
  const endpoints = entities.map(({ endpoint }) => endpoint);
  const name = `${project} ${endpoints.join()} ${credentials()?.value ?? ""}`;
  if (stream?.name !== name) {
    stream?.close();
    stream = openStream({ project, endpoints, name });
  }
  const { listeners, close } = stream;
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    setTimeout(() => {
      if (listeners.size === 0) close();
    }, lingerMs);
  };
}

/** @param {{ project: string, endpoints: string[], name: string }} place `name`: another one for another person */
function openStream({ project, endpoints, name }) {
  const changes = `api/${project}/changes`;
  const quiet = { quiet: true, isTrial: true };
  /** @type {Set<Listener>} */
  const listeners = new Set();
  /** The id of the last event. @type {string | null} */
  let since = null;
  /** @type {EventSource | null} */
  let source = null;
  let isConnecting = false;
  let isClosed = false;
  /** The credentials that were refused. Others can come while the view stays. @type {string | null} */
  let refused = null;
  let pauseMs = firstPauseMs;
  let timer = 0;

  async function connect() {
    clearTimeout(timer);
    if (isConnecting || isClosed || source) return;
    const own = credentials()?.value ?? "";
    if (own === refused) {
      pauseMs = firstPauseMs;
      return retry();
    }
    isConnecting = true;
    try {
      since ??= (await post(changes, { endpoints }, quiet)).body.since;
      if (!document.hidden) source = await opened();
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0;
      if (status === 401) refused = own;
      // Another try would be refused as well.
      if (status !== 401 && status >= 400 && status < 500 && status !== 429) close();
      else retry();
    } finally {
      isConnecting = false;
    }
    if (isClosed || document.hidden) disconnect();
  }

  async function opened() {
    const ticket = credentials() && (await ask(`${changes}/ticket`, { method: "POST", ...quiet }));
    const query = new URLSearchParams({
      endpoints: endpoints.join(),
      since: since ?? "",
      ...(ticket && { ticket: ticket.body.data.ticket }),
    });
    const made = new EventSource(`${changes}?${query}`);
    const startMs = Date.now();
    made.addEventListener("change", ({ data, lastEventId }) => {
      since = lastEventId || since;
      const { request_id: id, endpoint, type, keys, at } = parseJson(data);
      // An import has the id of its job.
      if (!isOwnRequest(id) && !keptJobs().some((job) => job.id === id))
        tell({ endpoint, type, keys, at });
    });
    made.addEventListener("reset", ({ lastEventId }) => {
      since = lastEventId || since;
      tell({ endpoint: null, type: null, keys: null, at: null });
    });
    // It would try again by itself, but with the same ticket.
    made.addEventListener("error", () => {
      if (Date.now() - startMs > pauseMaxMs) pauseMs = firstPauseMs;
      disconnect();
      retry();
    });
    return made;
  }

  /** @param {Told} told */
  const tell = (told) => listeners.forEach((listener) => listener(told));

  function disconnect() {
    source?.close();
    source = null;
  }

  function retry() {
    clearTimeout(timer);
    if (isClosed || document.hidden) return;
    // All tabs lose their streams when a service restarts.
    timer = setTimeout(() => void connect(), pauseMs * (0.5 + Math.random() / 2));
    pauseMs = Math.min(pauseMs * 2, pauseMaxMs);
  }

  function onVisibility() {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(disconnect, hiddenMs);
    else void connect();
  }

  function close() {
    isClosed = true;
    if (stream?.listeners === listeners) stream = null;
    clearTimeout(timer);
    disconnect();
    document.removeEventListener("visibilitychange", onVisibility);
    removeEventListener("pagehide", disconnect);
  }

  document.addEventListener("visibilitychange", onVisibility);
  // Browsers keep no page with an open stream for "back".
  addEventListener("pagehide", disconnect);
  void connect();
  return { name, listeners, close };
}
