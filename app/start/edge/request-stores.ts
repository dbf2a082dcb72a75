/**
 * Locks and cache invalidation of a request. With Redis, both use one connection that is opened on first use. Without
 * Redis, locks are local to the isolate and only avoid unnecessary conflicts; the row locks of the transactions give
 * the actual protection.
 */
import type { CacheStore, Counters, LockStore } from "../../../core/plans/ports.ts";
import { createMemoryCounters } from "../../stores/memory-counters.ts";
import { createMemoryLocks } from "../../stores/memory-locks.ts";
import { openRedisStores } from "../../stores/open-redis.ts";
import type { Stores } from "../../stores/stores.ts";

export function openRequestStores(redisUrl: string | null): Stores {
  return redisUrl === null ? isolateStores : redisStores(redisUrl);
}

const forgetful: CacheStore = {
  stamp: async () => "",
  raise: async () => undefined,
  get: async () => null,
  set: async () => undefined,
};

/** By project. They are plain data, so they may outlive a request. */
const isolateLocks = new Map<string, LockStore>();

/** Of this isolate: without Redis, and while it is away. They are data, too. */
export const isolateCounters: Counters = createMemoryCounters();

const isolateStores: Stores = {
  cache: forgetful,
  locks(project) {
    const locks = isolateLocks.get(project) ?? createMemoryLocks();
    isolateLocks.set(project, locks);
    return locks;
  },
  counters: isolateCounters,
  ping: null,
  close: () => undefined,
};

function redisStores(url: string): Stores {
  let opening: Promise<Stores> | null = null;
  const stores = () => (opening ??= openRedisStores(url));
  return {
    cache: { ...forgetful, raise: async (names) => (await stores()).cache.raise(names) },
    locks(project) {
      let opened: Promise<LockStore> | null = null;
      const locks = () => (opened ??= stores().then((connected) => connected.locks(project)));
      return {
        acquire: async (names, claim) => (await locks()).acquire(names, claim),
        extend: async (names, claim) => (await locks()).extend(names, claim),
        release: async (names, token) => (await locks()).release(names, token),
        status: async (names, token) => (await locks()).status(names, token),
      };
    },
    counters: { count: async (...asked) => (await stores()).counters.count(...asked) },
    ping: async () => (await stores()).ping!(),
    close: () =>
      void opening?.then(
        (connected) => connected.close(),
        () => undefined,
      ),
  };
}
