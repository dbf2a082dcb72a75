/**
 * START HERE. Connects the watchers of a process with the parts that they watch: each function wraps one part of the
 * service, or gives the observer that the part reports to. Without watchers nothing is wrapped.
 */
import type { ImportComponent } from "../../core/config/compiling/components-plan.ts";
import type {
  CacheObserver,
  DbObserver,
  FileReport,
  HookReport,
  ObserveRequest,
} from "../../core/plans/observer.ts";
import type { Background, HookCall } from "../../core/plans/hook-call.ts";
import type { Outbound, OutboundRequest } from "../../core/plans/outbound-port.ts";
import type { Queue } from "../../core/jobs/queue.ts";
import type { RunJob } from "../../core/jobs/job.ts";
import { currentTask, type RequestTask, withinTask } from "./current-task.ts";
import { observedComponents } from "./observed-components.ts";
import { observedRunJob, threadRunJob, traceOf } from "./observed-jobs.ts";
import type { HookWatch, Watcher } from "./watcher.ts";

export interface Observation {
  /** Undefined: requests are not watched, and nothing needs to know which of them a statement belongs to. */
  readonly request: ObserveRequest | undefined;
  /** Undefined: the databases of this project are not watched. */
  db(project: string): DbObserver | undefined;
  /** Undefined: the cache of this project is not watched. */
  cache(project: string): CacheObserver | undefined;
  /** What becomes of files of records of this project. */
  files(project: string): (report: FileReport) => void;
  /** Calls of hooks are reported, and continue the trace. */
  outbound(outbound: Outbound): Outbound;
  /** Hook calls that are made later continue the trace of the request. */
  background(background: Background): Background;
  /** Jobs continue the trace of the request that adds them. */
  queue(queue: Queue): Queue;
  /** For the process that takes jobs from a queue. */
  runJob(runJob: RunJob): RunJob;
  /** For the thread in which the process runs them: the job itself is reported by the process. */
  runJobInThread(runJob: RunJob): RunJob;
  /** Handlers are reported. */
  components(importComponent: ImportComponent): ImportComponent;
  /** The same with further watchers, which are not closed with it. */
  beside(watchers: readonly Watcher[]): Observation;
  /** What is still to be sent is sent until `untilMs` (clock of `performance.now()`). Never rejects. */
  close(untilMs: number): Promise<void>;
}

export function createObservation(watchers: readonly Watcher[]): Observation {
  if (watchers.length === 0) return unobserved;
  const watchersOf = (project: string): readonly Watcher[] =>
    watchers.filter(({ projects }) => projects === undefined || projects.has(project));
  const observation: Observation = {
    request: watchers.every(({ isTaskless }) => isTaskless) ? undefined : observeRequest(watchers),
    db: (project) => dbObserver(watchersOf(project), project),
    cache: (project) => cacheObserver(watchersOf(project), project),
    files: (project) => (report) => {
      const origin = { project, task: currentTask() };
      for (const watcher of watchersOf(project)) watcher.file?.(report, origin);
    },
    outbound: (outbound) => observedOutbound(outbound, watchers),
    background: (background) => {
      const traced = (calls: readonly HookCall[]): readonly HookCall[] => {
        const trace = traceOf(watchers);
        return trace
          ? calls.map((call) => ({ ...call, request: { ...call.request, trace } }))
          : calls;
      };
      return {
        add: (calls) => background.add(traced(calls)),
        begin: (calls) => background.begin(traced(calls)),
      };
    },
    queue: (queue) => ({
      ...queue,
      add(job) {
        const trace = traceOf(watchers);
        return queue.add(trace ? { ...job, trace } : job);
      },
    }),
    runJob: (runJob) => observedRunJob(runJob, watchers),
    runJobInThread: threadRunJob,
    beside: (others) =>
      others.length === 0 ? observation : createObservation([...watchers, ...others]),
    components: (importComponent) => observedComponents(importComponent, watchersOf),
    async close(untilMs) {
      await Promise.allSettled(watchers.map((watcher) => watcher.close?.(untilMs)));
    },
  };
  return observation;
}

const same = <Part>(part: Part): Part => part;

const unobserved: Observation = {
  request: undefined,
  db: () => undefined,
  cache: () => undefined,
  files: () => () => undefined,
  outbound: same,
  background: same,
  queue: same,
  runJob: same,
  runJobInThread: same,
  components: same,
  beside: (watchers) => createObservation(watchers),
  close: async () => undefined,
};

const observeRequest =
  (watchers: readonly Watcher[]): ObserveRequest =>
  (arrived, answer) => {
    const { requestId: id } = arrived.exchange;
    const task: RequestTask = { kind: "request", id, startedMs: performance.now(), ...arrived };
    return withinTask(task, async () => {
      for (const watcher of watchers) watcher.requestBegan?.(task);
      const status = await answer();
      const end = { status, durationMs: performance.now() - task.startedMs };
      const headers: Record<string, string> = {};
      for (const watcher of watchers) Object.assign(headers, watcher.requestEnded?.(task, end));
      return headers;
    });
  };

function dbObserver(watchers: readonly Watcher[], project: string): DbObserver | undefined {
  const onStatement = watchers.filter(({ statement }) => statement);
  const onWait = watchers.filter(({ waited }) => waited);
  if (onStatement.length + onWait.length === 0) return undefined;
  return {
    statement(report) {
      const origin = { project, task: currentTask() };
      for (const watcher of onStatement) watcher.statement!(report, origin);
    },
    waited(durationMs, isGiven) {
      const origin = { project, task: currentTask() };
      for (const watcher of onWait) watcher.waited!({ durationMs, isGiven }, origin);
    },
  };
}

function cacheObserver(watchers: readonly Watcher[], project: string): CacheObserver | undefined {
  const onCache = watchers.filter(({ cache }) => cache);
  if (onCache.length === 0) return undefined;
  return (report) => {
    const origin = { project, task: currentTask() };
    for (const watcher of onCache) watcher.cache!(report, origin);
  };
}

/** Reports the calls of hooks, with the headers that watchers add to them. Calls that are no hooks are not reported. */
function observedOutbound(outbound: Outbound, watchers: readonly Watcher[]): Outbound {
  const onHook = watchers.filter(({ hookBegan }) => hookBegan);
  if (onHook.length === 0) return outbound;
  return {
    async send(request, signal) {
      const { hook: place } = request;
      if (place === undefined) return outbound.send(request, signal);
      const startedMs = performance.now();
      const task = currentTask();
      const watches = onHook.map((watcher) => watcher.hookBegan!({ place, request, task }));
      const ended = (outcome: HookReport["outcome"], status: number | null) => {
        const durationMs = performance.now() - startedMs;
        for (const watch of watches) watch.ended({ outcome, status, durationMs });
      };
      try {
        const answer = await outbound.send(withHeadersOf(request, watches), signal);
        const { status } = answer;
        ended(status >= 200 && status <= 299 ? "completed" : "refused", status);
        return answer;
      } catch (error) {
        ended("failed", null);
        throw error;
      }
    },
  };
}

/** Headers of the configuration win. */
function withHeadersOf(request: OutboundRequest, watches: readonly HookWatch[]): OutboundRequest {
  const added = Object.assign({}, ...watches.map(({ headers }) => headers)) as object;
  return { ...request, headers: { ...added, ...request.headers } };
}
