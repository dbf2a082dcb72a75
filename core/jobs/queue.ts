/** The queue of jobs, as actions use it. `jobs/queue` implements it. */
import type { Job } from "./job.ts";
import type { Json } from "../values/json.ts";

/**
 * Jobs of all projects. A job runs at least once. It may run again, or twice at the same time, if a worker dies or
 * sleeps. Only one run's result counts. Every call rejects with `unavailable`, within a second, if the queue is
 * unreachable.
 */
export interface Queue {
  /**
   * Resolves once the job is stored durably. If the id exists already, the old job stays. Rejects with
   * `tooManyRequests` if too many jobs of the project or the caller are waiting.
   */
  add(job: Job): Promise<void>;
  find(id: string): Promise<JobRecord | null>;
  /** Requests cancellation: a waiting job fails at once, a running one soon, unless it completes before. */
  cancel(id: string): Promise<void>;
  counts(): Promise<QueueCounts>;
  close(): Promise<void>;
}

/** A job as the queue knows it. */
export interface JobRecord extends Job {
  /** `waiting`: no worker has started it. A job whose worker died, or that waits for a retry, is still `active`. */
  readonly state: "waiting" | "active" | "completed" | "failed";
  /** `processed` never decreases. Null: no progress was reported yet. */
  readonly progress: JobProgress | null;
  /** What the run gave; null until it is completed. */
  readonly result: Json;
  /** Why it failed, in words fit for the client; null unless it failed. */
  readonly error: string | null;
  /** Null until it is completed or failed. */
  readonly finishedAtMs: number | null;
}

export interface JobProgress {
  readonly processed: number;
  readonly total: number;
}

/** How many entries of a queue are in each state. `delayed`: tried before, and will be tried again. */
export interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly completed: number;
  readonly failed: number;
}
