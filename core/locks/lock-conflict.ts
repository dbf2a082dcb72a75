/** What a request is told when another request or client holds the lock that it needs. */
import { AppError } from "../values/errors.ts";
import type { KeyValue } from "../values/types/key.ts";
import type { ShownKey } from "./lock-names.ts";
import type { LockHolder } from "./lock-store.ts";

export const lockNotTaken =
  "A record is locked by another request, or locks are out of reach; nothing was changed";
export const recordInUse = "The record is being changed by another request";
export const heldByOther = "The record is locked by another client";
export const tokenEnded = "The token holds no lock on this record any more";
export const lockLost =
  "The lock of the record was lost while the request ran; nothing was changed";

interface Conflict {
  /** As the caller may see it. */
  readonly key: ShownKey | null;
  readonly value: KeyValue | null;
  readonly holder: LockHolder | null;
}

/** Another request or client holds a lock. */
export class LockConflict extends AppError {
  /** The key of the locked record, even where its caller may not see it; null: it is about no single one. */
  readonly keyValue: KeyValue | null;

  constructor(message: string, { key, value, holder }: Conflict) {
    super("lockConflict", message, {
      data: {
        conflicting_key: key && { ...key },
        locked_by: holder?.owner ?? null,
        ttl_remaining: secondsLeft(holder),
      },
    });
    this.keyValue = value;
  }
}

/** Whole seconds until it ends, rounded up: a lock that is still held has at least one. */
export const secondsLeft = (holder: LockHolder | null): number =>
  Math.ceil((holder?.remainingMs ?? 0) / 1_000);

/** Whether a record was locked by another request just then, so that everything may begin again in a moment. */
export const isInUse = (error: unknown): boolean =>
  error instanceof AppError && (error.message === recordInUse || isInUse(error.cause));
