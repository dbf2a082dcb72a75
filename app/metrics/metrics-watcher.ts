/** Counts what a process does, for its metrics. All label values come from the configuration or the program. */
import type { RouteNames } from "../../core/plans/observer.ts";
import type { Watcher } from "../observe/watcher.ts";
import type { ServiceMetrics, WorkerMetrics } from "./service-metrics.ts";

export const serviceWatcher = (metrics: ServiceMetrics): Watcher => ({
  ...workerWatcher(metrics),
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
  file({ outcome, bytes }, { project }) {
    metrics.files.add([project, outcome]);
    metrics.fileBytes.add([project, outcome], bytes);
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

/** Counts answered requests, or steps of batches. Names that the configuration does not have are empty. */
export const countInto =
  (answers: ServiceMetrics["requests"], duration: ServiceMetrics["requestDuration"]) =>
  (
    { project, endpoint, action }: RouteNames,
    { status, durationMs }: { readonly status: number; readonly durationMs: number },
  ): void => {
    const [one, two, three] = [project ?? "", endpoint ?? "", action ?? ""];
    duration.observe([one, two, three], durationMs / 1_000);
    answers.add([one, two, three, statusText(status)]);
  };

export const workerWatcher = ({ jobDuration }: Pick<WorkerMetrics, "jobDuration">): Watcher => ({
  isTaskless: true,
  jobEnded({ job }, { outcome, durationMs }) {
    jobDuration.observe([job.kind, outcome], durationMs / 1_000);
  },
});

/** The same string object for each status, because it is found faster. */
const statusTexts = new Map<number, string>();

function statusText(status: number): string {
  const known = statusTexts.get(status) ?? String(status);
  statusTexts.set(status, known);
  return known;
}
