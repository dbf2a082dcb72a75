/** Counts the open streams of a project, in all processes that answer together; `app/stores` implements it. */
export interface OpenStreams {
  /** False: the caller, or all callers, have as many as they may. The count is the caller's own until `release`. */
  take(share: string, limits: StreamLimits): Promise<boolean>;
  release(share: string): void;
}

/** Streams at the same time: of one caller, and of all. */
export interface StreamLimits {
  readonly ofCaller: number;
  readonly inAll: number;
}
