/**
 * The locks that one instance granted, remembered to restore them on a server that lost them: token, fence and end.
 * Ended ones are removed whenever their number has doubled.
 */
import type { Acquisition } from "../../core/locks/locks.ts";

interface Lock extends Acquisition {
  /** The key of the caller's share on the server; empty: none. */
  readonly share: string;
}

export interface Grants {
  /** `ttlMs` counts from now, slightly later than on the server, so that a restored lock does not end too early. */
  add(names: readonly string[], lock: Lock, ttlMs: number): void;
  remove(names: readonly string[], token: string): void;
  /** Those that have not ended; the names of one lock stand together. */
  live(): { names: string[]; lock: Lock; remainingMs: number }[];
  /** The greatest fence so far. */
  lastFence(): number;
}

export function createGrants(): Grants {
  const grants = new Map<string, { lock: Lock; endsAtMs: number }>();
  let lastFence = 0;
  let sweepAt = 1_000;

  function sweep(): void {
    const nowMs = performance.now();
    for (const [name, { endsAtMs }] of grants) if (endsAtMs <= nowMs) grants.delete(name);
    sweepAt = Math.max(1_000, 2 * grants.size);
  }

  return {
    add(names, lock, ttlMs) {
      const { token, owner, share, fence, acquiredAtMs } = lock;
      const grant = {
        lock: { token, owner, share, fence, acquiredAtMs },
        endsAtMs: performance.now() + ttlMs,
      };
      lastFence = Math.max(lastFence, fence);
      for (const name of names) grants.set(name, grant);
      if (grants.size > sweepAt) sweep();
    },
    remove(names, token) {
      for (const name of names) if (grants.get(name)?.lock.token === token) grants.delete(name);
    },
    live() {
      sweep();
      const together = new Map<object, { names: string[]; lock: Lock; remainingMs: number }>();
      for (const [name, grant] of grants) {
        const remainingMs = Math.ceil(grant.endsAtMs - performance.now());
        const group = together.get(grant) ?? { names: [], lock: grant.lock, remainingMs };
        group.names.push(name);
        together.set(grant, group);
      }
      return [...together.values()];
    },
    lastFence: () => lastFence,
  };
}
