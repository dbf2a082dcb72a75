/**
 * The service's own tables that steps of a batch need. They are made before the batch begins: within its transaction a
 * new table would wait for it, and a batch that only reads could not store the secret of the log.
 */
import type { Action } from "../calls/action.ts";
import type { Request } from "../calls/handler.ts";
import { changeSeal } from "../changes/seen-changes.ts";
import { ledgersOf } from "../changes/store-recorded.ts";
import type { Entity } from "../plans/entity.ts";
import type { LedgerName } from "../query/session.ts";

/** A step, as far as it says what it needs. */
interface Needing {
  readonly action: Action;
  /** As `neededLedgers` says. */
  readonly ledgers: readonly LedgerName[];
}

/** The service's own tables that a write of the endpoint can need. */
export const neededLedgers = ({ changes, numbers }: Entity): LedgerName[] => [
  ...ledgersOf(changes),
  ...(numbers.size > 0 ? (["numbers"] as const) : []),
];

/** Makes what is not there yet. Never rejects: a failure is one of the step that needs the table. */
export async function makeLedgers(
  request: Pick<Request, "session" | "newId" | "digest">,
  steps: readonly Needing[],
): Promise<void> {
  for (const name of new Set(steps.flatMap(({ ledgers }) => ledgers)))
    await request.session.ledger(name).catch(() => undefined);
  // Without it, no change has an id to be shown.
  if (steps.some(({ action }) => action.requires.has("history")))
    await changeSeal(request).catch(() => undefined);
}
