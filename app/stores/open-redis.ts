/** The state that instances share in Redis, over one connection; another one hears of changes. */
import { Redis } from "ioredis";
import { limits } from "../../core/values/limits.ts";
import { createMemoryStreams } from "./memory-streams.ts";
import { createRedisCache } from "./redis-cache.ts";
import { createRedisCounters } from "./redis-counters.ts";
import { createRedisLocks } from "./redis-locks.ts";
import { createRedisNudges } from "./redis-nudges.ts";
import type { Stores } from "./stores.ts";

/** Resolves also while Redis is away. */
export async function openRedisStores(redisUrl: string): Promise<Stores> {
  const { redis, ready } = connectRedis(redisUrl);
  await ready;
  const nudges = createRedisNudges(redis);
  let secret: string | null = null;
  return {
    cache: createRedisCache(redis),
    locks: createRedisLocks(redis),
    counters: createRedisCounters(redis),
    // Each instance counts its own.
    streams: createMemoryStreams,
    nudge: nudges.nudge,
    async secret() {
      if (secret !== null) return secret;
      const key = "rowgate:secret";
      await redis.set(key, crypto.randomUUID() + crypto.randomUUID(), "NX");
      return (secret = await redis.get(key)) ?? Promise.reject(new Error("Redis kept no secret"));
    },
    ping: () =>
      redis.ping().then(
        () => true,
        () => false,
      ),
    close() {
      nudges.close();
      redis.disconnect();
    },
  };
}

/**
 * One connection for what answers within a request: it fails at once while the server is away, and never queues. Reconnects
 * automatically. `ready` resolves when the server is reached, or after a moment without it.
 */
export function connectRedis(url: string): { redis: Redis; ready: Promise<void> } {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: limits.cacheTimeoutMs,
    connectTimeout: limits.connectTimeoutMs,
    retryStrategy: (tries) => Math.min(50 * 2 ** tries, 1_000),
  });
  // Without a listener the process would end. The callers of Redis get the error, and log it once.
  redis.on("error", () => undefined);
  const ready = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, limits.connectTimeoutMs / 5);
    redis.once("ready", () => {
      clearTimeout(timer);
      resolve();
    });
  });
  return { redis, ready };
}
