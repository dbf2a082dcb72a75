/**
 * The configuration that answers requests. It is replaced in one step: requests that run finish with theirs, and its
 * databases are closed after the last of them.
 */
import type { Hono } from "hono";
import type { LoadedConfiguration } from "./loaded-configuration.ts";

/** The part of a Hono app that servers and tests use. */
export type ServedApp = Pick<Hono, "fetch" | "request">;

export interface Served {
  /** Answers with the configuration of the moment. */
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
  /** Closes its databases; null as long as it is the one that is served. */
  leave: (() => void) | null;
}

/** `requestTimeoutMs`: no request takes longer, so that a replaced configuration is closed by then. */
export function createServed(requestTimeoutMs: number): Served {
  let serving: Serving | null = null;
  const leaving = new Set<() => Promise<void>>();

  async function counted(answer: (app: Hono) => Response | Promise<Response>): Promise<Response> {
    const one = serving!;
    one.requests++;
    try {
      return await answer(one.loaded.app);
    } finally {
      one.requests--;
      if (one.requests === 0) one.leave?.();
    }
  }

  function retire(old: Serving): void {
    old.loaded.stop();
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
      fetch: (request, env) => counted((app) => app.fetch(request, env)),
      request: (input, init, env) => counted((app) => app.request(input, init, env)),
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
