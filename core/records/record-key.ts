/** The key of a record in a body: of the existing one for update, adjust and change-status, or of the new one. */
import type { Call } from "../calls/action.ts";
import {
  type FieldErrors,
  invalidPayload,
  noSuchRecord,
  validationFailed,
} from "../values/errors.ts";
import type { Column } from "../values/types/column.ts";
import { isOfKey, type Key, keyNames, type KeyValue } from "../values/types/key.ts";
import { maySend, mustSend, type NewKeyColumns, takesNewId } from "../values/types/new-key.ts";
import type { Rules } from "../rules/compile-rules.ts";
import type { Scalar } from "../values/scalar.ts";
import { accept, unlimited } from "../values/types/accept.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { mayHold } from "../query/comparisons.ts";
import { foldedText } from "../query/find-rows.ts";

/** The key of the record that the body names. Rejects if it is missing, invalid, or one that no record can have. */
export function keyOf({ body, entity }: Pick<Call, "body" | "entity">, key: Key): KeyValue {
  const { values, missing } = readKey(body, { named: key, key, prefix: "The" });
  if (missing.length === key.length)
    throw invalidPayload(`The primary key ${keyNames(key)} is required`);
  if (missing.length > 0) throw validationFailed(requiredFields(missing));
  if (!key.every((column, at) => mayHold(column, values[at]!))) throw noSuchRecord(entity);
  return values;
}

/**
 * The values of the `named` key columns in the body, and those columns that it leaves out. Rejects a value that cannot
 * be a key, with a message that begins with `prefix`.
 */
export function readKey(
  body: Record<string, unknown>,
  { named, key, prefix }: { named: Key; key: Key; prefix: string },
): { values: Scalar[]; missing: Column[] } {
  const values: Scalar[] = [];
  const missing: Column[] = [];
  for (const column of named) {
    const value = Object.hasOwn(body, column.name) ? body[column.name] : undefined;
    if (isMissing(value, column, key)) {
      missing.push(column);
      continue;
    }
    const accepted = accept(unlimited(column), value);
    if (!accepted.ok)
      throw invalidPayload(`${prefix} primary key ${column.name} ${accepted.message}`);
    values.push(accepted.value);
  }
  return { values, missing };
}

/** An empty text can be a part of a key, but it is no key by itself. */
export const isMissing = (value: unknown, { type }: Column, key: Key): boolean =>
  value === undefined ||
  value === null ||
  (value === "" && (key.length === 1 || !columnTypes[type].isText));

export const requiredFields = (columns: readonly Column[]): FieldErrors =>
  Object.fromEntries(columns.map(({ name }) => [name, ["is required"]]));

/** The new record's key. The database fills columns that are left out; one that it cannot fill is a field error. */
export function newKey(
  { body, newId, fills }: Pick<Call, "body" | "newId" | "fills">,
  made: NewKeyColumns,
  rules: Rules,
  errors: FieldErrors,
): ReadonlyMap<Column, Scalar> {
  const { key, keyColumns } = made;
  const asked: Column[] = [];
  for (const column of keyColumns.values())
    if (!maySend(column, made) || leavesOpen(body, column, key)) asked.push(column);
  if (asked.length === 0) return checkedKey(body, keyColumns, rules, errors);
  const [only] = key;
  if (only !== undefined && key.length === 1 && !fills.has(only.name))
    return madeKey(only, newId, errors);
  const sent = Object.fromEntries(
    [...keyColumns.keys()]
      .filter((name) => !asked.some((column) => column.name === name))
      .map((name) => [name, body[name]]),
  );
  for (const { name, type } of asked) {
    const fill = fills.get(name);
    if (fill !== undefined) sent[name] = columnTypes[type].isText ? String(fill) : fill;
  }
  const values = checkedKey(sent, keyColumns, rules, errors);
  for (const column of asked)
    if (mustSend(column, key) && !values.has(column)) errors[column.name] ??= ["is required"];
  return values;
}

function checkedKey(
  body: Record<string, unknown>,
  keyColumns: NewKeyColumns["keyColumns"],
  rules: Rules,
  errors: FieldErrors,
): Map<Column, Scalar> {
  const checked = rules.check(body, "create", keyColumns);
  Object.assign(errors, checked.errors);
  for (const [column, value] of checked.values) if (value === null) checked.values.delete(column);
  return checked.values;
}

function madeKey(
  column: Column,
  newId: Call["newId"],
  errors: FieldErrors,
): ReadonlyMap<Column, Scalar> {
  if (mustSend(column, [column])) errors[column.name] = ["is required"];
  const made = takesNewId(column) ? accept(column, newId()) : null;
  return made?.ok ? new Map([[column, made.value]]) : none;
}

const none: ReadonlyMap<Column, Scalar> = new Map();

/** Whether the service or the database generates the column. `-` requests that too where it cannot be a value. */
export function leavesOpen(body: Record<string, unknown>, column: Column, key: Key): boolean {
  const sent = Object.hasOwn(body, column.name) ? body[column.name] : undefined;
  if (isMissing(sent, column, key)) return true;
  return sent === "-" && (key.length === 1 || !columnTypes[column.type].isText);
}

/**
 * Errors for the key columns in the body that differ from the key of the record that was found by the columns `by`: the
 * key of a stored record does not change. Those of `by` may differ, as the database's collation calls them equal.
 */
export function otherKey(
  body: Record<string, unknown>,
  stored: KeyValue,
  { key, by }: { readonly key: Key; readonly by: Key },
): FieldErrors {
  const others = key.filter(
    (column, at) =>
      !isOfKey(by, column) &&
      !leavesOpen(body, column, key) &&
      !means(column, body[column.name], stored[at]!),
  );
  return Object.fromEntries(
    others.map(({ name }) => [name, ["is not the key of the stored record"]]),
  );
}

function means(column: Column, sent: unknown, stored: Scalar): boolean {
  const accepted = accept(unlimited(column), sent);
  return accepted.ok && foldedText([accepted.value], [column]) === foldedText([stored], [column]);
}
