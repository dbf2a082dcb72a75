/**
 * What the instances of the service keep outside the databases: in Redis, or, where there is none, each in itself. Only what is
 * used is loaded. Called by `app/wire.ts`.
 */
import type { CacheStore, LockStore } from "../../core/ports.ts";

export interface Stores {
  readonly cache: CacheStore;
  /** The locks of a project; asked for once. */
  readonly locks: (project: string) => LockStore;
  /** Whether Redis answers; null without Redis. */
  readonly ping: (() => Promise<boolean>) | null;
  close(): void;
}

/** Resolves also while Redis is away. */
export async function openStores(redisUrl: string | null): Promise<Stores> {
  if (redisUrl === null) {
    const { createMemoryCache } = await import("./memory-cache.ts");
    const { createMemoryLocks } = await import("./memory-locks.ts");
    return {
      cache: createMemoryCache(),
      locks: () => createMemoryLocks(),
      ping: null,
      close: () => undefined,
    };
  }
  const { connectRedis } = await import("./redis.ts");
  const { createRedisCache } = await import("./redis-cache.ts");
  const { createRedisLocks } = await import("./redis-locks.ts");
  const { redis, ready } = connectRedis(redisUrl);
  await ready;
  return {
    cache: createRedisCache(redis),
    locks: createRedisLocks(redis),
    ping: () =>
      redis.ping().then(
        () => true,
        () => false,
      ),
    close: () => redis.disconnect(),
  };
}
