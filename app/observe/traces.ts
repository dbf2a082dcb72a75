/**
 * Traces in the words of OpenTelemetry's semantic conventions: a span for each request, and below it one for each
 * statement and each call of a hook. A job continues the trace of the request that started it. Spans hold names of the
 * configuration and SQL with placeholders, and no values of requests.
 */
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import type {
  HookReport,
  RouteNames,
  StatementReport,
  TraceCarrier,
} from "../../core/plans/observer.ts";
import type { Log } from "../../core/plans/log-port.ts";
import type { JobTask, RequestTask, Task } from "./current-task.ts";
import type { TraceSettings } from "./trace-settings.ts";
import { openTracer } from "./tracer.ts";
import type { HookCalling, RequestEnd, Watcher } from "./watcher.ts";

const propagator = new W3CTraceContextPropagator();

/**
 * Sends the spans of the process. In the thread of jobs, `isThread`, a job's own span is that of its process. One piece,
 * because its members share the contexts of running tasks.
 */
export function watchTraces(
  settings: TraceSettings,
  { log, isThread }: { log: Log; isThread: boolean },
): Watcher {
  const { tracer, close } = openTracer(settings, log);
  const contexts = new WeakMap<Task, Context>();

  /** Null: the work belongs to no trace. */
  function contextOf(task: Task | undefined): Context | null {
    if (task === undefined) return null;
    const known = contexts.get(task);
    if (known) return known;
    const context = isThread && task.kind === "job" ? extracted(task.job.trace) : null;
    if (context) contexts.set(task, context);
    return context;
  }

  function begin(task: Task, name: string, { kind, parent, attributes }: Beginning): void {
    const startTime = wallClock(task.startedMs);
    const span = tracer.startSpan(name, { kind, attributes, startTime }, parent);
    contexts.set(task, trace.setSpan(parent, span));
  }

  return {
    requestBegan(task) {
      const { method, headers } = task.request;
      const parent = extracted({
        traceparent: headers.get("traceparent") ?? "",
        tracestate: headers.get("tracestate") ?? "",
      });
      begin(task, method, {
        kind: SpanKind.SERVER,
        parent: parent ?? ROOT_CONTEXT,
        attributes: requestAttributes(task),
      });
    },
    requestEnded(task, end) {
      const span = spanIn(contexts.get(task));
      if (span) endRequest(span, task, end);
      return undefined;
    },
    jobBegan(task) {
      const parent = extracted(task.job.trace) ?? ROOT_CONTEXT;
      const attributes = jobAttributes(task);
      begin(task, `job ${task.job.kind}`, { kind: SpanKind.CONSUMER, parent, attributes });
    },
    jobEnded(task, { outcome, durationMs }) {
      const span = spanIn(contexts.get(task));
      span?.setAttribute("rowgate.job.outcome", outcome);
      if (outcome === "failed")
        span?.setStatus({ code: SpanStatusCode.ERROR }).setAttribute("error.type", outcome);
      span?.end(wallClock(task.startedMs + durationMs));
    },
    statement(report, { project, task }) {
      const parent = contextOf(task);
      if (parent === null) return;
      const { system, startedMs, durationMs, failure } = report;
      const attributes = statementAttributes(report, project);
      const startTime = wallClock(startedMs);
      const name = attributes["db.operation.name"] || system;
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime }, parent);
      if (failure !== null) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(wallClock(startedMs + durationMs));
    },
    hookBegan(calling) {
      const { request, place, task } = calling;
      const parent = extracted(request.trace) ?? contextOf(task) ?? ROOT_CONTEXT;
      const attributes = hookAttributes(calling);
      const name = `${request.method} ${place.hook}`;
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent);
      return {
        headers: { ...injected(trace.setSpan(parent, span)) },
        ended: (report) => endHook(span, report),
      };
    },
    trace(task) {
      const context = contextOf(task);
      return context && injected(context);
    },
    close,
  };
}

interface Beginning {
  readonly kind: SpanKind;
  readonly parent: Context;
  readonly attributes: Attributes;
}

/** A time of `performance.now()` as milliseconds since 1970; the system's clock can differ from it. */
const wallClock = (atMs: number): number => Date.now() - (performance.now() - atMs);

const spanIn = (context: Context | undefined): Span | undefined =>
  context && trace.getSpan(context);

/** The route with the configured names; names that are not configured appear as parameters. */
function routeOf({ project, endpoint, action }: RouteNames): string | null {
  if (project === null) return null;
  if (endpoint === null && action !== null) return `/api/${project}/${action}`;
  return `/api/${project}/${endpoint ?? "{endpoint}"}/${action ?? "{action}"}`;
}

function namesOf({ project, endpoint, action }: RouteNames): Attributes {
  return {
    ...(project !== null && { "rowgate.project": project }),
    ...(endpoint !== null && { "rowgate.endpoint": endpoint }),
    ...(action !== null && { "rowgate.action": action }),
  };
}

const requestAttributes = ({ id, request: { method, url } }: RequestTask) => ({
  "http.request.method": method,
  "url.scheme": url.slice(0, url.indexOf(":")),
  "url.path": new URL(url).pathname,
  "rowgate.request.id": id,
});

const jobAttributes = ({ job: { id, kind, project, endpoint } }: JobTask) => ({
  "messaging.operation.type": "process",
  "messaging.message.id": id,
  "rowgate.job.kind": kind,
  "rowgate.project": project,
  "rowgate.endpoint": endpoint,
});

const statementAttributes = (
  { system, text, rows, failure }: StatementReport,
  project: string,
) => ({
  "db.system.name": system,
  "db.operation.name": /^[\s(]*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? "",
  "db.query.text": text,
  "db.response.returned_rows": rows,
  "rowgate.project": project,
  ...(failure !== null && { "error.type": failure }),
});

/** The path of the URL is left out, because it can contain values of the record. */
function hookAttributes({ request: { method, url }, place }: HookCalling): Attributes {
  const isOwn = url.startsWith("/");
  const { hostname, port, protocol } = new URL(url, "http://localhost");
  return {
    "http.request.method": method,
    "rowgate.project": place.project,
    "rowgate.endpoint": place.endpoint,
    "rowgate.hook": place.hook,
    ...(!isOwn && {
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
    }),
  };
}

function endRequest(span: Span, task: RequestTask, { status, durationMs }: RequestEnd): void {
  const { route: known, place } = task.exchange;
  const route = known ?? routeOf(place);
  if (route !== null)
    span.updateName(`${task.request.method} ${route}`).setAttribute("http.route", route);
  span.setAttributes({ ...namesOf(place), "http.response.status_code": status });
  if (status >= 500)
    span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute("error.type", String(status));
  span.end(wallClock(task.startedMs + durationMs));
}

function endHook(span: Span, { outcome, status }: HookReport): void {
  if (status !== null) span.setAttribute("http.response.status_code", status);
  if (outcome !== "completed") {
    span.setAttribute("error.type", status === null ? "failed" : String(status));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** Null for headers that name no trace. */
function extracted(carrier: TraceCarrier | undefined): Context | null {
  if (carrier === undefined || carrier.traceparent === "") return null;
  const context = propagator.extract(ROOT_CONTEXT, carrier, {
    get: (from, name) => (from as unknown as Record<string, string>)[name],
    keys: (from) => Object.keys(from as object),
  });
  return trace.getSpanContext(context) ? context : null;
}

function injected(context: Context): TraceCarrier | null {
  const carrier: Record<string, string> = {};
  propagator.inject(context, carrier, { set: (into, name, value) => void (into[name] = value) });
  const { traceparent, tracestate } = carrier;
  return traceparent === undefined
    ? null
    : { traceparent, ...(tracestate !== undefined && { tracestate }) };
}
