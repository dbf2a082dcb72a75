/** Counters of one process, in a bounded amount of memory: when there are too many, the oldest start again. */
import { limits } from "../../core/values/limits.ts";
import type { Counters } from "../../core/plans/counters.ts";

interface Window {
  count: number;
  readonly endsAtMs: number;
}

export interface MemoryCountersOptions {
  /** Milliseconds of a clock that only goes forward. */
  readonly nowMs?: () => number;
  readonly countersMax?: number;
}

export function createMemoryCounters({
  nowMs = () => performance.now(),
  countersMax = limits.rateCountersMax,
}: MemoryCountersOptions = {}): Counters {
  /** In the order of their starts. */
  const windows = new Map<string, Window>();

  function windowOf(name: string, windowMs: number): Window {
    const now = nowMs();
    const known = windows.get(name);
    if (known && known.endsAtMs > now) return known;
    windows.delete(name);
    removeOld(now);
    const begun = { count: 0, endsAtMs: now + windowMs };
    windows.set(name, begun);
    return begun;
  }

  /** The search ends at the first one that is still needed, so that each window is visited about once. */
  function removeOld(now: number): void {
    for (const [name, { endsAtMs }] of windows) {
      if (endsAtMs > now && windows.size < countersMax) return;
      windows.delete(name);
    }
  }

  return {
    async count(names, windowMs) {
      return names.map((name) => {
        const window = windowOf(name, windowMs);
        window.count++;
        return { count: window.count, endsInMs: Math.max(0, window.endsAtMs - nowMs()) };
      });
    },
    async read(names) {
      const now = nowMs();
      return names.map((name) => {
        const window = windows.get(name);
        return window && window.endsAtMs > now ? window.count : 0;
      });
    },
  };
}
