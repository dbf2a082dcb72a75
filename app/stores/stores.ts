/** The state that instances keep outside the databases: in Redis, in the memory of a parent, or in their own. */
import type { CacheStore } from "../../core/cache/cache-store.ts";
import type { Nudge } from "../../core/plans/nudge.ts";
import type { Counters } from "../../core/plans/counters.ts";
import type { LockStore } from "../../core/locks/lock-store.ts";
import type { OpenStreams } from "../../core/plans/open-streams.ts";

/** The same value for each call with the name of a project. */
export function byProject<Value>(create: (project: string) => Value): (project: string) => Value {
  const known = new Map<string, Value>();
  return (project) => {
    const value = known.get(project) ?? create(project);
    known.set(project, value);
    return value;
  };
}

export interface Stores {
  readonly cache: CacheStore;
  /** The locks of a project; asked for once. */
  readonly locks: (project: string) => LockStore;
  readonly counters: Counters;
  /** The streams of a project; asked for once. */
  readonly streams: (project: string) => OpenStreams;
  /** Tells other instances of commits; `about` is what they have in common. Null: no others are known. */
  readonly nudge: ((about: string) => Nudge) | null;
  /** A random secret that all instances with these stores share. Rejects while they are away. */
  readonly secret: () => Promise<string>;
  /** Whether Redis answers; null without Redis. */
  readonly ping: (() => Promise<boolean>) | null;
  close(): void;
}
