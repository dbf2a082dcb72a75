/**
 * Finds the stored records that records of upsert mean, and tells which of the others are new. Nothing is assumed of
 * rows that other requests store at the same time: whoever loses such a race starts again in a new transaction.
 */
import type { Call } from "../calls/action.ts";
import { isScoped, past } from "../callers/scoped-session.ts";
import type { Queries, ReadQueries } from "../query/session.ts";
import { sourceOf } from "../query/statement.ts";
import { AppError, validationFailed } from "../values/errors.ts";
import type { Row } from "../values/row.ts";
import type { Column } from "../values/types/column.ts";
import { keyText, type KeyValue } from "../values/types/key.ts";
import { type KeyedItem, lockItems, readKeyOf, refuseRepeated, repeated } from "./bulk-keys.ts";
import type { Outcomes } from "./bulk-outcomes.ts";
import { findRows, scalarOf } from "../query/find-rows.ts";
import { leavesOpen, otherKey } from "./record-key.ts";
import type { RecordPlan } from "./record.ts";
import type { UpsertBy } from "./upsert-by.ts";

/** A record of the request. */
export interface UpsertItem {
  readonly index: number;
  readonly body: Record<string, unknown>;
  /** The values of `by`, as they are stored; null = it has none and is new. */
  readonly byValues: KeyValue | null;
}

/** The same, whose record exists and is locked. */
export type FoundItem = UpsertItem & KeyedItem & { readonly row: Row };

/** Another request stored, changed or removed the same record at the same time. */
export class LostRace extends AppError {
  constructor() {
    super(
      "unavailable",
      "Other requests change the same records at the same time, and many times; try again",
    );
  }
}

interface Upserting {
  readonly call: Pick<Call, "entity">;
  readonly plan: RecordPlan;
  readonly by: UpsertBy;
  readonly outcomes: Outcomes;
}

/** The records with their values of `by`; missing, invalid and repeated ones are refused. */
export function upsertItems(
  bodies: readonly Record<string, unknown>[],
  { call, plan, by, outcomes }: Upserting,
): UpsertItem[] {
  const isFirst = refuseRepeated(by.columns, outcomes);
  const { rules } = call.entity;
  return bodies.flatMap((body, index): UpsertItem[] => {
    const { key } = plan.write;
    if (by.isKey && key.some((column) => leavesOpen(body, column, key)))
      return [{ index, body, byValues: null }];
    const read = by.isKey ? readKeyOf(body, key) : readBy(body, by, rules);
    if ("errors" in read) outcomes.refuse(index, validationFailed(read.errors));
    else if (isFirst(index, read.values)) return [{ index, body, byValues: read.values }];
    return [];
  });
}

function readBy(
  body: Record<string, unknown>,
  by: UpsertBy,
  rules: Call["entity"]["rules"],
): ReturnType<typeof readKeyOf> {
  const { values, errors } = rules.check(body, "update", by.named);
  const missing = by.columns.filter(
    (column) => (values.get(column) ?? null) === null && !Object.hasOwn(errors ?? {}, column.name),
  );
  const faults = { ...errors, ...Object.fromEntries(missing.map(({ name }) => [name, required])) };
  return Object.keys(faults).length > 0
    ? { errors: faults }
    : { values: by.columns.map((column) => values.get(column)!) };
}

const required = ["is required"];

/** The records that exist, each with its key; those are not locked. */
export async function keysOfFound(
  queries: ReadQueries,
  items: readonly UpsertItem[],
  { plan, by }: Pick<Upserting, "plan" | "by">,
): Promise<(UpsertItem & KeyedItem)[]> {
  const { key } = plan.write;
  const found = await rowsBy(queries, items, { plan, by });
  return items.flatMap((item) => {
    const row = found(item);
    return row === null
      ? []
      : [{ ...item, key: key.map((column) => scalarOf(column, row)), etag: null }];
  });
}

async function rowsBy(
  queries: Pick<ReadQueries, "all">,
  items: readonly UpsertItem[],
  { plan, by }: Pick<Upserting, "plan" | "by">,
): Promise<(item: UpsertItem) => Row | null> {
  const { table, key } = plan.write;
  const values = items.flatMap((item) => (item.byValues === null ? [] : [item.byValues]));
  const search = { source: sourceOf(table), by: by.columns, columns: key, lock: false };
  const found = values.length === 0 ? null : await findRows(queries, search, values);
  return (item) =>
    item.byValues === null ? null : (found?.get(keyText(item.byValues))?.[0] ?? null);
}

/**
 * Locks the records that exist, and returns them and the new ones. Refuses records that mean a row outside of the
 * scope, or one that is marked as deleted. Throws `LostRace`.
 */
export async function divide(
  tx: Queries,
  items: readonly UpsertItem[],
  upserting: Upserting & { readonly columns: readonly Column[] },
): Promise<{ readonly found: FoundItem[]; readonly fresh: UpsertItem[] }> {
  const { call, plan, by, outcomes } = upserting;
  const stored = await rowsBy(tx, items, { plan, by });
  const { key } = plan.write;
  const keyed: (UpsertItem & KeyedItem)[] = [];
  const fresh: UpsertItem[] = [];
  const seen = new Map<string, number>();
  for (const item of items) {
    const row = stored(item);
    if (row === null) {
      fresh.push(item);
      continue;
    }
    const own = key.map((column) => scalarOf(column, row));
    const earlier = seen.get(keyText(own));
    if (earlier !== undefined) outcomes.refuse(item.index, repeated(by.columns, earlier));
    else {
      seen.set(keyText(own), item.index);
      keyed.push({ ...item, key: own, etag: null });
    }
  }
  const columns = [...new Set([...upserting.columns, ...by.columns])];
  const found = await lockAll(tx, keyed, { call, plan, columns });
  for (const item of found) {
    const before = stored(item)!;
    if (by.columns.some(({ name }) => !isEqual(item.row[name], before[name]))) throw new LostRace();
    refuseOtherKey(item, upserting);
  }
  const isTaken = await takenElsewhere(tx, fresh, { plan, by });
  for (const item of fresh) if (isTaken(item)) outcomes.refuse(item.index, alreadyThere(by));
  return { found: found.filter(isOpen), fresh: fresh.filter(isOpen) };

  function isOpen({ index }: UpsertItem): boolean {
    return !outcomes.isRefused(index);
  }
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Throws `LostRace` if one is gone. */
async function lockAll(
  tx: Queries,
  items: readonly (UpsertItem & KeyedItem)[],
  { call, plan, columns }: Pick<Upserting, "call" | "plan"> & { columns: readonly Column[] },
): Promise<FoundItem[]> {
  const gone = {
    refuse(): never {
      throw new LostRace();
    },
    isRefused: () => false,
  };
  return lockItems(tx, { call, plan, items, outcomes: gone, columns });
}

function refuseOtherKey(item: FoundItem, { plan, by, outcomes }: Upserting): void {
  const errors = otherKey(item.body, item.key, { key: plan.write.key, by: by.columns });
  if (Object.keys(errors).length > 0) outcomes.refuse(item.index, validationFailed(errors));
}

/** Whether a record that the caller does not see has the values. Throws `LostRace` if one was stored just then. */
async function takenElsewhere(
  tx: Queries,
  items: readonly UpsertItem[],
  { plan, by }: Pick<Upserting, "plan" | "by">,
): Promise<(item: UpsertItem) => boolean> {
  if (!isScoped(tx, sourceOf(plan.write.table))) return () => false;
  const found = await rowsBy(past(tx, "takenKeys"), items, { plan, by });
  const taken = items.filter((item) => found(item) !== null);
  const seen = await rowsBy(tx, taken, { plan, by });
  if (taken.some((item) => seen(item) !== null)) throw new LostRace();
  return (item) => found(item) !== null;
}

const alreadyThere = ({ columns }: UpsertBy): AppError =>
  new AppError("duplicateEntry", "A record with the same value already exists", {
    errors: Object.fromEntries(columns.map(({ name }) => [name, ["already exists"]])),
  });

/**
 * Why records that were new are duplicates. Throws `LostRace` if others have stored them meanwhile. Returns the refusal
 * of one that another record of the request is, which only the collation of a column could tell; else null.
 */
export async function whyTaken(
  tx: Queries,
  items: readonly UpsertItem[],
  {
    plan,
    by,
    outcomes,
    found,
  }: Pick<Upserting, "plan" | "by" | "outcomes"> & { readonly found: readonly FoundItem[] },
): Promise<AppError | null> {
  const { key } = plan.write;
  const takenBy = await rowsBy(past(tx, "takenKeys"), items, { plan, by });
  const changed = new Map(found.map((item) => [keyText(item.key), item.index]));
  let earlier: number | null = null;
  for (const item of items) {
    const row = takenBy(item);
    if (row === null) continue;
    const own = keyText(key.map((column) => scalarOf(column, row)));
    earlier =
      outcomes.storedAt(key.map(({ name }) => row[name] ?? null)) ?? changed.get(own) ?? null;
    if (earlier === null) throw new LostRace();
  }
  return earlier === null ? null : repeated(by.columns, earlier);
}
