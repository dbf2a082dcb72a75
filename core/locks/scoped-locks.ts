/**
 * Locks for a caller who may not see every record: one outside of the scope is answered like one that is not there, the
 * one that holds it, so that no lock tells of a foreign record.
 */
import type { Scope } from "../callers/scope.ts";
import type { ReadQueries } from "../callers/session.ts";
import type { Column, Source } from "../values/column.ts";
import type { Entity, WritePlan } from "../plans/entity.ts";
import { limits } from "../values/limits.ts";
import { comparand } from "../query/where.ts";
import { type Condition, equals, sourceOf } from "../query/statement.ts";
import type { Scalar } from "../values/scalar.ts";
import { noSuchRecord } from "../values/errors.ts";
import type { LockKey, RequestLocks } from "./locks.ts";

interface Seeing {
  /** Of the caller. */
  readonly session: ReadQueries;
  readonly scope: Scope;
  readonly entity: Entity;
}

/** Where nothing is narrowed, the locks themselves. */
export function scopedLocks(locks: RequestLocks, seeing: Seeing): RequestLocks {
  if (seeing.scope.isWhole) return locks;
  const { entity } = seeing;

  async function mustSee({ table, key }: WritePlan, keyValues: readonly Scalar[]): Promise<void> {
    const seen = await seenValues(seeing, { source: sourceOf(table), column: key }, keyValues);
    if (keyValues.some((value) => !seen.has(String(value)))) throw noSuchRecord(entity);
  }

  async function seenKeys(keys: readonly LockKey[]): Promise<ReadonlySet<LockKey>> {
    const source = entity.write ? sourceOf(entity.write.table) : entity.read!.source;
    const seen = new Set<LockKey>();
    for (const column of new Set(keys.map(({ locked }) => locked.column))) {
      const own = keys.filter(({ locked }) => locked.column === column);
      const values = own.map(({ locked }) => locked.value);
      const found = await seenValues(seeing, { source, column }, values);
      for (const key of own) if (found.has(String(key.locked.value))) seen.add(key);
    }
    return seen;
  }

  /**
   * Records of others may have the same value in a column that does not tell records apart. Such a lock is for the records of the scope,
   * and known within it alone.
   */
  const ownKey = (key: LockKey): LockKey =>
    tellsApart(entity, key.locked.column)
      ? key
      : {
          ...key,
          locked: { ...key.locked, resource: `${key.locked.resource} of ${seeing.scope.key}` },
        };

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
    checkWrite: locks.checkWrite,
    async acquire(keys, claim) {
      const seen = await seenKeys(keys);
      if (seen.size < keys.length) throw noSuchRecord(entity);
      return locks.acquire(keys.map(ownKey), claim);
    },
    release: (keys, token) => locks.release(keys.map(ownKey), token),
    async status(keys) {
      const [seen, states] = await Promise.all([seenKeys(keys), locks.status(keys.map(ownKey))]);
      return states.map((state, at) => (seen.has(keys[at]!) ? state : null));
    },
    isHolding: locks.isHolding,
    close: locks.close,
  };
}

/** Whether one record at most has a value of the column. */
function tellsApart({ write, read }: Entity, { name }: Column): boolean {
  const keys = write ? [write.key] : (read?.key ?? []);
  if (keys.length === 1 && keys[0]!.name === name) return true;
  return (
    write?.table.unique.some(({ columns: [first, ...more] }) => first === name && !more.length) ??
    false
  );
}

/** Those of the values, as texts, that the column has in a row of the scope. */
async function seenValues(
  { session }: Seeing,
  { source, column }: { source: Source; column: Column },
  values: readonly Scalar[],
): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  for (let at = 0; at < values.length; at += limits.inValuesMax) {
    const some = values.slice(at, at + limits.inValuesMax);
    const where: Condition = { kind: "in", column, values: some, negated: false };
    const rows = await session.all({
      kind: "select",
      source,
      columns: [column],
      where,
      sort: [],
      limit: null,
      offset: 0,
      lock: false,
    });
    for (const row of rows) seen.add(String(comparand(column, row[column.name])));
  }
  // The database may find a text by another text in other case; only the database knows.
  for (const value of values) {
    if (seen.has(String(value))) continue;
    const where = equals(column, value);
    if ((await session.count({ kind: "count", source, where })) > 0) seen.add(String(value));
  }
  return seen;
}
