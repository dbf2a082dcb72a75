/**
 * Whether a store that the service can do without can be reached. Reports once that it cannot, and does not let every
 * request wait for it.
 */
import type { Log } from "../plans/log-port.ts";
import { limits } from "../values/limits.ts";

export interface Reach {
  /** True: it failed a moment ago, and must not be used. */
  isResting(): boolean;
  failed(error: unknown): void;
  succeeded(): void;
}

export interface ReachWords {
  readonly log: Log;
  /** The log line for a store that cannot be reached. */
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
      // A full store may answer one call and refuse the next: not each of these is logged.
      if (!isAway || performance.now() - failedAtMs < limits.cacheSteadyMs) return;
      isAway = false;
      log.info({}, back);
    },
  };
}
