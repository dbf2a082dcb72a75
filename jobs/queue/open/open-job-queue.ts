/** Opens the job queue on the server of REDIS_URL or JOBS_DATABASE_URL, to add jobs or to run them. */
import type { Queue } from "../../../core/jobs/queue.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import type { BullmqWorkerOptions, RunningWorker } from "../bullmq/bullmq-worker.ts";
import { openBullmqServer, type QueueServerUrls } from "../bullmq/open-bullmq-server.ts";
import { type ShownQueue, shownQueue } from "./shown-queue.ts";

export interface JobQueueOptions extends QueueServerUrls {
  /** Service and workers with the same name share their jobs. */
  readonly queueName: string;
  /** Ended jobs of all projects are deleted after this time. */
  readonly keptSecondsMax: () => number;
  readonly log: Log;
}

/** Null: there is no server. Rejects with an Error if a reachable server must not be used. */
export async function openJobQueue({
  log,
  queueName,
  keptSecondsMax,
  ...urls
}: JobQueueOptions): Promise<{ readonly queue: Queue; readonly shown: ShownQueue } | null> {
  const server = await openBullmqServer(urls, { use: "service", log });
  if (server === null) return null;
  const { createBullmqQueue } = await import("../bullmq/bullmq-queue.ts");
  const queue = createBullmqQueue({ server, queueName, keptSecondsMax });
  return { queue, shown: shownQueue(server, queueName) };
}

/** Starts to take jobs from the queue; resolves when the server is reachable. */
export type TakeJobs = (
  options: Omit<BullmqWorkerOptions, "server" | "queueName" | "log">,
) => Promise<RunningWorker>;

/** Null: there is no server. Rejects as `openJobQueue`. */
export async function openJobWorker({
  log,
  queueName,
  ...urls
}: Omit<JobQueueOptions, "keptSecondsMax">): Promise<TakeJobs | null> {
  const server = await openBullmqServer(urls, { use: "worker", log });
  if (server === null) return null;
  const { startBullmqWorker } = await import("../bullmq/bullmq-worker.ts");
  return (options) => startBullmqWorker({ ...options, server, queueName, log });
}
