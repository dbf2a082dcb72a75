/**
 * Identifies the run of the server behind a connection. A restarted server can come back with older data or none, and a
 * promoted replica can lack the last writes: the cache and the locks must notice both. Asked once per connection.
 */
import type { Redis } from "ioredis";
import { openedOnce } from "../../core/values/opened-once.ts";

export interface Server {
  /** Differs after every restart; null where the server does not say. */
  readonly run: string | null;
  /** A name that only this connection has. */
  readonly connection: string;
  /** Milliseconds since it started, at least; 0 where it does not say. */
  uptimeMs(): number;
}

/** Rejects when the server is unreachable. */
export function rememberedServer(redis: Redis): () => Promise<Server> {
  const known = openedOnce(ask);
  redis.on("close", known.forget);
  return known;

  async function ask(): Promise<Server> {
    const text = await redis.info("server");
    const askedAtMs = performance.now();
    // The server rounds its uptime up to whole seconds.
    const uptimeSeconds = Math.max(0, Number(/^uptime_in_seconds:(\d+)/m.exec(text)?.[1] ?? 0) - 1);
    return {
      run: /^run_id:(\w+)/m.exec(text)?.[1] ?? null,
      connection: crypto.randomUUID(),
      uptimeMs: () => uptimeSeconds * 1_000 + performance.now() - askedAtMs,
    };
  }
}
