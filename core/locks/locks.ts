/**
 * Record locks and resource locks, and how they affect writes. A record lock lasts for one request and keeps other
 * writes from its records. A resource lock is taken by a client with lock/acquire and lasts until it is released or
 * expires. `core/dispatch.ts` opens a `RequestLocks` for every request and closes it.
 */
import { AppError, isUnavailable } from "../values/errors.ts";
import type { WritePlan } from "../plans/write-plan.ts";
import { limits } from "../values/limits.ts";
import {
  batches,
  type Forms,
  type LockKind,
  LockNames,
  type Locked,
  type ShownKey,
  shownKey,
  tableResource,
} from "./lock-names.ts";
import {
  heldByOther,
  LockConflict,
  lockLost,
  lockNotTaken,
  recordInUse,
  tokenEnded,
} from "./lock-conflict.ts";
import { answering, type LockOutcome, type LockState, type LockStore } from "./lock-store.ts";
import type { Log } from "../plans/log-port.ts";
import type { Runtime } from "../plans/runtime.ts";
import { createRecordLocks, type RecordLocks } from "./record-locks.ts";
import type { KeyValue } from "../values/types/key.ts";

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

/** A key of lock/acquire, as it is shown and as it is locked. */
export interface LockKey {
  readonly shown: ShownKey;
  readonly locked: Locked;
  /** Whether several records can have the values. If the caller has a scope, such a lock is known only within it. */
  readonly isShared: boolean;
}

export interface ResourceClaim {
  readonly token: string | null;
  readonly owner: string | null;
  readonly ttlMs: number;
  /** The key of the caller's scope; absent: the caller sees every record. */
  readonly within?: string;
}

export interface Acquisition {
  readonly token: string;
  readonly fence: number;
  readonly owner: string | null;
  readonly acquiredAtMs: number;
}

/** The locks that one request takes, queries and respects. */
export interface RequestLocks {
  readonly settings: LockSettings;
  /** Whether a write must first announce the records that it changes with `guardWrite`. */
  readonly guardsWrites: boolean;
  /**
   * Before update, delete, adjust and the composites change these records: takes their locks if locking is enabled or
   * resource locks are enforced, then checks the resource locks. Rejects with lockNotTaken (500), lockConflict (409) or
   * unavailable (also if the store has just started); then nothing may be written.
   */
  guardWrite(write: WritePlan, keyValues: readonly KeyValue[]): Promise<void>;
  /**
   * Takes the records' locks even if locking is disabled, with the configured retries, and extends them until the
   * request ends. Rejects with lockConflict, or with unavailable if the store is unreachable and locks are configured.
   * If they are not, the process stores the locks itself: row locks of the database keep other processes out.
   */
  takeRecords(write: WritePlan, keyValues: readonly KeyValue[]): Promise<void>;
  /**
   * Right before a write: rejects with lockConflict if a lock of this request was lost, or if another client holds a
   * record through lock/acquire and resource locks are enforced; with unavailable if the store cannot tell.
   */
  checkWrite(write: WritePlan, keyValues: readonly KeyValue[]): Promise<void>;
  /** The resource locks on these records, in their order; null = none. Rejects with unavailable. */
  holdersOf(
    write: WritePlan,
    keyValues: readonly KeyValue[],
  ): Promise<readonly (LockState | null)[]>;
  /** lock/acquire: all keys or none; extends those of `token`. Rejects: lockConflict, tooManyRequests, unavailable. */
  acquire(keys: readonly LockKey[], claim: ResourceClaim): Promise<Acquisition>;
  /** lock/release: how many of the keys the token held. Rejects with unavailable. */
  release(keys: readonly LockKey[], token: string): Promise<number>;
  /** lock/status, in the order of the keys; `within` as in a claim. Rejects with unavailable. */
  status(keys: readonly LockKey[], within?: string): Promise<(LockState | null)[]>;
  /**
   * The same locks for one of several writes of the request, which sends these tokens; `db` asks in their transaction.
   * It waits only briefly for record locks, because it holds row locks that their owner may need: see `isInUse`.
   */
  within(tokens: readonly string[], db: Forms): RequestLocks;
  isHolding(): boolean;
  /** Releases the record locks at the end of the request, or before it begins again. Never rejects. */
  close(): Promise<void>;
}

export interface LocksDeps extends Pick<Runtime, "digest" | "newId"> {
  readonly store: LockStore;
  /** Of this process only. */
  readonly ownStore: LockStore;
  readonly db: Forms;
  readonly settings: LockSettings;
}

export interface LockRequest {
  /** Those of the header X-Lock-Token. */
  readonly tokens: readonly string[];
  /** Of the caller, as `shareOf` names it. */
  readonly share: () => string;
  /** On the clock of `performance.now()`: no caller waits for a lock longer than this. */
  readonly deadlineAtMs: number;
  readonly log: Log;
}

/** How long a request waits for record locks; never beyond its deadline. */
interface Patience {
  /** Tries after the first one. */
  readonly retries: number;
  /** The delay before the next try, after this number of tries. */
  delayMs(tries: number): number;
}

/** For a write that would wait for the database's own lock of the row otherwise. */
const untilDeadline: Patience = {
  retries: Infinity,
  delayMs: (tries) => Math.min(10 * 2 ** tries, 100),
};

const brief: Patience = { retries: 3, delayMs: () => 20 };

export type ProjectLocks = (request: LockRequest) => RequestLocks;

export function createLocks(deps: LocksDeps): ProjectLocks {
  const { settings } = deps;
  const parts: Parts = {
    ...deps,
    store: answering(deps.store),
    asConfigured: {
      retries: settings.strategy === "retry" ? settings.retries : 0,
      delayMs: () => settings.retryDelayMs,
    },
    whileOthersWrite: untilDeadline,
  };
  return (request) => new LocksOfRequest(parts, request);
}

interface Parts extends LocksDeps {
  readonly asConfigured: Patience;
  readonly whileOthersWrite: Patience;
}

/** What the writes of one request share. Null until the first lock is taken. */
interface Holding {
  held: RecordLocks | null;
  names: LockNames | null;
}

/** A class, because every request gets one and most take no lock. */
class LocksOfRequest implements RequestLocks {
  private readonly parts: Parts;
  private readonly request: LockRequest;
  private readonly own: Holding;

  constructor(parts: Parts, request: LockRequest, own: Holding = { held: null, names: null }) {
    this.parts = parts;
    this.request = request;
    this.own = own;
  }

  within(tokens: readonly string[], db: Forms): RequestLocks {
    const parts = { ...this.parts, db, asConfigured: brief, whileOthersWrite: brief };
    return new LocksOfRequest(parts, { ...this.request, tokens }, this.own);
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
      await this.takeFor(write, keyValues, this.parts.whileOthersWrite);
    }
    await this.checkWrite(write, keyValues);
  }

  async takeRecords(write: WritePlan, keyValues: readonly KeyValue[]): Promise<void> {
    const { ownStore, asConfigured } = this.parts;
    const take = () => this.takeFor(write, keyValues, asConfigured);
    await take().catch(async (error: unknown) => {
      if (!isUnavailable(error) || this.guardsWrites) throw error;
      await this.own.held?.close();
      this.own.held = this.heldIn(ownStore);
      await take();
    });
  }

  async checkWrite(write: WritePlan, keyValues: readonly KeyValue[]): Promise<void> {
    const { tokens } = this.request;
    if (this.own.held?.isLost())
      throw new LockConflict(lockLost, { key: null, value: null, holder: null });
    if (!this.settings.enforceResourceLocks || keyValues.length === 0) return;
    const states = await this.holdersOf(write, keyValues);
    const foreign = states.findIndex((state) => state !== null && !state.isOwn);
    const value = keyValues[Math.max(foreign, 0)]!;
    const key = shownKey(write, value);
    if (foreign >= 0) throw new LockConflict(heldByOther, { key, value, holder: states[foreign]! });
    // A client that sends a token expects to hold the lock; one that sends several may have none on these records.
    const isHeld = states.some((state) => state !== null);
    if (tokens.length === 1 && !isHeld)
      throw new LockConflict(tokenEnded, { key, value, holder: null });
  }

  async holdersOf(
    write: WritePlan,
    keyValues: readonly KeyValue[],
  ): Promise<readonly (LockState | null)[]> {
    const states: (LockState | null)[] = [];
    for (const some of batches(keyValues)) {
      const names = await this.namesOf(
        "resource",
        some.map((value) => lockedRecord(write, value)),
      );
      states.push(...(await this.parts.store.status(names, this.request.tokens)));
    }
    return states;
  }

  async acquire(
    keys: readonly LockKey[],
    { token, owner, ttlMs, within }: ResourceClaim,
  ): Promise<Acquisition> {
    const { store, digest, newId, asConfigured } = this.parts;
    if (token === null && this.settings.enforceResourceLocks) {
      // A write that was allowed before must have finished: it holds the record's lock until then.
      const records = keys.map(({ locked }) => locked);
      const all = keys.map(({ shown }) => shown);
      await this.take(records, all, asConfigured);
    }
    const scope = token === null ? this.scopeName(within) : scopeIn(token);
    const names = await this.keyNames(keys, scope);
    const share = digest(this.request.share()).slice(0, 40);
    const end = scope !== null && keys.some(({ isShared }) => isShared) ? `.${scope}` : "";
    const claim = { token: token ?? `${newId()}${end}`, owner, share, ttlMs };
    const outcome = await (token === null
      ? store.acquire([...new Set(names)], claim)
      : store.extend([...new Set(names)], claim));
    if (outcome.ok) return { ...outcome, token: claim.token };
    const key = keys[names.indexOf(outcome.name)]!;
    const message = outcome.holder === null ? tokenEnded : heldByOther;
    const { value } = key.locked;
    throw new LockConflict(message, { key: key.shown, value, holder: outcome.holder });
  }

  async release(keys: readonly LockKey[], token: string): Promise<number> {
    return this.parts.store.release([...new Set(await this.keyNames(keys, scopeIn(token)))], token);
  }

  async status(keys: readonly LockKey[], within?: string): Promise<(LockState | null)[]> {
    return this.parts.store.status(await this.keyNames(keys, this.scopeName(within)), []);
  }

  isHolding(): boolean {
    return this.own.held?.isHolding() === true;
  }

  async close(): Promise<void> {
    const { held } = this.own;
    this.own.held = null;
    await held?.close();
  }

  private takeFor(
    write: WritePlan,
    keyValues: readonly KeyValue[],
    patience: Patience,
  ): Promise<void> {
    const shown = keyValues.map((value) => shownKey(write, value));
    const records = keyValues.map((value) => lockedRecord(write, value));
    return this.take(records, shown, patience);
  }

  /** Takes the record locks; `shown` is each record as the caller may see it. */
  private async take(
    records: readonly Locked[],
    shown: readonly (ShownKey | null)[],
    patience: Patience,
  ): Promise<void> {
    const names = await this.namesOf("record", records);
    // Always in the same order, so that two requests that need several calls do not wait for each other.
    for (const some of batches([...new Set(names)].toSorted())) {
      const outcome = await this.takePatiently(some, patience);
      if (outcome.ok) continue;
      const at = names.indexOf(outcome.name);
      const { value } = records[at]!;
      throw new LockConflict(recordInUse, { key: shown[at]!, value, holder: outcome.holder });
    }
  }

  /** Tries until the locks are taken, a try too many, or too late. */
  private async takePatiently(names: readonly string[], patience: Patience): Promise<LockOutcome> {
    const { deadlineAtMs } = this.request;
    const held = (this.own.held ??= this.heldIn(this.parts.store));
    for (let tries = 0; ; tries++) {
      const outcome = await held.take(names);
      // Random delays keep two competing requests from retrying at the same moment.
      const delayMs = patience.delayMs(tries) * (0.5 + Math.random());
      const isLate = performance.now() + delayMs > deadlineAtMs - limits.lockReserveMs;
      if (outcome.ok || tries >= patience.retries || isLate) return outcome;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }

  private heldIn(store: LockStore): RecordLocks {
    const { settings, newId } = this.parts;
    const ttlMs = settings.ttlSeconds * 1_000;
    return createRecordLocks(store, { ttlMs, newId, log: this.request.log });
  }

  private namesOf(kind: LockKind, records: readonly Locked[]): Promise<string[]> {
    const { db, digest } = this.parts;
    const { deadlineAtMs } = this.request;
    const names = (this.own.names ??= new LockNames({ digest, deadlineAtMs }));
    return names.of(kind, records, db);
  }

  private scopeName(within: string | undefined): string | null {
    return within === undefined ? null : this.parts.digest(within).slice(0, 32);
  }

  /** `scope`: from `scopeName` or a token; null: keys mean all records. */
  private keyNames(keys: readonly LockKey[], scope: string | null): Promise<string[]> {
    return this.namesOf(
      "resource",
      keys.map(({ locked, isShared }) =>
        isShared && scope !== null
          ? { ...locked, resource: `${locked.resource} of ${scope}` }
          : locked,
      ),
    );
  }
}

/** The scope that limits the token's locks, which follows the dot: a caller of any scope can release them. */
const scopeIn = (token: string): string | null => token.split(".")[1] ?? null;

const lockedRecord = ({ table, key }: WritePlan, value: KeyValue): Locked => ({
  resource: tableResource(table),
  key,
  value,
});

/** Errors of a store that does not grant locks yet; if it is unreachable instead, the error has a cause. */
const passesSoon = (error: unknown): boolean => isUnavailable(error) && error.cause === undefined;
