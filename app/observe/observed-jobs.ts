/** Reports the runs of jobs, and lets their work know which job it belongs to. */
import type { JobOutcome, TraceCarrier } from "../../core/plans/observer.ts";
import type { Run, RunJob } from "../../core/jobs/job.ts";
import { currentTask, type JobTask, withinTask } from "./current-task.ts";
import type { Watcher } from "./watcher.ts";

const taskOf = ({ job }: Run): JobTask => ({
  kind: "job",
  id: job.id,
  startedMs: performance.now(),
  job,
});

/** Each run is reported. Its job is handed on with the trace of the run itself. */
export const observedRunJob =
  (runJob: RunJob, watchers: readonly Watcher[]): RunJob =>
  (run) => {
    const task = taskOf(run);
    return withinTask(task, async () => {
      for (const watcher of watchers) watcher.jobBegan?.(task);
      const end = (outcome: JobOutcome, error?: unknown) => {
        const durationMs = performance.now() - task.startedMs;
        for (const watcher of watchers) watcher.jobEnded?.(task, { outcome, durationMs, error });
      };
      const trace = traceOf(watchers);
      try {
        const result = await runJob(trace ? { ...run, job: { ...run.job, trace } } : run);
        end("completed");
        return result;
      } catch (error) {
        const { aborted, reason } = run.signal;
        end(aborted && isReason(reason) ? reason : "failed", error);
        throw error;
      }
    });
  };

/** The same run seen from its thread, where its statements are sent. */
export const threadRunJob =
  (runJob: RunJob): RunJob =>
  (run) =>
    withinTask(taskOf(run), () => runJob(run));

/** The trace for work that outlives the current task; null: none. */
export function traceOf(watchers: readonly Watcher[]): TraceCarrier | null {
  for (const watcher of watchers) {
    const trace = watcher.trace?.(currentTask());
    if (trace) return trace;
  }
  return null;
}

const isReason = (reason: unknown): reason is "cancelled" | "lost" | "stopping" =>
  reason === "cancelled" || reason === "lost" || reason === "stopping";
