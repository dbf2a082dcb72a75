/**
 * Which run of which server a connection leads to. A restarted server may come back with older data or none, and a replica
 * that takes over may lack the last writes: the cache and the locks must both notice. Asked once per connection.
 */
import type { Redis } from "ioredis";

export interface Server {
  /** Differs after every restart; null where the server does not say. */
  readonly run: string | null;
  /** A name for this connection alone. */
  readonly connection: string;
  /** Milliseconds since it started, at least; 0 where it does not say. */
  uptimeMs(): number;
}

/** Rejects when the server is unreachable. */
export function rememberedServer(redis: Redis): () => Promise<Server> {
  let known: Promise<Server> | null = null;
  redis.on("close", () => {
    known = null;
  });
  return () => (known ??= ask());

  async function ask(): Promise<Server> {
    const asked = redis.info("server");
    asked.catch(() => {
      known = null;
    });
    const text = await asked;
    const askedAtMs = performance.now();
    // The server counts the begin of a second as one.
    const uptimeSeconds = Math.max(0, Number(/^uptime_in_seconds:(\d+)/m.exec(text)?.[1] ?? 0) - 1);
    return {
      run: /^run_id:(\w+)/m.exec(text)?.[1] ?? null,
      connection: crypto.randomUUID(),
      uptimeMs: () => uptimeSeconds * 1_000 + performance.now() - askedAtMs,
    };
  }
}
