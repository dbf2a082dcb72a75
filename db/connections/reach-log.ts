/** Logs when a running service loses the database and when it is back, once each. */
import type { DatabaseFault } from "../../core/plans/db-port.ts";
import type { Log } from "../../core/plans/log-port.ts";

export interface ReachLog {
  opened(): void;
  /** A connection could not be opened, and none is in use. */
  failed(error: unknown): void;
}

/** Logs nothing until the database was reached once: the start of the service logs failures before that. */
export function createReachLog(log: Log, faultOf: (error: unknown) => DatabaseFault): ReachLog {
  let state: "unknown" | "reached" | "away" = "unknown";
  return {
    opened() {
      if (state === "away") log.info({}, "The database is reachable again");
      state = "reached";
    },
    failed(error) {
      // The engine can have logged it already.
      const { isReported } = (error ?? {}) as { readonly isReported?: unknown };
      if (state !== "reached" || isReported === true) return;
      state = "away";
      const { reason, remedy } = faultOf(error);
      log.error({}, `The database went away: ${reason}; ${remedy}`);
    },
  };
}
