/** The parts that the bodies of lock/acquire, lock/release and lock/status share: which records they mean, and by which token. */
import type { Columns } from "../values/column.ts";
import type { Entity } from "../plans/entity.ts";
import { invalidParameter, invalidPayload } from "../values/errors.ts";
import { ExactNumber, isObject, type Json } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { resourceOf } from "./lock-names.ts";
import type { LockKey } from "./locks.ts";

import { columnOf, comparand } from "../query/where.ts";

/** Of a call, what names the records. */
interface Asked {
  readonly body: Record<string, unknown>;
  readonly entity: Entity;
}

/** What the lock actions need: the columns that a key may name. */
export interface LockPlan {
  readonly columns: Columns;
}

export function lockPlan({ write, read }: Entity): LockPlan | null {
  const columns = write?.shown ?? read?.columns;
  return columns ? { columns } : null;
}

/**
 * `lock_keys` of the body, each record once. Rejects with Invalid payload (shape, number of keys), Invalid field (unknown
 * column) or Invalid parameter (a value that names no record, or another resource than the endpoint of the path).
 */
export function lockKeysOf({ body, entity }: Asked, { columns }: LockPlan): LockKey[] {
  if (body["resource"] !== undefined && body["resource"] !== entity.name)
    throw invalidParameter(`resource must be "${entity.name}" here, or left out`);
  const shape = `lock_keys must be an array of 1 to ${limits.lockKeysMax} objects {key, value}`;
  const pairs = body["lock_keys"];
  if (!Array.isArray(pairs) || pairs.length === 0 || pairs.length > limits.lockKeysMax)
    throw invalidPayload(shape);
  const resource = resourceOf(entity);
  const keys = new Map<string, LockKey>();
  for (const pair of pairs as unknown[]) {
    if (!isObject(pair) || typeof pair["key"] !== "string" || !Object.hasOwn(pair, "value"))
      throw invalidPayload(shape);
    const column = columnOf(pair["key"], columns, "lock_keys");
    const value = comparand(column, pair["value"]);
    if (value === null)
      throw invalidParameter(`The value for column "${column.name}" must not be null`);
    const sent = pair["value"] instanceof ExactNumber ? pair["value"].source : pair["value"];
    const key = { key: column.name, value: sent as Json, locked: { resource, column, value } };
    const id = `${column.name}\n${String(value)}`;
    if (!keys.has(id)) keys.set(id, key);
  }
  return [...keys.values()];
}

/** `lock_token` of the body, as lock/acquire answered it. */
export function lockTokenOf(body: Record<string, unknown>): string {
  const token = body["lock_token"];
  if (typeof token !== "string" || token === "") throw invalidPayload("lock_token must be text");
  return token;
}

/** The key as the client sent it. */
export const shownKey = ({ key, value }: LockKey): { key: string; value: Json } => ({ key, value });
