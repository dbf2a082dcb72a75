/**
 * Whether a store that the service can do without is in reach: it says once that it is away, and does not let every request wait for it.
 */
import type { Log } from "../plans/ports.ts";
import { limits } from "../values/limits.ts";

export interface Reach {
  /** True: it failed a moment ago, and is not to be asked. */
  isResting(): boolean;
  failed(error: unknown): void;
  succeeded(): void;
}

export interface ReachWords {
  readonly log: Log;
  /** The line for a store that is away. */
  readonly away: string;
  readonly back: string;
}

export function createReach({ log, away, back }: ReachWords): Reach {
  let isAway = false;
  let failedAtMs = -Infinity;
  return {
    isResting: () => performance.now() - failedAtMs < limits.cacheRestMs,
    failed(error) {
      failedAtMs = performance.now();
      if (isAway) return;
      isAway = true;
      log.warn({ err: error }, away);
    },
    succeeded() {
      // A store that is full may answer one call and refuse the next: not each of them is news.
      if (!isAway || performance.now() - failedAtMs < limits.cacheSteadyMs) return;
      isAway = false;
      log.info({}, back);
    },
  };
}
