/** `rowgate worker`: runs jobs from Redis or PostgreSQL, possibly as one of many processes. */
import type { Logger } from "./log.ts";
import { logFormatOf, openLog, withSafeErrors } from "./log.ts";
import { parseEnv, type Settings } from "./env.ts";
import type { ProjectConfig } from "../../core/config/read-config.ts";
import { limits } from "../../core/values/limits.ts";
import { databaseFaults } from "../../db/open.ts";
import { startBullmqWorker } from "../../jobs/queue/bullmq/bullmq-worker.ts";
import { startCleanUp } from "../../jobs/files/clean-up.ts";
import { openBullmqServer } from "../../jobs/queue/bullmq/open-bullmq-server.ts";
import { openFiles } from "../../jobs/files/open-files.ts";
import { ConfigError } from "./config-error.ts";
import { logLeftOut } from "./left-out.ts";
import { openObservation } from "./open-observation.ts";
import { openJobThread } from "./open-job-thread.ts";
import { readProjects } from "./read-projects.ts";
import { type ConfigSource, createReloads } from "./reloads.ts";
import { createWorkerMetrics } from "../metrics/service-metrics.ts";
import { workerWatcher } from "../metrics/metrics-watcher.ts";
import type { MetricsServer } from "./metrics-server.ts";

/** What a worker is started from. */
export interface WorkerOptions extends Pick<ConfigSource, "files" | "env"> {
  readonly log?: Logger;
  /** See `startBullmqWorker`. */
  readonly lockMs?: number;
  readonly lookMs?: number;
  readonly stuckLookMs?: number;
  onStuck(): void;
}

export interface StartedWorker {
  /** Jobs that start from then on use the configuration that `read` gives. Rejects, after logging why, when the old one stays. */
  reload(read: () => Promise<ConfigSource>): Promise<void>;
  /** Ends within 10 seconds. */
  stop(): Promise<void>;
}

/** Resolves when the worker takes jobs; rejects with an Error that says what is wrong with its settings. */
export async function startWorker({
  files,
  env,
  log: givenLog,
  onStuck,
  ...times
}: WorkerOptions): Promise<StartedWorker> {
  const settings = parseEnv(env);
  const { storage, queueName, logLevel } = settings;
  const logFormat = logFormatOf(settings);
  const log = givenLog ? withSafeErrors(givenLog) : await openLog(settings);
  const ttlSeconds = new Map(ttlsOf(read({ files, env }, log)));
  const server = await openBullmqServer(settings, { use: "worker", log });
  if (server === null)
    throw new Error(
      "A worker needs REDIS_URL or JOBS_DATABASE_URL; without them the service runs its jobs itself",
    );
  const kept = await openFiles(storage, log);
  const raise = async () => undefined;
  const thread = openJobThread({ files, env, log, logLevel, logFormat, raise });
  const metrics = createWorkerMetrics();
  const metricsServer = await serveMetrics(settings, { text: metrics.text, log });
  const watchers = metricsServer === null ? [] : [workerWatcher(metrics)];
  const observation = await openObservation({ settings, log, watchers });
  const runJob = observation.runJob(thread.runJob);
  const worker = await startBullmqWorker({ ...times, onStuck, server, queueName, runJob, log });
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

/** Throws a ConfigError for faults of the files; the tables of a project are looked at by its jobs. */
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
  const { startMetricsServer } = await import("./metrics-server.ts");
  return startMetricsServer({ settings, port, ...options });
}
