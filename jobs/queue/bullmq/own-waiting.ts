/**
 * The jobs that this process has put into BullMQ's queue and that wait there still, as far as it knows: BullMQ can tell the callers of waiting jobs
 * only by reading all of them. What has begun since is found out when a limit is reached, so the list holds no more than the limits allow.
 */
import { limits } from "../../../core/values/limits.ts";
import type { Job } from "../../../core/plans/ports.ts";
import { shareFault, type Waiting, type WaitingLimits } from "../waiting-share.ts";

/** Asks the server whether nobody has begun the job. */
export type IsWaiting = (id: string) => Promise<boolean>;

export interface OwnWaiting {
  /** Counts the job among those that wait. Rejects with `tooManyRequests`, or as `isWaiting` does. */
  take(job: Job, isWaiting: IsWaiting): Promise<void>;
  /** The job was not added. */
  drop(id: string): void;
}

export function createOwnWaiting(most: WaitingLimits): OwnWaiting {
  const waiting = new Map<string, Waiting>();
  /** By project, on the clock of `performance.now()`. */
  const lookedAtMs = new Map<string, number>();

  async function forgetBegun(project: string, isWaiting: IsWaiting): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - (lookedAtMs.get(project) ?? -Infinity) < limits.jobsWaitingLookMs) return;
    lookedAtMs.set(project, nowMs);
    const ids = [...waiting].flatMap(([id, job]) => (job.project === project ? id : []));
    await Promise.all(
      ids.map(async (id) => {
        if (!(await isWaiting(id))) waiting.delete(id);
      }),
    );
  }

  return {
    async take({ id, project, share }, isWaiting) {
      if (waiting.has(id)) return;
      const job = { project, ...(share === undefined ? {} : { share }) };
      if (shareFault(job, waiting.values(), most)) await forgetBegun(project, isWaiting);
      const fault = shareFault(job, waiting.values(), most);
      if (fault) throw fault;
      waiting.set(id, job);
    },
    drop: (id) => void waiting.delete(id),
  };
}
