/** The store that the cache needs; `app/stores` implements it in Redis and in memory. */

/**
 * Stores cached answers and the versions of their tables. Shared by all instances that use the same store. Every call
 * rejects quickly when the store is unreachable.
 */
export interface CacheStore {
  /** A text that stays the same until one of the names is raised. Earlier texts never occur again. */
  stamp(names: readonly string[]): Promise<string>;
  raise(names: readonly string[]): Promise<void>;
  get(key: string): Promise<string | null>;
  /** Stores the text while there is space, at most `ttlSeconds`. */
  set(key: string, text: string, ttlSeconds: number): Promise<void>;
}
