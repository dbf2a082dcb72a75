/** The parts that live as long as the process, whatever is served: stores, counters, cache, jobs, hook calls. */
import { resolve } from "node:path";
import { createCache } from "../../../core/cache/cache.ts";
import { createReach } from "../../../core/cache/reach.ts";
import type { Counters } from "../../../core/plans/counters.ts";
import type { LockStore } from "../../../core/locks/lock-store.ts";
import type { OpenStreams } from "../../../core/plans/open-streams.ts";
import { serviceWatcher } from "../../metrics/metrics-watcher.ts";
import { createServiceMetrics, type ServiceMetrics } from "../../metrics/service-metrics.ts";
import type { Watcher } from "../../observe/watcher.ts";
import { countersReach, withFallback } from "../../stores/fallback-counters.ts";
import { createMemoryCounters } from "../../stores/memory-counters.ts";
import { createHookDepths } from "../../../core/workflow/hook-depth.ts";
import { openStores } from "../../stores/open-stores.ts";
import { byProject, type Stores } from "../../stores/stores.ts";
import type { JobsBoard, ShowBoard } from "../../http/jobs-board.ts";
import type { RuntimeOf } from "../settings/create-runtime.ts";
import type { Settings } from "../settings/env.ts";
import type { SharedParts } from "./open-project.ts";
import { createDatabases, type Databases } from "./kept-databases.ts";
import type { Logger } from "../observing/log.ts";
import { type Hooks, openHooks } from "./open-hooks.ts";
import { type Jobs, openJobs } from "./open-jobs.ts";
import { createSharedPlaces } from "./shared-places.ts";
import type { Siblings } from "./siblings.ts";
import { openObservation } from "../observing/open-observation.ts";
import type { BoardQueues } from "./open-board.ts";

export interface ProcessOptions {
  readonly settings: Settings;
  readonly runtime: RuntimeOf<Logger>;
  /** True: nothing in the databases is changed, see `OpenOptions`. */
  readonly isOnlyLookedAt?: boolean;
  /** Beside those that the settings switch on. */
  readonly watchers?: readonly Watcher[] | undefined;
  /** Null or absent: the process has no parent. */
  readonly siblings?: Siblings | null;
}

/** The parts of a process that every loaded configuration uses. */
export interface ProcessParts extends SharedParts {
  readonly settings: Settings;
  readonly databases: Databases;
  readonly counters: Counters;
  readonly jobs: Jobs;
  readonly hooks: Hooks;
  /** Null: no others are known. */
  readonly nudge: Stores["nudge"];
  /** Whether Redis answers; null without Redis. */
  readonly pingRedis: Stores["ping"];
  readonly metrics: ServiceMetrics;
  /** The jobs board; null when it is not available or no token is set. */
  board(): JobsBoard | null;
  /** The locks of a project; the same store each time. */
  locksOf(project: string): LockStore;
  /** The open streams of a project; the same store each time. */
  streamsOf(project: string): OpenStreams;
  /** Ends hook calls (`hooksUntilMs`: clock of `performance.now()`) and jobs; the databases must be open until then. */
  stopWork(hooksUntilMs: number): Promise<void>;
  /** Closes the stores, after the databases were closed. */
  close(): Promise<void>;
}

/** Rejects with an Error when a setting cannot be used; nothing stays open then. */
export async function openProcessParts({
  settings,
  runtime,
  watchers,
  siblings = null,
  ...looking
}: ProcessOptions): Promise<ProcessParts> {
  const { log } = runtime;
  const metrics = createServiceMetrics();
  const all = [serviceWatcher(metrics), ...(watchers ?? [])];
  const observation = await openObservation({ settings, log, watchers: all });
  const isAlone = settings.redisUrl === null;
  const stores = isAlone && siblings ? siblings.stores() : await openStores(settings.redisUrl);
  const cache = createCache({ ...runtime, store: stores.cache });
  // With Redis, processes share locks, the cache and counters.
  const places =
    isAlone && !looking.isOnlyLookedAt ? createSharedPlaces({ log, self: siblings?.name }) : null;
  if (settings.storage.kind === "folder" && settings.jobsDatabaseUrl === null)
    places?.use(resolve(settings.storage.path));
  const close = async () => {
    cache.close();
    stores.close();
    await places?.close();
  };
  const raise = (names: readonly string[]) => stores.cache.raise(names);
  const locks = byProject(stores.locks);
  const jobOptions = { settings, runtime, cache, raise, locks, observation, siblings };
  const jobs = await openJobs(jobOptions).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const hooks = openHooks({ settings, log, siblings });
  const streams = byProject(siblings?.streams ?? stores.streams);
  return {
    settings,
    runtime,
    databases: createDatabases({ log, places, ...looking }),
    cache,
    counters: countersOver(stores, log),
    jobs,
    hooks,
    hookDepths: createHookDepths({ ...runtime, secret: stores.secret }),
    nudge: stores.nudge,
    pingRedis: stores.ping,
    metrics,
    board: createBoards(settings.jobsBoardToken, () => ({
      jobs: jobs.shown(),
      hooks: hooks.shown(),
    })),
    observation,
    locksOf: locks,
    streamsOf: streams,
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

/**
 * A function that returns the board over the current queues: the same board as long as the queues are the same. Null
 * without JOBS_BOARD_TOKEN, or when no queue is on a server.
 */
function createBoards(token: string | null, queuesNow: () => BoardQueues): () => JobsBoard | null {
  let known: { readonly queues: BoardQueues; readonly board: JobsBoard | null } | null = null;
  return () => {
    const queues = queuesNow();
    if (known?.queues.jobs !== queues.jobs || known.queues.hooks !== queues.hooks)
      known = { queues, board: boardOf(queues, token) };
    return known.board;
  };
}

/** The board is loaded once, when it is first viewed, because it keeps connections to the server. */
function boardOf(queues: BoardQueues, token: string | null): JobsBoard | null {
  if (token === null || (queues.jobs ?? queues.hooks) === null) return null;
  let opening: Promise<ShowBoard> | null = null;
  const open = async (basePath: string): Promise<ShowBoard> =>
    (await import("./open-board.ts")).openBoard(queues, basePath);
  return { token, open: (basePath) => (opening ??= open(basePath)) };
}
