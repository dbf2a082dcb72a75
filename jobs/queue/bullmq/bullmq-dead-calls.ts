/** The hook calls that were given up, in BullMQ: its failed jobs, which stay in the queue for a while. */
import type { DeadCall, DeadCalls } from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/values/limits.ts";
import type { HookCall } from "../../../core/plans/ports.ts";
import { type BullmqServer, openServerQueue } from "./bullmq-server.ts";
import type { HookData } from "./hook-worker.ts";

/** `server` is closed with it. Rejects when the server is unreachable. */
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
