/**
 * The interfaces that core needs from outside. `db/` implements Db, `app/` and `jobs/` the rest; tests may pass their
 * own.
 */
import type { Caller } from "./caller.ts";
import type { Catalog } from "./database-catalog.ts";
import type { ConnectionCounts, TraceCarrier } from "./observer.ts";
import type { Column, Table } from "../values/column.ts";
import type { Json } from "../values/json.ts";
import type { ListText, TextForm } from "../query/list-text.ts";
import type {
  Aggregate,
  Ask,
  Calculate,
  Count,
  Delete,
  Insert,
  Narrowed,
  Native,
  Select,
  Sort,
  UpdateMany,
  UpdateOne,
} from "../query/statement.ts";

/** A row as answers show it: every value already in the JSON form of its column's type. */
export type Row = Record<string, Json>;

/**
 * Statements against one database, as `db` runs them: each has been through a caller's scope, which the type says. Actions write theirs
 * against `Queries` in `core/callers/session.ts`, where these calls are described.
 */
export interface DbQueries {
  all(select: Narrowed<Select>): Promise<Row[]>;
  allAsText(select: Narrowed<Select>, form: TextForm): Promise<ListText>;
  one(select: Narrowed<Select>): Promise<Row | null>;
  count(count: Narrowed<Count>): Promise<number>;
  estimate(count: Narrowed<Count>): Promise<number | null>;
  aggregate(aggregate: Narrowed<Aggregate>): Promise<Row[]>;
  ask(ask: Narrowed<Ask>): Promise<Row[]>;
  insert(insert: Narrowed<Insert>): Promise<Row[]>;
  updateOne(update: Narrowed<UpdateOne>): Promise<Row | null>;
  calculate(statement: Narrowed<Calculate>): Promise<void>;
  updateMany(update: Narrowed<UpdateMany>): Promise<number>;
  delete(statement: Narrowed<Delete>): Promise<Row[]>;
  native(statement: Narrowed<Native>): Promise<Row[]>;
}

/**
 * The tables `rowgate_jobs` and `rowgate_requests`, where a job leaves its result, and a request with Idempotency-Key its answer, in the
 * transaction that did the work.
 */
export type LedgerName = "jobs" | "requests";

export interface DbTransaction extends DbQueries {
  part<T>(work: () => Promise<T>): Promise<T>;
}

export interface DbSession extends DbQueries {
  readonly written: ReadonlySet<Table | "unknown">;
  tx<T>(
    work: (tx: DbTransaction) => Promise<T>,
    options?: { alone?: Table | undefined },
  ): Promise<T>;
  snapshot<T>(work: (queries: DbQueries) => Promise<T>): Promise<T>;
  ledger(name: LedgerName): Promise<Table>;
  stream(select: Narrowed<Select>, options: { batchRows: number }): AsyncIterable<Row[]>;
  longSnapshot<T>(work: (snapshot: DbSnapshot) => Promise<T>): Promise<T>;
}

export type DbSnapshot = Pick<DbSession, "count" | "stream">;

/**
 * Why a database cannot be used, for the operator: reason and remedy, which form one sentence. They contain no password
 * and no driver text.
 */
export interface DatabaseFault {
  /** `the server at localhost:5432 has no database "shop"`. */
  readonly reason: string;
  /** What to do: `correct its name in database.url, or create it`. */
  readonly remedy: string;
  /** True: waiting does not help. */
  readonly isLasting: boolean;
}

/** What the database's planner says of a statement. */
export interface QueryPlan {
  /** Whether some table or index is read from end to end to find rows. */
  readonly readsAll: boolean;
  /** Whether all rows are sorted before the first one comes. */
  readonly sortsAll: boolean;
}

/** What requests do with a column, for which an index is wanted. */
export interface IndexWish {
  readonly table: Table;
  readonly column: Column;
  /** Columns that the same search looks at, beside the first one; absent = none. */
  readonly others?: readonly Column[];
  /** `contains` and `begins`: texts regardless of case. */
  readonly use: "contains" | "begins" | "equals" | "sorts";
  /** The whole order of the rows, where it begins with the column; otherwise empty. */
  readonly order: readonly Sort[];
}

/** SQL for the operator, to be run in this order. At least one. */
export type IndexStatements = readonly string[];

export interface Db {
  readonly catalog: Catalog;
  /** What the cause of an `unavailable` means, where no connection could be had. */
  faultOf(cause: unknown): DatabaseFault;
  /**
   * `deadlineAtMs`: on the clock of `performance.now()`. `caller`: for whom the statements are sent, as the database's own rules may ask; absent: for
   * the service itself.
   */
  session(deadlineAtMs: number, caller?: Caller): DbSession;
  /** What the database would do for the statement. No row is read, so that no scope is needed. Rejects where it does not tell. */
  plan(statement: Select | Count): Promise<QueryPlan>;
  /** Whether the table has more rows; reads as many at most. */
  isLarger(table: Table, rows: number): Promise<boolean>;
  /** Null: no index of this database would serve the requests. */
  indexFor(wish: IndexWish): IndexStatements | null;
  /** Resolves when a statement ran; rejects with `unavailable`. */
  ping(): Promise<void>;
  /** Its connections at this moment. */
  connections(): ConnectionCounts;
  /** Lets running statements finish for a moment, then closes every connection. */
  close(): Promise<void>;
}

/**
 * Stores cached answers and the versions of their tables. Shared by all instances that use the same store. Every call
 * rejects quickly when the store is unreachable.
 */
export interface CacheStore {
  /** A text that stays the same as long as none of the names is raised, and never comes back once one was. */
  stamp(names: readonly string[]): Promise<string>;
  raise(names: readonly string[]): Promise<void>;
  /** The kept text, or null. */
  get(key: string): Promise<string | null>;
  /** Keeps the text while there is room, `ttlSeconds` at most. */
  set(key: string, text: string, ttlSeconds: number): Promise<void>;
}

/** Where a counter stands, the request that was just counted included. */
export interface WindowCount {
  readonly count: number;
  /** Until it begins again at zero. */
  readonly endsInMs: number;
}

/** Counts in windows of time; each begins with its first request. */
export interface Counters {
  /** Adds one to each of the names, in one round trip. Rejects when the store is out of reach. */
  count(names: readonly string[], windowMs: number): Promise<readonly WindowCount[]>;
}

/** Who holds a lock, and for how long yet. */
export interface LockHolder {
  /** Null: the holder gave no name. */
  readonly owner: string | null;
  readonly remainingMs: number;
}

export interface LockState extends LockHolder {
  /** Whether the token that was asked with holds it. */
  readonly isOwn: boolean;
}

export type LockOutcome =
  | {
      readonly ok: true;
      /** Greater than the fence of every earlier acquisition in the project, even if the store was lost in between. */
      readonly fence: number;
      readonly owner: string | null;
      /** Milliseconds since 1970, on the store's clock. */
      readonly acquiredAtMs: number;
    }
  /** The first name that stands in the way. `holder` null: nobody holds it, so there is nothing to extend. */
  | { readonly ok: false; readonly name: string; readonly holder: LockHolder | null };

/**
 * Locks of one project, by name, shared by all instances that use the same store. Each has the token of its holder and
 * ends by itself. A call names each lock once, and at most `limits.lockNamesMax` of them. Every call rejects when the
 * store is unreachable, or may have lost locks that were not put back yet; none waits for long.
 */
export interface LockStore {
  /**
   * All of the names or none. One that the token holds already is kept on for `ttlMs`. `share`: the caller who may hold
   * `limits.lockCallerMax` of them, and else the call rejects with `tooManyRequests`; null: not counted, and in a room of its own.
   */
  acquire(
    names: readonly string[],
    claim: { token: string; owner: string | null; share: string | null; ttlMs: number },
  ): Promise<LockOutcome>;
  /** Keeps all of the names on for `ttlMs` from now, or none: the token has to hold each of them still. Fence and time stay. */
  extend(names: readonly string[], claim: { token: string; ttlMs: number }): Promise<LockOutcome>;
  /** Releases the locks that the token holds; resolves with their number. */
  release(names: readonly string[], token: string): Promise<number>;
  /** In the order of the names; null = free. */
  status(names: readonly string[], token: string | null): Promise<(LockState | null)[]>;
}

/** An HTTP call to another service, or, where the URL is a path, to this one. */
export interface OutboundRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null = none. */
  readonly body: string | null;
  /** For the whole of it: finding the host, connecting, and reading the answer to its end. */
  readonly timeoutMs: number;
  /** The hook that is called; absent: it is no hook. */
  readonly hook?: HookPlace;
  /** The trace that the call continues; absent: that of the request that sends it. */
  readonly trace?: TraceCarrier;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Outbound {
  /**
   * Status and text of the answer, once it is read. Follows no redirect. Rejects, with an Error for the log alone, when the
   * address may not be called, does not answer wholly within the time, or answers too much.
   */
  send(request: OutboundRequest, signal?: AbortSignal): Promise<OutboundAnswer>;
}

/** Where the configuration has a hook. */
export interface HookPlace {
  readonly project: string;
  readonly endpoint: string;
  /** The status that the record changed to. */
  readonly status: string;
  /** `onAfter:notify`. */
  readonly hook: string;
  /** In its list, from 0. */
  readonly index: number;
}

/** A call that are not waited for. Plain data, so that a queue can keep it. */
export interface HookCall {
  /** A UUID; the `Idempotency-Key` of all tries. */
  readonly id: string;
  readonly place: HookPlace;
  /** For the log: `stock-receipts onAfter:notify`. */
  readonly label: string;
  readonly requestId: string;
  readonly request: OutboundRequest;
}

export interface Background {
  /**
   * Sees to it that the calls are made soon, and again when they fail. Resolves when they will not be forgotten as far as can be,
   * within `limits.jobTimeoutMs`. Never rejects.
   */
  add(calls: readonly HookCall[]): Promise<void>;
}

/** A file as it is kept: always whole. */
export interface FileInfo {
  /** Names joined with `/`: letters, digits, `.`, `-` and `_`. */
  readonly key: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAtMs: number;
}

/** Files that the API and the workers share: uploads and exports. Never held in memory as a whole; none is ever seen half written. */
export interface Files {
  /**
   * Writes all of the bytes, then makes the file visible under its key, in place of one that was there. When the bytes end
   * with an error, or the disk is full, nothing is left. `maxBytes`: one byte more rejects with `payloadTooLarge`.
   */
  write(
    key: string,
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options?: { maxBytes?: number | undefined },
  ): Promise<FileInfo>;
  /** Null: there is no such file. */
  info(key: string): Promise<FileInfo | null>;
  /** The file's bytes, or those from `start` to `end`, both included. Rejects with `notFound` when it is gone. */
  read(
    key: string,
    range?: { start: number; end: number },
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Also when it is not there. */
  remove(key: string): Promise<void>;
  /** Every file whose key begins with the prefix; a prefix ends with `/`, or is empty. */
  list(prefix: string): AsyncIterable<FileInfo>;
  close(): Promise<void>;
}

export type JobKind = "export" | "preview" | "commit";

/** Background work, described by data only, so that any process can run it. */
export interface Job {
  /** `<kind>-<uuid>`. */
  readonly id: string;
  readonly kind: JobKind;
  readonly project: string;
  readonly endpoint: string;
  /** Who started it, and whose rows it is about; null where the project asks for no credentials. */
  readonly caller: Caller | null;
  /** Equal for jobs of one caller, as `shareOf` tells them apart; absent: of an earlier version. */
  readonly share?: string;
  /** What was asked for, in the terms of the kind; `limits.jobRequestLengthMax` characters of JSON at most. */
  readonly request: { readonly [name: string]: Json };
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
  /** The queue may forget the job this long after its end. */
  readonly keptSeconds: number;
  /** The trace of the request that started it; absent: none. */
  readonly trace?: TraceCarrier;
}

export interface JobProgress {
  readonly processed: number;
  readonly total: number;
}

/** A job as the queue knows it. */
export interface JobRecord extends Job {
  /** `waiting`: nobody began yet. A job whose worker died, or that waits to be tried again, is `active` still. */
  readonly state: "waiting" | "active" | "completed" | "failed";
  /** `processed` never goes back. Null: nothing was said yet. */
  readonly progress: JobProgress | null;
  /** What the run gave; null until it is completed. */
  readonly result: Json;
  /** Why it failed, in words fit for the client; null unless it failed. */
  readonly error: string | null;
  /** Null until it is completed or failed. */
  readonly finishedAtMs: number | null;
}

/** How many entries of a queue are in each state. `delayed`: tried before, and will be tried again. */
export interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly completed: number;
  readonly failed: number;
}

/**
 * Jobs of all projects. A job is run at least once, and may run again, or in two places at a time, when a worker dies
 * or sleeps. Only one run's result counts. Every call rejects with `unavailable`, within a second, when the queue is
 * unreachable.
 */
export interface Queue {
  /**
   * Resolves when the job will not be forgotten. An id that is there already keeps its old job. Rejects with `tooManyRequests` when too many
   * jobs of the project, or of the caller, wait already.
   */
  add(job: Job): Promise<void>;
  find(id: string): Promise<JobRecord | null>;
  /** Asks for its end: a waiting job is failed from now on, a running one soon, unless it is completed before. */
  cancel(id: string): Promise<void>;
  counts(): Promise<QueueCounts>;
  close(): Promise<void>;
}

/** One attempt at a job. */
export interface Run {
  readonly job: Job;
  /** A name for this attempt alone: for the files that it writes before anybody knows whether it counts. */
  readonly id: string;
  /** Aborted when the run should end: the job was cancelled, another run has it, or the process stops. Then reject, soon. */
  readonly signal: AbortSignal;
  /** Rows done and rows in all. Cheap: may be called for every batch. */
  progress(processed: number, total: number): void;
}

/**
 * Does a job and gives its result. An AppError ends it as failed, with the error's message; `unavailable`, and whatever is no
 * AppError, is tried again a little later.
 */
export type RunJob = (run: Run) => Promise<Json>;

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
