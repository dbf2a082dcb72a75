/**
 * core's `Queue` over BullMQ: what the service needs of it. Jobs stand in Redis or PostgreSQL, `rowgate worker` processes run them
 * (`bullmq-worker.ts`). Every call fails within a second when that server is away or silent.
 */
import type { Job as BullJob } from "bullmq";
import { AppError, unavailable } from "../../../core/errors.ts";
import { cancelledError } from "../../../core/jobs/jobs.ts";
import { limits } from "../../../core/limits.ts";
import type { Json } from "../../../core/json.ts";
import { withTimeout } from "../../../core/with-timeout.ts";
import type { Job, JobProgress, JobRecord, Queue } from "../../../core/ports.ts";
import { errorOf } from "./failure-reason.ts";
import { type BullmqServer, openServerQueue, type ServerQueue } from "./bullmq-server.ts";

/**
 * What stands on the server beside the state. `request` is JSON in a text, and so is a result: texts in it may hold what a database's own
 * JSON refuses, such as NUL.
 */
export type JobData = Omit<Job, "id" | "request"> & {
  readonly request: string;
  readonly cancelledAtMs?: number;
};

/** A server that is silent is not waited for. */
const closeTimeoutMs = 500;

/** A job as BullMQ has it. */
export type BullmqJob = BullJob<JobData, string>;

export interface BullmqOptions {
  /** Closed with the queue. */
  readonly server: BullmqServer;
  /** Service and workers with the same name share their jobs. */
  readonly queueName: string;
  /** Jobs that ended are forgotten after this time, whatever project they are of. */
  readonly keptSecondsMax: number;
}

/** Keys of one queue in Redis stand in one slot of a cluster. */
export const keyPrefix = "{rowgate}";

export function createBullmqQueue({ server, queueName, keptSecondsMax }: BullmqOptions): Queue {
  let opening: Promise<ServerQueue<JobData>> | null = null;

  async function queueOf(): Promise<ServerQueue<JobData>> {
    await server.ready();
    opening ??= openServerQueue<JobData>(server, queueName).catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  }

  const kept = { age: keptSecondsMax };

  return {
    add: (job) =>
      answerOf(async () => {
        const queue = await queueOf();
        if (!server.keepsJobs()) throw new Error("The server of the jobs may throw them away");
        const { id, request, ...data } = job;
        const stored: JobData = { ...data, request: JSON.stringify(request) };
        await queue.add(job.kind, stored, {
          jobId: id,
          attempts: limits.jobTriesMax,
          backoff: { type: "exponential", delay: limits.jobRetryDelayMs, jitter: 0.5 },
          removeOnComplete: kept,
          removeOnFail: kept,
          // It would only show where the worker says that a job failed.
          stackTraceLimit: 0,
        });
      }),
    find: (id) =>
      answerOf(async () => {
        const job = await (await queueOf()).getJob(id);
        return job ? recordOf(job) : null;
      }),
    cancel: (id) =>
      answerOf(async () => {
        const job = await (await queueOf()).getJob(id);
        if (!job || job.finishedOn !== undefined) return;
        await job.updateData({ ...job.data, cancelledAtMs: Date.now() });
      }),
    async close() {
      const queue = await opening?.catch(() => null);
      const closed = Promise.resolve(queue?.close()).catch(() => undefined);
      await withTimeout(closed, { timeoutMs: closeTimeoutMs, onTimeout: () => undefined });
      await server.close();
    },
  };
}

/** The job as it was added. */
export function jobOf(job: BullmqJob): Job {
  const { cancelledAtMs: _, request, ...data } = job.data;
  return { ...data, id: job.id!, request: JSON.parse(request) as Job["request"] };
}

/** The answer of the server, or `unavailable` when it fails or takes too long. */
async function answerOf<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await withTimeout(ask(), {
      timeoutMs: limits.jobTimeoutMs,
      onTimeout: () => {
        throw new Error("The server of the jobs does not answer");
      },
    });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw unavailable("The queue of the jobs is out of reach", error);
  }
}

async function recordOf(job: BullmqJob): Promise<JobRecord> {
  const { cancelledAtMs } = job.data;
  const common = { ...jobOf(job), progress: progressOf(job), result: null, error: null };
  if (job.finishedOn !== undefined) {
    const finishedAtMs = job.finishedOn;
    return (await job.getState()) === "completed"
      ? { ...common, state: "completed", result: resultOf(job), finishedAtMs }
      : { ...common, state: "failed", error: errorOf(job.failedReason), finishedAtMs };
  }
  const isBegun = job.attemptsStarted > 0;
  // Nobody will run it: whoever takes it sees the mark first.
  if (cancelledAtMs !== undefined && !isBegun)
    return { ...common, state: "failed", error: cancelledError, finishedAtMs: cancelledAtMs };
  return { ...common, state: isBegun ? "active" : "waiting", finishedAtMs: null };
}

const resultOf = ({ returnvalue }: BullmqJob): Json => JSON.parse(returnvalue) as Json;

/** BullMQ knows 0 as "nothing yet". */
const progressOf = ({ progress }: BullmqJob): JobProgress | null =>
  typeof progress === "object" && progress !== null ? (progress as unknown as JobProgress) : null;
