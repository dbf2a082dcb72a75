/** What instances share in Redis, over one connection. */
import { connectRedis } from "./redis.ts";
import { createRedisCache } from "./redis-cache.ts";
import { createRedisCounters } from "./redis-counters.ts";
import { createRedisLocks } from "./redis-locks.ts";
import type { Stores } from "./stores.ts";

/** Resolves also while Redis is away. */
export async function openRedisStores(redisUrl: string): Promise<Stores> {
  const { redis, ready } = connectRedis(redisUrl);
  await ready;
  return {
    cache: createRedisCache(redis),
    locks: createRedisLocks(redis),
    counters: createRedisCounters(redis),
    ping: () =>
      redis.ping().then(
        () => true,
        () => false,
      ),
    close: () => redis.disconnect(),
  };
}
