/**
 * Locks of a process that shares them with no other. Nothing here waits, so each call is atomic as it is. Ended locks
 * are dropped when they are met, when their caller comes to the end of its share, and all of them whenever the table has doubled.
 */
import { tooManyLocks } from "../../core/locks/lock-shares.ts";
import { limits } from "../../core/values/limits.ts";
import type { LockHolder, LockOutcome, LockState, LockStore } from "../../core/plans/ports.ts";

interface Lock {
  readonly token: string;
  readonly owner: string | null;
  /** Whose share it takes; null: none. */
  readonly share: string | null;
  readonly fence: number;
  readonly acquiredAtMs: number;
  /** On the clock of `performance.now()`, which nobody sets. */
  readonly endsAtMs: number;
}

export interface MemoryLockSizes {
  /** In each of the two rooms: locks that take a share of a caller, and those of running requests. */
  readonly locksMax?: number;
  /** Of one caller. */
  readonly shareMax?: number;
}

/** The locks of one project. */
export function createMemoryLocks({
  locksMax = limits.lockMemoryMax,
  shareMax = limits.lockCallerMax,
}: MemoryLockSizes = {}): LockStore {
  const locks = new Map<string, Lock>();
  const shares = createShares();
  let lastFence = 0;
  const rooms = { shared: createRoom(locksMax), own: createRoom(locksMax) };

  function held(name: string): Lock | null {
    const lock = locks.get(name);
    if (lock && lock.endsAtMs > performance.now()) return lock;
    if (lock) drop(name, lock);
    return null;
  }

  function drop(name: string, lock: Lock): void {
    locks.delete(name);
    shares.remove(lock.share, name);
    roomOf(lock.share).count -= 1;
  }

  function put(name: string, lock: Lock): void {
    const before = locks.get(name);
    if (before) drop(name, before);
    locks.set(name, lock);
    shares.add(lock.share, name);
    roomOf(lock.share).count += 1;
  }

  const roomOf = (share: string | null): Room => (share === null ? rooms.own : rooms.shared);

  function makeRoom(count: number, share: string | null): void {
    const room = roomOf(share);
    if (room.count + count > room.sweepAt) {
      for (const name of locks.keys()) held(name);
      room.sweepAt = sweepAtFor(room.count, locksMax);
      if (room.count + count > locksMax) throw new Error("The process keeps too many locks");
    }
    if (share === null || shares.namesOf(share).size + count <= shareMax) return;
    for (const name of shares.namesOf(share)) held(name);
    if (shares.namesOf(share).size + count > shareMax) throw tooManyLocks();
  }

  return {
    async acquire(names, { token, owner, share, ttlMs }) {
      const further: string[] = [];
      for (const name of names) {
        const lock = held(name);
        if (lock && lock.token !== token) return conflict(name, lock);
        if (!lock) further.push(name);
      }
      makeRoom(further.length, share);
      // From the clock, so that a restarted process continues above the fences that it granted before.
      lastFence = Math.max(lastFence + 1, Date.now() * 1_000);
      const acquiredAtMs = Date.now();
      const endsAtMs = performance.now() + ttlMs;
      const lock = { token, owner, share, fence: lastFence, acquiredAtMs, endsAtMs };
      for (const name of names) put(name, lock);
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
      let count = 0;
      for (const name of names) {
        const lock = held(name);
        if (lock?.token !== token) continue;
        drop(name, lock);
        count += 1;
      }
      return count;
    },

    async status(names, token) {
      return names.map((name): LockState | null => {
        const lock = held(name);
        return lock && { ...holderOf(lock), isOwn: lock.token === token };
      });
    },
  };
}

interface Room {
  count: number;
  /** Ended locks are looked for beyond this number. */
  sweepAt: number;
}

const createRoom = (locksMax: number): Room => ({ count: 0, sweepAt: sweepAtFor(0, locksMax) });

const sweepAtFor = (count: number, locksMax: number): number =>
  Math.min(Math.max(1_000, 2 * count), locksMax);

/** The names of the locks that take each caller's share. */
function createShares() {
  const shares = new Map<string, Set<string>>();
  return {
    namesOf: (share: string): ReadonlySet<string> => shares.get(share) ?? nothing,
    add(share: string | null, name: string): void {
      if (share === null) return;
      const names = shares.get(share) ?? new Set();
      shares.set(share, names.add(name));
    },
    remove(share: string | null, name: string): void {
      if (share === null) return;
      const names = shares.get(share);
      names?.delete(name);
      if (names?.size === 0) shares.delete(share);
    },
  };
}

const nothing: ReadonlySet<string> = new Set();

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
