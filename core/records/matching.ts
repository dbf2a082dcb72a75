/** The records that a condition of delete or restore names: found, guarded by locks, and locked. */
import type { Call } from "../calls/action.ts";
import type { Queries } from "../callers/session.ts";
import type { Row } from "../plans/ports.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import { allOf, type Condition, sourceOf } from "../query/statement.ts";
import { comparand, parseEqualities } from "../query/where.ts";
import type { Column } from "../values/column.ts";
import { AppError, invalidPayload } from "../values/errors.ts";
import { keyNames, type KeyValue } from "../values/key.ts";
import type { RecordPlan } from "./record.ts";

/** The `where` of a body. */
export interface Matching {
  readonly conditions: readonly Condition[];
  /**
   * Applied one after the other, they find the records. With locks on records, they find exactly those that were locked.
   */
  readonly parts: readonly Condition[];
}

/** Rejects with `invalidPayload`, and as locks do. */
export async function matchingOf(call: Call, plan: RecordPlan): Promise<Matching> {
  const conditions = parseEqualities(call.body["where"], plan.write.shown, false);
  const where = allOf(...conditions);
  if (where === null) throw invalidPayload("where is required");
  const parts = call.locks.guardsWrites ? await guardMatching(call, plan, where) : [where];
  return { conditions, parts };
}

/** Locks the records that match now, in key order. */
async function guardMatching(
  call: Call,
  plan: RecordPlan,
  where: Condition,
): Promise<readonly Condition[]> {
  const { table, key } = plan.write;
  const rows = await call.session.all({
    kind: "select",
    source: sourceOf(table),
    columns: key,
    where,
    sort: key.map((column) => ({ column, direction: "asc" })),
    limit: null,
    offset: 0,
    lock: false,
  });
  const values = rowKeys(plan, rows);
  await call.locks.guardWrite(plan.write, values);
  const batches = values.length === 0 ? [values] : keyBatches(key, values);
  return [...batches].map((some) => ({ kind: "and", members: [where, keyIn(key, some)] }));
}

/** If-Match is about one record, so `where` must name it by its key. */
export function namedKey(
  conditions: readonly Condition[],
  { write: { key } }: RecordPlan,
): KeyValue {
  return key.map((column) => {
    for (const condition of conditions)
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
  const source = sourceOf(write.table);
  const page = { sort: [], limit: null, offset: 0 };
  return tx.all({ kind: "select", source, columns, where, ...page, lock: true });
}

export const rowKeys = ({ write: { key } }: RecordPlan, rows: readonly Row[]): KeyValue[] =>
  rows.map((row) => key.map((column) => comparand(column, row[column.name])));

/** The row without what answers do not show, in the order in which they show it. */
export const shownOf = (row: Row, { write: { shown } }: RecordPlan): Row =>
  Object.fromEntries([...shown.keys()].map((name) => [name, row[name] ?? null]));
