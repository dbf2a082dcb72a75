/** What instances of the service keep outside the databases, wherever that is. Opened by `open.ts` and `open-redis.ts`. */
import type { CacheStore, Counters, LockStore } from "../../core/plans/ports.ts";

export interface Stores {
  readonly cache: CacheStore;
  /** The locks of a project; asked for once. */
  readonly locks: (project: string) => LockStore;
  readonly counters: Counters;
  /** Whether Redis answers; null without Redis. */
  readonly ping: (() => Promise<boolean>) | null;
  close(): void;
}
