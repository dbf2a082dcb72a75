/**
 * The cache that all instances share. unstorage's own Redis driver makes a client of its own and parses what it reads,
 * so this has a driver over the service's client. Versions are random: one that was lost (eviction, a flush) never
 * comes back, and neither does what was kept under it.
 */
import { type Redis, ReplyError } from "ioredis";
import { createStorage, defineDriver } from "unstorage";
import type { CacheStore } from "../../core/plans/ports.ts";
import { rememberedServer } from "./redis-run.ts";

export function createRedisCache(redis: Redis): CacheStore {
  const storage = createStorage({ driver: driverOver({ redis }) });
  const serverOf = rememberedServer(redis);

  async function versionsOf(names: readonly string[]): Promise<(string | null)[]> {
    const versions = await redis.mget(...names.map(keyOf));
    const missing = names.filter((_, at) => versions[at] === null);
    if (missing.length === 0) return versions;
    // Another instance may be doing the same; the first one decides.
    await Promise.all(missing.map((name) => redis.set(keyOf(name), newVersion(), "NX")));
    return redis.mget(...names.map(keyOf));
  }

  return {
    async stamp(names) {
      const [server, versions] = await Promise.all([serverOf(), versionsOf(names)]);
      if (versions.includes(null)) throw new Error("Redis has lost the versions of the cache");
      // What was kept under another run of the server counts no longer. Where it does not say which this is, no other
      // instance's answers are trusted, nor those from before a reconnect.
      return `${server.run ?? server.connection} ${versions.join()}`;
    },
    async raise(names) {
      await redis
        .mset(...names.flatMap((name) => [keyOf(name), newVersion()]))
        .catch((error: unknown) => {
          // A full server takes nothing new, but it forgets, and a version that is gone never comes back.
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
  // Entries end by their lifetime; nobody lists them.
  getKeys: () => [],
}));
