/**
 * Record locks and resource locks, and how they affect writes. A record lock lasts for one request and keeps other
 * writes from its records. A resource lock is taken by a client with lock/acquire and lasts until it is released or
 * expires. `core/dispatch.ts` opens a `RequestLocks` for every request and closes it.
 */
import { AppError, unavailable } from "../values/errors.ts";
import type { WritePlan } from "../plans/entity.ts";
import { limits } from "../values/limits.ts";
import { type LockKind, lockName, type Locked, tableResource } from "./lock-names.ts";
import type { Json } from "../values/json.ts";
import type { LockHolder, LockOutcome, LockState, LockStore, Log } from "../plans/ports.ts";
import type { NewId } from "../values/clock.ts";
import { createRecordLocks, type RecordLocks } from "./record-locks.ts";
import type { KeyValue } from "../values/key.ts";
import type { Scalar } from "../values/scalar.ts";
import { showBytes } from "../values/bytes-type.ts";
import { showInteger } from "../values/integer-type.ts";

/** `locking` of project.json. */
export interface LockSettings {
  /** Whether update, delete, adjust and the composites take record locks. */
  readonly enabled: boolean;
  readonly ttlSeconds: number;
  readonly strategy: "retry" | "fail";
  /** Tries after the first one. */
  readonly retries: number;
  readonly retryDelayMs: number;
  readonly maxResourceTtlSeconds: number;
  readonly enforceResourceLocks: boolean;
}

/** A record as a client names it: by one column, or by every column of its key. */
export type ShownKey =
  | { readonly key: string; readonly value: Json }
  | { readonly record: Readonly<Record<string, Json>> };

/** A key of lock/acquire, as it is shown and as it is locked. */
export interface LockKey {
  readonly shown: ShownKey;
  readonly locked: Locked;
}

export interface Acquisition {
  readonly token: string;
  readonly fence: number;
  readonly owner: string | null;
  readonly acquiredAtMs: number;
}

/** The locks that one request takes, asks for and has to respect. */
export interface RequestLocks {
  readonly settings: LockSettings;
  /** Whether a write has to say which records it changes, with `guardWrite`, before it does. */
  readonly guardsWrites: boolean;
  /**
   * Before update, delete, adjust and the composites change these records: takes their locks where locking is enabled or resource locks
   * are enforced, then respects the resource locks. Rejects with lockNotTaken (500), lockConflict (409) or unavailable (also where the
   * store has just started); then nothing may be written.
   */
  guardWrite(write: WritePlan, keyValues: readonly KeyValue[]): Promise<void>;
  /**
   * Takes the records' locks whatever the configuration says, trying again as it says; they are kept on until the
   * request ends. Rejects with lockConflict, or unavailable where the store is unreachable.
   */
  takeRecords(write: WritePlan, keyValues: readonly KeyValue[]): Promise<void>;
  /**
   * Right before a write: rejects with lockConflict when a lock of this request was lost, or when somebody else holds a record
   * through lock/acquire and resource locks are enforced; with unavailable when nobody can say.
   */
  checkWrite(write: WritePlan, keyValues: readonly KeyValue[]): Promise<void>;
  /** lock/acquire: all keys or none. With a `token`, keeps on what that token holds. Rejects with lockConflict, tooManyRequests or unavailable. */
  acquire(
    keys: readonly LockKey[],
    claim: { token: string | null; owner: string | null; ttlMs: number },
  ): Promise<Acquisition>;
  /** lock/release: how many of the keys the token held. Rejects with unavailable. */
  release(keys: readonly LockKey[], token: string): Promise<number>;
  /** lock/status, in the order of the keys. Rejects with unavailable. */
  status(keys: readonly LockKey[]): Promise<(LockState | null)[]>;
  isHolding(): boolean;
  /** Releases the record locks at the end of the request. Never rejects. */
  close(): Promise<void>;
}

export interface LocksDeps {
  readonly store: LockStore;
  readonly settings: LockSettings;
  /** A cryptographic hash as hexadecimal text: two records must never share a lock. */
  readonly digest: (text: string) => string;
  readonly newId: NewId;
}

export interface LockRequest {
  /** The header X-Lock-Token. */
  readonly token: string | null;
  /** Of the caller, as `shareOf` names it. */
  readonly share: () => string;
  /** On the clock of `performance.now()`: nobody waits for a lock beyond it. */
  readonly deadlineAtMs: number;
  readonly log: Log;
}

/** How long a request waits for record locks; never beyond its deadline. */
interface Patience {
  /** Tries after the first one. */
  readonly retries: number;
  /** Before the try after so many. */
  delayMs(tries: number): number;
}

/** For a write that would wait for the database's own lock of the row otherwise. */
const untilDeadline: Patience = {
  retries: Infinity,
  delayMs: (tries) => Math.min(10 * 2 ** tries, 100),
};

/** Creates the locks of one request of a project. */
export type ProjectLocks = (request: LockRequest) => RequestLocks;

export function createLocks({ store, settings, digest, newId }: LocksDeps): ProjectLocks {
  const parts: Parts = {
    store: answering(store),
    settings,
    digest,
    newId,
    asConfigured: {
      retries: settings.strategy === "retry" ? settings.retries : 0,
      delayMs: () => settings.retryDelayMs,
    },
  };
  return (request) => new LocksOfRequest(parts, request);
}

interface Parts extends LocksDeps {
  readonly asConfigured: Patience;
}

/** A class, because every request gets one and most take no lock. */
class LocksOfRequest implements RequestLocks {
  private readonly parts: Parts;
  private readonly request: LockRequest;
  /** Null until the first lock is taken. */
  private held: RecordLocks | null = null;

  constructor(parts: Parts, request: LockRequest) {
    this.parts = parts;
    this.request = request;
  }

  get settings(): LockSettings {
    return this.parts.settings;
  }

  get guardsWrites(): boolean {
    const { enabled, enforceResourceLocks } = this.settings;
    return enabled || enforceResourceLocks;
  }

  async guardWrite(write: WritePlan, keyValues: readonly KeyValue[]): Promise<void> {
    const { enabled, enforceResourceLocks } = this.settings;
    if (enabled) {
      await this.takeRecords(write, keyValues).catch((error: unknown) => {
        if (passesSoon(error)) throw error;
        throw new AppError("lockNotTaken", lockNotTaken, { cause: error });
      });
    } else if (enforceResourceLocks) {
      // No lock on these records is granted between the check and the end of the write. Other writes wait their
      // turn.
      await this.takeFor(write, keyValues, untilDeadline);
    }
    await this.checkWrite(write, keyValues);
  }

  takeRecords(write: WritePlan, keyValues: readonly KeyValue[]): Promise<void> {
    return this.takeFor(write, keyValues, this.parts.asConfigured);
  }

  async checkWrite(write: WritePlan, keyValues: readonly KeyValue[]): Promise<void> {
    const { store } = this.parts;
    const { token } = this.request;
    if (this.held?.isLost()) throw conflict(lockLost, { key: null, holder: null });
    if (!this.settings.enforceResourceLocks || keyValues.length === 0) return;
    const states: (LockState | null)[] = [];
    for (const some of batches(keyValues)) {
      const names = some.map((value) => this.nameOf("resource", lockedRecord(write, value)));
      states.push(...(await store.status(names, token)));
    }
    const foreign = states.findIndex((state) => state !== null && !state.isOwn);
    const key = shownKey(write, keyValues[Math.max(foreign, 0)]!);
    if (foreign >= 0) throw conflict(heldByOther, { key, holder: states[foreign]! });
    // A client that sends a token expects to hold the lock.
    const isHeld = states.some((state) => state !== null);
    if (token !== null && !isHeld) throw conflict(tokenEnded, { key, holder: null });
  }

  async acquire(
    keys: readonly LockKey[],
    { token, owner, ttlMs }: { token: string | null; owner: string | null; ttlMs: number },
  ): Promise<Acquisition> {
    const { store, digest, newId, asConfigured } = this.parts;
    if (token === null && this.settings.enforceResourceLocks) {
      // A write that was allowed before must have finished: it holds the record's lock until then.
      const records = keys.map(({ locked }) => locked);
      await this.take(
        records,
        keys.map(({ shown }) => shown),
        asConfigured,
      );
    }
    const names = [...new Set(this.keyNames(keys))];
    const share = digest(this.request.share()).slice(0, 40);
    const claim = { token: token ?? newId(), owner, share, ttlMs };
    const outcome = await (token === null
      ? store.acquire(names, claim)
      : store.extend(names, claim));
    if (outcome.ok) return { ...outcome, token: claim.token };
    const key = keys[this.keyNames(keys).indexOf(outcome.name)]!;
    const message = outcome.holder === null ? tokenEnded : heldByOther;
    throw conflict(message, { key: key.shown, holder: outcome.holder });
  }

  release(keys: readonly LockKey[], token: string): Promise<number> {
    return this.parts.store.release([...new Set(this.keyNames(keys))], token);
  }

  status(keys: readonly LockKey[]): Promise<(LockState | null)[]> {
    return this.parts.store.status(this.keyNames(keys), null);
  }

  isHolding(): boolean {
    return this.held !== null && this.held.isHolding();
  }

  async close(): Promise<void> {
    await this.held?.close();
  }

  private takeFor(
    write: WritePlan,
    keyValues: readonly KeyValue[],
    patience: Patience,
  ): Promise<void> {
    return this.take(
      keyValues.map((value) => lockedRecord(write, value)),
      keyValues.map((value) => shownKey(write, value)),
      patience,
    );
  }

  /** Takes the record locks; `shown` is each record as the caller may see it. */
  private async take(
    records: readonly Locked[],
    shown: readonly (ShownKey | null)[],
    patience: Patience,
  ): Promise<void> {
    const names = records.map((record) => this.nameOf("record", record));
    // Always in the same order, so that two requests that need several calls do not wait for each other.
    for (const some of batches([...new Set(names)].toSorted())) {
      const outcome = await this.takePatiently(some, patience);
      if (outcome.ok) continue;
      const key = shown[names.indexOf(outcome.name)] ?? null;
      throw conflict(recordInUse, { key, holder: outcome.holder });
    }
  }

  /** Tries until the locks are taken, a try too many, or too late. */
  private async takePatiently(names: readonly string[], patience: Patience): Promise<LockOutcome> {
    const { store, settings, newId } = this.parts;
    const { log, deadlineAtMs } = this.request;
    this.held ??= createRecordLocks(store, { ttlMs: settings.ttlSeconds * 1_000, newId, log });
    for (let tries = 0; ; tries++) {
      const outcome = await this.held.take(names);
      // Random delays keep two competing requests from retrying at the same moment.
      const delayMs = patience.delayMs(tries) * (0.5 + Math.random());
      const isLate = performance.now() + delayMs > deadlineAtMs - limits.lockReserveMs;
      if (outcome.ok || tries >= patience.retries || isLate) return outcome;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }

  private nameOf(kind: LockKind, locked: Locked): string {
    return lockName(kind, locked, this.parts.digest);
  }

  private keyNames(keys: readonly LockKey[]): string[] {
    return keys.map(({ locked }) => this.nameOf("resource", locked));
  }
}

/** Whole seconds until it ends, rounded up: a lock that is still held has at least one. */
export const secondsLeft = (holder: LockHolder | null): number =>
  Math.ceil((holder?.remainingMs ?? 0) / 1_000);

const lockNotTaken =
  "A record is locked by another request, or locks are out of reach; nothing was changed";
const recordInUse = "The record is being changed by another request";
const heldByOther = "The record is locked by another client";
const tokenEnded = "The token holds no lock on this record any more";
const lockLost = "The lock of the record was lost while the request ran; nothing was changed";

function conflict(
  message: string,
  { key, holder }: { key: ShownKey | null; holder: LockHolder | null },
): AppError {
  return new AppError("lockConflict", message, {
    data: {
      conflicting_key: key && { ...key },
      locked_by: holder?.owner ?? null,
      ttl_remaining: secondsLeft(holder),
    },
  });
}

const lockedRecord = ({ table, key }: WritePlan, value: KeyValue): Locked => ({
  resource: tableResource(table),
  key,
  value,
});

/** A store that says itself that it grants nothing yet, where one unreachable is the cause of an error. */
const passesSoon = (error: unknown): boolean =>
  error instanceof AppError && error.kind === "unavailable" && error.cause === undefined;

/** The record as the caller may see it. */
function shownKey({ key, shown }: WritePlan, value: KeyValue): ShownKey | null {
  if (!key.every(({ name }) => shown.has(name))) return null;
  const members = key.map(({ name }, at) => [name, shownValue(value[at]!)] as const);
  const [only] = members;
  return only && members.length === 1
    ? { key: only[0], value: only[1] }
    : { record: Object.fromEntries(members) };
}

function shownValue(value: Scalar): Json {
  if (value instanceof Uint8Array) return showBytes(value);
  return typeof value === "bigint" ? showInteger(value, "number") : value;
}

/** As many at once as the store takes. */
function batches<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / limits.lockNamesMax);
  return Array.from({ length: count }, (_, at) =>
    items.slice(at * limits.lockNamesMax, (at + 1) * limits.lockNamesMax),
  );
}

/** The store, with the error for clients when it is unreachable. */
function answering(store: LockStore): LockStore {
  const orUnavailable = <T>(asked: Promise<T>): Promise<T> =>
    asked.catch((error: unknown) => {
      if (error instanceof AppError) throw error;
      throw unavailable(
        "The lock store is not reachable, so no lock can be granted; try again later",
        error,
      );
    });
  return {
    acquire: (names, claim) => orUnavailable(store.acquire(names, claim)),
    extend: (names, claim) => orUnavailable(store.extend(names, claim)),
    release: (names, token) => orUnavailable(store.release(names, token)),
    status: (names, token) => orUnavailable(store.status(names, token)),
  };
}
