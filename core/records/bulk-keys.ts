/** Records that a bulk request names by their keys: read, guarded by locks, and locked in the transaction. */
import type { Call } from "../calls/action.ts";
import { LockConflict } from "../locks/lock-conflict.ts";
import type { Queries } from "../query/session.ts";
import { sourceOf } from "../query/statement.ts";
import { mayHold } from "../query/comparisons.ts";
import { AppError, type FieldErrors, noSuchRecord, validationFailed } from "../values/errors.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import { accept, unlimited } from "../values/types/accept.ts";
import type { Column } from "../values/types/column.ts";
import { type Key, keyText, type KeyValue } from "../values/types/key.ts";
import { isAboutData, type Outcomes } from "./bulk-outcomes.ts";
import { checkIfMatch } from "./etag.ts";
import { findRows, foldedText, scalarOf } from "../query/find-rows.ts";
import { shownOf } from "./matching.ts";
import { isMissing } from "./record-key.ts";
import { readBackAll, type RecordPlan } from "./record.ts";

/** A record of the request. */
export interface KeyedItem {
  readonly index: number;
  readonly body: Record<string, unknown>;
  readonly key: KeyValue;
  /** Its version must be this one; null = any. */
  readonly etag: string | null;
}

/** The same, locked until the transaction ends; `key` is as stored. */
export interface LockedItem extends KeyedItem {
  /** The columns that answers show, and those of the search. */
  readonly row: Row;
}

/** The records with their keys; a missing, invalid or repeated key is refused. */
export function keyedItems(
  bodies: readonly Record<string, unknown>[],
  { key, etags }: { key: Key; etags: readonly (string | null)[] | null },
  outcomes: Outcomes,
): KeyedItem[] {
  const isNew = refuseRepeated(key, outcomes);
  return bodies.flatMap((body, index) => {
    const read = readKeyOf(body, key);
    if ("errors" in read) {
      outcomes.refuse(index, validationFailed(read.errors));
      return [];
    }
    if (!isNew(index, read.values)) return [];
    return [{ index, body, key: read.values, etag: etags?.[index] ?? null }];
  });
}

/** Of the key columns, or their faults. */
export function readKeyOf(
  body: Record<string, unknown>,
  key: Key,
): { readonly values: KeyValue } | { readonly errors: FieldErrors } {
  const values: Scalar[] = [];
  const errors: FieldErrors = {};
  for (const column of key) {
    const sent = Object.hasOwn(body, column.name) ? body[column.name] : undefined;
    if (isMissing(sent, column, key)) {
      errors[column.name] = ["is required"];
      continue;
    }
    const accepted = accept(unlimited(column), sent);
    if (accepted.ok) values.push(accepted.value);
    else errors[column.name] = [accepted.message];
  }
  return Object.keys(errors).length > 0 ? { errors } : { values };
}

/** The function returns false, and refuses the record, when an earlier one of the request has the same values. */
export function refuseRepeated(
  key: Key,
  outcomes: Outcomes,
): (index: number, values: KeyValue) => boolean {
  const seen = new Map<string, number>();
  return (index, values) => {
    const text = foldedText(values, key);
    const first = seen.get(text);
    if (first === undefined) seen.set(text, index);
    else outcomes.refuse(index, repeated(key, first));
    return first === undefined;
  };
}

export const repeated = (key: Key, first: number): AppError =>
  validationFailed({ [key[0]!.name]: [`is already in record [${first}]`] });

/**
 * Takes the locks of the records, before the transaction. Refuses records that are locked by others, and those that do
 * not exist.
 */
export async function guardItems<Item extends KeyedItem>(
  call: Pick<Call, "locks" | "session" | "entity">,
  plan: RecordPlan,
  { items, outcomes }: { items: readonly Item[]; outcomes: Pick<Outcomes, "refuse"> },
): Promise<Item[]> {
  const { key, table } = plan.write;
  let open = items.filter((item) => {
    const isPossible = key.every((column, at) => mayHold(column, item.key[at]!));
    if (!isPossible) outcomes.refuse(item.index, noSuchRecord(call.entity));
    return isPossible;
  });
  if (!call.locks.guardsWrites) return open;
  const search = { source: sourceOf(table), by: key, columns: [], lock: false };
  const found = await findRows(
    call.session,
    search,
    open.map((item) => item.key),
  );
  open = open.filter((item) => {
    const isThere = found.has(keyText(item.key));
    if (!isThere) outcomes.refuse(item.index, noSuchRecord(call.entity));
    return isThere;
  });
  while (open.length > 0) {
    const failure = await guard(
      call,
      plan,
      open.map((item) => item.key),
    );
    if (failure === null) break;
    const locked = failure instanceof LockConflict ? failure.keyValue : null;
    const conflicting = open.find(({ key: own }) => locked && keyText(own) === keyText(locked));
    if (conflicting === undefined) throw failure;
    outcomes.refuse(conflicting.index, failure);
    open = open.filter((item) => item !== conflicting);
  }
  return open;
}

/** Null when all locks were taken. */
async function guard(
  { locks }: Pick<Call, "locks">,
  plan: RecordPlan,
  keys: readonly KeyValue[],
): Promise<AppError | null> {
  try {
    await locks.guardWrite(plan.write, keys);
    return null;
  } catch (error) {
    if (isAboutData(error)) return error;
    throw error;
  }
}

interface Locking<Item> {
  readonly call: Pick<Call, "entity">;
  readonly plan: RecordPlan;
  readonly items: readonly Item[];
  readonly outcomes: Pick<Outcomes, "refuse" | "isRefused">;
  /** Columns to read besides those of the key. */
  readonly columns: readonly Column[];
}

/**
 * Locks the records in the order of their keys, so that requests with the same records do not block each other. Refuses
 * records that do not exist, that an earlier one of the request is, or that have another version.
 */
export async function lockItems<Item extends KeyedItem>(
  tx: Queries,
  { call, plan, items, outcomes, columns }: Locking<Item>,
): Promise<(Item & LockedItem)[]> {
  const { key, table } = plan.write;
  const keys = items.map((item) => item.key).toSorted((a, b) => (keyText(a) < keyText(b) ? -1 : 1));
  const search = { source: sourceOf(table), by: key, columns, lock: true };
  const found = await findRows(tx, search, keys);
  const first = new Map<string, number>();
  const locked = items.flatMap((item) => {
    const { index } = item;
    const row = found.get(keyText(item.key))?.[0];
    if (row === undefined) {
      outcomes.refuse(index, noSuchRecord(call.entity));
      return [];
    }
    const stored = key.map((column) => scalarOf(column, row));
    const earlier = first.get(keyText(stored));
    if (earlier === undefined) first.set(keyText(stored), index);
    else outcomes.refuse(index, repeated(key, earlier));
    return earlier === undefined ? [{ ...item, key: stored, row }] : [];
  });
  await checkVersions(tx, { plan, locked, outcomes });
  return locked.filter(({ index }) => !outcomes.isRefused(index));
}

async function checkVersions(
  tx: Queries,
  {
    plan,
    locked,
    outcomes,
  }: { plan: RecordPlan; locked: readonly LockedItem[]; outcomes: Pick<Outcomes, "refuse"> },
): Promise<void> {
  const versioned = locked.filter(({ etag }) => etag !== null);
  const rows = versioned.map(({ row }) => shownOf(row, plan));
  const records = await readBackAll(rows, plan, tx);
  for (const [at, { index, etag }] of versioned.entries()) {
    try {
      checkIfMatch(etag!, records[at]!, plan.read);
    } catch (error) {
      if (!isAboutData(error)) throw error;
      outcomes.refuse(index, error);
    }
  }
}
