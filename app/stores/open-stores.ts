/**
 * Opens the state that instances keep outside the databases: shared in Redis, or without Redis separate in each
 * instance. Loads only what is used.
 */
import { ownSecret } from "../../core/workflow/hook-depth.ts";
import type { Stores } from "./stores.ts";

/** Resolves also while Redis is away. */
export async function openStores(redisUrl: string | null): Promise<Stores> {
  if (redisUrl === null) {
    const { createMemoryCache } = await import("./memory-cache.ts");
    const { createMemoryCounters } = await import("./memory-counters.ts");
    const { createMemoryLocks } = await import("./memory-locks.ts");
    const { createMemoryStreams } = await import("./memory-streams.ts");
    return {
      cache: createMemoryCache(),
      locks: () => createMemoryLocks(),
      counters: createMemoryCounters(),
      streams: createMemoryStreams,
      nudge: null,
      secret: async () => ownSecret(),
      ping: null,
      close: () => undefined,
    };
  }
  const { openRedisStores } = await import("./open-redis.ts");
  return openRedisStores(redisUrl);
}
