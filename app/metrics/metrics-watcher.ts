/** Counts what a process does, for its metrics. Every value of a label comes from the configuration or the program. */
import type { Watcher } from "../observe/watcher.ts";
import type { ServiceMetrics, WorkerMetrics } from "./metrics.ts";

/** Watches a service. */
export const serviceWatcher = (metrics: ServiceMetrics): Watcher => ({
  ...workerWatcher(metrics),
  requestEnded({ exchange: { place } }, { status, durationMs }) {
    const { project, endpoint, action } = place;
    const names = [project ?? "", endpoint ?? "", action ?? ""];
    metrics.requestDuration.observe(names, durationMs / 1_000);
    metrics.requests.add([...names, String(status)]);
    return undefined;
  },
  statement({ durationMs, failure }, { project }) {
    metrics.statementDuration.observe([project], durationMs / 1_000);
    if (failure !== null) metrics.statementFailures.add([project, failure]);
  },
  waited({ durationMs }, { project }) {
    metrics.connectionWait.observe([project], durationMs / 1_000);
  },
  cache({ kind, result }, { project }) {
    metrics.cacheRequests.add([project, kind, result]);
  },
  handler({ handler, endpoint, event, outcome, durationMs }, { project }) {
    const labels = [project, endpoint, event, handler, outcome];
    metrics.handlerDuration.observe(labels, durationMs / 1_000);
  },
  hookBegan: ({ place: { project, endpoint, hook } }) => ({
    ended({ outcome, durationMs }) {
      metrics.hookCalls.add([outcome]);
      metrics.hookDuration.observe([project, endpoint, hook, outcome], durationMs / 1_000);
    },
  }),
});

/** Watches a worker. */
export const workerWatcher = ({ jobDuration }: Pick<WorkerMetrics, "jobDuration">): Watcher => ({
  jobEnded({ job }, { outcome, durationMs }) {
    jobDuration.observe([job.kind, outcome], durationMs / 1_000);
  },
});
