/**
 * Locks for a caller who may not see every record. A record outside of the scope is answered like a missing one, even
 * to the holder of its lock, so that locks reveal nothing about foreign records.
 */
import type { Scope } from "../callers/scope.ts";
import type { ReadQueries } from "../query/session.ts";
import type { Source } from "../values/types/column.ts";
import { type Key, keyNames, keyText, type KeyValue } from "../values/types/key.ts";
import type { Entity } from "../plans/entity.ts";
import type { WritePlan } from "../plans/write-plan.ts";
import { comparand } from "../query/comparisons.ts";
import { keyBatches, keyIn, keyIs } from "../query/key-conditions.ts";
import { sourceOf } from "../query/statement.ts";
import { noSuchRecord } from "../values/errors.ts";
import type { LockKey, RequestLocks } from "./locks.ts";

/** Through whom a request sees records. */
export interface Seeing {
  /** Of the caller, as is the scope. */
  readonly session: ReadQueries;
  readonly scope: Scope;
  readonly entity: Entity;
}

/** Returns the locks themselves if nothing is restricted. */
export function scopedLocks(locks: RequestLocks, seeing: Seeing): RequestLocks {
  if (seeing.scope.isWhole) return locks;
  const { entity } = seeing;
  const { key } = seeing.scope;
  const within = key === "" ? undefined : key;

  async function mustSee({ table, key }: WritePlan, keyValues: readonly KeyValue[]): Promise<void> {
    const seen = await seenValues(seeing, { source: sourceOf(table), key }, keyValues);
    if (keyValues.some((value) => !seen.has(keyText(value)))) throw noSuchRecord(entity);
  }

  async function seenKeys(keys: readonly LockKey[]): Promise<ReadonlySet<LockKey>> {
    const source = entity.write ? sourceOf(entity.write.table) : entity.read!.source;
    const seen = new Set<LockKey>();
    for (const own of Map.groupBy(keys, ({ locked }) => keyNames(locked.key)).values()) {
      const values = own.map(({ locked }) => locked.value);
      const found = await seenValues(seeing, { source, key: own[0]!.locked.key }, values);
      for (const key of own) if (found.has(keyText(key.locked.value))) seen.add(key);
    }
    return seen;
  }

  return {
    settings: locks.settings,
    guardsWrites: locks.guardsWrites,
    async guardWrite(write, keyValues) {
      await mustSee(write, keyValues);
      await locks.guardWrite(write, keyValues);
    },
    async takeRecords(write, keyValues) {
      await mustSee(write, keyValues);
      await locks.takeRecords(write, keyValues);
    },
    // Only called after one of the two above.
    checkWrite: (write, keyValues) => locks.checkWrite(write, keyValues),
    async holdersOf(write, keyValues) {
      await mustSee(write, keyValues);
      return locks.holdersOf(write, keyValues);
    },
    async acquire(keys, claim) {
      const seen = await seenKeys(keys);
      if (seen.size < keys.length) throw noSuchRecord(entity);
      return locks.acquire(keys, within === undefined ? claim : { ...claim, within });
    },
    // A token is enough, even if the record or the scope has changed.
    release: (keys, token) => locks.release(keys, token),
    async status(keys) {
      const [seen, states] = await Promise.all([seenKeys(keys), locks.status(keys, within)]);
      return states.map((state, at) => (seen.has(keys[at]!) ? state : null));
    },
    within: (tokens, db) => scopedLocks(locks.within(tokens, db), seeing),
    isHolding: () => locks.isHolding(),
    close: () => locks.close(),
  };
}

/** Those of the values, by `keyText`, that the columns have in a row of the scope. */
async function seenValues(
  { session }: Seeing,
  { source, key }: { source: Source; key: Key },
  values: readonly KeyValue[],
): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  for (const some of keyBatches(key, values)) {
    const rows = await session.all({
      kind: "select",
      source,
      columns: key,
      where: keyIn(key, some),
      sort: [],
      limit: null,
      offset: 0,
      lock: false,
    });
    for (const row of rows)
      seen.add(keyText(key.map((column) => comparand(column, row[column.name]))));
  }
  // The database may find a text by another text in other case; only the database knows.
  for (const value of values) {
    if (seen.has(keyText(value))) continue;
    const where = keyIs(key, value);
    if ((await session.count({ kind: "count", source, where })) > 0) seen.add(keyText(value));
  }
  return seen;
}
