/** The runs of one worker of jobs: runs each job and reports the result to BullMQ. */
import { UnrecoverableError } from "bullmq";
import { cancelledError } from "../../../core/jobs/jobs.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import type { RunJob } from "../../../core/jobs/job.ts";
import { type EndReason, outcomeOf } from "../outcome.ts";
import { reasonOf, type JobData, jobOf } from "./stored-job.ts";
import { putBack, type TakenJob } from "./open-worker.ts";
import { watchRun } from "./run-watch.ts";

/** What runs the jobs of a worker. */
export interface JobRunsOptions {
  readonly runJob: RunJob;
  readonly lockMs: number;
  readonly log: Log;
}

/** The runs of a worker, by the ids of their jobs. */
export interface JobRuns {
  /** Runs the job. Resolves with its result as JSON text, or rejects with an error that tells BullMQ what to do. */
  perform(taken: TakenJob<JobData>): Promise<string>;
  /** Ends the run of the job with this id, if there is one. */
  end(id: string, reason: EndReason): void;
  endAll(reason: EndReason): void;
  /** Number of runs since the start. */
  begun(): number;
  isIdle(): boolean;
}

/** `lockMs`: a run that reports nothing for this long has lost its job. */
export function createJobRuns({ runJob, lockMs, log }: JobRunsOptions): JobRuns {
  const underWay = new Map<string, AbortController>();
  let begun = 0;

  async function perform(taken: TakenJob<JobData>): Promise<string> {
    const job = jobOf(taken.job);
    if (taken.job.data.cancelledAtMs !== undefined) throw cancelled();
    const end = new AbortController();
    underWay.set(job.id, end);
    begun += 1;
    const startedMs = performance.now();
    const watch = watchRun(taken, { lockMs, end });
    try {
      const { progress } = watch;
      const run = { job, id: crypto.randomUUID(), signal: end.signal, progress };
      return JSON.stringify(await runJob(run));
    } catch (error) {
      const reason = end.signal.aborted ? (end.signal.reason as EndReason) : null;
      if (reason === "cancelled") throw cancelled();
      if (reason === "stopping") throw await putBack(taken);
      const lastedMs = performance.now() - startedMs;
      const outcome = outcomeOf(error, { job, lastedMs, log });
      const Failure = outcome.mayPass ? Error : UnrecoverableError;
      throw new Failure(reasonOf(outcome.error));
    } finally {
      watch.stop();
      if (underWay.get(job.id) === end) underWay.delete(job.id);
    }
  }

  return {
    perform,
    end: (id, reason) => underWay.get(id)?.abort(reason),
    endAll(reason) {
      for (const end of underWay.values()) end.abort(reason);
    },
    begun: () => begun,
    isIdle: () => underWay.size === 0,
  };
}

const cancelled = (): Error => new UnrecoverableError(reasonOf(cancelledError));
