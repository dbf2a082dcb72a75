/**
 * What the parts of the service report about their work, for logs, traces and metrics. Each part gets its observer, or
 * none, which costs nothing. Observers never throw, and are called in the asynchronous context of the request or job
 * that caused the work. All times are on the clock of `performance.now()`.
 */

/** One statement that a database ran. */
export interface StatementReport {
  /** The kind of database, by the name that OpenTelemetry has for it. */
  readonly system: string;
  /** The SQL text with placeholders. It contains no values of requests. */
  readonly text: string;
  readonly startedMs: number;
  readonly durationMs: number;
  /** Rows that were read or matched. */
  readonly rows: number;
  /** What kind of failure it was, as `timeout` or `duplicate`; null: it succeeded. */
  readonly failure: string | null;
}

/** What a database reports. */
export interface DbObserver {
  /** Statements that begin and end transactions are reported too; reading the catalog is not. */
  statement(report: StatementReport): void;
  /** How long a caller waited for a connection; 0 = one was idle. `isGiven` false: it got none. */
  waited(durationMs: number, isGiven: boolean): void;
}

/** Connections of all pools of a database, and callers that wait for one. */
export interface ConnectionCounts {
  readonly busy: number;
  readonly idle: number;
  readonly opening: number;
  readonly waiting: number;
}

/**
 * `hit`: the kept answer was used. `stale`: it was older than the last write. `miss`: there was none. `error`: the
 * store is out of reach, or not all writes are known to it yet.
 */
export type CacheResult = "hit" | "stale" | "miss" | "error";

/** One question to the cache of a project. */
export interface CacheReport {
  /** `list`, `datatables` or `lookup`. */
  readonly kind: string;
  readonly result: CacheResult;
  /** How long the cache itself took. */
  readonly durationMs: number;
}

export type CacheObserver = (report: CacheReport) => void;

/** A file of a record that was stored, answered, or removed after it had expired. */
export interface FileReport {
  readonly outcome: "uploaded" | "downloaded" | "removed";
  /** Its size. */
  readonly bytes: number;
}

/** One handler of the operator's that ran. */
export interface HandlerReport {
  /** As `shop/components/supplier.ts#check`. */
  readonly handler: string;
  readonly endpoint: string;
  readonly event: string;
  /** `refused`: it refused the request on purpose. */
  readonly outcome: "completed" | "refused" | "failed";
  readonly startedMs: number;
  readonly durationMs: number;
}

/** How one call of a hook ended. */
export interface HookReport {
  /** `refused`: the service answered with a status outside 200 to 299. `failed`: it did not answer. */
  readonly outcome: "completed" | "refused" | "failed";
  /** Null: it gave no answer. */
  readonly status: number | null;
  readonly durationMs: number;
}

/** `lost`: another worker has the job. `stopping`: the process ends, and the job is run again later. */
export type JobOutcome = "completed" | "failed" | "cancelled" | "lost" | "stopping";

/** The place of a piece of work in a distributed trace, as in the headers of W3C Trace Context. */
export interface TraceCarrier {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** What a request is about. Only names from the configuration, so a request cannot invent one. */
export interface RouteNames {
  readonly project: string | null;
  readonly endpoint: string | null;
  readonly action: string | null;
}

/** A request that has arrived. */
export interface ArrivedRequest {
  readonly request: {
    readonly method: string;
    readonly url: string;
    /** By names in lower case. */
    readonly headers: { get(name: string): string | null };
  };
  readonly exchange: {
    readonly requestId: string;
    /** The pattern of the path of a page; null: it is no page. */
    readonly route: string | null;
    /** Complete once the request was answered. */
    readonly place: RouteNames;
  };
}

/** Runs `answer`, which returns the status and never rejects. Returns further headers for the answer. */
export type ObserveRequest = (
  arrived: ArrivedRequest,
  answer: () => Promise<number>,
) => Promise<Readonly<Record<string, string>>>;
