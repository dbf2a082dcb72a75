/**
 * core's `Queue` over BullMQ, as the service uses it. Jobs are kept in Redis or PostgreSQL; `rowgate worker` processes
 * run them (`bullmq-worker.ts`). Every call fails within a second when that server is unreachable or does not answer.
 */
import { AppError, unavailable } from "../../../core/values/errors.ts";
import { limits } from "../../../core/values/limits.ts";
import { openedOnce } from "../../../core/values/opened-once.ts";
import type { Queue } from "../../../core/jobs/queue.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import {
  type BullmqServer,
  openServerQueue,
  queueCounts,
  resolvedWithin,
} from "./bullmq-server.ts";
import { waitingLimits, type WaitingLimits } from "../waiting-share.ts";
import { createOwnWaiting } from "./own-waiting.ts";
import { dataOf, type JobData, recordOf } from "./stored-job.ts";

/** How long an unresponsive server is waited for. */
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

/** Sends nothing to the server before the first call. */
export function createBullmqQueue({
  server,
  queueName,
  keptSecondsMax,
  waitingMost = waitingLimits,
}: BullmqOptions): Queue {
  const ownWaiting = createOwnWaiting(waitingMost);
  const opened = openedOnce(() => openServerQueue<JobData>(server, queueName));
  const whenReady = async () => {
    await server.ready();
    return opened();
  };

  return {
    add: (job) =>
      answerInTime(async () => {
        const queue = await whenReady();
        if (!server.keepsJobs()) throw new Error("The server of the job queue may evict jobs");
        const priority = await ownWaiting.take(job, {
          isWaiting: async (id) => (await queue.getJobState(id)) === "prioritized",
          firstPlace: async () => (await queue.getPrioritized(0, 0))[0]?.opts.priority ?? null,
        });
        const kept = { age: keptSecondsMax() };
        const options = {
          jobId: job.id,
          priority,
          attempts: limits.jobTriesMax,
          backoff: { type: "exponential", delay: limits.jobRetryDelayMs, jitter: 0.5 },
          removeOnComplete: kept,
          removeOnFail: kept,
          // The stack would only show the line where the worker fails the job.
          stackTraceLimit: 0,
        };
        await queue.add(job.kind, dataOf(job), options).catch((error: unknown) => {
          ownWaiting.drop(job.id);
          throw error;
        });
        ownWaiting.stored(job.id);
      }),
    find: (id) =>
      answerInTime(async () => {
        const job = await (await whenReady()).getJob(id);
        return job ? recordOf(job) : null;
      }),
    cancel: (id) =>
      answerInTime(async () => {
        const job = await (await whenReady()).getJob(id);
        if (!job || job.finishedOn !== undefined) return;
        await job.updateData({ ...job.data, cancelledAtMs: Date.now() });
      }),
    counts: () => answerInTime(async () => queueCounts(await whenReady())),
    async close() {
      const queue = await opened.known()?.catch(() => null);
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
