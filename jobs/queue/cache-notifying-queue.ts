/**
 * core's `Queue` for a service without Redis, which shares no cache with its workers: the cache of this process is
 * invalidated before the service reports a commit as completed.
 */
import { limits } from "../../core/values/limits.ts";
import type { Queue } from "../../core/jobs/queue.ts";

/** Which commits are reported, and to what. */
export interface CacheNotifyingOptions {
  /** Commits of other projects are not reported. */
  readonly project: string;
  /** Tells the cache that any of the project's tables can have changed. */
  wrote(): Promise<void>;
}

/** The same queue, but `find` returns a completed commit only after `wrote`, which is called once for each. */
export function createCacheNotifyingQueue(
  queue: Queue,
  { project, wrote }: CacheNotifyingOptions,
): Queue {
  /** By the id of the job, the oldest first. */
  const notifications = new Map<string, Promise<void>>();

  function notifyOnce(id: string): Promise<void> {
    const known = notifications.get(id);
    if (known) return known;
    const notification = wrote();
    notifications.set(id, notification);
    if (notifications.size > limits.jobsHeardMax)
      notifications.delete(notifications.keys().next().value!);
    return notification;
  }

  return {
    ...queue,
    async find(id) {
      const job = await queue.find(id);
      const isCommitted = job?.kind === "commit" && job.state === "completed";
      if (isCommitted && job.project === project) await notifyOnce(id);
      return job;
    },
  };
}
