/** What everything that watches the service implements: logs, traces, metrics and the timing of answers. */
import type {
  CacheReport,
  HandlerReport,
  HookReport,
  JobOutcome,
  StatementReport,
  TraceCarrier,
} from "../../core/plans/observer.ts";
import type { HookPlace, OutboundRequest } from "../../core/plans/ports.ts";
import type { JobTask, RequestTask, Task } from "./current-task.ts";

/** What a report belongs to. */
export interface Origin {
  readonly project: string;
  /** Undefined: the service itself caused it. */
  readonly task: Task | undefined;
}

export interface RequestEnd {
  readonly status: number;
  readonly durationMs: number;
}

export interface JobEnd {
  readonly outcome: JobOutcome;
  readonly durationMs: number;
  /** Why the job did not complete; undefined when it did. */
  readonly error: unknown;
}

/** A call of a hook that is about to be sent. */
export interface HookCalling {
  readonly place: HookPlace;
  readonly request: OutboundRequest;
  readonly task: Task | undefined;
}

export interface HookWatch {
  /** Sent with the call. */
  readonly headers?: Readonly<Record<string, string>>;
  ended(report: HookReport): void;
}

/** Each watcher has what it needs of these. They are called in the context of the task, and never throw. */
export interface Watcher {
  /** The projects whose databases and caches it watches; absent: all of them. */
  readonly projects?: ReadonlySet<string>;
  /** It needs to know of no task. Where nobody does, requests are not followed, which costs them a few microseconds. */
  readonly isTaskless?: true;
  requestBegan?(task: RequestTask): void;
  /** Gives headers that are added to the answer. */
  requestEnded?(task: RequestTask, end: RequestEnd): Readonly<Record<string, string>> | undefined;
  jobBegan?(task: JobTask): void;
  jobEnded?(task: JobTask, end: JobEnd): void;
  statement?(report: StatementReport, origin: Origin): void;
  /** How long a caller waited for a connection; `isGiven` false: it got none. */
  waited?(wait: { durationMs: number; isGiven: boolean }, origin: Origin): void;
  cache?(report: CacheReport, origin: Origin): void;
  handler?(report: HandlerReport, origin: Origin): void;
  hookBegan?(calling: HookCalling): HookWatch;
  /** The trace that work which the task leaves behind should continue; null: none. */
  trace?(task: Task | undefined): TraceCarrier | null;
  /** What is still to be sent is sent until `untilMs`. */
  close?(untilMs: number): Promise<void>;
}
