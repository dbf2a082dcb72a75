/**
 * What the service and its workers count about themselves, for Prometheus. Values of labels come from the configuration
 * and from the program, never from a request, so the number of series is bounded.
 */
import { createProcessMetrics } from "./process-metrics.ts";
import {
  createCounter,
  createGauge,
  createHistogram,
  type Histogram,
  type Metric,
} from "./series.ts";

export type ServiceMetrics = Metrics & ReturnType<typeof serviceSeries>;

/** The counters of a worker. */
export interface WorkerMetrics extends Metrics {
  readonly jobDuration: Histogram;
}

export interface Metrics {
  /** Called before the text is made, to set gauges. Never rejects. */
  onCollect(collect: () => void | Promise<void>): void;
  /** Everything in the exposition format of Prometheus. */
  text(): Promise<string>;
}

/** Upper bounds in seconds. A request ends within 15 seconds, even if the database does not answer. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const statementBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
const waitBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 15];
const jobBuckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600];
const place = ["project", "endpoint"];

export function createServiceMetrics(): ServiceMetrics {
  const own = serviceSeries();
  return { ...own, ...exposed(Object.values(own)) };
}

/** All that a service counts. Durations are in seconds. */
const serviceSeries = () => ({
  requests: createCounter({
    name: "rowgate_http_requests_total",
    help: "Answered HTTP requests.",
    labels: [...place, "action", "status"],
  }),
  requestDuration: createHistogram({
    name: "rowgate_http_request_duration_seconds",
    help: "Time from the headers of a request to its answer.",
    labels: [...place, "action"],
    buckets: requestBuckets,
  }),
  batchSteps: createCounter({
    name: "rowgate_batch_steps_total",
    help: "Steps of batches that were run, also those that were undone.",
    labels: [...place, "action", "status"],
  }),
  batchStepDuration: createHistogram({
    name: "rowgate_batch_step_duration_seconds",
    help: "Time of a step of a batch.",
    labels: [...place, "action"],
    buckets: requestBuckets,
  }),
  toolCalls: createCounter({
    name: "rowgate_mcp_calls_total",
    help: "Calls of tools by agents.",
    labels: [...place, "action", "status"],
  }),
  toolCallDuration: createHistogram({
    name: "rowgate_mcp_call_duration_seconds",
    help: "Time of a call of a tool.",
    labels: [...place, "action"],
    buckets: requestBuckets,
  }),
  rateLimitRefusals: createCounter({
    name: "rowgate_rate_limit_refusals_total",
    help: "Requests that a rate limit refused.",
    labels: ["project", "limit"],
  }),
  ...databaseMetrics(),
  cacheRequests: createCounter({
    name: "rowgate_cache_requests_total",
    help: "Lists that were looked up in the cache.",
    labels: ["project", "kind", "result"],
  }),
  projectUp: createGauge({
    name: "rowgate_project_up",
    help: "1: the project is served; 0: its database was not reached since the start.",
    labels: ["project"],
  }),
  changeStreams: createGauge({
    name: "rowgate_change_streams",
    help: "Open streams of changes.",
    labels: ["project"],
  }),
  files: createCounter({
    name: "rowgate_files_total",
    help: "Files of records that were uploaded, downloaded, or removed after they had expired.",
    labels: ["project", "outcome"],
  }),
  fileBytes: createCounter({
    name: "rowgate_file_bytes_total",
    help: "The sizes of these files.",
    labels: ["project", "outcome"],
  }),
  jobs: createGauge({
    name: "rowgate_jobs",
    help: "Entries of the queues of jobs and of non-blocking hook calls.",
    labels: ["queue", "state"],
  }),
  queueUp: createGauge({
    name: "rowgate_queue_up",
    help: "1: the queue answered; 0: it did not, so rowgate_jobs has no values of it.",
    labels: ["queue"],
  }),
  jobDuration: jobDuration(),
  ...hookMetrics(),
});

export function createWorkerMetrics(): WorkerMetrics {
  const own = { jobDuration: jobDuration() };
  return { ...own, ...exposed(Object.values(own)) };
}

const databaseMetrics = () => ({
  statementDuration: createHistogram({
    name: "rowgate_db_statement_duration_seconds",
    help: "Time that a statement took in the database.",
    labels: ["project"],
    buckets: statementBuckets,
  }),
  statementFailures: createCounter({
    name: "rowgate_db_statement_failures_total",
    help: "Statements that failed, by the kind of failure.",
    labels: ["project", "failure"],
  }),
  connections: createGauge({
    name: "rowgate_db_connections",
    help: "Connections to the database.",
    labels: ["project", "state"],
  }),
  callersWaiting: createGauge({
    name: "rowgate_db_callers_waiting",
    help: "Requests that wait for a connection now.",
    labels: ["project"],
  }),
  connectionWait: createHistogram({
    name: "rowgate_db_wait_seconds",
    help: "Time that a request waited for a connection.",
    labels: ["project"],
    buckets: waitBuckets,
  }),
});

const hookMetrics = () => ({
  hookCalls: createCounter({
    name: "rowgate_hook_calls_total",
    help: "Tries of hook calls, by their outcome.",
    labels: ["outcome"],
  }),
  hookDuration: createHistogram({
    name: "rowgate_hook_duration_seconds",
    help: "Time of one try of a hook call.",
    labels: [...place, "hook", "outcome"],
    buckets: requestBuckets,
  }),
  handlerDuration: createHistogram({
    name: "rowgate_handler_duration_seconds",
    help: "Time that a component handler took.",
    labels: [...place, "event", "handler", "outcome"],
    buckets: statementBuckets,
  }),
});

const jobDuration = (): Histogram =>
  createHistogram({
    name: "rowgate_job_duration_seconds",
    help: "Time of one run of a job.",
    labels: ["kind", "outcome"],
    buckets: jobBuckets,
  });

/** The text of these metrics and of the process metrics. */
function exposed(metrics: readonly Metric[]): Metrics {
  const processMetrics = createProcessMetrics();
  const collectors: (() => void | Promise<void>)[] = [];
  return {
    onCollect: (collect) => void collectors.push(collect),
    async text() {
      const [ofProcess] = await Promise.all([
        processMetrics(),
        ...collectors.map((collect) => collect()),
      ]);
      return [...metrics.map((metric) => metric.text()), ofProcess].join("");
    },
  };
}
