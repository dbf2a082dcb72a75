/**
 * Tells a page of changes in endpoints with `live`. One stream serves all that listen, because browsers open only a few
 * connections to a host. It goes on where it was when the endpoints or the caller change and after a lost connection.
 */
import { type ProjectClient, RefusedCall } from "./project-client.ts";
import type { Fields } from "./record-ids.ts";

export interface ToldChange {
  readonly type: "created" | "updated" | "deleted";
  /** Null: too many, or hidden. */
  readonly keys: readonly Fields[] | null;
  readonly at: string;
}

export interface ChangeListener {
  readonly endpoint: string;
  /** Null: it is not known what has changed. */
  hear(change: ToldChange | null): void;
}

/** A page that begins to listen to several endpoints does so within a moment. */
const soonMs = 20;
const pauseMs = { first: 250, longest: 30_000 };
/** While no stream is open, whose data would be a sign to look, another caller is noticed after this time. */
const lookMs = 5000;
/** The service sends something every 15 seconds. */
const silenceMs = 45_000;

/** A function that listens, and returns the one that ends it. One piece, because its functions share the stream. */
export function openChangeStream(project: ProjectClient): (listener: ChangeListener) => () => void {
  const listeners = new Set<ChangeListener>();
  /** Endpoints whose changes the caller may not have; as long as somebody listens to them. */
  const refused = new Set<string>();
  let caller = "";
  let running: { readonly names: string; readonly abort: AbortController } | null = null;
  let since: string | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const changes = (query = ""): string => `${project.apiUrl}/changes${query}`;

  function settleSoon(delayMs = soonMs): void {
    clearTimeout(timer);
    timer = setTimeout(() => void noticeCaller().then(settle, settle), delayMs);
  }

  /** Another caller may be allowed what the one before was refused. */
  async function noticeCaller(): Promise<string> {
    const now = await project.callerOfNow();
    if (now !== caller) refused.clear();
    caller = now;
    return now;
  }

  function settle(): void {
    const asked = new Set([...listeners].map(({ endpoint }) => endpoint));
    for (const name of refused) if (!asked.has(name)) refused.delete(name);
    const names = [...asked].filter((name) => !refused.has(name)).toSorted();
    if (running?.names === names.join()) return;
    running?.abort.abort();
    running = null;
    if (names.length === 0) {
      since = null;
      if (asked.size > 0) settleSoon(lookMs);
      return;
    }
    const abort = new AbortController();
    running = { names: names.join(), abort };
    void follow(names, abort.signal);
  }

  async function follow(names: readonly string[], signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      try {
        await readStream(names, signal);
        failures = 0;
      } catch (error) {
        if (!signal.aborted && error instanceof RefusedCall && isLasting(error)) {
          await findRefused(names);
          if (names.some((name) => refused.has(name))) {
            if (running?.abort.signal === signal) running = null;
            return settleSoon();
          }
        }
        failures++;
      }
      // Not all at the same time, where the service was away for many pages.
      const delayMs = Math.min(pauseMs.first * 2 ** failures, pauseMs.longest);
      if (await isOtherAfter(delayMs * (0.5 + Math.random()))) failures = 0;
    }
  }

  /** Waits, but not longer when there is another caller, whom the service may not refuse. */
  async function isOtherAfter(delayMs: number): Promise<boolean> {
    const own = caller;
    for (let leftMs = delayMs; leftMs > 0 && caller === own; leftMs -= lookMs) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(leftMs, lookMs)));
      await noticeCaller().catch(() => own);
    }
    return caller !== own;
  }

  /** One endpoint that is not live, or not the caller's, must not take the others with it. */
  async function findRefused(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const body = JSON.stringify({ endpoints: [name] });
      const init = { method: "POST", headers: { "Content-Type": "application/json" }, body };
      const error = await project.send(changes(), init, {}).catch((failure: unknown) => failure);
      if (error instanceof RefusedCall && isLasting(error)) {
        console.warn(`No live changes of ${name}: ${error.message}`);
        refused.add(name);
      }
    }
  }

  /** Resolves when the stream has ended. */
  async function readStream(names: readonly string[], signal: AbortSignal): Promise<void> {
    const own = await noticeCaller();
    const query = new URLSearchParams({
      endpoints: names.join(),
      ...(since !== null && { since }),
    });
    const { body } = await project.send(changes(`?${query}`), {}, { signal });
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    const stop = (): void => void reader.cancel().catch(() => undefined);
    signal.addEventListener("abort", stop);
    let silent: ReturnType<typeof setTimeout> | undefined;
    let text = "";
    try {
      for (;;) {
        clearTimeout(silent);
        silent = setTimeout(stop, silenceMs);
        const { value, done } = await reader.read();
        if (!done && (await noticeCaller()) !== own) return settleSoon();
        if (done || signal.aborted) return;
        const events = (text + value).split("\n\n");
        text = events.pop()!;
        for (const event of events) tell(event);
      }
    } finally {
      clearTimeout(silent);
      signal.removeEventListener("abort", stop);
    }
  }

  function tell(event: string): void {
    const fields = new Map(event.split("\n").map((line) => splitLine(line)));
    since = fields.get("id") ?? since;
    const name = fields.get("event");
    if (name === undefined) return;
    const { endpoint, ...change } = JSON.parse(fields.get("data")!) as ToldChange & Fields;
    for (const listener of listeners)
      if (name === "reset") listener.hear(null);
      else if (listener.endpoint === endpoint) listener.hear(change);
  }

  return (listener) => {
    listeners.add(listener);
    settleSoon();
    return () => {
      listeners.delete(listener);
      settleSoon();
    };
  };
}

/** Asking again would not help. */
const isLasting = ({ status }: RefusedCall): boolean =>
  status === 400 || status === 403 || status === 404 || status === 405;

function splitLine(line: string): readonly [string, string] {
  const at = line.indexOf(": ");
  return [line.slice(0, at), line.slice(at + 2)];
}
