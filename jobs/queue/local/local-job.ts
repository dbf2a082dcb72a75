/** A job of the queue in files: its state, and the small file that holds it from the moment it is added until it is forgotten. */
import { AppError } from "../../../core/values/errors.ts";
import { kindOf } from "../../../core/jobs/jobs.ts";
import type { Json } from "../../../core/values/json.ts";
import type { Files, Job, JobRecord } from "../../../core/plans/ports.ts";

/** What a job's file holds, as JSON. */
export interface StoredJob extends JobRecord {
  readonly isCancelled: boolean;
  /** Runs that failed. */
  readonly tries: number;
  /** Times that the process ended while the job ran, and nobody had stopped it. */
  readonly interruptions: number;
  /** Its last run was stopped on purpose. */
  readonly isPutBack: boolean;
}

/** A job with its file. */
export interface LocalJob {
  /** As its file has it. */
  readonly stored: StoredJob;
  /** Ends the current run; null: no run. */
  run: AbortController | null;
  /**
   * Changes are written one after the other, and count once they are on the disk. Rejects when the files are
   * unreachable.
   */
  save(change: Partial<StoredJob>): Promise<void>;
  /** Saves the end of the job. */
  complete(result: Json): Promise<void>;
  fail(error: string): Promise<void>;
  /** Resolves when no change is being written, successful or not. */
  settled(): Promise<void>;
}

/** Folder of the files of all jobs. */
export const jobsFolder = "jobs/";

const keyOf = (id: string): string => `${jobsFolder}${id}.json`;

/** `stored`: as its file has it; of a new job, as the first `save` writes it. */
export function createLocalJob(files: Files, stored: StoredJob): LocalJob {
  let current = stored;
  let saving: Promise<void> = Promise.resolve();

  function save(change: Partial<StoredJob>): Promise<void> {
    const saved = saving.then(async () => {
      const next = { ...current, ...change };
      await files.write(keyOf(next.id), [Buffer.from(JSON.stringify(next))]);
      current = next;
    });
    saving = saved.catch(() => undefined);
    return saved;
  }

  return {
    get stored() {
      return current;
    },
    run: null,
    save,
    complete: (result) => save({ state: "completed", result, finishedAtMs: Date.now() }),
    fail: (error) => save({ state: "failed", error, finishedAtMs: Date.now() }),
    settled: () => saving,
  };
}

/** Null for what is no job: a file that somebody else put there. Rejects with `unavailable`: such a job is not lost. */
export async function readStoredJob(files: Files, key: string): Promise<StoredJob | null> {
  try {
    const stored = JSON.parse(await new Response(await files.read(key)).text()) as StoredJob;
    return kindOf(stored.id) !== null && key === keyOf(stored.id) ? stored : null;
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return null;
  }
}

/** Whether the error says that the files are unreachable, which may pass. */
export const isUnavailable = (error: unknown): error is AppError =>
  error instanceof AppError && error.kind === "unavailable";

/** Removes the job's file. */
export const removeStoredJob = (files: Files, id: string): Promise<void> => files.remove(keyOf(id));

/** Whether the job is completed or failed. */
export const hasEnded = ({ state }: JobRecord): boolean =>
  state === "completed" || state === "failed";

/** The state of a job that was just added. */
export const newStoredJob = (job: Job): StoredJob => ({
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

/** What the queue says of the job. */
export function localRecordOf(stored: StoredJob): JobRecord {
  const {
    isCancelled: _,
    tries: _tries,
    interruptions: _count,
    isPutBack: _back,
    ...record
  } = stored;
  return record;
}
