/**
 * Bounds work in time. One timer of each database checks all of its overdue work every few milliseconds, because a
 * timer for every statement costs more than the rest of the bookkeeping. One timer for the whole process would end with
 * the request that started it on runtimes that give each request its own timers.
 */
import { Bag, type Placed } from "./bag.ts";
import { unavailable } from "./errors.ts";

/** Precision of the deadlines. */
const tickMs = 25;

export interface Watch extends Placed {
  readonly atMs: number;
  readonly overdue: () => void;
}

export interface Deadlines {
  /** Calls `overdue` once, soon after `atMs` (clock of `performance.now()`), unless `unwatch` is called first. */
  watch(atMs: number, overdue: () => void): Watch;
  unwatch(entry: Watch): void;
  /** Settles as `work` does, or as `onLate` returns or throws when `work` takes longer than until `atMs`. */
  within<T, Late>(work: Promise<T>, atMs: number, onLate: () => Late): Promise<T | Late>;
}

/** For `within`: ends the wait with `unavailable` and this message for the client, after `abandon` stopped the work. */
export const tooLate =
  (message: string, abandon = (): void => {}) =>
  (): never => {
    abandon();
    throw unavailable(message);
  };

export function createDeadlines(): Deadlines {
  const watched = new Bag<Watch>();
  let timer: ReturnType<typeof setInterval> | undefined;

  function watch(atMs: number, overdue: () => void): Watch {
    const entry = { atMs, overdue, place: -1 };
    watched.add(entry);
    if (timer === undefined) {
      timer = setInterval(sweep, tickMs);
      timer.unref?.();
    }
    return entry;
  }

  function sweep(): void {
    if (watched.size === 0) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    const nowMs = performance.now();
    watched.forEach((entry) => {
      if (entry.atMs > nowMs) return;
      watched.delete(entry);
      entry.overdue();
    });
  }

  return {
    watch,
    unwatch: (entry) => watched.delete(entry),
    within: <T, Late>(work: Promise<T>, atMs: number, onLate: () => Late) =>
      new Promise<T | Late>((resolve, reject) => {
        const entry = watch(atMs, () => {
          try {
            resolve(onLate());
          } catch (error) {
            reject(error);
          }
        });
        work.then(
          (value) => {
            watched.delete(entry);
            resolve(value);
          },
          (error: unknown) => {
            watched.delete(entry);
            reject(error);
          },
        );
      }),
  };
}
