/**
 * Locks of a process that shares them with no other. Nothing here waits, so each call is atomic as it is. Ended locks
 * are dropped when they are met, and all of them whenever the table has doubled.
 */
import { limits } from "../../core/values/limits.ts";
import type { LockHolder, LockOutcome, LockState, LockStore } from "../../core/plans/ports.ts";

interface Lock {
  readonly token: string;
  readonly owner: string | null;
  readonly fence: number;
  readonly acquiredAtMs: number;
  /** On the clock of `performance.now()`, which nobody sets. */
  readonly endsAtMs: number;
}

/** The locks of one project. */
export function createMemoryLocks(locksMax: number = limits.lockMemoryMax): LockStore {
  const locks = new Map<string, Lock>();
  let lastFence = 0;
  let sweepAt = sweptFrom(0);

  function held(name: string): Lock | null {
    const lock = locks.get(name);
    if (lock && lock.endsAtMs > performance.now()) return lock;
    locks.delete(name);
    return null;
  }

  function sweptFrom(size: number): number {
    return Math.min(Math.max(1_000, 2 * size), locksMax);
  }

  function makeRoom(count: number): void {
    if (locks.size + count <= sweepAt) return;
    for (const name of locks.keys()) held(name);
    sweepAt = sweptFrom(locks.size);
    if (locks.size + count > locksMax) throw new Error("There is no room for further locks");
  }

  return {
    async acquire(names, { token, owner, ttlMs }) {
      for (const name of names) {
        const lock = held(name);
        if (lock && lock.token !== token) return conflict(name, lock);
      }
      makeRoom(names.length);
      // From the clock, so that a process that starts anew goes on above what it granted before.
      lastFence = Math.max(lastFence + 1, Date.now() * 1_000);
      const acquiredAtMs = Date.now();
      const endsAtMs = performance.now() + ttlMs;
      const lock = { token, owner, fence: lastFence, acquiredAtMs, endsAtMs };
      for (const name of names) locks.set(name, lock);
      return granted(lock);
    },

    async extend(names, { token, ttlMs }) {
      const found: Lock[] = [];
      for (const name of names) {
        const lock = held(name);
        if (lock?.token !== token) return conflict(name, lock);
        found.push(lock);
      }
      const endsAtMs = performance.now() + ttlMs;
      names.forEach((name, at) => locks.set(name, { ...found[at]!, endsAtMs }));
      return granted(found[0]!);
    },

    async release(names, token) {
      const own = names.filter((name) => held(name)?.token === token);
      for (const name of own) locks.delete(name);
      return own.length;
    },

    async status(names, token) {
      return names.map((name): LockState | null => {
        const lock = held(name);
        return lock && { ...holderOf(lock), isOwn: lock.token === token };
      });
    },
  };
}

const holderOf = ({ owner, endsAtMs }: Lock): LockHolder => ({
  owner,
  remainingMs: Math.max(0, endsAtMs - performance.now()),
});

const conflict = (name: string, lock: Lock | null): LockOutcome => ({
  ok: false,
  name,
  holder: lock && holderOf(lock),
});

const granted = ({ fence, owner, acquiredAtMs }: Lock): LockOutcome => ({
  ok: true,
  fence,
  owner,
  acquiredAtMs,
});
