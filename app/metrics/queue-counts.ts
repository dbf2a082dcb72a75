/** How many jobs and hook calls are in each state, asked of their queues when somebody reads the metrics. */
import { limits } from "../../core/values/limits.ts";
import type { QueueCounts } from "../../core/plans/ports.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import type { ServiceMetrics } from "./service-metrics.ts";

/** By the name of the queue; null: there is no such queue. */
type Queues = Readonly<Record<"jobs" | "hooks", (() => Promise<QueueCounts>) | null>>;

/** Resolves within `limits.jobTimeoutMs`, with what is known then. */
export async function countQueues(
  { jobs, queueUp }: Pick<ServiceMetrics, "jobs" | "queueUp">,
  queues: Queues,
): Promise<void> {
  const asked = await Promise.all(
    Object.entries(queues).flatMap(([name, ask]) => (ask ? [countsOf(name, ask)] : [])),
  );
  queueUp.set(asked.map(({ name, counts }) => ({ values: [name], value: counts ? 1 : 0 })));
  jobs.set(
    asked.flatMap(({ name, counts }) =>
      Object.entries(counts ?? {}).map(([state, value]) => ({ values: [name, state], value })),
    ),
  );
}

async function countsOf(name: string, ask: () => Promise<QueueCounts>) {
  const counts = await withTimeout(
    ask().catch(() => null),
    { timeoutMs: limits.jobTimeoutMs, onTimeout: () => null },
  );
  return { name, counts };
}
