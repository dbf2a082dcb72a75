/**
 * The cache of a process that shares it with no other: an LRU with a bound in bytes. unstorage's driver has no lifetime
 * per entry, so each entry contains its expiry time.
 */
import { createStorage } from "unstorage";
import lruCacheDriver from "unstorage/drivers/lru-cache";
import { limits } from "../../core/values/limits.ts";
import type { CacheStore } from "../../core/cache/cache-store.ts";

interface Entry {
  readonly text: string;
  readonly endsAtMs: number;
}

/** The size of an entry beside its text: the key and the objects around it. */
const overheadBytes = 300;

export function createMemoryCache(bytesMax: number = limits.cacheMemoryBytesMax): CacheStore {
  const storage = createStorage({
    driver: lruCacheDriver({
      max: 0,
      maxSize: bytesMax,
      // Texts can take two bytes for each character.
      sizeCalculation: ({ text }: Entry) => overheadBytes + 2 * text.length,
    }),
  });
  const versions = new Map<string, number>();
  let lastVersion = 0;

  return {
    stamp: async (names) => names.map((name) => versions.get(name) ?? 0).join(),
    async raise(names) {
      for (const name of names) versions.set(name, ++lastVersion);
    },
    async get(key) {
      const entry = await storage.getItemRaw<Entry>(key);
      return entry && entry.endsAtMs > performance.now() ? entry.text : null;
    },
    set: (key, text, ttlSeconds) =>
      storage.setItemRaw(key, { text, endsAtMs: performance.now() + ttlSeconds * 1000 }),
  };
}
