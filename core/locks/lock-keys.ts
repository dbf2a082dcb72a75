/** The parts that the bodies of lock/acquire, lock/release and lock/status share: which records they mean, and by which token. */
import type { Column, Columns } from "../values/column.ts";
import type { Entity } from "../plans/entity.ts";
import { invalidParameter, invalidPayload } from "../values/errors.ts";
import { ExactNumber, isObject, type Json } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { resourceOf } from "./lock-names.ts";
import type { LockKey } from "./locks.ts";

import { type Key, keyNames, keyText, type KeyValue } from "../values/key.ts";
import type { Scalar } from "../values/scalar.ts";
import { columnOf, comparand } from "../query/where.ts";

/** Of a call, what names the records. */
interface Asked {
  readonly body: Record<string, unknown>;
  readonly entity: Entity;
}

/** What the lock actions need. */
export interface LockPlan {
  /** The columns that a `key` may name. */
  readonly columns: Columns;
  /** What a `record` names; empty = records have no key, or one that the caller may not see. */
  readonly key: Key;
}

export function lockPlan({ write, read }: Entity): LockPlan | null {
  const columns = write?.shown ?? read?.columns;
  if (!columns) return null;
  const key = write?.key ?? read?.key ?? [];
  return { columns, key: key.every(({ name }) => columns.has(name)) ? key : [] };
}

/**
 * `lock_keys` of the body, each record once. Rejects with Invalid payload (shape, number of keys), Invalid field (unknown
 * column) or Invalid parameter (a value that names no record, or another resource than the endpoint of the path).
 */
export function lockKeysOf({ body, entity }: Asked, plan: LockPlan): LockKey[] {
  if (body["resource"] !== undefined && body["resource"] !== entity.name)
    throw invalidParameter(`resource must be "${entity.name}" here, or left out`);
  const items = body["lock_keys"];
  if (!Array.isArray(items) || items.length === 0 || items.length > limits.lockKeysMax)
    throw invalidPayload(shape);
  const resource = resourceOf(entity);
  const keys = new Map<string, LockKey>();
  for (const item of items as unknown[]) {
    if (!isObject(item)) throw invalidPayload(shape);
    const { shown, key, value } =
      item["record"] === undefined ? pairOf(item, plan) : recordOf(item, plan);
    const id = `${keyNames(key)}\n${keyText(value)}`;
    if (!keys.has(id)) keys.set(id, { shown, locked: { resource, key, value } });
  }
  return [...keys.values()];
}

const shape = `lock_keys must be an array of 1 to ${limits.lockKeysMax} objects {key, value} or {record}`;

type Named = Pick<LockKey, "shown"> & { readonly key: Key; readonly value: KeyValue };

function pairOf(item: Record<string, unknown>, { columns }: LockPlan): Named {
  const { key: name } = item;
  if (typeof name !== "string" || !Object.hasOwn(item, "value")) throw invalidPayload(shape);
  const column = columnOf(name, columns, "lock_keys");
  const value = lockedValue(column, item["value"]);
  return {
    shown: { key: column.name, value: sentValue(item["value"]) },
    key: [column],
    value: [value],
  };
}

/** A record by every column of its key. */
function recordOf(item: Record<string, unknown>, { key }: LockPlan): Named {
  const { record } = item;
  if (key.length === 0)
    throw invalidPayload("These records have no key that a record in lock_keys could name");
  const isWhole =
    isObject(record) &&
    Object.keys(record).length === key.length &&
    key.every(({ name }) => Object.hasOwn(record, name));
  if (!isWhole || Object.hasOwn(item, "key") || Object.hasOwn(item, "value"))
    throw invalidPayload(
      `A record in lock_keys must stand alone, and have every column of the key and no other: ${keyNames(key)}`,
    );
  const shown = Object.fromEntries(key.map(({ name }) => [name, sentValue(record[name])]));
  return {
    shown: { record: shown },
    key,
    value: key.map((column) => lockedValue(column, record[column.name])),
  };
}

function lockedValue(column: Column, sent: unknown): Scalar {
  const value = comparand(column, sent);
  if (value === null)
    throw invalidParameter(`The value for column "${column.name}" must not be null`);
  return value;
}

const sentValue = (value: unknown): Json =>
  (value instanceof ExactNumber ? value.source : value) as Json;

/** `lock_token` of the body, as lock/acquire answered it. */
export function lockTokenOf(body: Record<string, unknown>): string {
  const token = body["lock_token"];
  if (typeof token !== "string" || token === "") throw invalidPayload("lock_token must be text");
  return token;
}
