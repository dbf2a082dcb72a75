/** Counters of requests, for rate limits; `app/stores` has them in Redis and in the process. */

/** Counts in windows of time; each begins with its first request. */
export interface Counters {
  /** Adds one to each of the names, in one round trip. Rejects if the store is unreachable. */
  count(names: readonly string[], windowMs: number): Promise<readonly WindowCount[]>;
  /** The value of each counter; 0 without a current window. Rejects as `count` does. */
  read(names: readonly string[]): Promise<readonly number[]>;
}

/** The value of a counter, including the request that was just counted. */
export interface WindowCount {
  readonly count: number;
  /** Until it begins again at zero. */
  readonly endsInMs: number;
}
