/** Limits of calls to a bucket, each with its unit. */
export const bucketLimits = {
  /** One call of a bucket, its tries included, beyond the time for the bytes that it sends. */
  answerMs: 5_000,
  /** A connection that sends fewer bytes in a millisecond is too slow. */
  bytesPerMsMin: 100,
  /** Time for the bucket to join the parts of a file. */
  completeMs: 60_000,
  /** Without a byte for this long, reading from a bucket has failed. */
  idleMs: 10_000,
  /** Bytes of an answer of a bucket that is not a file: a list of 1,000 long keys fits. */
  answerBytesMax: 8 * 1024 ** 2,
  /** Tries of one call of a bucket, the first included. */
  triesMax: 4,
  /** Pause before the second try; it doubles each time. */
  retryMs: 100,
  /** Bytes of a part of a large file: the least that services take. 10,000 parts make 50 GB. */
  partBytes: 5 * 1024 ** 2,
  /** Parts of one file on their way at the same time. */
  partsAtOnce: 2,
} as const;
