/**
 * core's `Queue` inside the process, for installations without Redis. Each job is a small file next to the exports,
 * which is rewritten before a change of its state is reported; a restart reads all files and continues the jobs that
 * have not ended.
 */
import { isUnavailable, unavailable } from "../../../core/values/errors.ts";
import { cancelledError, kindOf } from "../../../core/jobs/jobs.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Files } from "../../../core/plans/files-port.ts";
import type { Queue } from "../../../core/jobs/queue.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import { shareFault, type Waiting, waitingLimits, type WaitingLimits } from "../waiting-share.ts";
import type { EndReason } from "../outcome.ts";
import { createLocalQueue } from "./local-queue.ts";
import {
  createLocalRuns,
  failed,
  hasEnded,
  type LocalRunOptions,
  recordOfStored,
  recoverLocalJob,
  type StoredJob,
} from "./run-local-job.ts";

/** Where jobs are kept, and what runs them. */
export interface LocalJobsOptions extends LocalRunOptions {
  readonly files: Files;
  /** Jobs that run at the same time. Default: `limits.jobsAtOnce`. */
  readonly atOnce?: number;
  /** Default: those of the service. */
  readonly waitingMost?: WaitingLimits;
}

const forgetEveryMs = 60_000;
/** A job whose state could not be stored is run again after this time. */
const storeAgainMs = 2_000;
/** What earlier processes left is read again after this time, when the files were unreachable. */
const readAgainMs = 2_000;

/**
 * Resolves when the jobs of earlier processes were read, or cannot be read yet. Every call is `unavailable` until the
 * files are reachable. One piece, because its functions share the entries, the runs and the state of the queue.
 */
export async function openLocalJobs(options: LocalJobsOptions): Promise<Queue> {
  const { files, log, atOnce = limits.jobsAtOnce, waitingMost = waitingLimits } = options;
  const runs = createLocalRuns(options);
  const { entries, tasks, add, drop, recall } = createLocalQueue<StoredJob>({
    files,
    folder: "jobs/",
    unreadable: "The file of a job cannot be read; the job is dropped",
    log,
    atOnce,
    idOf: ({ id }) => id,
    addedAtMs: ({ createdAtMs }) => createdAtMs,
    isValid: ({ id }) => kindOf(id) !== null,
    turnOf: ({ project, share = "" }) => [project, share],
    recover: recoverLocalJob,
    isOver: hasEnded,
    perform: (job) =>
      runs.run(job).catch((error: unknown) => {
        // Nothing was stored, so the previous state counts.
        log.error({ err: error, job: job.value.id }, "The state of a job cannot be stored");
        return storeAgainMs;
      }),
  });
  let isClosing = false;
  let isRead = false;
  let reading: ReturnType<typeof setTimeout> | undefined;

  tasks.start();
  await read();
  const forgetting = setInterval(() => void forgetOld(), forgetEveryMs);
  forgetting.unref?.();

  async function read(): Promise<void> {
    try {
      await recall();
      isRead = true;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const message =
        "The jobs are still being read; try again later, so none is taken; trying again";
      log.error({ err: error.cause }, message);
      if (!isClosing) reading = setTimeout(() => void read(), readAgainMs);
    }
  }

  function checkIsRead(): void {
    if (!isRead) throw unavailable("The jobs are still being read; try again later");
  }

  async function forgetOld(): Promise<void> {
    for (const { value } of entries.values()) {
      const { id, finishedAtMs, keptSeconds } = value;
      if (finishedAtMs === null || Date.now() - finishedAtMs <= keptSeconds * 1_000) continue;
      await drop(id).catch(() => undefined);
    }
  }

  return {
    async add(job) {
      if (isClosing) throw unavailable("The service is stopping");
      checkIsRead();
      const known = entries.get(job.id);
      if (known) return known.settled();
      const fault = shareFault(job, waitingIn(entries), waitingMost);
      if (fault) throw fault;
      await add(newStoredJob(job)).catch(refuseStoring);
    },
    async find(id) {
      checkIsRead();
      const job = entries.get(id);
      return job ? recordOfStored(job.value) : null;
    },
    async cancel(id) {
      checkIsRead();
      const job = entries.get(id);
      if (!job || hasEnded(job.value)) return;
      await job.save({ isCancelled: true }).catch(refuseStoring);
      if (!runs.end(id, "cancelled") && !hasEnded(job.value))
        await job.save(failed(cancelledError));
    },
    async counts() {
      checkIsRead();
      return countsOf(entries);
    },
    /** Running jobs get a short time to finish, then they are asked to stop and get the same time again. */
    async close() {
      if (isClosing) return;
      isClosing = true;
      clearInterval(forgetting);
      clearTimeout(reading);
      tasks.stop();
      const idle = tasks.idle();
      const noLonger = { timeoutMs: limits.jobDrainMs, onTimeout: () => undefined };
      await withTimeout(idle, noLonger);
      for (const id of entries.keys()) runs.end(id, "stopping" satisfies EndReason);
      await withTimeout(idle, noLonger);
    },
  };
}

type Entries = ReadonlyMap<string, { readonly value: StoredJob }>;

function* waitingIn(entries: Entries): Iterable<Waiting> {
  for (const { value } of entries.values()) if (value.state === "waiting") yield value;
}

function countsOf(entries: Entries) {
  const counts = { waiting: 0, active: 0, delayed: 0, completed: 0, failed: 0 };
  for (const { value } of entries.values()) counts[value.state] += 1;
  return counts;
}

function refuseStoring(error: unknown): never {
  throw unavailable("The job could not be stored; try again later", error);
}

/** The state of a job that was just added. */
const newStoredJob = (job: Parameters<Queue["add"]>[0]): StoredJob => ({
  ...job,
  state: "waiting",
  progress: null,
  result: null,
  error: null,
  finishedAtMs: null,
  isCancelled: false,
  tries: 0,
  interruptions: 0,
  isPutBack: false,
});
