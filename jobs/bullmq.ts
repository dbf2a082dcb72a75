/**
 * core's `Queue` over BullMQ: what the service needs of it. Jobs stand in Redis, `rowgate worker` processes run them (`bullmq-worker.ts`).
 * Every call fails within a second when Redis is away or silent. Made by `app/open-jobs.ts` when REDIS_URL is set.
 */
import { type Job as BullJob, Queue as BullQueue } from "bullmq";
import { AppError, unavailable } from "../core/errors.ts";
import { cancelledError } from "../core/jobs.ts";
import { limits } from "../core/limits.ts";
import type { Job, JobProgress, JobRecord, Json, Log, Queue } from "../core/ports.ts";
import { errorOf } from "./bullmq-error.ts";
import { connectJobs, watchPolicy } from "./redis.ts";

/** What stands in Redis beside the state. */
export type JobData = Omit<Job, "id"> & { readonly cancelledAtMs?: number };

export interface BullmqOptions {
  readonly redisUrl: string;
  /** Service and workers with the same name share their jobs. */
  readonly queueName: string;
  /** Jobs that ended are forgotten after this time, whatever project they are of. */
  readonly keptSecondsMax: number;
  readonly log: Log;
}

/** Keys of one queue stand in one slot of a cluster. */
export const keyPrefix = "{rowgate}";

/** Rejects with an Error when Redis is there and may throw jobs away. Resolves also while Redis is away. */
export async function openBullmqQueue(options: BullmqOptions): Promise<Queue> {
  const { redisUrl, queueName, keptSecondsMax, log } = options;
  const redis = connectJobs(redisUrl);
  const policy = await watchPolicy(redis, log).catch((error: unknown) => {
    redis.disconnect();
    throw error;
  });
  let opened: BullQueue<JobData, Json> | null = null;

  /** Made when Redis is there: one that was made without it would never work. */
  function queueOf(): BullQueue<JobData, Json> {
    if (redis.status !== "ready") throw new Error("There is no connection to Redis");
    if (opened) return opened;
    const connection = { connection: redis, prefix: keyPrefix };
    opened = new BullQueue(queueName, { ...connection, skipMetasUpdate: true });
    // Whoever calls hears of it; without a listener the process would end.
    opened.on("error", () => undefined);
    return opened;
  }

  const kept = { age: keptSecondsMax };

  return {
    add: (job) =>
      asked(async () => {
        if (!policy.keepsJobs()) throw new Error("Redis may throw jobs away");
        const { id, ...data } = job;
        await queueOf().add(job.kind, data, {
          jobId: id,
          attempts: limits.jobTriesMax,
          backoff: { type: "exponential", delay: limits.jobRetryDelayMs, jitter: 0.5 },
          removeOnComplete: kept,
          removeOnFail: kept,
        });
      }),
    find: (id) =>
      asked(async () => {
        const job = await queueOf().getJob(id);
        return job ? recordOf(job) : null;
      }),
    cancel: (id) =>
      asked(async () => {
        const job = await queueOf().getJob(id);
        if (!job || job.finishedOn !== undefined) return;
        await job.updateData({ ...job.data, cancelledAtMs: Date.now() });
      }),
    async close() {
      await opened?.close().catch(() => undefined);
      redis.disconnect();
    },
  };
}

/** The outcome, or `unavailable` after a moment. */
async function asked<T>(ask: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("Redis does not answer")), limits.jobTimeoutMs);
  });
  try {
    return await Promise.race([ask(), overdue]);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw unavailable("The queue of the jobs is out of reach", error);
  } finally {
    clearTimeout(timer);
  }
}

async function recordOf(job: BullJob<JobData, Json>): Promise<JobRecord> {
  const { cancelledAtMs, ...data } = job.data;
  const common = { ...data, id: job.id!, progress: progressOf(job), result: null, error: null };
  if (job.finishedOn !== undefined) {
    const finishedAtMs = job.finishedOn;
    return (await job.getState()) === "completed"
      ? { ...common, state: "completed", result: job.returnvalue, finishedAtMs }
      : { ...common, state: "failed", error: errorOf(job.failedReason), finishedAtMs };
  }
  const isBegun = job.attemptsStarted > 0;
  // Nobody will run it: whoever takes it sees the mark first.
  if (cancelledAtMs !== undefined && !isBegun)
    return { ...common, state: "failed", error: cancelledError, finishedAtMs: cancelledAtMs };
  return { ...common, state: isBegun ? "active" : "waiting", finishedAtMs: null };
}

/** BullMQ knows 0 as "nothing yet". */
const progressOf = ({ progress }: BullJob<JobData>): JobProgress | null =>
  typeof progress === "object" && progress !== null ? (progress as unknown as JobProgress) : null;
