/** Whether the last write that needed space failed for lack of it. Changes are logged; readiness reports the state. */
import type { Log } from "../../core/plans/log-port.ts";

export interface Room {
  readonly isFull: boolean;
  /** A statement failed for lack of space; `error` is for the log. */
  ended(error: unknown): void;
  /** A write was committed. */
  sufficed(): void;
}

export function createRoom(log: Log | undefined): Room {
  let isFull = false;
  return {
    get isFull() {
      return isFull;
    },
    ended(error) {
      if (!isFull)
        log?.error({ err: error }, "The database has no room left; make room on its disk");
      isFull = true;
    },
    sufficed() {
      if (isFull) log?.info({}, "The database has room again");
      isFull = false;
    },
  };
}
