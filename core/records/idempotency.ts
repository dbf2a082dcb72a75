/**
 * Idempotency-Key: a repeated request with the same key is not executed again; it gets the answer of the first one. The
 * answer is stored in the transaction of the write (`KeepAnswer`), so it exists exactly if the write does. Before that,
 * the request commits a claim to the same table, so that repeats in every process see at once that it is still running.
 * A claim expires after a short time, and a run whose claim was taken over cannot finish.
 */
import type { Answer } from "../calls/answer.ts";
import { identityOf } from "../plans/caller.ts";
import { wholeScope } from "../callers/scope.ts";
import { past, scopedSession } from "../callers/scoped-session.ts";
import type { Queries, DbSession } from "../query/session.ts";
import type { Table } from "../values/types/column.ts";
import type { Entity } from "../plans/entity.ts";
import { AppError, invalidParameter } from "../values/errors.ts";
import type { Handler, KeepAnswer, Request } from "../calls/handler.ts";
import { canonicalJson, parseOwnJson } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import {
  answerRequest,
  type Claim,
  claimRequest,
  findRequest,
  releaseRequest,
  replaceRequest,
  type RequestPlace,
  type RequestRow,
  sweepRequests,
} from "./request-ledger.ts";

/** What requests with a key belong to. */
export interface Repeated {
  readonly project: string;
  /** Empty: the action is the whole project's. */
  readonly endpoint: string;
  readonly action: string;
  /** Every table that they may write to. */
  readonly writes: ReadonlySet<Table | "unknown">;
}

/**
 * Wraps the handler; a request without an Idempotency-Key goes straight to it. Rejects with 400 for an invalid key, 422
 * if the key came with another body, 409 while the first request runs, and 503 if answers cannot be stored.
 */
export function repeatable(handler: Handler, about: Repeated): Handler {
  let answered = 0;

  async function run(request: Request): Promise<Answer> {
    const { idempotencyKey: key, caller, db, digest, deadlineAtMs, share } = request;
    if (key === null) return handler.run(request, null);
    if (!keyShape.test(key)) {
      const most = limits.idempotencyKeyLengthMax;
      throw invalidParameter(`Idempotency-Key must be 1 to ${most} visible ASCII characters`);
    }
    if (request.dryRun) return handler.run(request, null);
    // A separate session: its writes do not invalidate the cache.
    const session = db.session(deadlineAtMs, { share });
    const ledger = await session.ledger("requests");
    const queries = ledgerQueries(session);
    const { project, endpoint, action } = about;
    const place = { project, endpoint, action, caller: identityOf(caller), key };
    const run: Run = {
      request,
      place: { ledger, id: digest(JSON.stringify(place)) },
      bodyHash: digest(canonicalJson(request.body)),
      claim: request.newId(),
    };
    try {
      const earlier = await begin(queries, run);
      if (earlier !== null) {
        // The first process may have died after its commit and before it invalidated the cache.
        await request.cache.wrote(about.writes);
        return { ...(await handler.replay(request, earlier)), isReplayed: true };
      }
      const answer = await handler.run(request, keeping(run));
      await sweepRequests(queries, { ...request, ledger, count: answered++ });
      return answer;
    } catch (error) {
      const stored = isForeign(error) ? null : await giveUp(run);
      if (stored === null) throw error;
      return stored;
    }
  }
  return { ...handler, run };
}

/** No row of the service's own table belongs to a caller, so no scope applies. */
const ledgerQueries = (session: DbSession): Queries =>
  past(scopedSession(session, wholeScope), "requestLedger");

/** One run of a request that has a key. */
interface Run {
  readonly request: Request;
  readonly place: RequestPlace;
  readonly bodyHash: string;
  readonly claim: string;
}

const keyShape = new RegExp(`^[!-~]{1,${limits.idempotencyKeyLengthMax}}$`);

/** Claims the request's place; null: it is to be done now. Else the answer that it got before. */
async function begin(queries: Queries, run: Run): Promise<Answer | null> {
  const { request, place, bodyHash, claim } = run;
  for (let tries = 1; tries <= beginTriesMax; tries++) {
    const now = request.now();
    const own: Claim = { bodyHash, claim, now };
    const seen = await findRequest(queries, place);
    if (seen === null) {
      if (await claimRequest(queries, place, own)) return null;
      continue;
    }
    if (hasExpired(seen, now)) {
      if (await replaceRequest(queries, { ...place, seen }, own)) return null;
      continue;
    }
    if (seen.bodyHash !== bodyHash) {
      const message = "This Idempotency-Key was sent before, with another body";
      throw new AppError("idempotencyKeyReused", message);
    }
    if (seen.answer === null) throw stillRuns();
    return parseOwnJson(seen.answer) as unknown as Answer;
  }
  throw stillRuns();
}

/** A row that seems to begin in the future was written before a clock was set back: it expires all the same. */
function hasExpired({ answer, startedAtMs }: RequestRow, now: string): boolean {
  const keptMs = answer === null ? limits.idempotencyClaimMs : limits.idempotencyKeptMs;
  return Math.abs(Date.parse(now) - startedAtMs) > keptMs;
}

/** If another run interferes twice, it has a claim, which the third attempt finds. */
const beginTriesMax = 3;

const stillRuns = (): AppError =>
  new AppError(
    "requestInProgress",
    "The first request with this Idempotency-Key is still running; try again later",
  );

/** Whether the claim is another client's, or never was this run's. */
const isForeign = (error: unknown): boolean =>
  error instanceof AppError &&
  (error.kind === "requestInProgress" || error.kind === "idempotencyKeyReused");

const notKept = (cause: unknown): AppError =>
  new AppError(
    "payloadTooLarge",
    "The response is larger than what the database can keep for a repeated request; send fewer records at once",
    { cause },
  );

/** What the action calls at the end of its transaction. */
function keeping({ request, place, claim }: Run): KeepAnswer {
  return async (queries, given) => {
    const { later: _, ...kept } = given;
    const answer: Answer = { ...kept, answeredAt: request.now() };
    const isKept = await answerRequest(
      past(queries, "requestLedger"),
      { ...place, claim },
      JSON.stringify(answer),
    ).catch((error: unknown) => {
      throw error instanceof AppError && error.kind === "payloadTooLarge" ? notKept(error) : error;
    });
    // Rolls the transaction back: the claim expired, and another run of the request took over.
    if (!isKept) throw stillRuns();
    return answer;
  };
}

/**
 * Releases the claim after a failure, so that the request can be repeated. If a lost connection had committed after
 * all, returns the stored answer, and the request has succeeded.
 */
async function giveUp({ request, place, claim }: Run): Promise<Answer | null> {
  const queries = ledgerQueries(
    request.db.session(performance.now() + limits.idempotencyReleaseMs),
  );
  for (let tries = 1; ; tries++) {
    try {
      // Waits for a transaction that the database has not ended yet.
      if (await releaseRequest(queries, { ...place, claim })) return null;
      const row = await findRequest(queries, place);
      return row?.claim === claim && row.answer !== null
        ? (parseOwnJson(row.answer) as unknown as Answer)
        : null;
    } catch (error) {
      if (tries < giveUpTriesMax) continue;
      request.log.warn(
        { err: error },
        "The Idempotency-Key of a failed request could not be released; it stays reserved for a short time",
      );
      return null;
    }
  }
}

/** The next connection of the pool may be broken too. */
const giveUpTriesMax = 3;

/** Every table that the actions of the entity may write to. */
export function writtenBy({
  write,
  composite,
  handlers,
  procedure,
}: Entity): Set<Table | "unknown"> {
  const details = composite?.details.map(({ table }) => table) ?? [];
  return new Set([
    ...(write ? [write.table] : []),
    ...details,
    ...(handlers.size > 0 || procedure !== null ? unknown : []),
  ]);
}

const unknown = ["unknown"] as const;
