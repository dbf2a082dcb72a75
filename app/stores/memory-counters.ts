/** Counters of one process. They take a bounded amount of memory: when there are too many, the oldest begin again. */
import { limits } from "../../core/values/limits.ts";
import type { Counters } from "../../core/plans/ports.ts";

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
  /** In the order in which they began. */
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

  /** The first one that is still needed ends the search, so that each window is looked at about once. */
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
  };
}
