/** Measures the runs of jobs. */
import type { RunJob } from "../../core/plans/ports.ts";
import type { Histogram } from "./series.ts";

/** The same, but that the duration of each run is told, by the kind of the job and what became of the run. */
export const observedJobs =
  (runJob: RunJob, jobDuration: Histogram): RunJob =>
  async (run) => {
    const startedMs = performance.now();
    const observe = (outcome: string): void =>
      jobDuration.observe([run.job.kind, outcome], (performance.now() - startedMs) / 1_000);
    try {
      const result = await runJob(run);
      observe("completed");
      return result;
    } catch (error) {
      // The reason of an end that was asked for: `cancelled`, `lost` or `stopping`.
      observe(run.signal.aborted ? String(run.signal.reason) : "failed");
      throw error;
    }
  };
