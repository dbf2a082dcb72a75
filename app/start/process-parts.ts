/** What lives as long as the process, whatever configuration it serves: stores, counters, the cache, jobs and hook calls. */
import { type Cache, createCache } from "../../core/cache/cache.ts";
import { createReach } from "../../core/cache/reach.ts";
import type { ConfigFiles, ProjectConfig } from "../../core/config/read-config.ts";
import type { Counters } from "../../core/plans/ports.ts";
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
import { boardOf } from "./board-of.ts";
import type { Settings } from "./env.ts";
import type { Logger } from "./log.ts";
import { type Hooks, openHooks } from "./open-hooks.ts";
import { type Jobs, openJobs } from "./open-jobs.ts";
import { openObservation } from "./open-observation.ts";
import { sha256 } from "./serve-project.ts";

/** What the parts of a process are opened from. */
export interface ProcessOptions {
  readonly settings: Settings;
  readonly log: Logger;
  /** The projects whose jobs and hook calls of an earlier process continue. */
  readonly projects: readonly ProjectConfig[];
  readonly files: ConfigFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Beside those that the settings switch on. */
  readonly watchers?: readonly Watcher[] | undefined;
}

/** The parts of a process that every loaded configuration uses. */
export interface ProcessParts {
  readonly settings: Settings;
  readonly log: Logger;
  readonly stores: Stores;
  readonly cache: Cache;
  readonly counters: Counters;
  readonly jobs: Jobs;
  readonly hooks: Hooks;
  readonly metrics: ServiceMetrics;
  /** The jobs board; null when it is not available or no token is set. */
  readonly board: JobsBoard | null;
  /** Those who watch the process. Closed last. */
  readonly observation: Observation;
  /** Ends hook calls (`hooksUntilMs`: clock of `performance.now()`) and jobs; the databases must be open until then. */
  stopWork(hooksUntilMs: number): Promise<void>;
  /** Closes the stores, after the databases were closed. */
  close(): void;
}

/** Rejects with an Error when a setting cannot be used; nothing stays open then. */
export async function openProcessParts({
  settings,
  log,
  watchers,
  ...more
}: ProcessOptions): Promise<ProcessParts> {
  const metrics = createServiceMetrics();
  const observation = await openObservation({
    watchers: [serviceWatcher(metrics), ...(watchers ?? [])],
  });
  const stores = await openStores(settings.redisUrl);
  const cache = createCache({ store: stores.cache, digest: sha256, log });
  const close = () => {
    cache.close();
    stores.close();
  };
  const raise = (names: readonly string[]) => stores.cache.raise(names);
  const jobOptions = { ...more, settings, log, cache, raise, observation };
  const jobs = await openJobs(jobOptions).catch((error: unknown) => {
    close();
    throw error;
  });
  const hooks = await openHooks({ ...more, settings, log }).catch(async (error: unknown) => {
    await jobs.close();
    close();
    throw error;
  });
  metrics.onCollect(() => countQueues(metrics, { jobs: jobs.counts, hooks: hooks.counts }));
  return {
    settings,
    log,
    stores,
    cache,
    counters: countersOver(stores, log),
    jobs,
    hooks,
    metrics,
    board: boardOf({ jobs: jobs.server, hooks: hooks.server }, settings),
    observation,
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
