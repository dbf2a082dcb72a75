/**
 * Locks and cache invalidation of a request. With Redis, both use one connection that is opened on first use. Without
 * Redis, locks are local to the isolate and only avoid unnecessary conflicts; the row locks of the transactions give
 * the actual protection.
 */
import type { CacheStore } from "../../../core/cache/cache-store.ts";
import type { Counters } from "../../../core/plans/counters.ts";
import type { LockStore } from "../../../core/locks/lock-store.ts";
import { ownSecret } from "../../../core/workflow/hook-depth.ts";
import { createMemoryCounters } from "../../stores/memory-counters.ts";
import { createMemoryLocks } from "../../stores/memory-locks.ts";
import { createMemoryStreams } from "../../stores/memory-streams.ts";
import { openRedisStores } from "../../stores/open-redis.ts";
import { openedOnce } from "../../../core/values/opened-once.ts";
import type { Stores } from "../../stores/stores.ts";

export const openRequestStores = (redisUrl: string | null): Stores =>
  redisUrl === null ? isolateStores : redisStores(redisUrl);

const forgetful: CacheStore = {
  stamp: async () => "",
  raise: async () => undefined,
  get: async () => null,
  set: async () => undefined,
};

/** By project. They are plain data, so they can outlive a request. */
const isolateLocks = new Map<string, LockStore>();

/** Of this isolate: used without Redis, and while it is unreachable. They are plain data, too. */
export const isolateCounters: Counters = createMemoryCounters();

const isolateStores: Stores = {
  cache: forgetful,
  locks(project) {
    const locks = isolateLocks.get(project) ?? createMemoryLocks();
    isolateLocks.set(project, locks);
    return locks;
  },
  counters: isolateCounters,
  streams: createMemoryStreams,
  secret: async () => ownSecret(),
  nudge: null,
  ping: null,
  close: () => undefined,
};

function redisStores(url: string): Stores {
  const stores = openedOnce(() => openRedisStores(url));
  return {
    cache: { ...forgetful, raise: async (names) => (await stores()).cache.raise(names) },
    locks(project) {
      const locks = openedOnce(async () => (await stores()).locks(project));
      return {
        acquire: async (names, claim) => (await locks()).acquire(names, claim),
        extend: async (names, claim) => (await locks()).extend(names, claim),
        release: async (names, token) => (await locks()).release(names, token),
        status: async (names, tokens) => (await locks()).status(names, tokens),
      };
    },
    nudge: null,
    streams: createMemoryStreams,
    counters: {
      count: async (...asked) => (await stores()).counters.count(...asked),
      read: async (...asked) => (await stores()).counters.read(...asked),
    },
    secret: async () => (await stores()).secret(),
    ping: async () => (await stores()).ping!(),
    close: () =>
      void stores.known()?.then(
        (connected) => connected.close(),
        () => undefined,
      ),
  };
}
