/** Shared counters, and those of this process while the shared ones are out of reach: a request is never refused because Redis is away. */
import type { Reach } from "../../core/cache/reach.ts";
import type { Counters } from "../../core/plans/ports.ts";

export interface FallbackOptions {
  /** Of this process. */
  readonly own: Counters;
  readonly reach: Reach;
}

/** Never rejects. */
export function withFallback(shared: Counters, { own, reach }: FallbackOptions): Counters {
  return {
    async count(names, windowMs) {
      if (reach.isResting()) return own.count(names, windowMs);
      try {
        const counts = await shared.count(names, windowMs);
        reach.succeeded();
        return counts;
      } catch (error) {
        reach.failed(error);
        return own.count(names, windowMs);
      }
    },
  };
}

/** What the log says of shared counters that come and go. */
export const countersReach = {
  away: "Redis is out of reach; rate limits are counted in this process alone",
  back: "Redis is in reach again; rate limits are shared",
};
