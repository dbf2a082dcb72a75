/** A database session without a scope, as a conformance test uses it: every call, in transactions too. */
import { past, scopedSession } from "../../core/callers/scoped-session.ts";
import { wholeScope } from "../../core/callers/scope.ts";
import type { Session, Transaction, UnscopedQueries } from "../../core/query/session.ts";
import type { Db } from "../../core/plans/db-port.ts";

export interface BareSession extends Omit<Session, "tx" | "snapshot">, UnscopedQueries {
  tx<T>(
    work: (tx: BareTransaction) => Promise<T>,
    options?: Parameters<Session["tx"]>[1],
  ): Promise<T>;
  snapshot<T>(work: (queries: UnscopedQueries) => Promise<T>): Promise<T>;
}

export type BareTransaction = Transaction & UnscopedQueries;

export const bareSession = (db: Db, deadlineAtMs: number): BareSession =>
  past(scopedSession(db.session(deadlineAtMs), wholeScope), "handlerQuery") as BareSession;
