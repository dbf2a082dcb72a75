/**
 * core's `Queue` inside the process, for installations without Redis. Each job is a small file beside the exports, written anew whenever its
 * state changes and before anybody hears of it; a restart reads them all and goes on with those that have not ended.
 * One process at a time may use it.
 */
import { AppError, unavailable } from "../../../core/errors.ts";
import { abandonedError, cancelledError, kindOf } from "../../../core/jobs/jobs.ts";
import { limits } from "../../../core/limits.ts";
import type { Json } from "../../../core/json.ts";
import type { Files, Job, JobRecord, Log, Queue, RunJob } from "../../../core/ports.ts";
import { type EndReason, outcomeOf } from "../outcome.ts";

export interface LocalQueueOptions {
  readonly files: Files;
  readonly runJob: RunJob;
  readonly log: Log;
  /** Default: `limits.jobsAtOnce`. */
  readonly atOnce?: number;
}

/** What a job's file holds. */
interface Kept extends JobRecord {
  readonly isCancelled: boolean;
  /** Runs that failed. */
  readonly tries: number;
  /** Times that the process ended while the job ran, and nobody had stopped it. */
  readonly interruptions: number;
  /** Its last run was stopped on purpose. */
  readonly isPutBack: boolean;
}

/** A job that has not ended, or ended a short while ago. */
interface Live {
  kept: Kept;
  /** Files of one job are written one after the other. */
  saving: Promise<void>;
  end: AbortController | null;
}

const folder = "jobs/";
const forgetEveryMs = 60_000;
/** A job whose state the disk did not take begins again after this time. */
const storeAgainMs = 2_000;
/** What earlier processes left is read again after this time, when the files were out of reach. */
const readAgainMs = 2_000;

/**
 * Resolves when what earlier processes left was read, or cannot be read yet: until the files are within reach, every call is
 * `unavailable`.
 */
export async function openLocalQueue(options: LocalQueueOptions): Promise<Queue> {
  const { files, runJob, log, atOnce = limits.jobsAtOnce } = options;
  const jobs = new Map<string, Live>();
  const waiting: Live[] = [];
  const running = new Set<Promise<void>>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let isClosing = false;
  let isRead = false;

  await begin();
  const forgetting = setInterval(() => void forgetOld(), forgetEveryMs);
  forgetting.unref?.();

  async function begin(): Promise<void> {
    try {
      await readAll();
      isRead = true;
      pump();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      log.error(
        { err: error.cause },
        "The jobs cannot be read yet, so none is taken; trying again",
      );
      afterwards(readAgainMs, () => void begin());
    }
  }

  function checkIsRead(): void {
    if (!isRead) throw unavailable("The jobs cannot be read yet");
  }

  async function readAll(): Promise<void> {
    const found: Live[] = [];
    for await (const { key } of files.list(folder)) {
      const kept = await readKept(files, key);
      if (kept) found.push({ kept, saving: Promise.resolve(), end: null });
      else log.warn({ file: key }, "The file of a job cannot be read; the job is forgotten");
    }
    found.sort((one, other) => one.kept.createdAtMs - other.kept.createdAtMs);
    for (const live of found) if (!hasEnded(live.kept)) await interrupted(live);
    for (const live of found) jobs.set(live.kept.id, live);
    waiting.push(...found.filter(({ kept }) => !hasEnded(kept)));
  }

  /** The process that ran the job is gone. */
  async function interrupted(live: Live): Promise<void> {
    const { state, isPutBack, isCancelled, interruptions } = live.kept;
    if (isCancelled) return end(live, { state: "failed", error: cancelledError });
    if (state !== "active" || isPutBack) return;
    if (interruptions >= limits.jobTakeOversMax)
      return end(live, { state: "failed", error: abandonedError });
    await save(live, { interruptions: interruptions + 1 });
  }

  /** The change counts when it is on the disk. */
  function save(live: Live, change: Partial<Kept>): Promise<void> {
    const saved = live.saving.then(async () => {
      const kept = { ...live.kept, ...change };
      await files.write(`${folder}${kept.id}.json`, [Buffer.from(JSON.stringify(kept))]);
      live.kept = kept;
    });
    live.saving = saved.catch(() => undefined);
    return saved;
  }

  const end = (
    live: Live,
    outcome: { state: "completed"; result: Json } | { state: "failed"; error: string },
  ): Promise<void> => save(live, { ...outcome, finishedAtMs: Date.now() });

  function pump(): void {
    while (!isClosing && running.size < atOnce && waiting.length > 0) {
      const live = waiting.shift()!;
      const run = runOnce(live)
        // The disk took nothing: the state before is the one that counts.
        .catch((error: unknown) => {
          log.error({ err: error, job: live.kept.id }, "The state of a job cannot be stored");
          later(live, storeAgainMs);
        })
        .finally(() => {
          running.delete(run);
          pump();
        });
      running.add(run);
    }
  }

  async function runOnce(live: Live): Promise<void> {
    if (hasEnded(live.kept)) return;
    const controller = (live.end = new AbortController());
    const startedMs = performance.now();
    const reports = createReports(live, save);
    try {
      await save(live, { state: "active", isPutBack: false });
      const { signal } = controller;
      signal.throwIfAborted();
      const { progress } = reports;
      const result = await runJob({
        job: jobOf(live.kept),
        id: crypto.randomUUID(),
        signal,
        progress,
      });
      await reports.stop();
      await end(live, { state: "completed", result });
    } catch (error) {
      await reports.stop();
      const reason: unknown = controller.signal.aborted ? controller.signal.reason : null;
      await failed(live, error, { reason, lastedMs: performance.now() - startedMs });
    } finally {
      live.end = null;
    }
  }

  async function failed(
    live: Live,
    error: unknown,
    { reason, lastedMs }: { reason: unknown; lastedMs: number },
  ): Promise<void> {
    if (live.kept.isCancelled) return end(live, { state: "failed", error: cancelledError });
    if (reason === ("stopping" satisfies EndReason)) return save(live, { isPutBack: true });
    const outcome = outcomeOf(error, { job: live.kept, lastedMs, log });
    const tries = live.kept.tries + 1;
    if (!outcome.mayPass || tries >= limits.jobTriesMax)
      return end(live, { state: "failed", error: outcome.error });
    await save(live, { tries, isPutBack: true });
    const delayMs = limits.jobRetryDelayMs * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
    later(live, delayMs);
  }

  function later(live: Live, delayMs: number): void {
    afterwards(delayMs, () => {
      waiting.push(live);
      pump();
    });
  }

  function afterwards(delayMs: number, work: () => void): void {
    if (isClosing) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, delayMs);
    timers.add(timer);
  }

  async function forgetOld(): Promise<void> {
    for (const [id, { kept }] of jobs) {
      const { finishedAtMs, keptSeconds } = kept;
      if (finishedAtMs === null || Date.now() - finishedAtMs <= keptSeconds * 1_000) continue;
      jobs.delete(id);
      await files.remove(`${folder}${id}.json`).catch(() => undefined);
    }
  }

  return {
    async add(job) {
      if (isClosing) throw unavailable("The service is stopping");
      checkIsRead();
      const known = jobs.get(job.id);
      if (known) return void (await known.saving);
      const live: Live = { kept: newlyKept(job), saving: Promise.resolve(), end: null };
      jobs.set(job.id, live);
      try {
        await save(live, {});
      } catch (error) {
        jobs.delete(job.id);
        throw unavailable("The job could not be stored", error);
      }
      waiting.push(live);
      pump();
    },
    async find(id) {
      checkIsRead();
      const live = jobs.get(id);
      return live ? recordOf(live.kept) : null;
    },
    async cancel(id) {
      checkIsRead();
      const live = jobs.get(id);
      if (!live || hasEnded(live.kept)) return;
      await save(live, { isCancelled: true }).catch((error: unknown) => {
        throw unavailable("The job could not be stored", error);
      });
      if (live.end) live.end.abort("cancelled" satisfies EndReason);
      else if (!hasEnded(live.kept)) await end(live, { state: "failed", error: cancelledError });
    },
    async close() {
      if (isClosing) return;
      isClosing = true;
      clearInterval(forgetting);
      for (const timer of timers) clearTimeout(timer);
      const finished = Promise.all(running);
      await Promise.race([finished, pause(limits.jobDrainMs)]);
      for (const { end: controller } of jobs.values())
        controller?.abort("stopping" satisfies EndReason);
      await Promise.race([finished, pause(limits.jobDrainMs)]);
    },
  };
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref?.());

const hasEnded = ({ state }: JobRecord): boolean => state === "completed" || state === "failed";

const newlyKept = (job: Job): Kept => ({
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

function recordOf(kept: Kept): JobRecord {
  const {
    isCancelled: _,
    tries: _tries,
    interruptions: _count,
    isPutBack: _back,
    ...record
  } = kept;
  return record;
}

function jobOf({
  id,
  kind,
  project,
  endpoint,
  caller,
  request,
  createdAtMs,
  keptSeconds,
}: Job): Job {
  return { id, kind, project, endpoint, caller, request, createdAtMs, keptSeconds };
}

/** Null for what is no job: a file that somebody else put there. Rejects with `unavailable`: such a job is not lost. */
async function readKept(files: Files, key: string): Promise<Kept | null> {
  try {
    const kept = JSON.parse(await new Response(await files.read(key)).text()) as Kept;
    return kindOf(kept.id) !== null && key === `${folder}${kept.id}.json` ? kept : null;
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return null;
  }
}

const isUnavailable = (error: unknown): error is AppError =>
  error instanceof AppError && error.kind === "unavailable";

/** Reports of one run's progress, a few per second at most; what was shown once is never taken back. */
function createReports(live: Live, save: (live: Live, change: Partial<Kept>) => Promise<void>) {
  let latest: { processed: number; total: number } | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let saving: Promise<void> | null = null;

  function report(): void {
    timer = null;
    // A slow place for files gets the next report after this one.
    saving ??= write().finally(() => {
      saving = null;
    });
  }

  async function write(): Promise<void> {
    if (latest === null) return;
    const processed = Math.max(latest.processed, live.kept.progress?.processed ?? 0);
    const progress = { processed: Math.min(processed, latest.total), total: latest.total };
    await save(live, { progress }).catch(() => undefined);
  }

  return {
    progress(processed: number, total: number): void {
      const isFirst = latest === null;
      latest = { processed, total };
      if (isFirst) report();
      else timer ??= setTimeout(report, limits.jobProgressPauseMs);
    },
    async stop(): Promise<void> {
      if (timer !== null) clearTimeout(timer);
      await saving;
    },
  };
}
