/**
 * Detects a worker that runs but receives no jobs, for example after a blocking read that never returned. Only a new
 * process helps then, so a pause or a series of short jobs must not be mistaken for it.
 */

/** What is watched, and what is done. */
export interface Watchdog {
  readonly queue: {
    /** Jobs that wait, with a priority or without. */
    getJobCountByTypes(...types: ["waiting", "prioritized"]): Promise<number>;
    isPaused(): Promise<boolean>;
  };
  /** Jobs that the worker has taken since its start. */
  taken(): number;
  /** Whether none of them is running. */
  isIdle(): boolean;
  /** Pause between two checks. Default: 30 seconds. */
  readonly lookMs?: number | undefined;
  /** Called from the second check in a row at which jobs wait, the worker is idle, and none was taken in between. */
  onStuck(): void;
}

const looksMax = 2;

/** Returns the function that ends it. A queue that does not answer proves nothing. */
export function watchForStuck({ queue, taken, isIdle, lookMs = 30_000, onStuck }: Watchdog) {
  let takenBefore = 0;
  let suspicions = 0;

  async function checkQueue(): Promise<void> {
    const before = takenBefore;
    takenBefore = taken();
    const waits =
      (await queue.getJobCountByTypes("waiting", "prioritized")) > 0 && !(await queue.isPaused());
    suspicions = waits && isIdle() && taken() === before ? suspicions + 1 : 0;
    if (suspicions >= looksMax) onStuck();
  }

  const timer = setInterval(() => {
    checkQueue().catch(() => {
      suspicions = 0;
    });
  }, lookMs);
  return () => clearInterval(timer);
}
