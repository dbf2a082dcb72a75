/** Gauges of projects and queues, set when the metrics are read. */
import type { QueueCounts } from "../../core/jobs/queue.ts";
import type { ConnectionCounts } from "../../core/plans/observer.ts";
import { limits } from "../../core/values/limits.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import type { ServiceMetrics } from "./service-metrics.ts";

interface ServedProject {
  readonly name: string;
  /** Null: its database is not reached yet. */
  readonly routes: object | null;
  readonly db: { connections(): ConnectionCounts };
  /** Of streams of changes. */
  readonly feed: { readonly listeners: number };
}

export function gaugeProjects(
  { projectUp, connections, callersWaiting, changeStreams }: ServiceMetrics,
  projects: readonly ServedProject[],
): void {
  projectUp.set(
    projects.map(({ name, routes }) => ({ values: [name], value: routes === null ? 0 : 1 })),
  );
  const counted = projects.map(({ name, db }) => ({ name, ...db.connections() }));
  connections.set(
    counted.flatMap(({ name, busy, idle, opening }) => [
      { values: [name, "busy"], value: busy },
      { values: [name, "idle"], value: idle },
      { values: [name, "opening"], value: opening },
    ]),
  );
  changeStreams.set(projects.map(({ name, feed }) => ({ values: [name], value: feed.listeners })));
  callersWaiting.set(counted.map(({ name, waiting }) => ({ values: [name], value: waiting })));
}

/** Of all projects; null: none of them has webhooks. */
export function deliveryCounts(
  projects: readonly ((() => Promise<QueueCounts>) | null)[],
): (() => Promise<QueueCounts>) | null {
  const asked = projects.filter((counts) => counts !== null);
  if (asked.length === 0) return null;
  return async () => {
    const found = await Promise.all(asked.map((counts) => counts()));
    const sum = (state: keyof QueueCounts): number =>
      found.reduce((total, counts) => total + counts[state], 0);
    return {
      waiting: sum("waiting"),
      active: sum("active"),
      delayed: sum("delayed"),
      completed: sum("completed"),
      failed: sum("failed"),
    };
  };
}

/** By the name of the queue; null: there is no such queue. */
type Queues = Readonly<Record<"jobs" | "hooks" | "webhooks", (() => Promise<QueueCounts>) | null>>;

/** Numbers of jobs, hook calls and deliveries of webhooks by state. Resolves within `limits.jobTimeoutMs`, with the counts known by then. */
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
