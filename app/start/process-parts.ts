/** What lives as long as the process, whatever configuration it serves: stores, counters, the cache, jobs and hook calls. */
import { hash } from "node:crypto";
import { type Cache, createCache } from "../../core/cache/cache.ts";
import { createReach } from "../../core/cache/reach.ts";
import type { Counters, LockStore } from "../../core/plans/ports.ts";
import { serviceWatcher } from "../metrics/metrics-watcher.ts";
import { createServiceMetrics, type ServiceMetrics } from "../metrics/service-metrics.ts";
import type { Observation } from "../observe/observation.ts";
import type { Watcher } from "../observe/watcher.ts";
import { countersReach, withFallback } from "../stores/fallback-counters.ts";
import { createMemoryCounters } from "../stores/memory-counters.ts";
import { countQueues } from "../metrics/queue-counts.ts";
import { openStores } from "../stores/open-stores.ts";
import type { Stores } from "../stores/stores.ts";
import type { JobsBoard } from "../http/jobs-board.ts";
import { createBoards } from "./board-of.ts";
import type { Settings } from "./env.ts";
import { createDatabases, type Databases } from "./kept-databases.ts";
import type { Logger } from "./log.ts";
import { type Hooks, openHooks } from "./open-hooks.ts";
import { type Jobs, openJobs } from "./open-jobs.ts";
import { openObservation } from "./open-observation.ts";

/** What the parts of a process are opened from. */
export interface ProcessOptions {
  readonly settings: Settings;
  readonly log: Logger;
  /** True: nothing of the databases is changed, see `OpenOptions`. */
  readonly isOnlyLookedAt?: boolean;
  /** Beside those that the settings switch on. */
  readonly watchers?: readonly Watcher[] | undefined;
  /** Where the service is mounted, as `/rows`; absent: at the root. */
  readonly basePath?: string | undefined;
}

/** The parts of a process that every loaded configuration uses. */
export interface ProcessParts {
  readonly settings: Settings;
  readonly log: Logger;
  /** Where the service is mounted, as `/rows`; empty at the root. */
  readonly basePath: string;
  readonly databases: Databases;
  readonly cache: Cache;
  readonly counters: Counters;
  readonly jobs: Jobs;
  readonly hooks: Hooks;
  /** Whether Redis answers; null without Redis. */
  readonly pingRedis: Stores["ping"];
  readonly metrics: ServiceMetrics;
  /** The jobs board; null when it is not available or no token is set. */
  board(): JobsBoard | null;
  /** Those who watch the process. Closed last. */
  readonly observation: Observation;
  /** The locks of a project; the same store each time. */
  locksOf(project: string): LockStore;
  /** Ends hook calls (`hooksUntilMs`: clock of `performance.now()`) and jobs; the databases must be open until then. */
  stopWork(hooksUntilMs: number): Promise<void>;
  /** Closes the stores, after the databases were closed. */
  close(): void;
}

/** SHA-256 as hexadecimal text. */
export const sha256 = (text: string): string => hash("sha256", text);

/** Rejects with an Error when a setting cannot be used; nothing stays open then. */
export async function openProcessParts({
  settings,
  log,
  watchers,
  basePath = "",
  ...looking
}: ProcessOptions): Promise<ProcessParts> {
  const metrics = createServiceMetrics();
  const all = [serviceWatcher(metrics), ...(watchers ?? [])];
  const observation = await openObservation({ settings, log, watchers: all });
  const stores = await openStores(settings.redisUrl);
  const cache = createCache({ store: stores.cache, digest: sha256, log });
  const close = () => {
    cache.close();
    stores.close();
  };
  const raise = (names: readonly string[]) => stores.cache.raise(names);
  const jobOptions = { settings, log, cache, raise, observation };
  const jobs = await openJobs(jobOptions).catch((error: unknown) => {
    close();
    throw error;
  });
  const hooks = openHooks({ settings, log });
  metrics.onCollect(() => countQueues(metrics, { jobs: jobs.counts(), hooks: hooks.counts() }));
  const locks = new Map<string, LockStore>();
  return {
    settings,
    log,
    basePath,
    databases: createDatabases({ log, ...looking }),
    cache,
    counters: countersOver(stores, log),
    jobs,
    hooks,
    pingRedis: stores.ping,
    metrics,
    board: createBoards(settings, () => ({ jobs: jobs.server(), hooks: hooks.server() })),
    observation,
    locksOf(project) {
      const store = locks.get(project) ?? stores.locks(project);
      locks.set(project, store);
      return store;
    },
    async stopWork(hooksUntilMs) {
      await hooks.stop(hooksUntilMs);
      await jobs.close();
    },
    close,
  };
}

/** With Redis, requests are counted in this process while Redis is unreachable. */
function countersOver({ counters, ping }: Stores, log: Logger): Counters {
  if (ping === null) return counters;
  const reach = createReach({ log, ...countersReach });
  return withFallback(counters, { own: createMemoryCounters(), reach });
}
