/** The interface of everything that watches the service: logs, traces, metrics and the timing of answers. */
import type {
  CacheReport,
  FileReport,
  HandlerReport,
  HookReport,
  JobOutcome,
  StatementReport,
  TraceCarrier,
} from "../../core/plans/observer.ts";
import type { HookPlace, OutboundRequest } from "../../core/plans/outbound-port.ts";
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

/** A watcher implements what it needs of these. They are called in the context of the task, and never throw. */
export interface Watcher {
  /** The projects whose databases and caches it watches; absent: all of them. */
  readonly projects?: ReadonlySet<string>;
  /** It needs no tasks. If no watcher needs them, requests are not tracked, which saves a few microseconds each. */
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
  file?(report: FileReport, origin: Origin): void;
  handler?(report: HandlerReport, origin: Origin): void;
  hookBegan?(calling: HookCalling): HookWatch;
  /** The trace for work that outlives the task; null: none. */
  trace?(task: Task | undefined): TraceCarrier | null;
  /** Sends what is still to be sent, until `untilMs`. */
  close?(untilMs: number): Promise<void>;
}
