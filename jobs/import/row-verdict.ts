/**
 * Decides about one row of a file once its record is known: its values are checked by the entity's rules as in create
 * and update.
 */
import type { Column } from "../../core/values/types/column.ts";
import type { WritePlan } from "../../core/plans/write-plan.ts";
import type { Caller } from "../../core/plans/caller.ts";
import type { Scope } from "../../core/callers/scope.ts";
import type { NewId } from "../../core/values/clock.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { isOfKey, type KeyValue } from "../../core/values/types/key.ts";
import { newKey, otherKey } from "../../core/records/record-key.ts";
import { filledLater, withFills } from "../../core/records/record.ts";
import { addTableFaults } from "../../core/records/table-faults.ts";
import { addFieldErrors, addMessage, type Case, type CaseOptions } from "./row-case.ts";
import type { RowFault } from "./row-fault.ts";

/** The decision about a row. */
export type Verdict =
  | NewRow
  | ChangedRow
  /** The record exists, and the strategy does not change it. */
  | { readonly kind: "skip" }
  | InvalidRow;

/** A record is to be created. */
export interface NewRow {
  readonly kind: "new";
  readonly values: ReadonlyMap<Column, Scalar>;
  /** What a client would have sent, by field. */
  readonly body: Record<string, unknown>;
}

/** The record with this key is to be changed. */
export interface ChangedRow extends Omit<NewRow, "kind"> {
  readonly kind: "change";
  readonly key: KeyValue;
}

/** A row that is to be stored. */
export interface StoredRow {
  readonly one: Case;
  readonly verdict: NewRow | ChangedRow;
}

/** Nothing can be stored, for these reasons. */
export interface InvalidRow {
  readonly kind: "invalid";
  readonly faults: readonly RowFault[];
}

/** The input of a verdict besides the row. */
export interface VerdictOptions extends CaseOptions {
  readonly newId: NewId;
  readonly caller: Caller;
  /** Of the caller. */
  readonly scope: Scope;
  /** What no file sets of a new record (`filledBeside`). */
  readonly beside: ReadonlyMap<Column, Scalar>;
}

/** A row whose record is not known, so only its existing fields are checked. */
export function invalidRow(one: Case, { entity, plan }: VerdictOptions): InvalidRow {
  addFieldErrors(one, entity.rules.check(one.body, "update", plan.write.writable).errors);
  return { kind: "invalid", faults: one.faults };
}

/** A row that becomes a new record, unless something is wrong with it. */
export function newRow(one: Case, options: VerdictOptions): NewRow | InvalidRow {
  const { entity, plan, newId, scope, beside } = options;
  const { body, faults } = one;
  const { table, writable } = plan.write;
  const { rules } = entity;
  const filled = { body, newId, rules, fills: scope.fills };
  const { values, errors } = rules.check(withFills(filled, plan.write), "create", writable);
  for (const [column, value] of beside) values.set(column, value);
  const found = errors ?? {};
  const made = newKey(filled, plan.write, rules, found);
  for (const [column, value] of made) values.set(column, value);
  addTableFaults(found, entity, { table, values, later: () => filledLater(plan) });
  addFieldErrors(one, found);
  addScopeError(one, scope.isWhole ? values : withNulls(values, plan.write), options);
  if (faults.length > 0) return { kind: "invalid", faults };
  return { kind: "new", values, body };
}

/** The values of a new record, with null in each column that the row, the service and the database leave empty. */
export function withNulls(
  values: ReadonlyMap<Column, Scalar>,
  write: WritePlan,
): ReadonlyMap<Column, Scalar> {
  const { table, key } = write;
  const later = filledLater({ write });
  const empty = [...table.columns.values()].filter(
    (column) =>
      !isOfKey(key, column) &&
      !later.includes(column) &&
      !column.hasDefault &&
      column.generated === "none" &&
      column.isFilledByTrigger !== true,
  );
  return new Map([...empty.map((column) => [column, null] as const), ...values]);
}

/** A row that changes the record with this key, unless something is wrong with it. */
export function changedRow(
  one: Case,
  key: KeyValue,
  options: VerdictOptions,
): ChangedRow | InvalidRow {
  const { entity, plan } = options;
  const { body, empty, faults } = one;
  const numbered = entity.numbers.get(plan.write.table.identity) ?? [];
  for (const column of empty) {
    // A record keeps its number.
    if (numbered.some((one) => one.column.name === column.name)) continue;
    // An empty cell empties the field, where that can be; a default is for new records.
    if (column.nullable || !column.hasDefault) body[column.name] = null;
  }
  const checked = entity.rules.check(body, "update", plan.write.writable);
  const by = [...plan.upsertKeys.values()];
  addFieldErrors(one, { ...otherKey(body, key, { key: plan.write.key, by }), ...checked.errors });
  addScopeError(one, checked.values, options);
  if (faults.length > 0) return { kind: "invalid", faults };
  const values = new Map(checked.values);
  for (const column of plan.upsertKeys.values()) values.delete(column);
  return { kind: "change", key, values, body };
}

/** A row outside the caller's scope is an error of that row. */
function addScopeError(
  one: Case,
  values: ReadonlyMap<Column, Scalar>,
  { scope, plan }: VerdictOptions,
): void {
  const name = scope.refusedColumn(values);
  if (name !== null) addScopeMessage(one, name, plan.write);
}

/** The value of this column puts the row outside. */
export function addScopeMessage(one: Case, name: string, write: WritePlan): void {
  // A column that the caller does not know has no name here.
  const known = write.shown.get(name) ?? write.writable.get(name) ?? write.key[0]!;
  addMessage(one, known, "is outside the rows that you may access");
}
