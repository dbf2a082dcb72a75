/** A job, and one attempt at it. `jobs/` runs them. */
import type { KeptCaller } from "../plans/caller.ts";
import type { TraceCarrier } from "../plans/observer.ts";
import type { Json } from "../values/json.ts";

/** Background work, described by data only, so that any process can run it. */
export interface Job {
  /** `<kind>-<uuid>`. */
  readonly id: string;
  readonly kind: JobKind;
  readonly project: string;
  readonly endpoint: string;
  /** The caller who started it and whose rows it is about; null if the project requires no credentials. */
  readonly caller: KeptCaller | null;
  /** Equal for jobs of one caller, as in `shareOf`; absent: a job of an earlier version. */
  readonly share?: string;
  /** The request, in a form that depends on the kind; at most `limits.jobRequestLengthMax` characters of JSON. */
  readonly request: { readonly [name: string]: Json };
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
  /** The queue may forget the job this long after its end. */
  readonly keptSeconds: number;
  /** The trace of the request that started it; absent: none. */
  readonly trace?: TraceCarrier;
}

export type JobKind = "export" | "preview" | "commit";

/** One attempt at a job. */
export interface Run {
  readonly job: Job;
  /** A unique name of this attempt, for files that it writes before it is known whether its result counts. */
  readonly id: string;
  /** Aborted when the job was cancelled, another run took it over, or the process stops. The run must reject soon. */
  readonly signal: AbortSignal;
  /** Rows done and rows in all. Cheap: may be called for every batch. */
  progress(processed: number, total: number): void;
}

/**
 * Executes a job and returns its result. An AppError fails the job with the error's message. After `unavailable`, or an
 * error that is no AppError, the job is retried a little later.
 */
export type RunJob = (run: Run) => Promise<Json>;
