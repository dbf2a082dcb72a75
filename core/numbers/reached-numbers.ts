/** Numbers that a stored record gets when change-status moves it to a status. */
import { columnsBehind, type NumberPlan } from "../plans/number-tables.ts";
import { scalarOf } from "../query/find-rows.ts";
import { keyIs } from "../query/key-conditions.ts";
import type { ReadQueries } from "../query/session.ts";
import { type Assignment, selectFrom, sourceOf, type UpdateOne } from "../query/statement.ts";
import type { FieldErrors } from "../values/errors.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column } from "../values/types/column.ts";
import {
  isEmpty,
  type NumberTime,
  openNumber,
  type OpenNumber,
  type ValueOf,
} from "./number-text.ts";

/** The plans whose status the assignments set, and whose number they do not. */
export const reachedBy = (
  set: readonly Assignment[],
  plans: readonly NumberPlan[],
): readonly NumberPlan[] =>
  plans.filter(
    ({ column, onStatus }) =>
      onStatus !== null &&
      isStatus(onStatus, valueIn(set, onStatus.column)) &&
      valueIn(set, column) === undefined,
  );

/** Those of a stored record that it lacks; it is locked. Adds an error for each column that is empty. */
export async function openOf(
  own: Pick<ReadQueries, "one">,
  { table, key, keyValue, set }: Pick<UpdateOne, "table" | "key" | "keyValue" | "set">,
  { plans, time, errors }: { plans: readonly NumberPlan[]; time: NumberTime; errors: FieldErrors },
): Promise<OpenNumber[]> {
  if (plans.length === 0) return [];
  const columns = [...new Set(plans.flatMap((plan) => [plan.column, ...columnsBehind(plan)]))];
  const where = keyIs(key, keyValue);
  const row = await own.one(selectFrom(sourceOf(table), { columns, where, limit: 1, lock: true }));
  if (row === null) return [];
  const valueOf: ValueOf = (column) => valueIn(set, column) ?? scalarOf(column, row);
  return plans.flatMap((plan) =>
    isEmpty(scalarOf(plan.column, row)) ? (openNumber(plan, { valueOf, time, errors }) ?? []) : [],
  );
}

export const isStatus = (
  { status }: NonNullable<NumberPlan["onStatus"]>,
  value: unknown,
): boolean => value !== undefined && value !== null && String(value) === status;

/** Undefined: it is not set. */
export function valueIn(set: readonly Assignment[], { name }: Column): Scalar | undefined {
  const one = set.find(({ kind, column }) => kind === "set" && column.name === name);
  return one?.kind === "set" ? one.value : undefined;
}
