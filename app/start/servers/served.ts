/**
 * The configuration that answers requests. It is replaced in one step: requests that run finish with theirs, and its
 * databases are closed after the last of them.
 */
import type { ClientEnv } from "../../http/incoming.ts";
import type { App } from "../../http/http.ts";
import type { LoadedConfiguration } from "../opening/loaded-configuration.ts";

export interface ServedApp extends App {
  /** `input`: a URL, or a path of the service. */
  request(input: string | Request, init?: RequestInit, client?: ClientEnv): Promise<Response>;
}

export interface Served {
  /** Answers with the current configuration. */
  readonly app: ServedApp;
  /** Null: there is none yet. */
  now(): LoadedConfiguration | null;
  replace(loaded: LoadedConfiguration): void;
  /** Closes the databases of all configurations. */
  close(): Promise<void>;
}

/** A configuration, and the requests that it is answering. */
interface Serving {
  readonly loaded: LoadedConfiguration;
  requests: number;
  /** Closes its databases; null while it is served. */
  leave: (() => void) | null;
}

/** `requestTimeoutMs`: no request takes longer, so that a replaced configuration is closed by then. */
export function createServed(requestTimeoutMs: number): Served {
  let serving: Serving | null = null;
  const leaving = new Set<() => Promise<void>>();

  function counted<Answer>(ask: (app: App) => Promise<Answer>): Promise<Answer> {
    const one = serving!;
    one.requests++;
    const answering = ask(one.loaded.app);
    const done = () => {
      one.requests--;
      if (one.requests === 0) one.leave?.();
    };
    answering.then(done, done);
    return answering;
  }

  const fetch: ServedApp["fetch"] = (request, client) =>
    counted((app) => app.fetch(request, client));

  function retire(old: Serving): void {
    old.loaded.stop(Infinity);
    let closing: Promise<void> | null = null;
    const close = () => {
      clearTimeout(timer);
      closing ??= old.loaded.close().finally(() => leaving.delete(close));
      return closing;
    };
    const timer = setTimeout(() => void close(), requestTimeoutMs);
    timer.unref?.();
    leaving.add(close);
    old.leave = () => void close();
    if (old.requests === 0) old.leave();
  }

  return {
    app: {
      fetch,
      request: (input, init, client) => fetch(new Request(atHost(input), init), client),
      answer: (incoming) => counted((app) => app.answer(incoming)),
    },
    now: () => serving?.loaded ?? null,
    replace(loaded) {
      const old = serving;
      serving = { loaded, requests: 0, leave: null };
      loaded.use();
      if (old) retire(old);
    },
    async close() {
      await Promise.all([...leaving].map((close) => close()));
      await serving?.loaded.close();
    },
  };
}

const atHost = (input: string | Request): string | Request =>
  typeof input === "string" && input.startsWith("/") ? `http://localhost${input}` : input;
