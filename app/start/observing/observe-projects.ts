/**
 * The watchers that need no packages: for the log, what `observe` in the project.json of each project asks for, and the
 * trace that is only passed on.
 */
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import type { Observation } from "../../observe/observation.ts";
import { watchTimes } from "../../observe/server-timing.ts";
import type { Watcher, Origin } from "../../observe/watcher.ts";
import type { StatementReport, TraceCarrier } from "../../../core/plans/observer.ts";
import { limits } from "../../../core/values/limits.ts";
import { taskFields, type Task } from "../../observe/current-task.ts";

export const logWatchers = (logLevel: string, log: Log): readonly Watcher[] =>
  logLevel === "debug" || logLevel === "trace" ? [watchStatements(log)] : [];

/** The same observation, with the watchers that `observe` of each project names. */
export function observeProjects(
  observation: Observation,
  configs: readonly ProjectConfig[],
  log: Log,
): Observation {
  const origins = new Map(
    configs.flatMap(({ name, observe, cors }) =>
      observe.serverTiming ? [[name, cors.origins] as const] : [],
    ),
  );
  const slowMs = new Map(
    configs.flatMap(({ name, observe: { slowStatementMs } }) =>
      slowStatementMs === undefined ? [] : [[name, slowStatementMs] as const],
    ),
  );
  return observation.beside([
    ...(origins.size > 0 ? [watchTimes(origins)] : []),
    ...(slowMs.size > 0 ? [watchSlowStatements(slowMs, log)] : []),
  ]);
}

const watchStatements = (log: Log): Watcher => ({
  statement: (report, origin) => log.debug(fieldsOf(report, origin), "statement"),
});

/** Logs slow statements at level warn. `slowMs`: their minimum, by project; without an entry, no statement is slow. */
function watchSlowStatements(slowMs: ReadonlyMap<string, number>, log: Log): Watcher {
  return {
    projects: new Set(slowMs.keys()),
    statement(report, origin) {
      if (report.durationMs >= slowMs.get(origin.project)!)
        log.warn(fieldsOf(report, origin), "A statement was slow");
    },
  };
}

/** Log lines about statements never contain values. */
const fieldsOf = (
  { text, durationMs, rows, failure }: StatementReport,
  { project, task }: Origin,
): object => ({
  ...taskFields(task),
  project,
  durationMs: Math.round(durationMs * 10) / 10,
  rows,
  ...(failure !== null && { failure }),
  sql:
    text.length > limits.loggedSqlLengthMax ? `${text.slice(0, limits.loggedSqlLengthMax)}…` : text,
});

/**
 * Passes the trace of a request on to its hooks and jobs unchanged, for runtimes without OpenTelemetry: the service
 * adds no spans there, but does not break the trace.
 */
export const forwardTrace: Watcher = {
  trace: carrierOf,
  hookBegan: ({ request, task }) => ({
    headers: { ...(request.trace ?? carrierOf(task)) },
    ended: () => undefined,
  }),
};

/** The format of W3C Trace Context. */
const shape = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(?:-.{0,200})?$/;

function carrierOf(task: Task | undefined): TraceCarrier | null {
  if (task?.kind !== "request") return task?.job.trace ?? null;
  const { headers } = task.request;
  const traceparent = headers.get("traceparent") ?? "";
  if (!shape.test(traceparent)) return null;
  const tracestate = headers.get("tracestate");
  return { traceparent, ...(tracestate !== null && { tracestate }) };
}
