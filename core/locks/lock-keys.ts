/** Members that the bodies of lock/acquire, lock/release and lock/status share: the records, and the token. */
import {
  absentOr,
  choice,
  described,
  type Grammar,
  list,
  meaning,
  object,
  type Parts,
  present,
  text,
  value,
  whatever,
  word,
} from "../grammar/grammar.ts";
import type { Column, Columns } from "../values/types/column.ts";
import type { Entity } from "../plans/entity.ts";
import { invalidParameter, invalidPayload } from "../values/errors.ts";
import { ExactNumber, isObject, type Json } from "../values/json.ts";
import { anyOf, wholeObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { resourceOf } from "./lock-names.ts";
import type { LockKey } from "./locks.ts";
import { type Key, keyNames, keyText, type KeyValue } from "../values/types/key.ts";
import type { Scalar } from "../values/scalar.ts";
import { comparedSchema } from "../values/types/schemas.ts";
import { columnOf, comparand } from "../query/comparisons.ts";
import { alike } from "../query/condition-schema.ts";

/** What the lock actions need. */
export interface LockPlan {
  /** The columns that a `key` may name. */
  readonly columns: Columns;
  /** The columns of a `record`; empty = records have no key, or the caller may not see it. */
  readonly key: Key;
}

export function lockPlan({ write, read }: Entity): LockPlan | null {
  const columns = write?.shown ?? read?.columns;
  if (!columns) return null;
  const key = write?.key ?? read?.key ?? [];
  return { columns, key: key.every(({ name }) => columns.has(name)) ? key : [] };
}

/** The members that all lock actions take: the records, and perhaps the endpoint. */
export const lockMembers = (plan: LockPlan, entity: Entity) => ({
  resource: absentOr(
    word([entity.name], () =>
      invalidParameter(`resource must be "${entity.name}" here, or left out`),
    ),
    entity.name,
  ),
  lock_keys: lockKeys(plan, entity),
});

/** A token as lock/acquire answered it. */
export const lockToken: Grammar<string> = value(
  (sent): sent is string => typeof sent === "string" && sent !== "",
  () => invalidPayload("lock_token must be text"),
  () => ({ type: "string", minLength: 1 }),
);

/** The tokens of the header X-Lock-Token, separated by commas. */
export const lockTokensIn = (header: string | null): readonly string[] =>
  header === null
    ? noTokens
    : [...new Set(header.split(",").flatMap((token) => token.trim() || []))];

const noTokens: readonly string[] = [];

const notKeys = () =>
  invalidPayload(
    `lock_keys must be an array of 1 to ${limits.lockKeysMax} objects {key, value} or {record}`,
  );

/**
 * `lock_keys`, each record once. Rejects with Invalid payload (shape, number of keys), Invalid field (unknown column)
 * or Invalid parameter (a value that no record can have).
 */
function lockKeys(plan: LockPlan, entity: Entity): Grammar<LockKey[]> {
  const [pair, record] = [keyPair(plan), wholeRecord(plan)];
  const item = choice(plan.key.length === 0 ? [pair] : [pair, record], (sent) =>
    isObject(sent) && sent["record"] !== undefined ? record : pair,
  );
  const resource = resourceOf(entity);
  return meaning(list(item, { fault: notKeys, min: 1, max: limits.lockKeysMax }), (named) => {
    const keys = new Map<string, LockKey>();
    for (const { shown, key, value: values } of named) {
      const id = `${keyNames(key)}\n${keyText(values)}`;
      const locked = { resource, key, value: values };
      if (!keys.has(id)) keys.set(id, { shown, locked, isShared: !tellsApart(entity, key) });
    }
    return [...keys.values()];
  });
}

type Named = Pick<LockKey, "shown"> & { readonly key: Key; readonly value: KeyValue };

const pairParts = object({ key: text(notKeys), value: present(notKeys) }, { fault: notKeys });

const keyPair = ({ columns }: LockPlan): Grammar<Named> =>
  meaning(
    pairParts,
    ({ key: name, value: sent }) => {
      const column = columnOf(name, columns, "lock_keys");
      const locked = lockedValue(column, sent);
      return { shown: { key: name, value: sentValue(sent) }, key: [column], value: [locked] };
    },
    () => anyOf(alike(columns).map(wholeObject)),
  );

/** A record by every column of its key. */
function wholeRecord({ key }: LockPlan): Grammar<Named> {
  const names = key.map(({ name }) => name);
  const members = key.map((column) => [
    column.name,
    described(whatever, comparedSchema(column) ?? {}),
  ]);
  const record = object(Object.fromEntries(members) as Parts, { required: names });
  return {
    ...object({ record }, { required: ["record"] }),
    read: (sent) => recordOf(sent as Record<string, unknown>, key),
  };
}

function recordOf(item: Record<string, unknown>, key: Key): Named {
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

/** Whether one record at most has a value of the columns. */
function tellsApart({ write, read }: Entity, columns: Key): boolean {
  const key = write?.key ?? read?.key ?? [];
  const has = (name: string): boolean => columns.some((column) => column.name === name);
  if (key.length > 0 && key.every(({ name }) => has(name))) return true;
  return (
    write?.table.unique.some((unique) => unique.columns.length > 0 && unique.columns.every(has)) ??
    false
  );
}
