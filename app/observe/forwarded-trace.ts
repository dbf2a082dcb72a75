/**
 * Passes the trace of a request on to its hooks and jobs as it came, for runtimes without OpenTelemetry: the service
 * has no spans of its own there, but does not break the trace.
 */
import type { TraceCarrier } from "../../core/plans/observer.ts";
import type { Task } from "./current-task.ts";
import type { Watcher } from "./watcher.ts";

export const forwardTrace: Watcher = {
  trace: carrierOf,
  hookBegan: ({ request, task }) => ({
    headers: { ...(request.trace ?? carrierOf(task)) },
    ended: () => undefined,
  }),
};

/** As the W3C writes it. */
const shape = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(?:-.{0,200})?$/;

function carrierOf(task: Task | undefined): TraceCarrier | null {
  if (task?.kind !== "request") return task?.job.trace ?? null;
  const { headers } = task.request;
  const traceparent = headers.get("traceparent") ?? "";
  if (!shape.test(traceparent)) return null;
  const tracestate = headers.get("tracestate");
  return { traceparent, ...(tracestate !== null && { tracestate }) };
}
