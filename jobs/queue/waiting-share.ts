/** How many jobs can wait, per project and per caller within it, so that neither fills the queue for the others. */
import { AppError } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type { Job } from "../../core/jobs/job.ts";

/** The parts of a job that decide whose turn it takes. */
export type Waiting = Pick<Job, "project" | "share">;

/** The most jobs that can wait. */
export interface WaitingLimits {
  readonly ofProject: number;
  readonly ofCaller: number;
}

export const waitingLimits: WaitingLimits = {
  ofProject: limits.jobsWaitingMax,
  ofCaller: limits.jobsWaitingCallerMax,
};

/** The error that refuses one more job beside those, or null. */
export function shareFault(
  { project, share }: Waiting,
  waiting: Iterable<Waiting>,
  { ofProject, ofCaller }: WaitingLimits,
): AppError | null {
  const counts = { project: 0, caller: 0 };
  for (const other of waiting) {
    if (other.project !== project) continue;
    counts.project += 1;
    if (other.share === share) counts.caller += 1;
  }
  if (counts.caller >= ofCaller) return tooMany(`You have ${ofCaller} jobs waiting already`);
  return counts.project >= ofProject
    ? tooMany(`${ofProject} jobs of this project are waiting already`)
    : null;
}

const tooMany = (what: string): AppError =>
  new AppError("tooManyRequests", `${what}; wait until some of them have started`);
