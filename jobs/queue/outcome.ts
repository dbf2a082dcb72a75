/** What happens to a job whose run failed, for every kind of queue. */
import { AppError } from "../../core/values/errors.ts";
import { unknownError } from "../../core/jobs/jobs.ts";
import { limits } from "../../core/values/limits.ts";
import type { Job } from "../../core/jobs/job.ts";
import type { Log } from "../../core/plans/log-port.ts";

/** Why a run's signal is aborted. */
export type EndReason = "cancelled" | "lost" | "stopping";

/** What happens to the job next. */
export interface Outcome {
  /** Another try can succeed. */
  readonly mayPass: boolean;
  /** For the client. */
  readonly error: string;
}

/** `lastedMs`: a run that took too long is not repeated, as it would take as long again. */
export function outcomeOf(
  error: unknown,
  { job, lastedMs, log }: { job: Job; lastedMs: number; log: Log },
): Outcome {
  const isRefusal = error instanceof AppError && (error.kind !== "unavailable" || error.isLasting);
  const { id, project, endpoint } = job;
  const isTold = error instanceof AppError && error.kind !== "internal";
  if (!isRefusal || !isTold)
    log.warn({ job: id, project, endpoint, err: causeOf(error) }, "A job failed");
  return {
    mayPass: !isRefusal && lastedMs < limits.jobRetryWithinMs,
    error: isTold ? error.message : unknownError,
  };
}

const causeOf = (error: unknown): unknown =>
  error instanceof AppError ? (error.cause ?? error) : error;
