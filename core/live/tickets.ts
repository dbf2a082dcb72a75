/**
 * Tickets for one connection: browsers cannot send credentials with an EventSource. A ticket is a row of
 * `rowgate_requests`, so that every process of the project can take it, and only one does.
 */
import { past, scopedSession } from "../callers/scoped-session.ts";
import type { Callers } from "../callers/callers.ts";
import { wholeScope } from "../callers/scope.ts";
import type { Caller } from "../plans/caller.ts";
import type { Db } from "../plans/db-port.ts";
import type { Runtime } from "../plans/runtime.ts";
import type { Queries } from "../query/session.ts";
import {
  claimRequest,
  findRequest,
  releaseRequest,
  sweepRequests,
} from "../records/request-ledger.ts";
import { type AppError, unauthorized } from "../values/errors.ts";
import { parseOwnJson } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { Table } from "../values/types/column.ts";

interface Ticketing extends Pick<Runtime, "now" | "newId" | "digest"> {
  readonly db: Db;
  readonly deadlineAtMs: number;
}

async function open({ db, deadlineAtMs }: Ticketing): Promise<{ ledger: Table; queries: Queries }> {
  const session = db.session(deadlineAtMs);
  const ledger = await session.ledger("requests");
  return { ledger, queries: past(scopedSession(session, wholeScope), "requestLedger") };
}

const idOf = (ticket: string, { digest }: Ticketing): string => digest(`ticket ${ticket}`);

/** `count`: tickets that the process has issued before. */
export async function issueTicket(
  caller: Caller,
  { count, ...ticketing }: Ticketing & Pick<Runtime, "log"> & { readonly count: number },
): Promise<{ ticket: string; expires_at: string }> {
  const { now, newId } = ticketing;
  const { ledger, queries } = await open(ticketing);
  const ticket = `${newId()}${newId()}`.replaceAll("-", "");
  const issued = now();
  await claimRequest(
    queries,
    { ledger, id: idOf(ticket, ticketing) },
    { bodyHash: "", claim: "ticket", now: issued, answer: JSON.stringify(caller) },
  );
  // Nobody comes back for a ticket that was not used.
  await sweepRequests(queries, { ...ticketing, ledger, count });
  const expires = new Date(Date.parse(issued) + limits.ticketMs).toISOString();
  return { ticket, expires_at: expires };
}

/** The caller who got the ticket, which is then used up. Rejects with `unauthorized`, also if the caller's key is gone. */
export async function redeemTicket(
  ticket: string,
  { callers, ...ticketing }: Ticketing & { readonly callers: Pick<Callers, "knows"> },
): Promise<Caller> {
  const { ledger, queries } = await open(ticketing);
  const place = { ledger, id: idOf(ticket, ticketing) };
  const row = await findRequest(queries, place);
  const isFresh =
    row?.claim === "ticket" &&
    row.answer !== null &&
    Date.parse(ticketing.now()) - row.startedAtMs <= limits.ticketMs;
  if (!isFresh || !(await releaseRequest(queries, { ...place, claim: "ticket", isAnswered: true })))
    throw refusal();
  const caller = parseOwnJson(row.answer!) as unknown as Caller;
  if (callers.knows?.(caller) === false) throw refusal();
  return caller;
}

const refusal = (): AppError => unauthorized("The ticket is unknown, used or expired");
