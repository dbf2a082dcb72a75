/** `rowgate worker`: runs jobs from Redis or PostgreSQL, possibly as one of many processes. */
import { type Logger, logFormatOf, openLog, withSafeErrors } from "./observing/log.ts";
import { parseEnv, type Settings } from "./settings/env.ts";
import type { ProjectConfig } from "../../core/config/reading/read-config.ts";
import { limits } from "../../core/values/limits.ts";
import { databaseFaults } from "../../db/open.ts";
import { startCleanUp } from "../../jobs/files/clean-up.ts";
import { openJobWorker, type TakeJobs } from "../../jobs/queue/open/open-job-queue.ts";
import { openFiles } from "../../jobs/files/open-files.ts";
import { ConfigError } from "./settings/config-error.ts";
import { openObservation } from "./observing/open-observation.ts";
import { openJobThread } from "./opening/open-job-thread.ts";
import { logLeftOut, readProjects } from "./settings/read-projects.ts";
import { type ConfigSource, createReloads } from "./reloading/reloads.ts";
import { createMemoryLocks } from "../stores/memory-locks.ts";
import { byProject } from "../stores/stores.ts";
import { createWorkerMetrics } from "../metrics/service-metrics.ts";
import { workerWatcher } from "../metrics/metrics-watcher.ts";
import type { MetricsServer } from "./servers/metrics-server.ts";

export interface WorkerOptions
  extends Pick<ConfigSource, "files" | "env">, Omit<Parameters<TakeJobs>[0], "runJob"> {
  readonly log?: Logger;
}

export interface StartedWorker {
  /** Jobs that start later use the configuration of `read`. Rejects, after logging why, when the old one stays. */
  reload(read: () => Promise<ConfigSource>): Promise<void>;
  /** Ends within 10 seconds. */
  stop(): Promise<void>;
}

/** Resolves when the worker takes jobs; rejects with an Error that says what is wrong with its settings. */
export async function startWorker({
  files,
  env,
  log: givenLog,
  ...taking
}: WorkerOptions): Promise<StartedWorker> {
  const settings = parseEnv(env);
  const { storage, logLevel } = settings;
  const logFormat = logFormatOf(settings);
  const log = givenLog ? withSafeErrors(givenLog) : await openLog(settings);
  const ttlSeconds = new Map(ttlsOf(read({ files, env }, log)));
  const takeJobs = await openJobWorker({ ...settings, log });
  if (takeJobs === null)
    throw new Error(
      "A worker needs REDIS_URL or JOBS_DATABASE_URL; without them the service runs its jobs itself",
    );
  const kept = await openFiles(storage, log);
  const raise = async () => undefined;
  // Without Redis, those of the service are out of its sight.
  const locks = byProject(() => createMemoryLocks());
  const thread = openJobThread({ files, env, log, logLevel, logFormat, raise, locks });
  const metrics = createWorkerMetrics();
  const metricsServer = await serveMetrics(settings, { text: metrics.text, log });
  const watchers = metricsServer === null ? [] : [workerWatcher(metrics)];
  const observation = await openObservation({ settings, log, watchers });
  const runJob = observation.runJob(thread.runJob);
  const worker = await takeJobs({ ...taking, runJob });
  const cleanUp = startCleanUp({ files: kept, ttlSeconds, log });
  const reloads = createReloads({
    files,
    log,
    async serve(source) {
      const projects = read(source, log);
      thread.renew({ files: source.files, env: source.env });
      ttlSeconds.clear();
      for (const [name, seconds] of ttlsOf(projects)) ttlSeconds.set(name, seconds);
    },
  });
  return {
    reload: reloads.reload,
    async stop() {
      await reloads.close();
      cleanUp.stop();
      metricsServer?.close();
      await worker.stop();
      await thread.close();
      await kept.close();
      await observation.close(performance.now() + limits.farewellMs);
    },
  };
}

/** Throws a ConfigError for faults of the files; jobs check the tables of their project. */
function read(source: ConfigSource, log: Logger): readonly ProjectConfig[] {
  const { projects, faults } = readProjects(source, databaseFaults);
  if (faults.length > 0) throw new ConfigError(faults);
  for (const config of projects) logLeftOut(config, [...config.leftOut.values()].flat(), log);
  return projects;
}

const ttlsOf = (projects: readonly ProjectConfig[]) =>
  projects.map(({ name, jobs }) => [name, jobs.fileTtlSeconds] as const);
/** Null: no METRICS_PORT is set. */
async function serveMetrics(
  settings: Settings,
  options: { text: () => Promise<string>; log: Logger },
): Promise<MetricsServer | null> {
  const { metricsPort: port } = settings;
  if (port === null) return null;
  const { startMetricsServer } = await import("./servers/metrics-server.ts");
  return startMetricsServer({ settings, port, ...options });
}
