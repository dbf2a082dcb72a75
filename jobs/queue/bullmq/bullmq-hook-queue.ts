/**
 * The queue of non-blocking hook calls in BullMQ, next to the job queue: any free instance of the service makes the
 * next call. `rowgate worker` does not take hook calls, because a hook can call the service itself.
 */
import type {
  HookQueue,
  MakeCall,
  DeadCall,
  DeadCalls,
} from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/values/limits.ts";
import { openedOnce } from "../../../core/values/opened-once.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import {
  type BullmqServer,
  openServerQueue,
  queueCounts,
  resolvedWithin,
} from "./bullmq-server.ts";
import { createHookWorker, type HookData } from "./hook-worker.ts";
import type { HookCall } from "../../../core/plans/hook-call.ts";

/** Two connections to the server, and what makes a call. */
export interface BullmqHookQueueOptions {
  /** For requests, which must not wait for it. Closed with the queue. */
  readonly adding: BullmqServer;
  /** For the calls. Closed with the queue. */
  readonly taking: BullmqServer;
  readonly queueName: string;
  readonly makeCall: MakeCall;
  readonly log: Log;
}

/** How long an unresponsive server is waited for. */
const closeTimeoutMs = 500;

/** Sends nothing to a server before the first call or `start`. */
export function createBullmqHookQueue(options: BullmqHookQueueOptions): HookQueue {
  const { adding, taking, queueName, makeCall, log } = options;
  const worker = createHookWorker({ server: taking, queueName, makeCall, log });
  const opened = openedOnce(() => openServerQueue<HookData>(adding, queueName));

  async function closeAdding(): Promise<void> {
    const queue = await resolvedWithin(opened.known(), closeTimeoutMs);
    await resolvedWithin(queue?.close(), closeTimeoutMs);
  }

  return {
    async add(call) {
      const queue = await opened();
      if (!adding.keepsJobs()) throw new Error("The server of the job queue may evict jobs");
      const data = { call: JSON.stringify(call) };
      await queue.add(call.label, data, {
        jobId: call.id,
        attempts: limits.hookTriesMax,
        backoff: { type: "exponential", delay: limits.hookRetryFirstMs, jitter: 0.5 },
        removeOnComplete: true,
        removeOnFail: { age: limits.hookDeadKeptSeconds, count: limits.hookDeadKeptMax },
        stackTraceLimit: 0,
      });
    },
    start: worker.start,
    counts: async () => queueCounts(await opened()),
    async stop(untilMs) {
      await worker.drain(untilMs);
      await Promise.all([worker.close(), closeAdding()]);
      await Promise.all([adding.close(), taking.close()]);
    },
  };
}

/**
 * The hook calls that were given up: failed jobs, which stay in the queue for a while. `server` is closed with it.
 * Rejects when the server is unreachable.
 */
export async function openBullmqDeadCalls(
  server: BullmqServer,
  queueName: string,
): Promise<DeadCalls> {
  const queue = await openServerQueue<HookData>(server, queueName);
  return {
    async list() {
      const jobs = await queue.getFailed(0, limits.hookDeadKeptMax - 1);
      return jobs
        .map(({ data, attemptsMade, finishedOn, failedReason }): DeadCall => {
          const { id, place, requestId, request } = JSON.parse(data.call) as HookCall;
          const common = { id, place, requestId, url: request.url, tries: attemptsMade };
          return { ...common, failedAtMs: finishedOn ?? 0, reason: failedReason ?? "" };
        })
        .sort((one, other) => one.failedAtMs - other.failedAtMs);
    },
    async retry(id) {
      const job = await queue.getJob(id);
      if (!job || (await job.getState()) !== "failed") return false;
      await job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
      return true;
    },
    async close() {
      await queue.close();
      await server.close();
    },
  };
}
