/**
 * The cache that all instances share. unstorage's own Redis driver opens its own client and parses the values it reads,
 * so this driver uses the service's client. Versions are random: one that was lost (eviction, a flush) never returns,
 * and neither do the entries stored under it.
 */
import { type Redis, ReplyError } from "ioredis";
import { createStorage, defineDriver } from "unstorage";
import type { CacheStore } from "../../core/cache/cache-store.ts";
import { rememberedServer } from "./redis-run.ts";

export function createRedisCache(redis: Redis): CacheStore {
  const storage = createStorage({ driver: driverOver({ redis }) });
  const serverOf = rememberedServer(redis);

  async function versionsOf(names: readonly string[]): Promise<(string | null)[]> {
    const versions = await redis.mget(...names.map(keyOf));
    const missing = names.filter((_, at) => versions[at] === null);
    if (missing.length === 0) return versions;
    // Another instance can do the same at this moment; the first one decides.
    await Promise.all(missing.map((name) => redis.set(keyOf(name), newVersion(), "NX")));
    return redis.mget(...names.map(keyOf));
  }

  return {
    async stamp(names) {
      const [server, versions] = await Promise.all([serverOf(), versionsOf(names)]);
      if (versions.includes(null)) throw new Error("Redis has lost the versions of the cache");
      // Entries stored under another run of the server are invalid. If the server does not name its run, answers of
      // other instances are not trusted, nor those from before a reconnect.
      return `${server.run ?? server.connection} ${versions.join()}`;
    },
    async raise(names) {
      await redis
        .mset(...names.flatMap((name) => [keyOf(name), newVersion()]))
        .catch((error: unknown) => {
          // A full server stores nothing new, but can delete a version, and a deleted version never returns.
          if (!(error instanceof ReplyError)) throw error;
          return redis.del(...names.map(keyOf));
        });
    },
    get: (key) => storage.getItemRaw<string>(key),
    set: (key, text, ttlSeconds) => storage.setItemRaw(key, text, { ttl: ttlSeconds }),
  };
}

const keyOf = (name: string): string => `rowgate:version:${name}`;

const newVersion = (): string => crypto.randomUUID();

const driverOver = defineDriver(({ redis }: { redis: Redis }) => ({
  name: "redis-of-the-service",
  hasItem: async (key) => (await redis.exists(key)) > 0,
  getItem: (key) => redis.get(key),
  getItemRaw: (key) => redis.get(key),
  async setItemRaw(key: string, text: string, { ttl }: { ttl?: number }) {
    await redis.set(key, text, "EX", ttl ?? 1);
  },
  // Entries expire, and are never listed.
  getKeys: () => [],
}));
