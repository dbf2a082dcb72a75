/** The store that locks need; `app/stores` implements it in Redis and in memory. */
import { AppError, unavailable } from "../values/errors.ts";
import { limits } from "../values/limits.ts";

/**
 * Locks of one project, by name, shared by all instances that use the same store. Each has the token of its holder and
 * expires. A call names each lock once, and at most `limits.lockNamesMax` of them. Every call rejects if the store is
 * unreachable, or may have lost locks that are not restored yet. No call waits for long.
 */
export interface LockStore {
  /**
   * All of the names or none. A lock that the token already holds is extended to `ttlMs`. `share`: the caller, who may
   * hold `limits.lockCallerMax` locks; beyond that, rejects with `tooManyRequests`. Null: not counted, and with a
   * separate memory limit.
   */
  acquire(
    names: readonly string[],
    claim: { token: string; owner: string | null; share: string | null; ttlMs: number },
  ): Promise<LockOutcome>;
  /** Extends all names to `ttlMs` from now, or none if the token lost one. Fence and time of acquisition stay. */
  extend(names: readonly string[], claim: { token: string; ttlMs: number }): Promise<LockOutcome>;
  /** Releases the locks that the token holds; resolves with their number. */
  release(names: readonly string[], token: string): Promise<number>;
  /** In the order of the names; null = free. */
  status(names: readonly string[], tokens: readonly string[]): Promise<(LockState | null)[]>;
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
  /** The first name that conflicts. `holder` null: it is free, so there is nothing to extend. */
  | { readonly ok: false; readonly name: string; readonly holder: LockHolder | null };

export interface LockState extends LockHolder {
  /** Whether one of the given tokens holds it. */
  readonly isOwn: boolean;
}

/** Who holds a lock, and for how long yet. */
export interface LockHolder {
  /** Null: the holder gave no name. */
  readonly owner: string | null;
  readonly remainingMs: number;
}

/** The error of `acquire` when the caller has reached its limit, so that no caller fills the store. */
export const tooManyLocks = (): AppError =>
  new AppError(
    "tooManyRequests",
    `You hold the maximum number of locks per client and project (${limits.lockCallerMax}); release some, or wait until they expire`,
  );

/** The store, with the error for clients when it is unreachable. */
export function answering(store: LockStore): LockStore {
  const orUnavailable = <T>(asked: Promise<T>): Promise<T> =>
    asked.catch((error: unknown) => {
      if (error instanceof AppError) throw error;
      throw unavailable(
        "The lock store is not reachable, so no lock can be granted; try again later",
        error,
      );
    });
  return {
    acquire: (names, claim) => orUnavailable(store.acquire(names, claim)),
    extend: (names, claim) => orUnavailable(store.extend(names, claim)),
    release: (names, token) => orUnavailable(store.release(names, token)),
    status: (names, tokens) => orUnavailable(store.status(names, tokens)),
  };
}
