/** The state that instances keep outside the databases, in Redis or memory. Opened by `open.ts` and `open-redis.ts`. */
import type { CacheStore } from "../../core/cache/cache-store.ts";
import type { Nudge } from "../../core/plans/nudge.ts";
import type { Counters } from "../../core/plans/counters.ts";
import type { LockStore } from "../../core/locks/lock-store.ts";

export interface Stores {
  readonly cache: CacheStore;
  /** The locks of a project; asked for once. */
  readonly locks: (project: string) => LockStore;
  readonly counters: Counters;
  /** Tells other instances of commits; `about` is what they have in common. Null without Redis. */
  readonly nudge: ((about: string) => Nudge) | null;
  /** A random secret that all instances with these stores share. Rejects while Redis is away. */
  readonly secret: () => Promise<string>;
  /** Whether Redis answers; null without Redis. */
  readonly ping: (() => Promise<boolean>) | null;
  close(): void;
}
