/**
 * Takes jobs out of BullMQ and has them run. What BullMQ leaves open is settled here: whoever lost the lock of a job stops and reports
 * nothing more, cancelling reaches the process that runs the job, and a stop hands jobs back. Started by `worker.ts`.
 */
import { setTimeout as pause } from "node:timers/promises";
import {
  type Job as BullJob,
  Queue as BullQueue,
  UnrecoverableError,
  WaitingError,
  Worker,
} from "bullmq";
import { cancelledError } from "../core/jobs.ts";
import { limits } from "../core/limits.ts";
import type { Job, JobProgress, Json, Log, RunJob } from "../core/ports.ts";
import { reasonOf } from "./bullmq-error.ts";
import { type JobData, keyPrefix } from "./bullmq.ts";
import { type EndReason, outcomeOf } from "./outcome.ts";
import { connectWorker, watchPolicy } from "./redis.ts";

export interface BullmqWorkerOptions {
  readonly redisUrl: string;
  readonly queueName: string;
  readonly runJob: RunJob;
  readonly log: Log;
  /** Default: `limits.jobLockMs`, `limits.jobLookMs`. */
  readonly lockMs?: number;
  readonly lookMs?: number;
  /** Called when jobs wait and this worker gets none: only a new process helps. */
  onStuck(): void;
}

export interface RunningWorker {
  /** Running jobs may finish for a moment, then they go back to the queue. */
  stop(): Promise<void>;
}

type Taken = BullJob<JobData, Json>;

/** How often a run asks whether it still counts. */
const checkMs = 1_000;
/** A worker that is idle for two looks in a row while jobs wait is stuck. */
const stuckLookMs = 30_000;
const closeTimeoutMs = 2_000;

/** Rejects with an Error when Redis may throw jobs away. Redis may come later. */
export async function startBullmqWorker(options: BullmqWorkerOptions): Promise<RunningWorker> {
  const { redisUrl, queueName, runJob, log, onStuck } = options;
  const { lockMs = limits.jobLockMs, lookMs = limits.jobLookMs } = options;
  const redis = connectWorker(redisUrl);
  await watchPolicy(redis, log).catch((error: unknown) => {
    redis.disconnect();
    throw error;
  });
  const shared = { connection: redis, prefix: keyPrefix };
  const queue = new BullQueue<JobData, Json>(queueName, { ...shared, skipMetasUpdate: true });
  const runs = new Map<string, AbortController>();
  const worker = new Worker<JobData, Json>(queueName, perform, {
    ...shared,
    concurrency: limits.jobsAtOnce,
    lockDuration: lockMs,
    stalledInterval: lookMs,
    maxStalledCount: limits.jobTakeOversMax,
  });
  const note = (error: Error) => log.debug({ err: error }, "Trouble with the queue of the jobs");
  queue.on("error", note);
  worker.on("error", note);
  worker.on("lockRenewalFailed", (ids) => ids.forEach((id) => endRun(id, "lost")));
  const watchdog = watchForStuck({ queue, isIdle: () => runs.size === 0, onStuck });

  const endRun = (id: string, reason: EndReason): void => runs.get(id)?.abort(reason);

  async function perform(taken: Taken, token: string | undefined): Promise<Json> {
    const job = jobOf(taken);
    if (taken.data.cancelledAtMs !== undefined)
      throw new UnrecoverableError(reasonOf(cancelledError));
    const end = new AbortController();
    runs.set(job.id, end);
    const startedMs = performance.now();
    const watch = watchRun(taken, { token: token!, lockMs, queue, end });
    try {
      const { progress } = watch;
      const run = { job, id: crypto.randomUUID(), signal: end.signal, progress };
      return await runJob(run);
    } catch (error) {
      const reason = end.signal.aborted ? (end.signal.reason as EndReason) : null;
      if (reason === "cancelled") throw new UnrecoverableError(reasonOf(cancelledError));
      if (reason === "stopping") {
        await taken.moveToWait(token);
        throw new WaitingError();
      }
      const lastedMs = performance.now() - startedMs;
      const outcome = outcomeOf(error, { job, lastedMs, log });
      const Failure = outcome.mayPass ? Error : UnrecoverableError;
      throw new Failure(reasonOf(outcome.error));
    } finally {
      watch.stop();
      if (runs.get(job.id) === end) runs.delete(job.id);
    }
  }

  return {
    async stop() {
      clearInterval(watchdog);
      const closing = worker.close();
      await Promise.race([closing, pause(limits.jobDrainMs, undefined, { ref: false })]);
      for (const id of runs.keys()) endRun(id, "stopping");
      await Promise.race([closing, pause(closeTimeoutMs, undefined, { ref: false })]);
      await Promise.race([queue.close(), pause(500, undefined, { ref: false })]);
      redis.disconnect();
    },
  };
}

function jobOf(taken: Taken): Job {
  const { cancelledAtMs: _, ...data } = taken.data;
  return { id: taken.id!, ...data };
}

interface Watched {
  readonly token: string;
  readonly lockMs: number;
  readonly queue: BullQueue<JobData, Json>;
  readonly end: AbortController;
}

/** Reports one run's progress while it holds the job, and ends the run when it no longer does or was cancelled. */
function watchRun(taken: Taken, { token, lockMs, queue, end }: Watched) {
  const shown = taken.progress as unknown as Partial<JobProgress> | number;
  // What an earlier run has shown is never taken back.
  const least = typeof shown === "object" ? (shown.processed ?? 0) : 0;
  let latest: JobProgress | null = null;
  let lastCheckMs = performance.now();
  let isBusy = false;

  async function look(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    try {
      const report = latest;
      latest = null;
      if (report) {
        await hold();
        await taken.updateProgress({ ...report });
      }
      if (performance.now() - lastCheckMs < checkMs) return;
      lastCheckMs = performance.now();
      const now = await queue.getJob(taken.id!);
      if (!now) end.abort("lost" satisfies EndReason);
      else if (now.data.cancelledAtMs !== undefined) end.abort("cancelled" satisfies EndReason);
    } catch {
      // Redis is away for a moment. A lock that is really lost shows when it is renewed.
    } finally {
      isBusy = false;
    }
  }

  /** The progress of a run that lost its job would stand beside that of the run that has it. */
  async function hold(): Promise<void> {
    const isHeld = await taken.extendLock(token, lockMs);
    if (isHeld) return;
    end.abort("lost" satisfies EndReason);
    throw new Error("Another run has the job");
  }

  const timer = setInterval(() => void look(), limits.jobProgressPauseMs);
  return {
    progress(processed: number, total: number): void {
      const isFirst = latest === null && processed === 0;
      latest = { processed: Math.min(Math.max(processed, least), total), total };
      if (isFirst) void look();
    },
    stop: () => clearInterval(timer),
  };
}

function watchForStuck({
  queue,
  isIdle,
  onStuck,
}: {
  queue: BullQueue<JobData, Json>;
  isIdle: () => boolean;
  onStuck: () => void;
}): ReturnType<typeof setInterval> {
  let suspicions = 0;
  return setInterval(() => {
    void queue.getWaitingCount().then(
      (waiting) => {
        suspicions = waiting > 0 && isIdle() ? suspicions + 1 : 0;
        if (suspicions >= 2) onStuck();
      },
      () => {
        suspicions = 0;
      },
    );
  }, stuckLookMs);
}
