/**
 * Locks of a process that shares them with no other. Nothing here waits, so each call is atomic. Ended locks are
 * removed when a call meets them, when their caller's share is used up, and all of them whenever the table has doubled.
 */
import type { Acquisition } from "../../core/locks/locks.ts";
import {
  tooManyLocks,
  type LockHolder,
  type LockOutcome,
  type LockState,
  type LockStore,
} from "../../core/locks/lock-store.ts";
import { limits } from "../../core/values/limits.ts";

interface Lock extends Acquisition {
  /** Whose share it takes; null: none. */
  readonly share: string | null;
  /** On the clock of `performance.now()`, which never jumps. */
  readonly endsAtMs: number;
}

export interface MemoryLockSizes {
  /** For each of the two rooms: locks that count for a caller's share, and those of running requests. */
  readonly locksMax?: number;
  /** Of one caller. */
  readonly shareMax?: number;
}

/** The held locks, counted for their rooms and for their callers' shares. */
function createLockTable({
  locksMax = limits.lockMemoryMax,
  shareMax = limits.lockCallerMax,
}: MemoryLockSizes) {
  const locks = new Map<string, Lock>();
  const shares = createShares();
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

  return { held, drop, put, makeRoom };
}

/** The locks of one project. */
export function createMemoryLocks(sizes: MemoryLockSizes = {}): LockStore {
  const { held, drop, put, makeRoom } = createLockTable(sizes);
  let lastFence = 0;
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
      names.forEach((name, at) => put(name, { ...found[at]!, endsAtMs }));
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

    async status(names, tokens) {
      return names.map((name): LockState | null => {
        const lock = held(name);
        return lock && { ...holderOf(lock), isOwn: tokens.includes(lock.token) };
      });
    },
  };
}

interface Room {
  count: number;
  /** Above this number, ended locks are removed. */
  sweepAt: number;
}

const createRoom = (locksMax: number): Room => ({ count: 0, sweepAt: sweepAtFor(0, locksMax) });

const sweepAtFor = (count: number, locksMax: number): number =>
  Math.min(Math.max(1_000, 2 * count), locksMax);

/** The names of the locks that count for each caller's share. */
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
