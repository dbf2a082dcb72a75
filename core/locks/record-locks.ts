/**
 * The record locks of one request: one token for all of them, and a timer that renews them while the request runs.
 */
import type { LockOutcome, LockStore } from "./lock-store.ts";
import type { Log } from "../plans/log-port.ts";
import type { NewId } from "../values/clock.ts";

export interface RecordLocks {
  /** All of the names or none; rejects as the store does. */
  take(names: readonly string[]): Promise<LockOutcome>;
  isHolding(): boolean;
  /** Whether a lock that was taken may have expired. */
  isLost(): boolean;
  /** Releases all of them. Never rejects. */
  close(): Promise<void>;
}

export function createRecordLocks(
  store: LockStore,
  { ttlMs, newId, log }: { ttlMs: number; newId: NewId; log: Log },
): RecordLocks {
  const taken: (readonly string[])[] = [];
  let token: string | null = null;
  let timer: ReturnType<typeof setInterval> | undefined;
  /** On our own clock, measured before the store was called: the lock never ends earlier there. */
  let endsAtMs = Infinity;
  let wasLost = false;

  async function keepOn(ownToken: string): Promise<void> {
    const askedAtMs = performance.now();
    try {
      for (const names of taken) {
        const outcome = await store.extend(names, { token: ownToken, ttlMs });
        wasLost ||= !outcome.ok;
      }
      endsAtMs = askedAtMs + ttlMs;
    } catch (error) {
      log.warn({ err: error }, "The locks of a running request could not be renewed");
    }
  }

  return {
    async take(names) {
      const ownToken = (token ??= newId());
      const askedAtMs = performance.now();
      const outcome = await store.acquire(names, {
        token: ownToken,
        owner: null,
        share: null,
        ttlMs,
      });
      if (!outcome.ok) return outcome;
      taken.push(names);
      endsAtMs = Math.min(endsAtMs, askedAtMs + ttlMs);
      timer ??= setInterval(() => void keepOn(ownToken), ttlMs / 3);
      return outcome;
    },
    isHolding: () => token !== null,
    isLost: () => wasLost || performance.now() >= endsAtMs,
    async close() {
      if (token === null) return;
      clearInterval(timer);
      for (const names of taken) {
        await store.release(names, token).catch((error: unknown) => {
          log.warn(
            { err: error },
            "The locks of a request could not be released; they will expire",
          );
        });
      }
    },
  };
}
