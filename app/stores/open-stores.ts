/**
 * What the instances of the service keep outside the databases: in Redis, or, where there is none, each in itself. Only
 * what is used is loaded.
 */
import type { Stores } from "./stores.ts";

/** Resolves also while Redis is away. */
export async function openStores(redisUrl: string | null): Promise<Stores> {
  if (redisUrl === null) {
    const { createMemoryCache } = await import("./memory-cache.ts");
    const { createMemoryCounters } = await import("./memory-counters.ts");
    const { createMemoryLocks } = await import("./memory-locks.ts");
    return {
      cache: createMemoryCache(),
      locks: () => createMemoryLocks(),
      counters: createMemoryCounters(),
      ping: null,
      close: () => undefined,
    };
  }
  const { openRedisStores } = await import("./open-redis.ts");
  return openRedisStores(redisUrl);
}
