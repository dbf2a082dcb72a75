/** What a deadlock or a serialization failure leads to: the same work runs again, a few times. */
import { limits } from "../../core/values/limits.ts";
import type { Log } from "../../core/plans/ports.ts";

/** The deadlock or serialization failure of a transaction that may run again; its cause is what the caller gets to see. */
export class Conflict extends Error {}

/** What the caller of a statement inside a transaction sees of its failure. */
export const visibleError = (error: Error): Error =>
  error instanceof Conflict ? (error.cause as Error) : error;

export type Retry = <T>(deadlineAtMs: number, attempt: () => Promise<T>) => Promise<T>;

/** Runs `attempt` again after a Conflict, a little later each time. `engine`: for the log. */
export function createRetry(engine: string, log: Log | undefined): Retry {
  return async (deadlineAtMs, attempt) => {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        const delayMs = 2 ** tries * 10 * (0.5 + Math.random());
        const isLast = tries >= limits.transactionTriesMax;
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
