/**
 * core's `Queue` inside the process, for installations without Redis. Each job is a small file next to the exports,
 * which is rewritten before a change of its state is reported; a restart reads all files and continues the jobs that
 * have not ended. Only one process at a time may use it.
 */
import { unavailable } from "../../../core/values/errors.ts";
import { cancelledError } from "../../../core/jobs/jobs.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Files, Log, Queue } from "../../../core/plans/ports.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import { shareFault, type Waiting, waitingLimits, type WaitingLimits } from "../waiting-share.ts";
import type { EndReason } from "../outcome.ts";
import {
  createLocalJob,
  hasEnded,
  isUnavailable,
  jobsFolder,
  type LocalJob,
  newStoredJob,
  readStoredJob,
  localRecordOf,
  removeStoredJob,
} from "./local-job.ts";
import { type LocalRunOptions, recoverLocalJob, runLocalJob } from "./run-local-job.ts";
import { createTaskList, type TaskList } from "./task-list.ts";

/** Where jobs are kept, and what runs them. */
export interface LocalQueueOptions extends LocalRunOptions {
  readonly files: Files;
  /** Jobs that run at the same time. Default: `limits.jobsAtOnce`. */
  readonly atOnce?: number;
  /** Default: those of the service. */
  readonly waitingMost?: WaitingLimits;
}

/** By id: jobs that have not ended, or ended a short while ago. */
type LocalJobs = Map<string, LocalJob>;

const forgetEveryMs = 60_000;
/** A job whose state could not be stored is run again after this time. */
const storeAgainMs = 2_000;
/** What earlier processes left is read again after this time, when the files were unreachable. */
const readAgainMs = 2_000;

/**
 * Resolves when what earlier processes left was read, or cannot be read yet: until the files are within reach, every call is
 * `unavailable`.
 */
export async function openLocalQueue(options: LocalQueueOptions): Promise<Queue> {
  const { files, log, atOnce = limits.jobsAtOnce, waitingMost = waitingLimits } = options;
  const jobs: LocalJobs = new Map();
  const tasks = createTaskList<LocalJob>({
    atOnce,
    perform,
    turnOf: ({ stored: { project, share = "" } }) => [project, share],
  });
  let isClosing = false;
  let isRead = false;

  await begin();
  const forgetting = setInterval(() => void forgetOld(jobs, files), forgetEveryMs);
  forgetting.unref?.();

  async function begin(): Promise<void> {
    try {
      const found = await readJobs(files, log);
      for (const job of found) jobs.set(job.stored.id, job);
      tasks.addFirst(found.filter(({ stored }) => !hasEnded(stored)));
      tasks.start();
      isRead = true;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const message =
        "The jobs are still being read; try again later, so none is taken; trying again";
      log.error({ err: error.cause }, message);
      tasks.runLater(() => void begin(), readAgainMs);
    }
  }

  async function perform(job: LocalJob): Promise<void> {
    try {
      const againMs = await runLocalJob(job, options);
      if (againMs !== null) tasks.addLater(job, againMs);
    } catch (error) {
      // Nothing was stored, so the previous state counts.
      log.error({ err: error, job: job.stored.id }, "The state of a job cannot be stored");
      tasks.addLater(job, storeAgainMs);
    }
  }

  function checkIsRead(): void {
    if (!isRead) throw unavailable("The jobs are still being read; try again later");
  }

  return {
    async add(added) {
      if (isClosing) throw unavailable("The service is stopping");
      checkIsRead();
      const known = jobs.get(added.id);
      if (known) return known.settled();
      const fault = shareFault(added, waitingJobs(jobs), waitingMost);
      if (fault) throw fault;
      const job = createLocalJob(files, newStoredJob(added));
      jobs.set(added.id, job);
      await job.save({}).catch((error: unknown) => {
        jobs.delete(added.id);
        throw notStored(error);
      });
      tasks.add(job);
    },
    async find(id) {
      checkIsRead();
      const job = jobs.get(id);
      return job ? localRecordOf(job.stored) : null;
    },
    async cancel(id) {
      checkIsRead();
      const job = jobs.get(id);
      if (job) await cancelJob(job);
    },
    async counts() {
      checkIsRead();
      const counts = { waiting: 0, active: 0, delayed: 0, completed: 0, failed: 0 };
      for (const { stored } of jobs.values()) counts[stored.state] += 1;
      return counts;
    },
    async close() {
      if (isClosing) return;
      isClosing = true;
      clearInterval(forgetting);
      await stopJobs(jobs, tasks);
    },
  };
}

/** What earlier processes left, the oldest first. Rejects with `unavailable` while the files are unreachable. */
async function readJobs(files: Files, log: Log): Promise<LocalJob[]> {
  const found: LocalJob[] = [];
  for await (const { key } of files.list(jobsFolder)) {
    const stored = await readStoredJob(files, key);
    if (stored) found.push(createLocalJob(files, stored));
    else log.warn({ file: key }, "The file of a job cannot be read; the job is dropped");
  }
  found.sort((one, other) => one.stored.createdAtMs - other.stored.createdAtMs);
  for (const job of found) await recoverLocalJob(job);
  return found;
}

function* waitingJobs(jobs: LocalJobs): Iterable<Waiting> {
  for (const { stored } of jobs.values()) if (stored.state === "waiting") yield stored;
}

async function forgetOld(jobs: LocalJobs, files: Files): Promise<void> {
  for (const [id, { stored }] of jobs) {
    const { finishedAtMs, keptSeconds } = stored;
    if (finishedAtMs === null || Date.now() - finishedAtMs <= keptSeconds * 1_000) continue;
    jobs.delete(id);
    await removeStoredJob(files, id).catch(() => undefined);
  }
}

async function cancelJob(job: LocalJob): Promise<void> {
  if (hasEnded(job.stored)) return;
  await job.save({ isCancelled: true }).catch((error: unknown) => {
    throw notStored(error);
  });
  if (job.run) job.run.abort("cancelled" satisfies EndReason);
  else if (!hasEnded(job.stored)) await job.fail(cancelledError);
}

/** Running jobs get a short time to finish, then they are asked to stop and get the same time again. */
async function stopJobs(jobs: LocalJobs, tasks: TaskList<LocalJob>): Promise<void> {
  tasks.stop();
  const idle = tasks.idle();
  const noLonger = { timeoutMs: limits.jobDrainMs, onTimeout: () => undefined };
  await withTimeout(idle, noLonger);
  for (const { run } of jobs.values()) run?.abort("stopping" satisfies EndReason);
  await withTimeout(idle, noLonger);
}

const notStored = (error: unknown) =>
  unavailable("The job could not be stored; try again later", error);
