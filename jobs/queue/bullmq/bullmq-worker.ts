/**
 * Takes jobs from BullMQ and runs them. It adds what BullMQ lacks: a run that lost the lock of its job stops and
 * reports nothing more, a cancellation reaches the process that runs the job, and a stopping worker returns its jobs to
 * the queue.
 */
import { limits } from "../../../core/values/limits.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import type { RunJob } from "../../../core/jobs/job.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import type { BullmqServer } from "./bullmq-server.ts";
import { createJobRuns } from "./job-runs.ts";
import { openWorkerWhenReached } from "./open-worker.ts";
import type { JobData } from "./stored-job.ts";
import { watchForStuck } from "./watchdog.ts";

/** What the worker takes jobs from, and what runs them. */
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
  /** Called when jobs are waiting but this worker receives none; only a new process helps. */
  onStuck(): void;
}

/** A worker that takes jobs. */
export interface RunningWorker {
  /** Running jobs get a moment to finish, then they go back to the queue. */
  stop(): Promise<void>;
}

const closeTimeoutMs = { worker: 2_000, queue: 500 };

/** Resolves when the server is reachable and jobs are taken. */
export async function startBullmqWorker(options: BullmqWorkerOptions): Promise<RunningWorker> {
  const { server, queueName, runJob, log, stuckLookMs, onStuck } = options;
  const { lockMs = limits.jobLockMs, lookMs = limits.jobLookMs } = options;
  const runs = createJobRuns({ runJob, lockMs, log });
  const onError = (error: Error) => log.debug({ err: error }, "Error of the job queue");
  const { queue, worker } = await openWorkerWhenReached<JobData>(
    {
      server,
      queueName,
      lockMs,
      lookMs,
      atOnce: limits.jobsAtOnce,
      takeOversMax: limits.jobTakeOversMax,
      perform: runs.perform,
      onError,
    },
    {
      onUnreachable: (error) =>
        log.warn({ err: error }, "The server of the job queue is not reachable; trying again"),
    },
  );
  queue.on("error", onError);
  worker.on("lockRenewalFailed", (ids) => ids.forEach((id) => runs.end(id, "lost")));
  worker.run().catch(onError);
  const { begun: taken, isIdle } = runs;
  const stopWatchdog = watchForStuck({ queue, taken, isIdle, lookMs: stuckLookMs, onStuck });

  return {
    async stop() {
      stopWatchdog();
      const closing = worker.close();
      const closedWithin = (timeoutMs: number, what = closing) =>
        withTimeout(what, { timeoutMs, onTimeout: () => undefined });
      await closedWithin(limits.jobDrainMs);
      runs.endAll("stopping");
      await closedWithin(closeTimeoutMs.worker);
      await closedWithin(closeTimeoutMs.queue, queue.close());
      await server.close();
    },
  };
}
