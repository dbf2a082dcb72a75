/** Reports of one run's progress: at most a few per second, and progress never decreases. */
import { limits } from "../../../core/values/limits.ts";
import type { JobProgress } from "../../../core/plans/ports.ts";
import type { LocalJob } from "./local-job.ts";

/** The reports of one run. */
export interface ProgressReports {
  /** Rows done and rows in all, as the run says. */
  progress(processed: number, total: number): void;
  /** Resolves when no report is being written any more. */
  stop(): Promise<void>;
}

/** The first report is written at once. A report that cannot be stored is lost. */
export function createProgressReports(job: LocalJob): ProgressReports {
  let latest: JobProgress | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let writing: Promise<void> | null = null;

  function report(): void {
    timer = null;
    // A slow place for files gets the next report after this one.
    writing ??= write().finally(() => {
      writing = null;
    });
  }

  async function write(): Promise<void> {
    if (latest === null) return;
    const processed = Math.max(latest.processed, job.stored.progress?.processed ?? 0);
    const progress = { processed: Math.min(processed, latest.total), total: latest.total };
    await job.save({ progress }).catch(() => undefined);
  }

  return {
    progress(processed, total) {
      const isFirst = latest === null;
      latest = { processed, total };
      if (isFirst) report();
      else timer ??= setTimeout(report, limits.jobProgressPauseMs);
    },
    async stop() {
      if (timer !== null) clearTimeout(timer);
      await writing;
    },
  };
}
