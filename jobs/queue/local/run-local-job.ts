/** Runs a job of the queue in files once, and determines its state after a restart. */
import { abandonedError, cancelledError } from "../../../core/jobs/jobs.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Job, Log, RunJob } from "../../../core/plans/ports.ts";
import { type EndReason, outcomeOf } from "../outcome.ts";
import { hasEnded, type LocalJob } from "./local-job.ts";
import { createProgressReports } from "./progress-reports.ts";

/** What runs a job. */
export interface LocalRunOptions {
  readonly runJob: RunJob;
  readonly log: Log;
}

/**
 * Runs the job once and saves the result. Resolves with the milliseconds after which it is to be run again; null: not
 * again by this process. Rejects when a state cannot be saved; then the previous state counts.
 */
export async function runLocalJob(
  job: LocalJob,
  { runJob, log }: LocalRunOptions,
): Promise<number | null> {
  if (hasEnded(job.stored)) return null;
  const { signal } = (job.run = new AbortController());
  const startedMs = performance.now();
  const { progress, stop } = createProgressReports(job);
  try {
    await job.save({ state: "active", isPutBack: false });
    signal.throwIfAborted();
    const run = { job: asAdded(job.stored), id: crypto.randomUUID(), signal, progress };
    const result = await runJob(run);
    await stop();
    await job.complete(result);
    return null;
  } catch (error) {
    await stop();
    const reason: unknown = signal.aborted ? signal.reason : null;
    return await saveFailure(job, error, { reason, lastedMs: performance.now() - startedMs, log });
  } finally {
    job.run = null;
  }
}

interface Failure {
  /** Why the run's signal was aborted; null: it was not. */
  readonly reason: unknown;
  readonly lastedMs: number;
  readonly log: Log;
}

/** As `runLocalJob`. */
async function saveFailure(
  job: LocalJob,
  error: unknown,
  { reason, lastedMs, log }: Failure,
): Promise<number | null> {
  const { stored } = job;
  if (stored.isCancelled) {
    await job.fail(cancelledError);
    return null;
  }
  if (reason === ("stopping" satisfies EndReason)) {
    await job.save({ isPutBack: true });
    return null;
  }
  const outcome = outcomeOf(error, { job: stored, lastedMs, log });
  const tries = stored.tries + 1;
  if (!outcome.mayPass || tries >= limits.jobTriesMax) {
    await job.fail(outcome.error);
    return null;
  }
  await job.save({ tries, isPutBack: true });
  return limits.jobRetryDelayMs * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
}

/** Saves the state of a job that an earlier process left: its run ended with that process. */
export async function recoverLocalJob(job: LocalJob): Promise<void> {
  const { state, isPutBack, isCancelled, interruptions } = job.stored;
  if (hasEnded(job.stored)) return;
  if (isCancelled) return job.fail(cancelledError);
  if (state !== "active" || isPutBack) return;
  if (interruptions >= limits.jobTakeOversMax) return job.fail(abandonedError);
  await job.save({ interruptions: interruptions + 1 });
}

/** The job without its state. */
function asAdded(job: Job): Job {
  const { id, kind, project, endpoint, caller, request, createdAtMs, keptSeconds, trace } = job;
  const rest = { request, createdAtMs, keptSeconds, ...(trace && { trace }) };
  return { id, kind, project, endpoint, caller, ...rest };
}
