/**
 * Takes jobs out of BullMQ and has them run. What BullMQ leaves open is settled here: whoever lost the lock of a job stops and reports
 * nothing more, cancelling reaches the process that runs the job, and a stop hands jobs back.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type IQueueBackend, UnrecoverableError, WaitingError, Worker } from "bullmq";
import { cancelledError } from "../../../core/jobs/jobs.ts";
import { limits } from "../../../core/limits.ts";
import type { JobProgress, Log, RunJob } from "../../../core/ports.ts";
import { type BullmqJob, type JobData, jobOf } from "./bullmq-queue.ts";
import { reasonOf } from "./failure-reason.ts";
import {
  type BullmqServer,
  noConnection,
  openServerQueue,
  type ServerQueue,
} from "./bullmq-server.ts";
import { watchForStuck } from "./watchdog.ts";
import { type EndReason, outcomeOf } from "../outcome.ts";

export interface BullmqWorkerOptions {
  /** Closed with the worker. */
  readonly server: BullmqServer;
  readonly queueName: string;
  readonly runJob: RunJob;
  readonly log: Log;
  /** Default: `limits.jobLockMs`, `limits.jobLookMs`. */
  readonly lockMs?: number;
  readonly lookMs?: number;
  /** As `lookMs` of the watchdog. */
  readonly stuckLookMs?: number;
  /** Called when jobs wait and this worker gets none: only a new process helps. */
  onStuck(): void;
}

export interface RunningWorker {
  /** Running jobs may finish for a moment, then they go back to the queue. */
  stop(): Promise<void>;
}

type JobsWorker = Worker<JobData, string, string, IQueueBackend>;

/** How often a run asks whether it still counts. */
const checkMs = 250;
const closeTimeoutMs = 2_000;
/** Pause after a call that failed, before the next. */
const retryMs = 1_000;

/** Resolves when the server is there and jobs are taken. */
export async function startBullmqWorker(options: BullmqWorkerOptions): Promise<RunningWorker> {
  const { server, queueName, runJob, log, onStuck } = options;
  const { lockMs = limits.jobLockMs, lookMs = limits.jobLookMs } = options;
  const runs = new Map<string, AbortController>();
  let begun = 0;
  const { queue, worker } = await untilReached(log, async () => {
    const made = await openServerQueue<JobData>(server, queueName);
    const taking: JobsWorker = new Worker(
      queueName,
      perform,
      {
        ...noConnection,
        autorun: false,
        concurrency: limits.jobsAtOnce,
        lockDuration: lockMs,
        stalledInterval: lookMs,
        maxStalledCount: limits.jobTakeOversMax,
        runRetryDelay: retryMs,
      },
      server.backend,
    );
    taking.on("error", note);
    return opened({ queue: made, worker: taking });
  });
  queue.on("error", note);
  worker.on("lockRenewalFailed", (ids) => ids.forEach((id) => endRun(id, "lost")));
  worker.run().catch(note);
  const stopWatchdog = watchForStuck({
    queue,
    taken: () => begun,
    isIdle: () => runs.size === 0,
    lookMs: options.stuckLookMs,
    onStuck,
  });

  function note(error: Error): void {
    log.debug({ err: error }, "Trouble with the queue of the jobs");
  }

  const endRun = (id: string, reason: EndReason): void => runs.get(id)?.abort(reason);

  async function perform(taken: BullmqJob, token: string | undefined): Promise<string> {
    const job = jobOf(taken);
    if (taken.data.cancelledAtMs !== undefined)
      throw new UnrecoverableError(reasonOf(cancelledError));
    const end = new AbortController();
    runs.set(job.id, end);
    begun += 1;
    const startedMs = performance.now();
    const watch = watchRun(taken, { token: token!, lockMs, queue, end });
    try {
      const { progress } = watch;
      const run = { job, id: crypto.randomUUID(), signal: end.signal, progress };
      return JSON.stringify(await runJob(run));
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
      stopWatchdog();
      const closing = worker.close();
      await Promise.race([closing, pause(limits.jobDrainMs, undefined, { ref: false })]);
      for (const id of runs.keys()) endRun(id, "stopping");
      await Promise.race([closing, pause(closeTimeoutMs, undefined, { ref: false })]);
      await Promise.race([queue.close(), pause(500, undefined, { ref: false })]);
      await server.close();
    },
  };
}

interface Made {
  readonly queue: ServerQueue<JobData>;
  readonly worker: JobsWorker;
}

/** Rejects when the server went away meanwhile; nothing is left of the two then. */
async function opened(made: Made): Promise<Made> {
  try {
    await made.worker.waitUntilReady();
    return made;
  } catch (error) {
    await Promise.allSettled([made.worker.close(), made.queue.close()]);
    throw error;
  }
}

async function untilReached(log: Log, open: () => Promise<Made>): Promise<Made> {
  for (let tries = 1; ; tries++) {
    try {
      return await open();
    } catch (error) {
      if (tries === 1)
        log.warn({ err: error }, "The server of the jobs is out of reach; trying again");
      await pause(retryMs);
    }
  }
}

interface Watched {
  readonly token: string;
  readonly lockMs: number;
  readonly queue: ServerQueue<JobData>;
  readonly end: AbortController;
}

/** Reports one run's progress while it holds the job, and ends the run when it no longer does or was cancelled. */
function watchRun(taken: BullmqJob, { token, lockMs, queue, end }: Watched) {
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
      // The server is away for a moment. A lock that is really lost shows when it is renewed.
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
