/**
 * Where the service's jobs and files are: in Redis and for workers to run, or in this process, on a thread of its own. Opened only when
 * an endpoint has jobs. Called by `wire.ts`.
 */
import type { ConfigFiles, ProjectConfig } from "../core/config/read.ts";
import { createProjectJobs, type ProjectJobs } from "../core/jobs.ts";
import type { Files, Queue } from "../core/ports.ts";
import { isInMemory } from "../db/open.ts";
import { openLocalQueue } from "../jobs/local.ts";
import { createWorkbooks } from "../jobs/import/workbooks.ts";
import { openFiles } from "../jobs/open-files.ts";
import { startCleanUp } from "../jobs/clean-up.ts";
import { createThreadHost } from "../jobs/thread-host.ts";
import type { Settings } from "./env.ts";
import type { Logger } from "./log.ts";

export interface OpenJobsOptions {
  readonly projects: readonly ProjectConfig[];
  readonly settings: Settings;
  readonly files: ConfigFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** Tells the cache of this process what a job wrote. */
  raise(names: readonly string[]): Promise<void>;
}

export interface Jobs {
  forProject(config: ProjectConfig): ProjectJobs;
  /** Jobs of this process end within seconds, and go on when it starts again. Their states are still told. */
  stopRunning(): Promise<void>;
  /** As `stopRunning`, and nothing is told any more. */
  close(): Promise<void>;
}

/** Rejects with an Error when Redis may throw jobs away, or STORAGE_URL is no place for files. */
export async function openJobs(options: OpenJobsOptions): Promise<Jobs> {
  const { projects, settings } = options;
  const files = openFiles(settings.storageUrl);
  const { queue, stop } = projects.some(hasJobs)
    ? await openQueue(options, files)
    : { queue: noQueue, stop: async () => undefined };
  let stopped: Promise<void> | null = null;
  const stopRunning = () => (stopped ??= stop());
  const workbooks = createWorkbooks(files);
  return {
    forProject({ name, jobs: { fileTtlSeconds } }) {
      const newId = () => crypto.randomUUID();
      const deps = { queue, files, workbooks, newId, nowMs: Date.now };
      return createProjectJobs({ name, fileTtlSeconds }, deps);
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
  endpoints.some(({ payload: { action } }) =>
    Object.entries(action).some(([name, isOn]) => isOn === true && /^(export|import)/.test(name)),
  );

/** Jobs have connections of their own, on a thread or in another process. */
function refuseMemory({ name, database }: ProjectConfig): void {
  if (!isInMemory(database.url)) return;
  throw new Error(
    `${name}: exports and imports need a database in a file or on a server; this one is in the memory of the process`,
  );
}

async function openQueue(
  { projects, settings, log, files: configFiles, env, raise }: OpenJobsOptions,
  files: Files,
): Promise<{ queue: Queue; stop: () => Promise<void> }> {
  const { redisUrl, queueName, logLevel } = settings;
  projects.filter(hasJobs).forEach(refuseMemory);
  const ttlSeconds = new Map(projects.map(({ name, jobs }) => [name, jobs.fileTtlSeconds]));
  if (redisUrl !== null) {
    const { openBullmqQueue } = await import("../jobs/bullmq.ts");
    const keptSecondsMax = Math.max(...ttlSeconds.values()) * 2;
    const queue = await openBullmqQueue({ redisUrl, queueName, keptSecondsMax, log });
    return { queue, stop: async () => undefined };
  }
  const thread = createThreadHost({ files: configFiles, env, log, logLevel, raise });
  const queue = await openLocalQueue({ files, runJob: thread.runJob, log });
  const cleanUp = startCleanUp({ files, ttlSeconds, log });
  const stop = async () => {
    cleanUp.stop();
    await queue.close();
    await thread.close();
  };
  return { queue, stop };
}

const refuse = () => Promise.reject(new Error("No endpoint has jobs"));
const noQueue: Queue = { add: refuse, find: refuse, cancel: refuse, close: async () => undefined };
