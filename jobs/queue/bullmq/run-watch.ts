/** Reports one run's progress while it holds the job, and ends the run when it no longer does or was cancelled. */
import { limits } from "../../../core/values/limits.ts";
import type { JobProgress } from "../../../core/jobs/queue.ts";
import type { EndReason } from "../outcome.ts";
import type { TakenJob } from "./open-worker.ts";
import { type JobData, storedProgress } from "./stored-job.ts";

/** How often a run checks whether it still owns its job. */
const checkMs = 250;

/** How a run is watched. */
export interface WatchOptions {
  readonly lockMs: number;
  /** Is aborted with an `EndReason`. */
  readonly end: AbortController;
}

/** The watch over one run. */
export interface RunWatch {
  /** Rows done and rows in all, as reported by the run. */
  progress(processed: number, total: number): void;
  stop(): void;
}

/** A server that is unreachable for a moment does not end a run; a lost lock is detected when it is renewed. */
export function watchRun(
  { job, token, queue }: TakenJob<JobData>,
  { lockMs, end }: WatchOptions,
): RunWatch {
  // Progress of an earlier run is never reduced.
  const processedMin = storedProgress(job)?.processed ?? 0;
  let latest: JobProgress | null = null;
  let lastCheckMs = performance.now();
  let isBusy = false;
  const endRun = (reason: EndReason): void => end.abort(reason);

  async function reportAndCheck(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    await report()
      .then(check)
      .catch(() => undefined);
    isBusy = false;
  }

  /** Rejects when another run has the job, as this one's progress would mix with that run's. */
  async function report(): Promise<void> {
    const progress = latest;
    latest = null;
    if (progress === null) return;
    const isHeld = await job.extendLock(token, lockMs);
    if (!isHeld) {
      endRun("lost");
      throw new Error("The job was taken over by another run");
    }
    await job.updateProgress({ ...progress });
  }

  async function check(): Promise<void> {
    if (performance.now() - lastCheckMs < checkMs) return;
    lastCheckMs = performance.now();
    const now = await queue.getJob(job.id!);
    if (!now) endRun("lost");
    else if (now.data.cancelledAtMs !== undefined) endRun("cancelled");
  }

  const timer = setInterval(() => void reportAndCheck(), limits.jobProgressPauseMs);
  return {
    progress(processed, total) {
      const isFirst = latest === null && processed === 0;
      latest = { processed: Math.min(Math.max(processed, processedMin), total), total };
      if (isFirst) void reportAndCheck();
    },
    stop: () => clearInterval(timer),
  };
}
