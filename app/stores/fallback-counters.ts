/** Shared counters, or while Redis is unreachable those of this process, so that no request is refused for that. */
import type { Reach } from "../../core/cache/reach.ts";
import type { Counters } from "../../core/plans/counters.ts";

export interface FallbackOptions {
  /** Of this process. */
  readonly own: Counters;
  readonly reach: Reach;
}

/** Never rejects. */
export function withFallback(shared: Counters, { own, reach }: FallbackOptions): Counters {
  async function over<Result>(ask: (counters: Counters) => Promise<Result>): Promise<Result> {
    if (reach.isResting()) return ask(own);
    try {
      const result = await ask(shared);
      reach.succeeded();
      return result;
    } catch (error) {
      reach.failed(error);
      return ask(own);
    }
  }
  return {
    count: (names, windowMs) => over((counters) => counters.count(names, windowMs)),
    read: (names) => over((counters) => counters.read(names)),
  };
}

/** The log messages about losing and regaining shared counters. */
export const countersReach = {
  away: "Redis is out of reach; each process counts its own rate limits",
  back: "Redis is in reach again; rate limits are shared",
};
