/** Limits how long to wait for work. */

export interface TimeoutOptions<Late> {
  readonly timeoutMs: number;
  /** Returns the result when the time is over, or throws. */
  onTimeout(): Late;
  /** Ends the wait early: rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Settles as `work` does, or with `onTimeout` when it takes longer. The work itself continues; its later result or
 * error is ignored. No timer and no listener is left.
 */
export async function withTimeout<T, Late>(
  work: Promise<T>,
  { timeoutMs, onTimeout, signal }: TimeoutOptions<Late>,
): Promise<T | Late> {
  const end = Promise.withResolvers<void>();
  const timer = setTimeout(end.resolve, timeoutMs);
  const abort = () => end.reject(signal?.reason);
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  try {
    return await Promise.race([work, end.promise.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
