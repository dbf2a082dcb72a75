/**
 * A request to an action, and the function that answers it: `bind.ts` creates handlers, `dispatch.ts` finds and calls
 * them.
 */
import type { Call } from "./action.ts";
import type { Answer } from "./answer.ts";
import type { Queries, DbSession } from "../query/session.ts";
import type { Feed } from "../changes/feed.ts";
import type { TakenClaims } from "../files/claiming-session.ts";
import type { Db } from "../plans/db-port.ts";
import type { AppError } from "../values/errors.ts";

/** The input of a handler besides its entity. Nothing in it is restricted to the caller yet. */
export interface Request extends Omit<
  Call,
  | "entity"
  | "body"
  | "input"
  | "options"
  | "session"
  | "fills"
  | "refusedColumn"
  | "lineFills"
  | "reachesAllJobs"
  | "mayAlso"
> {
  /** The client's JSON as parsed; undefined = none. */
  readonly body: unknown;
  /** The header X-Lock-Token. */
  readonly lockToken: string | null;
  /** The header Last-Event-ID. */
  readonly lastEventId: string | null;
  /** The header Idempotency-Key. */
  readonly idempotencyKey: string | null;
  readonly session: DbSession;
  /**
   * Counts the steps of a batch towards the caller's limits, as if each had been sent by itself. Resolves with the
   * refusals of those that are too many, by index and in their order.
   */
  readonly countSteps: (steps: readonly StepName[]) => Promise<ReadonlyMap<number, AppError>>;
  /** Is called with the outcome of each step of a batch that ran; absent: it is not reported. */
  readonly onStep?: ((step: StepName, end: StepEnd) => void) | undefined;
  /** Tells of committed changes. */
  readonly feed: Feed;
  /** The uploaded files that its writes took. */
  readonly taken: TakenClaims;
  /** For sessions other than the action's own. */
  readonly db: Db;
  /** A cryptographic hash as hexadecimal text. */
  readonly digest: (text: string) => string;
}

/** The parts of a handler's input that do not come with the request. */
export type Provided = Pick<
  Request,
  | "session"
  | "deadlineAtMs"
  | "cache"
  | "locks"
  | "outbound"
  | "background"
  | "jobs"
  | "files"
  | "feed"
  | "taken"
  | "db"
  | "digest"
  | "basePath"
  | "now"
  | "newId"
>;

/** What a request of another protocol has not, unless it says so: headers, a file, steps. */
export const nothingBeside = {
  upload: null,
  ifMatch: null,
  lockToken: null,
  idempotencyKey: null,
  lastEventId: null,
  wantsCsv: false,
  dryRun: false,
  countSteps: async () => new Map(),
} satisfies Partial<Request>;

/** A step of a batch, as the path of a request names it. */
export interface StepName {
  readonly endpoint: string;
  readonly action: string;
}

export interface StepEnd {
  readonly status: number;
  readonly durationMs: number;
}

/**
 * Stores the answer for repeats of the request, as the last statement of its transaction. Returns the answer to send.
 * Rejects with requestInProgress when a repeat has taken over.
 */
export type KeepAnswer = (queries: Queries, answer: Answer) => Promise<Answer>;

export interface Handler {
  /** It only reads, so replicas may answer. */
  readonly isRead?: boolean;
  /** `keepAnswer` null: no repeats are expected. */
  run(request: Request, keepAnswer: KeepAnswer | null): Promise<Answer>;
  /** The stored answer to an earlier request, restricted to what its caller may see now. */
  replay(request: Request, answer: Answer): Promise<Answer>;
  /** Equal as long as the caller sees the same rows and columns through the endpoint. */
  viewKey(request: Pick<Request, "caller">): string;
}
