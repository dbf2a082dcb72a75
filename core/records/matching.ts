/** The records that a condition of delete or restore names: found, guarded by locks, and locked. */
import type { Entity } from "../plans/entity.ts";
import type { Call, CallOf } from "../calls/action.ts";
import { type Grammar, object } from "../grammar/grammar.ts";
import type { Queries } from "../query/session.ts";
import type { Row } from "../values/row.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import { allOf, type Condition, sourceOf, selectFrom } from "../query/statement.ts";
import { comparand } from "../query/comparisons.ts";
import { equalities } from "../query/where.ts";
import type { Column } from "../values/types/column.ts";
import { AppError } from "../values/errors.ts";
import { keyNames, type KeyValue } from "../values/types/key.ts";
import type { RecordPlan } from "./record.ts";
import { actorMembers } from "./record-grammar.ts";

/** A body that names records. */
export interface Named {
  /** At least one. */
  readonly where: readonly Condition[];
}

/** The body of delete and restore: conditions that name the records, and the deleting user if `by` stores it. */
export const namedRecords = (
  { write: { shown } }: RecordPlan,
  by: Column | null,
  { rules }: Pick<Entity, "rules">,
): Grammar<Named> =>
  object(
    { ...actorMembers(by ? [by] : [], shown, rules), where: equalities(shown) },
    { required: ["where"] },
  );

/**
 * Conditions that find the records one after the other. With locks on records, they find exactly the locked ones.
 * Rejects as locks do.
 */
export async function matchingParts(
  call: CallOf<Named>,
  plan: RecordPlan,
): Promise<readonly Condition[]> {
  const where = allOf(...call.input.where)!;
  return call.locks.guardsWrites ? guardMatching(call, plan, where) : [where];
}

/** Locks the records that match now, in key order. */
async function guardMatching(
  call: Call,
  plan: RecordPlan,
  where: Condition,
): Promise<readonly Condition[]> {
  const { table, key } = plan.write;
  const rows = await call.session.all(
    selectFrom(sourceOf(table), {
      columns: key,
      where,
      sort: key.map((column) => ({ column, direction: "asc" })),
    }),
  );
  const values = rowKeys(plan, rows);
  await call.locks.guardWrite(plan.write, values);
  const batches = values.length === 0 ? [values] : keyBatches(key, values);
  return [...batches].map((some) => ({ kind: "and", members: [where, keyIn(key, some)] }));
}

/** If-Match is about one record, so `where` must name it by its key. */
export function namedKey({ where }: Named, { write: { key } }: RecordPlan): KeyValue {
  return key.map((column) => {
    for (const condition of where)
      if (condition.kind === "compare" && condition.column === column) return condition.value;
    throw new AppError(
      "preconditionFailed",
      `If-Match needs the primary key ${keyNames(key)} in where`,
    );
  });
}

/** Locked until the transaction ends. */
export function lockedRows(
  { write }: RecordPlan,
  { where, columns }: { where: Condition; columns: readonly Column[] },
  tx: Queries,
): Promise<Row[]> {
  return tx.all(selectFrom(sourceOf(write.table), { columns, where, lock: true }));
}

export const rowKeys = ({ write: { key } }: RecordPlan, rows: readonly Row[]): KeyValue[] =>
  rows.map((row) => key.map((column) => comparand(column, row[column.name])));

/** The row without what answers do not show, in the order in which they show it. */
export const shownOf = (row: Row, { write: { shown } }: RecordPlan): Row =>
  Object.fromEntries([...shown.keys()].map((name) => [name, row[name] ?? null]));
