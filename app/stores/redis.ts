/**
 * One connection to Redis, for what answers within a request: it fails at once when the server is away, and never
 * queues. Shared by everything beside the jobs, whose library has its own.
 */
import { Redis } from "ioredis";
import { limits } from "../../core/values/limits.ts";

/** Connects and reconnects by itself. `ready` of the result resolves when the server is there, or after a moment without it. */
export function connectRedis(url: string): { redis: Redis; ready: Promise<void> } {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: limits.cacheTimeoutMs,
    connectTimeout: limits.connectTimeoutMs,
    retryStrategy: (tries) => Math.min(50 * 2 ** tries, 1_000),
  });
  // Without a listener the process would end. Whoever calls Redis hears of it, and says so once.
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
