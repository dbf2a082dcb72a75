/**
 * Bounds work in time. One timer looks after all overdue work every few milliseconds, because a timer of its own for
 * every statement costs more than the rest of the bookkeeping. Called by `pool.ts` and `db.ts`.
 */
import { unavailable } from "../core/errors.ts";

/** How late work may be found overdue. */
const tickMs = 25;

interface Watch {
  readonly atMs: number;
  readonly overdue: () => void;
}

const watched = new Set<Watch>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Calls `overdue` once, soon after `atMs` (on the clock of `performance.now()`), unless `unwatch` comes first. */
export function watch(atMs: number, overdue: () => void): Watch {
  const entry = { atMs, overdue };
  watched.add(entry);
  if (timer === undefined) {
    timer = setInterval(sweep, tickMs);
    timer.unref?.();
  }
  return entry;
}

export function unwatch(entry: Watch): void {
  watched.delete(entry);
}

/**
 * The outcome of `work`, or a rejection with `unavailable` at `atMs`; `abandon` then ends what is still under way.
 * `message` is for the client.
 */
export function within<T>(
  work: Promise<T>,
  atMs: number,
  abandon: () => void,
  message: string,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const entry = watch(atMs, () => {
      reject(unavailable(message));
      abandon();
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
  });
}

function sweep(): void {
  if (watched.size === 0) {
    clearInterval(timer);
    timer = undefined;
    return;
  }
  const nowMs = performance.now();
  for (const entry of watched) {
    if (entry.atMs > nowMs) continue;
    watched.delete(entry);
    entry.overdue();
  }
}
