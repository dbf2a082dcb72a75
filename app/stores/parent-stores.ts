/**
 * The state that the processes under one parent share without Redis. It is in the memory of the parent, and the others
 * ask for it by messages. Only the texts of the cache stay in each process: the parent keeps their versions.
 */
import { everyDatabase } from "../../core/cache/cache.ts";
import type { CacheStore } from "../../core/cache/cache-store.ts";
import type { LockStore } from "../../core/locks/lock-store.ts";
import type { Counters } from "../../core/plans/counters.ts";
import type { OpenStreams, StreamLimits } from "../../core/plans/open-streams.ts";
import { oneAtATime } from "../../core/values/one-at-a-time.ts";
import { createMemoryCache } from "./memory-cache.ts";
import { createMemoryCounters } from "./memory-counters.ts";
import { createMemoryLocks, type MemoryLockSizes } from "./memory-locks.ts";
import { createMemoryStreams } from "./memory-streams.ts";
import { calling, type Offers, type ProcessCalls } from "./process-calls.ts";
import { byProject, type Stores } from "./stores.ts";

/** The state in the parent. */
export interface ParentState {
  /** What one process may call; `others`: the processes beside it. */
  offersTo(process: object, others: () => readonly ProcessCalls[]): Offers;
  /** The process has ended, and its streams with it. */
  left(process: object): void;
}

/** `sizes`: of the locks of each project. */
export function createParentState(sizes?: MemoryLockSizes): ParentState {
  const { stamp, raise } = createMemoryCache();
  const counters = createMemoryCounters();
  const locksOf = byProject(() => createMemoryLocks(sizes));
  const streamsOf = byProject(createMemoryStreams);
  const secret = crypto.randomUUID() + crypto.randomUUID();
  /** What each process has taken. */
  const taken = new Map<object, { readonly project: string; readonly share: string }[]>();

  function streamsTo(process: object): Offers[string] {
    const own = taken.get(process) ?? [];
    taken.set(process, own);
    return {
      async take(project: string, share: string, limits: StreamLimits) {
        const isTaken = await streamsOf(project).take(share, limits);
        if (isTaken) own.push({ project, share });
        return isTaken;
      },
      release(project: string, share: string) {
        const at = own.findIndex((one) => one.project === project && one.share === share);
        if (at < 0) return;
        own.splice(at, 1);
        streamsOf(project).release(share);
      },
    };
  }

  return {
    offersTo: (process, others) => ({
      cache: { stamp, raise },
      counters: { ...counters },
      locks: offeredLocks(locksOf),
      streams: streamsTo(process),
      nudges: {
        tell: (about: string) => {
          for (const other of others()) other.call("nudges", "heard", about).catch(() => undefined);
        },
      },
      secrets: { get: () => secret },
    }),
    left(process) {
      for (const { project, share } of taken.get(process) ?? []) streamsOf(project).release(share);
      taken.delete(process);
      // It may have died between a commit and the raise of its versions.
      void raise([everyDatabase]);
    },
  };
}

/** The stores of a process under the parent to which these calls go. */
export function openParentStores(calls: ProcessCalls): Stores {
  const heard = new Map<string, Set<() => void>>();
  calls.offer({
    nudges: {
      heard: (about: string) => {
        for (const hear of heard.get(about) ?? []) hear();
      },
    },
  });
  return {
    cache: {
      ...createMemoryCache(),
      ...calling<Pick<CacheStore, "stamp" | "raise">>(calls, { object: "cache" }, [
        "stamp",
        "raise",
      ]),
    },
    locks: calledLocks(calls),
    counters: calling<Counters>(calls, { object: "counters" }, ["count", "read"]),
    streams: parentStreams(calls),
    nudge: (about) => ({
      tell: oneAtATime(async () => {
        await calls.call("nudges", "tell", about).catch(() => undefined);
      }),
      listen(hear) {
        const known = heard.get(about) ?? new Set();
        heard.set(about, known.add(hear));
        return () => {
          known.delete(hear);
          if (known.size === 0) heard.delete(about);
        };
      },
    }),
    secret: () => calls.call<string>("secrets", "get"),
    ping: null,
    close: () => undefined,
  };
}

/** What another process, or a thread of this one, may do with the locks of each project. */
export const offeredLocks = (locksOf: Stores["locks"]): Offers[string] => ({
  acquire: (project: string, ...args: Parameters<LockStore["acquire"]>) =>
    locksOf(project).acquire(...args),
  extend: (project: string, ...args: Parameters<LockStore["extend"]>) =>
    locksOf(project).extend(...args),
  release: (project: string, ...args: Parameters<LockStore["release"]>) =>
    locksOf(project).release(...args),
  status: (project: string, ...args: Parameters<LockStore["status"]>) =>
    locksOf(project).status(...args),
});

/** The locks that the other side of these calls offers as `locks`. */
export const calledLocks =
  (calls: Pick<ProcessCalls, "call">): Stores["locks"] =>
  (project) =>
    calling<LockStore>(calls, { object: "locks", first: [project] }, [
      "acquire",
      "extend",
      "release",
      "status",
    ]);

/** Processes with Redis count their streams here, too. */
export const parentStreams =
  (calls: ProcessCalls) =>
  (project: string): OpenStreams => ({
    take: (share, limits) => calls.call("streams", "take", project, share, limits),
    release: (share) =>
      void calls.call("streams", "release", project, share).catch(() => undefined),
  });
