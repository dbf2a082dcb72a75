/**
 * Opens the job queue and its files: jobs are kept in Redis or PostgreSQL and run by workers, or are kept by this
 * process and run in a thread. Without endpoints that export or import, no queue is opened.
 */
import { switchedOn } from "../../core/actions.ts";
import type { Cache } from "../../core/cache/cache.ts";
import type { ConfigFiles, ProjectConfig } from "../../core/config/read-config.ts";
import { createProjectJobs, type ProjectJobs } from "../../core/jobs/jobs.ts";
import type { Files, Queue, QueueCounts } from "../../core/plans/ports.ts";
import { databaseOf, isInMemory } from "../../db/open.ts";
import { createCacheNotifyingQueue } from "../../jobs/queue/cache-notifying-queue.ts";
import { openLocalQueue } from "../../jobs/queue/local/local-queue.ts";
import { createWorkbooks } from "../../jobs/import/workbooks.ts";
import { openBullmqServer } from "../../jobs/queue/bullmq/open-bullmq-server.ts";
import { openFiles } from "../../jobs/files/open-files.ts";
import { startCleanUp } from "../../jobs/files/clean-up.ts";
import type { BullmqServer } from "../../jobs/queue/bullmq/bullmq-server.ts";
import type { Settings } from "./env.ts";
import type { Observation } from "../observe/observation.ts";
import { openJobThread } from "./open-job-thread.ts";
import type { Logger } from "./log.ts";

/** What the queue of jobs is opened from. */
export interface OpenJobsOptions {
  readonly projects: readonly ProjectConfig[];
  readonly settings: Settings;
  readonly files: ConfigFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly cache: Cache;
  /** Informs the cache of this process about the writes of a job. */
  raise(names: readonly string[]): Promise<void>;
  readonly observation: Observation;
}

/** The jobs of a process, as its projects and its operators see them. */
export interface Jobs {
  /** Where the jobs are kept; null: in this process, or there are none. */
  readonly server: BullmqServer | null;
  /** Null: no endpoint exports or imports. Rejects when the queue is unreachable. */
  readonly counts: (() => Promise<QueueCounts>) | null;
  forProject(config: ProjectConfig): ProjectJobs;
  /**
   * Stops the jobs of this process within seconds; they continue after the next start. Their states can still be read.
   */
  stopRunning(): Promise<void>;
  /** Like `stopRunning`, and closes the queue. */
  close(): Promise<void>;
}

/** Rejects with an Error when the job server may evict jobs, or when STORAGE_URL is not usable. */
export async function openJobs(options: OpenJobsOptions): Promise<Jobs> {
  const { projects, settings, cache } = options;
  const files = await openFiles(settings.storage, projects.some(hasJobs) ? options.log : undefined);
  const opened = projects.some(hasJobs)
    ? await openQueue(options, files)
    : { queue: noQueue, server: null, stop: async () => undefined };
  const { server, stop } = opened;
  const queue = options.observation.queue(opened.queue);
  let stopped: Promise<void> | null = null;
  const stopRunning = () => (stopped ??= stop());
  const workbooks = createWorkbooks(files);

  /** Without Redis, the cache of this process learns of a worker's writes only from the job. */
  function queueOf({ name, database: { url }, cache: settingsOfCache }: ProjectConfig): Queue {
    if (settings.jobsDatabaseUrl === null) return queue;
    const projectCache = cache.forProject({ database: databaseOf(url), ...settingsOfCache });
    return createCacheNotifyingQueue(queue, {
      project: name,
      wrote: () => projectCache.wrote(["unknown"]),
    });
  }

  return {
    server,
    counts: projects.some(hasJobs) ? queue.counts : null,
    forProject(config) {
      const { name, jobs } = config;
      const newId = () => crypto.randomUUID();
      const deps = { queue: queueOf(config), files, workbooks, newId, nowMs: Date.now };
      return createProjectJobs({ name, fileTtlSeconds: jobs.fileTtlSeconds }, deps);
    },
    stopRunning,
    async close() {
      await stopRunning();
      await queue.close();
      await files.close();
    },
  };
}

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
  readonly server: BullmqServer | null;
  stop(): Promise<void>;
}

async function openQueue(
  { projects, settings, log, files: configFiles, env, raise, observation }: OpenJobsOptions,
  files: Files,
): Promise<OpenedQueue> {
  const { queueName, logLevel } = settings;
  projects.filter(hasJobs).forEach(refuseMemory);
  const ttlSeconds = new Map(projects.map(({ name, jobs }) => [name, jobs.fileTtlSeconds]));
  const server = await openBullmqServer(settings, { use: "service", log });
  if (server !== null) {
    const { createBullmqQueue } = await import("../../jobs/queue/bullmq/bullmq-queue.ts");
    const keptSecondsMax = Math.max(...ttlSeconds.values()) * 2;
    const queue = createBullmqQueue({ server, queueName, keptSecondsMax });
    return { queue, server, stop: async () => undefined };
  }
  if (settings.jobsBoardToken !== null)
    log.warn({}, "The jobs board is not available, because the service keeps its jobs itself");
  const thread = openJobThread({ files: configFiles, env, log, logLevel, raise });
  const runJob = observation.runJob(thread.runJob);
  const queue = await openLocalQueue({ files, runJob, log });
  const cleanUp = startCleanUp({ files, ttlSeconds, log });
  const stop = async () => {
    cleanUp.stop();
    await queue.close();
    await thread.close();
  };
  return { queue, server: null, stop };
}

const refuse = () => Promise.reject(new Error("No endpoint has export or import switched on"));
const noQueue: Queue = {
  add: refuse,
  find: refuse,
  cancel: refuse,
  counts: refuse,
  close: async () => undefined,
};
