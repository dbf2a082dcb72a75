/** Logs that a database went away while the service runs, and that it is back: each once, whatever the requests do. */
import type { DatabaseFault, Log } from "../../core/plans/ports.ts";

export interface ReachLog {
  opened(): void;
  /** A connection could not be opened, and none is in use. */
  failed(error: unknown): void;
}

/** Until the database was reached for the first time nothing is logged: the start says that itself. */
export function createReachLog(log: Log, faultOf: (error: unknown) => DatabaseFault): ReachLog {
  let state: "unknown" | "reached" | "away" = "unknown";
  return {
    opened() {
      if (state === "away") log.info({}, "The database is reachable again");
      state = "reached";
    },
    failed(error) {
      if (state !== "reached") return;
      state = "away";
      const { reason, remedy } = faultOf(error);
      log.error({}, `The database went away: ${reason}; ${remedy}`);
    },
  };
}
