/** A job as BullMQ stores it, and core's view of it. */
import type { Job as BullJob } from "bullmq";
import { cancelledError, abandonedError, unknownError } from "../../../core/jobs/jobs.ts";
import type { Json } from "../../../core/values/json.ts";
import type { Job } from "../../../core/jobs/job.ts";
import type { JobProgress, JobRecord } from "../../../core/jobs/queue.ts";

/**
 * What the server stores besides the state. `request` and results are JSON text, because they can contain characters
 * that a database's own JSON type refuses, such as NUL.
 */
export type JobData = Omit<Job, "id" | "request"> & {
  readonly request: string;
  /** Milliseconds since 1970; absent: its end was not asked for. */
  readonly cancelledAtMs?: number;
};

/** A job as BullMQ has it. */
export type BullmqJob = BullJob<JobData, string>;

/** The data of a job that is added. */
export function dataOf(job: Job): JobData {
  const { id: _, request, ...data } = job;
  return { ...data, request: JSON.stringify(request) };
}

/** The job as it was added. */
export function jobOf(job: BullmqJob): Job {
  const { cancelledAtMs: _, request, ...data } = job.data;
  return { ...data, id: job.id!, request: JSON.parse(request) as Job["request"] };
}

/** The job with its state; asks the server where the job has ended. */
export async function recordOf(job: BullmqJob): Promise<JobRecord> {
  const { cancelledAtMs } = job.data;
  const common = { ...jobOf(job), progress: storedProgress(job), result: null, error: null };
  if (job.finishedOn !== undefined) {
    const finishedAtMs = job.finishedOn;
    return (await job.getState()) === "completed"
      ? { ...common, state: "completed", result: resultOf(job), finishedAtMs }
      : { ...common, state: "failed", error: errorOf(job.failedReason), finishedAtMs };
  }
  const isBegun = job.attemptsStarted > 0;
  // It will not run: a worker that takes it checks the mark first.
  if (cancelledAtMs !== undefined && !isBegun)
    return { ...common, state: "failed", error: cancelledError, finishedAtMs: cancelledAtMs };
  return { ...common, state: isBegun ? "active" : "waiting", finishedAtMs: null };
}

const resultOf = ({ returnvalue }: BullmqJob): Json => JSON.parse(returnvalue) as Json;

/** Null: no report yet, which BullMQ stores as 0. */
export const storedProgress = ({ progress }: BullmqJob): JobProgress | null =>
  typeof progress === "object" && progress !== null ? (progress as unknown as JobProgress) : null;

/**
 * The reason of a failed job: our own sentence for the client as JSON, which distinguishes it from messages of the
 * library and its server, which clients never see.
 */
export const reasonOf = (error: string): string => JSON.stringify({ error });

/** The sentence for the client, from a reason of any origin. */
export function errorOf(reason: string | undefined): string {
  if (reason?.includes("stalled")) return abandonedError;
  try {
    const { error } = JSON.parse(reason ?? "") as { error?: unknown };
    return typeof error === "string" ? error : unknownError;
  } catch {
    return unknownError;
  }
}
