/** Retries work after a deadlock or a serialization failure, a few times. */
import { unavailable } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type { Log } from "../../core/plans/log-port.ts";

/** A deadlock or serialization failure of a transaction that can run again. Its cause is the error for the caller. */
export class Conflict extends Error {}

/** The statement has to run on a connection for long reads. It was not run here: the work runs again there. */
export class TooLong extends Conflict {
  constructor() {
    super("", { cause: unavailable("The statement may take too long on this connection") });
  }
}

/** The error that the caller of a statement in a transaction sees. */
export const visibleError = (error: Error): Error =>
  error instanceof Conflict ? (error.cause as Error) : error;

/** `triesMax`: the first try included; absent: `limits.transactionTriesMax`. */
export type Retry = <T>(
  deadlineAtMs: number,
  attempt: () => Promise<T>,
  triesMax?: number,
) => Promise<T>;

/** Longest delay between two tries. */
const delayMaxMs = 500;

/** Runs `attempt` again after a Conflict, with increasing delays. `engine`: for the log. */
export function createRetry(engine: string, log: Log | undefined): Retry {
  return async (deadlineAtMs, attempt, triesMax = limits.transactionTriesMax) => {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        const delayMs = Math.min(2 ** tries * 10, delayMaxMs) * (0.5 + Math.random());
        const isLast = tries >= triesMax;
        if (isLast || performance.now() + delayMs >= deadlineAtMs) throw error.cause;
        log?.debug(
          { engine, tries },
          "The database gave up a transaction because of others; it runs again",
        );
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
    }
  };
}
