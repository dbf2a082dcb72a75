/**
 * The queue of non-blocking hook calls in BullMQ, next to the job queue: any free instance of the service makes the
 * next call. `rowgate worker` does not take hook calls, because a hook may call the service itself.
 */
import type { HookQueue, MakeCall } from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Log } from "../../../core/plans/ports.ts";
import {
  type BullmqServer,
  openServerQueue,
  queueCounts,
  resolvedWithin,
  type ServerQueue,
} from "./bullmq-server.ts";
import { createHookWorker, type HookData } from "./hook-worker.ts";

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

/** A server that is silent is not waited for. */
const closeTimeoutMs = 500;

/** Asks nothing of a server before the first call, or `start`. */
export function createBullmqHookQueue(options: BullmqHookQueueOptions): HookQueue {
  const { adding, taking, queueName, makeCall, log } = options;
  const worker = createHookWorker({ server: taking, queueName, makeCall, log });
  let opening: Promise<ServerQueue<HookData>> | null = null;

  function openOnce(): Promise<ServerQueue<HookData>> {
    opening ??= openServerQueue<HookData>(adding, queueName).catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  }

  async function closeAdding(): Promise<void> {
    const queue = await resolvedWithin(opening, closeTimeoutMs);
    await resolvedWithin(queue?.close(), closeTimeoutMs);
  }

  return {
    async add(call) {
      const queue = await openOnce();
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
    counts: async () => queueCounts(await openOnce()),
    async stop(untilMs) {
      await worker.drain(untilMs);
      await Promise.all([worker.close(), closeAdding()]);
      await Promise.all([adding.close(), taking.close()]);
    },
  };
}
