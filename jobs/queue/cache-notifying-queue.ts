/**
 * core's `Queue` for a service that shares no cache with its workers, as they share no Redis: the cache of this process hears of a commit before
 * anybody hears from the service that it is completed.
 */
import { limits } from "../../core/limits.ts";
import type { Queue } from "../../core/ports.ts";

export interface CacheNotifyingOptions {
  /** Commits of other projects are none of its business. */
  readonly project: string;
  /** Tells the cache that any of the project's tables may have changed. */
  wrote(): Promise<void>;
}

export function createCacheNotifyingQueue(
  queue: Queue,
  { project, wrote }: CacheNotifyingOptions,
): Queue {
  /** By id, the oldest first: hearing of a commit once is enough. */
  const heard = new Map<string, Promise<void>>();

  function hear(id: string): Promise<void> {
    const known = heard.get(id);
    if (known) return known;
    const hearing = wrote();
    heard.set(id, hearing);
    if (heard.size > limits.jobsHeardMax) heard.delete(heard.keys().next().value!);
    return hearing;
  }

  return {
    ...queue,
    async find(id) {
      const job = await queue.find(id);
      const isCommitted = job?.kind === "commit" && job.state === "completed";
      if (isCommitted && job.project === project) await hear(id);
      return job;
    },
  };
}
