/**
 * core's `Queue` over BullMQ, as the service uses it. Jobs are kept in Redis or PostgreSQL; `rowgate worker` processes
 * run them (`bullmq-worker.ts`). Every call fails within a second when that server is unreachable or does not answer.
 */
import { AppError, unavailable } from "../../../core/values/errors.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Queue } from "../../../core/plans/ports.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import {
  type BullmqServer,
  openServerQueue,
  queueCounts,
  resolvedWithin,
  type ServerQueue,
} from "./bullmq-server.ts";
import { waitingLimits, type WaitingLimits } from "../waiting-share.ts";
import { createOwnWaiting } from "./own-waiting.ts";
import { dataOf, type JobData, recordOf } from "./stored-job.ts";

/** A server that is silent is not waited for. */
const closeTimeoutMs = 500;

/** The queue, and how long it keeps jobs. */
export interface BullmqOptions {
  /** Closed with the queue. */
  readonly server: BullmqServer;
  /** Service and workers with the same name share their jobs. */
  readonly queueName: string;
  /** Ended jobs of all projects are deleted after this time. */
  readonly keptSecondsMax: () => number;
  /** Default: those of the service. */
  readonly waitingMost?: WaitingLimits;
}

/** Asks nothing of the server before the first call. */
export function createBullmqQueue({
  server,
  queueName,
  keptSecondsMax,
  waitingMost = waitingLimits,
}: BullmqOptions): Queue {
  const ownWaiting = createOwnWaiting(waitingMost);
  let opening: Promise<ServerQueue<JobData>> | null = null;

  async function openOnce(): Promise<ServerQueue<JobData>> {
    await server.ready();
    opening ??= openServerQueue<JobData>(server, queueName).catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  }

  return {
    add: (job) =>
      answerInTime(async () => {
        const queue = await openOnce();
        if (!server.keepsJobs()) throw new Error("The server of the job queue may evict jobs");
        await ownWaiting.take(job, async (id) => (await queue.getJobState(id)) === "waiting");
        const kept = { age: keptSecondsMax() };
        const options = {
          jobId: job.id,
          attempts: limits.jobTriesMax,
          backoff: { type: "exponential", delay: limits.jobRetryDelayMs, jitter: 0.5 },
          removeOnComplete: kept,
          removeOnFail: kept,
          // It would only show where the worker says that a job failed.
          stackTraceLimit: 0,
        };
        await queue.add(job.kind, dataOf(job), options).catch((error: unknown) => {
          ownWaiting.drop(job.id);
          throw error;
        });
      }),
    find: (id) =>
      answerInTime(async () => {
        const job = await (await openOnce()).getJob(id);
        return job ? recordOf(job) : null;
      }),
    cancel: (id) =>
      answerInTime(async () => {
        const job = await (await openOnce()).getJob(id);
        if (!job || job.finishedOn !== undefined) return;
        await job.updateData({ ...job.data, cancelledAtMs: Date.now() });
      }),
    counts: () => answerInTime(async () => queueCounts(await openOnce())),
    async close() {
      const queue = await opening?.catch(() => null);
      await resolvedWithin(queue?.close(), closeTimeoutMs);
      await server.close();
    },
  };
}

/** The answer of the server, or `unavailable` when it fails or takes longer than `limits.jobTimeoutMs`. */
async function answerInTime<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await withTimeout(ask(), {
      timeoutMs: limits.jobTimeoutMs,
      onTimeout: () => {
        throw new Error("The server of the job queue does not answer");
      },
    });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw unavailable("The job queue is not reachable", error);
  }
}
