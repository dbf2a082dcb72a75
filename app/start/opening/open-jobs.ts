/**
 * Opens the job queue and its files: jobs are kept in Redis or PostgreSQL and run by workers, or are kept by this
 * process and run in a thread; of several processes under one parent, the first keeps them. Without endpoints that
 * export or import, no queue is opened. The queue stays when a configuration is loaded again; jobs that start from then
 * on use the new one.
 */
import { switchedOn } from "../../../core/actions.ts";
import type { Cache } from "../../../core/cache/cache.ts";
import type { ConfigFiles, ProjectConfig } from "../../../core/config/reading/read-config.ts";
import { createProjectJobs, type ProjectJobs } from "../../../core/jobs/jobs.ts";
import type { Files } from "../../../core/plans/files-port.ts";
import { noQueue } from "../../../core/jobs/no-jobs.ts";
import type { Queue, QueueCounts } from "../../../core/jobs/queue.ts";
import { databaseOf, isInMemory } from "../../../db/open.ts";
import { createCacheNotifyingQueue } from "../../../jobs/queue/cache-notifying-queue.ts";
import { openLocalJobs } from "../../../jobs/queue/local/local-jobs.ts";
import { createWorkbooks } from "../../../jobs/import/workbooks.ts";
import { openJobQueue } from "../../../jobs/queue/open/open-job-queue.ts";
import { checkFiles, openFiles } from "../../../jobs/files/open-files.ts";
import { startCleanUp } from "../../../jobs/files/clean-up.ts";
import type { ShownQueue } from "../../../jobs/queue/open/shown-queue.ts";
import type { RuntimeOf } from "../settings/create-runtime.ts";
import type { Settings } from "../settings/env.ts";
import type { Observation } from "../../observe/observation.ts";
import type { Stores } from "../../stores/stores.ts";
import { openJobThread } from "./open-job-thread.ts";
import { type Logger, logFormatOf } from "../observing/log.ts";
import type { Siblings } from "./siblings.ts";

export interface OpenJobsOptions {
  readonly settings: Settings;
  readonly runtime: RuntimeOf<Logger>;
  readonly cache: Cache;
  /** Informs the cache of this process about the writes of a job. */
  raise(names: readonly string[]): Promise<void>;
  readonly locks: Stores["locks"];
  readonly observation: Observation;
  /** Null: the process has no parent. */
  readonly siblings: Siblings | null;
}

export interface JobsConfiguration {
  readonly configs: readonly ProjectConfig[];
  readonly files: ConfigFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The jobs of a process, as its projects and its operators see them. */
export interface Jobs {
  /** For the board; null: the jobs are in this process, or there are none yet. */
  shown(): ShownQueue | null;
  /** Null: no endpoint exported or imported yet. Rejects when the queue is unreachable. */
  counts(): (() => Promise<QueueCounts>) | null;
  /**
   * Opens the queue if these projects need it and it is not open. Rejects with an Error when they cannot have jobs, or
   * when the job server may evict jobs.
   */
  prepare(configuration: JobsConfiguration): Promise<void>;
  /** Jobs that start from now on use this configuration, which was prepared. */
  use(configuration: JobsConfiguration): void;
  forProject(config: ProjectConfig): ProjectJobs;
  /**
   * Stops the jobs of this process within seconds; they continue after the next start. Their states can still be read.
   */
  stopRunning(): Promise<void>;
  /** Like `stopRunning`, and closes the queue. */
  close(): Promise<void>;
}

/** Rejects with an Error when STORAGE_URL is not usable. */
export async function openJobs(options: OpenJobsOptions): Promise<Jobs> {
  const { settings, cache, runtime, observation, siblings } = options;
  const { log } = runtime;
  const files = await openFiles(settings.storage);
  const ttlSeconds = new Map<string, number>();
  let opened: OpenedQueue | null = null;
  let stopped: Promise<void> | null = null;
  const stopRunning = () => (stopped ??= opened?.stop() ?? Promise.resolve());
  const workbooks = createWorkbooks(files);
  /** The queue that is open at the time of a call, because a later configuration may be the first with jobs. */
  const queueNow = (): Queue => opened?.queue ?? noQueue;
  const functions: Omit<Queue, "close"> = {
    add: (job) => queueNow().add(job),
    find: (id) => queueNow().find(id),
    cancel: (id) => queueNow().cancel(id),
    counts: () => queueNow().counts(),
  };
  const queue = observation.queue({ ...functions, close: async () => undefined });
  if (siblings?.number === 1) siblings.share({ jobs: functions });

  /** Without Redis, the cache of this process learns of a worker's writes only from the job. */
  function queueOf({ name, database: { url }, cache: settingsOfCache }: ProjectConfig): Queue {
    if (settings.jobsDatabaseUrl === null) return queue;
    const projectCache = cache.forProject({ database: databaseOf(url), ...settingsOfCache });
    return createCacheNotifyingQueue(queue, {
      project: name,
      wrote: () => projectCache.wrote(["unknown"]),
    });
  }

  function noteTimes(configs: readonly ProjectConfig[]): void {
    ttlSeconds.clear();
    for (const { name, jobs } of configs) ttlSeconds.set(name, jobs.fileTtlSeconds);
  }

  return {
    shown: () => opened?.shown ?? null,
    counts: () => opened && queue.counts,
    async prepare(configuration) {
      const { configs } = configuration;
      configs.filter(hasJobs).forEach(refuseMemory);
      const isOpening = opened === null && configs.some(hasJobs);
      if (isOpening || (opened === null && configs.some(hasFiles)))
        checkFiles(files, { storage: settings.storage, log });
      if (!isOpening) return;
      noteTimes(configs);
      opened = await openQueue(options, { files, ttlSeconds, first: configuration });
    },
    use({ configs, files: configFiles, env }) {
      noteTimes(configs);
      opened?.renew({ files: configFiles, env });
    },
    forProject(config) {
      const { name, jobs } = config;
      const deps = { ...runtime, queue: queueOf(config), files, workbooks };
      return createProjectJobs({ name, fileTtlSeconds: jobs.fileTtlSeconds }, deps);
    },
    stopRunning,
    async close() {
      await stopRunning();
      await queueNow().close();
      await files.close();
    },
  };
}

/** Whether records have files. */
const hasFiles = ({ endpoints }: ProjectConfig): boolean =>
  endpoints.some(({ payload }) => payload.files !== undefined);

/** Whether an endpoint exports or imports. */
const hasJobs = ({ endpoints }: ProjectConfig): boolean =>
  endpoints.some(
    ({ payload }) => switchedOn(payload.action, ({ requires }) => requires.has("jobs")).length > 0,
  );

/** Jobs use their own connections in a thread or another process, so they cannot reach a database in memory. */
function refuseMemory({ name, database }: ProjectConfig): void {
  if (!isInMemory(database.url)) return;
  throw new Error(
    `${name}: exports and imports need a database in a file or on a server, not in memory`,
  );
}

interface OpenedQueue {
  readonly queue: Queue;
  /** Null: the jobs are in this process. */
  readonly shown: ShownQueue | null;
  renew(configuration: Omit<JobsConfiguration, "configs">): void;
  stop(): Promise<void>;
}

interface QueueParts {
  readonly files: Files;
  /** By project; as the configuration that is used says. */
  readonly ttlSeconds: ReadonlyMap<string, number>;
  readonly first: JobsConfiguration;
}

async function openQueue(
  { settings, runtime: { log }, raise, locks, observation, siblings }: OpenJobsOptions,
  { files, ttlSeconds, first }: QueueParts,
): Promise<OpenedQueue> {
  const { logLevel } = settings;
  const logFormat = logFormatOf(settings);
  const keptSecondsMax = () => Math.max(...ttlSeconds.values()) * 2;
  const onServer = await openJobQueue({ ...settings, keptSecondsMax, log });
  const elsewhere = { renew: () => undefined, stop: async () => undefined };
  if (onServer) return { ...onServer, ...elsewhere };
  if (siblings && siblings.number > 1)
    return { queue: { ...siblings.jobs, close: async () => undefined }, shown: null, ...elsewhere };
  if (settings.jobsBoardToken !== null)
    log.warn({}, "The jobs board is not available, because the service keeps its jobs itself");
  const { files: configFiles, env } = first;
  const start = { files: configFiles, env, logLevel, logFormat, process: siblings?.number ?? null };
  const thread = openJobThread({ ...start, log, raise, locks });
  const runJob = observation.runJob(thread.runJob);
  const queue = await openLocalJobs({ files, runJob, log });
  const cleanUp = startCleanUp({ files, ttlSeconds, log });
  const stop = async () => {
    cleanUp.stop();
    await queue.close();
    await thread.close();
  };
  return { queue, shown: null, renew: thread.renew, stop };
}
