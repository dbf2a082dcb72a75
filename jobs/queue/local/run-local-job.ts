/** Runs jobs of the queue in files, and determines their states after a restart. */
import { abandonedError, cancelledError } from "../../../core/jobs/jobs.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Job, RunJob } from "../../../core/jobs/job.ts";
import type { JobProgress, JobRecord } from "../../../core/jobs/queue.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import { type EndReason, outcomeOf } from "../outcome.ts";
import type { Entry } from "./local-queue.ts";

/** What a job's file holds, as JSON. */
export interface StoredJob extends JobRecord {
  readonly isCancelled: boolean;
  /** Runs that failed. */
  readonly tries: number;
  /** Times that the process ended while the job ran, other than stops on purpose. */
  readonly interruptions: number;
  /** Its last run was stopped on purpose. */
  readonly isPutBack: boolean;
}

/** What runs a job. */
export interface LocalRunOptions {
  readonly runJob: RunJob;
  readonly log: Log;
}

export interface LocalRuns {
  /**
   * Runs the job once and saves the result. Resolves with the milliseconds after which it is to be run again; null: not
   * again by this process. Rejects when a state cannot be saved; then the previous state counts.
   */
  run(job: Entry<StoredJob>): Promise<number | null>;
  /** Ends the run of the job with this id; false: it has none. */
  end(id: string, reason: EndReason): boolean;
}

export function createLocalRuns({ runJob, log }: LocalRunOptions): LocalRuns {
  const underWay = new Map<string, AbortController>();
  return {
    async run(job) {
      const { id } = job.value;
      if (hasEnded(job.value)) return null;
      const end = new AbortController();
      const { signal } = end;
      underWay.set(id, end);
      const startedMs = performance.now();
      const { progress, stop } = createProgressReports(job);
      try {
        await job.save({ state: "active", isPutBack: false });
        signal.throwIfAborted();
        const run = { job: asAdded(job.value), id: crypto.randomUUID(), signal, progress };
        const result = await runJob(run);
        await stop();
        await job.save({ state: "completed", result, finishedAtMs: Date.now() });
        return null;
      } catch (error) {
        await stop();
        const reason: unknown = signal.aborted ? signal.reason : null;
        const lastedMs = performance.now() - startedMs;
        return await saveFailure(job, error, { reason, lastedMs, log });
      } finally {
        underWay.delete(id);
      }
    },
    end(id, reason) {
      const end = underWay.get(id);
      end?.abort(reason);
      return end !== undefined;
    },
  };
}

interface Failure {
  /** Why the run's signal was aborted; null: it was not. */
  readonly reason: unknown;
  readonly lastedMs: number;
  readonly log: Log;
}

/** As `LocalRuns.run`. */
async function saveFailure(
  job: Entry<StoredJob>,
  error: unknown,
  { reason, lastedMs, log }: Failure,
): Promise<number | null> {
  const { value } = job;
  if (value.isCancelled) {
    await job.save(failed(cancelledError));
    return null;
  }
  if (reason === ("stopping" satisfies EndReason)) {
    await job.save({ isPutBack: true });
    return null;
  }
  const outcome = outcomeOf(error, { job: value, lastedMs, log });
  const tries = value.tries + 1;
  if (!outcome.mayPass || tries >= limits.jobTriesMax) {
    await job.save(failed(outcome.error));
    return null;
  }
  await job.save({ tries, isPutBack: true });
  return limits.jobRetryDelayMs * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
}

/** Saves the state of a job that an earlier process left: its run ended with that process. */
export async function recoverLocalJob(job: Entry<StoredJob>): Promise<void> {
  const { state, isPutBack, isCancelled, interruptions } = job.value;
  if (hasEnded(job.value)) return;
  if (isCancelled) return job.save(failed(cancelledError));
  if (state !== "active" || isPutBack) return;
  if (interruptions >= limits.jobTakeOversMax) return job.save(failed(abandonedError));
  await job.save({ interruptions: interruptions + 1 });
}

/** The change that ends a job. */
export const failed = (error: string): Partial<StoredJob> => ({
  state: "failed",
  error,
  finishedAtMs: Date.now(),
});

/** Whether the job is completed or failed. */
export const hasEnded = ({ state }: JobRecord): boolean =>
  state === "completed" || state === "failed";

/** The job as the queue reports it. */
export function recordOfStored(stored: StoredJob): JobRecord {
  const {
    isCancelled: _,
    tries: _tries,
    interruptions: _count,
    isPutBack: _back,
    ...record
  } = stored;
  return record;
}

/** The job without its state. */
function asAdded(job: Job): Job {
  const { id, kind, project, endpoint, caller, request, createdAtMs, keptSeconds, trace } = job;
  const rest = { request, createdAtMs, keptSeconds, ...(trace && { trace }) };
  return { id, kind, project, endpoint, caller, ...rest };
}

/** The reports of one run. */
interface ProgressReports {
  /** Rows done and rows in all, as reported by the run. */
  progress(processed: number, total: number): void;
  /** Resolves when no report is being written any more. */
  stop(): Promise<void>;
}

/** Stores a few reports per second at most, the first at once. Progress never decreases. Failed reports are lost. */
function createProgressReports(job: Entry<StoredJob>): ProgressReports {
  let latest: JobProgress | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let writing: Promise<void> | null = null;

  function report(): void {
    timer = null;
    // A slow place for files gets the next report after this one.
    writing ??= write().finally(() => {
      writing = null;
    });
  }

  async function write(): Promise<void> {
    if (latest === null) return;
    const processed = Math.max(latest.processed, job.value.progress?.processed ?? 0);
    const progress = { processed: Math.min(processed, latest.total), total: latest.total };
    await job.save({ progress }).catch(() => undefined);
  }

  return {
    progress(processed, total) {
      const isFirst = latest === null;
      latest = { processed, total };
      if (isFirst) report();
      else timer ??= setTimeout(report, limits.jobProgressPauseMs);
    },
    async stop() {
      if (timer !== null) clearTimeout(timer);
      await writing;
    },
  };
}
