/** A request on its way to an action, and the function that answers it: `bind.ts` makes handlers, `dispatch.ts` finds and calls them. */
import type { Answer, Call } from "./action.ts";
import type { Queries } from "../callers/session.ts";
import type { Db, DbSession } from "../plans/ports.ts";

/** What a handler gets besides the entity that it is bound to. Nothing in it is narrowed to the caller yet. */
export interface Request extends Omit<
  Call,
  "entity" | "body" | "options" | "session" | "fills" | "reachesAllJobs"
> {
  /** The client's JSON as parsed; undefined = none. */
  readonly body: unknown;
  /** The header X-Lock-Token. */
  readonly lockToken: string | null;
  /** The header Idempotency-Key. */
  readonly idempotencyKey: string | null;
  readonly session: DbSession;
  /** For sessions beside the action's own. */
  readonly db: Db;
  /** A cryptographic hash as hexadecimal text. */
  readonly digest: (text: string) => string;
}

/**
 * Keeps the answer for repeats of the request, in the transaction that did its work: the last statement of it. Gives the answer that goes
 * out. Rejects with requestInProgress when a repeat has taken over.
 */
export type KeepAnswer = (queries: Queries, answer: Answer) => Promise<Answer>;

export interface Handler {
  /** `keepAnswer` null: no repeats are expected. */
  run(request: Request, keepAnswer: KeepAnswer | null): Promise<Answer>;
  /** The answer to an earlier request, as its caller may see it now. */
  replay(request: Request, answer: Answer): Promise<Answer>;
}
