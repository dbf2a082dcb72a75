/** `rowgate worker`: runs jobs from Redis or PostgreSQL, possibly as one of many processes. */
import type { Logger } from "./log.ts";
import { createLog } from "./log.ts";
import { parseEnv, type Settings } from "./env.ts";
import { formatFaults } from "../../core/config/faults.ts";
import type { ConfigFiles } from "../../core/config/read-config.ts";
import { limits } from "../../core/values/limits.ts";
import { databaseFaults } from "../../db/open.ts";
import { startBullmqWorker } from "../../jobs/queue/bullmq/bullmq-worker.ts";
import { startCleanUp } from "../../jobs/files/clean-up.ts";
import { openBullmqServer } from "../../jobs/queue/bullmq/open-bullmq-server.ts";
import { openFiles } from "../../jobs/files/open-files.ts";
import { readProjects } from "./read-projects.ts";
import { openObservation } from "./open-observation.ts";
import { openJobThread } from "./open-job-thread.ts";
import { createWorkerMetrics } from "../metrics/service-metrics.ts";
import { workerWatcher } from "../metrics/metrics-watcher.ts";
import type { MetricsServer } from "./metrics-server.ts";

/** What a worker is started from. */
export interface WorkerOptions {
  readonly files: ConfigFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log?: Logger;
  /** See `startBullmqWorker`. */
  readonly lockMs?: number;
  readonly lookMs?: number;
  readonly stuckLookMs?: number;
  onStuck(): void;
}

/** Resolves when the worker takes jobs; rejects with an Error that says what is wrong with its settings. `stop` ends within 10 seconds. */
export async function startWorker({
  files,
  env,
  log: givenLog,
  ...options
}: WorkerOptions): Promise<{ stop: () => Promise<void> }> {
  const settings = parseEnv(env);
  const { storage, queueName, logLevel } = settings;
  const { projects, faults } = readProjects({ files, env }, databaseFaults);
  if (faults.length > 0) throw new Error(formatFaults(faults));
  const log = givenLog ?? createLog(logLevel);
  const server = await openBullmqServer(settings, { use: "worker", log });
  if (server === null)
    throw new Error(
      "A worker needs REDIS_URL or JOBS_DATABASE_URL; without them the service runs its jobs itself",
    );
  const kept = await openFiles(storage, log);
  const thread = openJobThread({ files, env, log, logLevel, raise: async () => undefined });
  const metrics = createWorkerMetrics();
  const metricsServer = await serveMetrics(settings, { text: metrics.text, log });
  const observation = await openObservation({
    watchers: metricsServer === null ? [] : [workerWatcher(metrics)],
  });
  const runJob = observation.runJob(thread.runJob);
  const worker = await startBullmqWorker({ ...options, server, queueName, runJob, log });
  const ttlSeconds = new Map(projects.map(({ name, jobs }) => [name, jobs.fileTtlSeconds]));
  const cleanUp = startCleanUp({ files: kept, ttlSeconds, log });
  return {
    async stop() {
      cleanUp.stop();
      metricsServer?.close();
      await worker.stop();
      await thread.close();
      await kept.close();
      await observation.close(performance.now() + limits.farewellMs);
    },
  };
}

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
