/**
 * Removes rows of a table, with cascadeDelete their details first, or marks them as deleted; the operator's handlers are
 * called for each of them.
 */
import type { Call } from "../calls/action.ts";
import type { Cascade } from "../plans/write-plan.ts";
import type { Entity } from "../plans/entity.ts";
import type { MarkedTable } from "../plans/soft-delete.ts";
import { AppError } from "../values/errors.ts";
import { runAfter, runBefore } from "./events.ts";
import { limits } from "../values/limits.ts";
import { scopeOfLines } from "../callers/scoped-session.ts";
import type { Queries } from "../query/session.ts";
import type { Row } from "../values/row.ts";
import { markRows } from "./mark.ts";
import { columnsOf, everyRow } from "./marked-rows.ts";
import { lockedRows, rowKeys, shownOf } from "./matching.ts";
import { childrenFirst, ownReferences } from "./parents-first.ts";
import { recordPlan, type RecordPlan } from "./record.ts";
import { allOf, type Condition, sourceOf } from "../query/statement.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import type { Column } from "../values/types/column.ts";
import { keptOnce } from "../totals/kept-session.ts";
import type { Scalar } from "../values/scalar.ts";

/** What delete needs. */
export interface DeletePlan extends RecordPlan {
  /** Null: rows are removed. */
  readonly marking: MarkedTable | null;
}

export function deletePlan(entity: Entity): DeletePlan | null {
  const plan = recordPlan(entity);
  return plan && { ...plan, marking: entity.marking };
}

/** Removes the matching rows; for tables whose rows are not marked, and without handlers. */
export async function removeAll(
  plan: RecordPlan,
  where: Condition,
  queries: Queries,
): Promise<Row[]> {
  const { table, key, shown, cascades } = plan.write;
  if (cascades.length > 0) {
    // The headers stay locked until they are deleted.
    const headers = await lockedRows(plan, { where, columns: key }, queries);
    await refuseHiddenLines(plan, headers, queries);
    await removeDetails(cascades, headerKeysOf(plan, headers), queries);
  }
  return queries.delete({ kind: "delete", table, key, where, returning: [...shown.values()] });
}

/** The columns of rows that `removeRows` takes: also the key and references among the rows if answers hide them. */
export function removedColumns({ write: { key, shown, table }, marking }: DeletePlan): Column[] {
  const marked = (marking ? columnsOf(marking) : []).map(({ name }) => name);
  const needed = [...key, ...ownReferences(table)].map(({ name }) => name);
  const names = new Set([...shown.keys(), ...needed, ...marked]);
  return [...names].map((name) => table.columns.get(name)!);
}

/**
 * Locks the records, and removes only these, even if handlers make further records match. Handlers are called for each
 * deleted record.
 */
export async function removeFound(
  call: Call,
  plan: DeletePlan,
  { where, tx }: { where: Condition; tx: Queries },
): Promise<Row[]> {
  const rows = await lockedRows(plan, { where, columns: removedColumns(plan) }, tx);
  return removeRows(call, plan, { rows, data: { where: call.body["where"] }, tx });
}

/** Removes or marks rows that are locked; `data` is what handlers get. Resolves with the records. */
export async function removeRows(
  call: Call,
  plan: DeletePlan,
  { rows, data, tx }: { rows: readonly Row[]; data: Record<string, unknown>; tx: Queries },
): Promise<Row[]> {
  for (const row of rows) {
    const oldRecord = shownOf(row, plan);
    await runBefore(call, tx, { event: "onBeforeDelete", data, oldRecord });
  }
  await refuseHiddenLines(plan, rows, tx);
  const items = plan.marking
    ? await mark(call, { plan, marked: plan.marking, rows }, tx)
    : await keptOnce(tx, () => remove(plan, rows, tx));
  for (const oldRecord of items)
    await runAfter(call, tx, { event: "onAfterDelete", data, oldRecord, record: null });
  return items;
}

async function mark(
  call: Call,
  { plan, marked, rows }: { plan: RecordPlan; marked: MarkedTable; rows: readonly Row[] },
  tx: Queries,
): Promise<Row[]> {
  await markRows(call, { marked, rows }, tx);
  return rows.map((row) => shownOf(row, plan));
}

async function remove(plan: RecordPlan, rows: readonly Row[], tx: Queries): Promise<Row[]> {
  const { table, key, shown, cascades } = plan.write;
  await removeDetails(cascades, headerKeysOf(plan, rows), tx);
  const items: Row[] = [];
  // A row in one statement may refer to one in a later statement, but not the other way round.
  const inOrder = childrenFirst(rows, table)
    .sets.flat()
    .map((at) => rows[at]!);
  for (const values of keyBatches(key, rowKeys(plan, inOrder))) {
    const among = keyIn(key, values);
    const returning = [...shown.values()];
    items.push(...(await tx.delete({ kind: "delete", table, key, where: among, returning })));
  }
  return items;
}

/** The header keys that details store: the key of a header has one column. */
const headerKeysOf = (plan: RecordPlan, rows: readonly Row[]): Scalar[] =>
  rowKeys(plan, rows).map(([value]) => value!);

async function removeDetails(
  cascades: readonly Cascade[],
  headers: readonly Scalar[],
  tx: Queries,
): Promise<void> {
  for (const { table, key, foreignKey } of cascades.filter(({ by }) => by === "service"))
    // Details that are marked as deleted go with their header, too.
    for (const where of linesOf(foreignKey, headers))
      await everyRow(tx).delete({ kind: "delete", table, key, where, returning: [] });
}

function* linesOf(foreignKey: Column, headers: readonly Scalar[]): Generator<Condition> {
  for (let at = 0; at < headers.length; at += limits.inValuesMax) {
    const values = headers.slice(at, at + limits.inValuesMax);
    yield { kind: "in", column: foreignKey, values, negated: false };
  }
}

/** Lines that the caller may not write stay, and a header that lines point at is not deleted. */
async function refuseHiddenLines(
  plan: RecordPlan,
  rows: readonly Row[],
  tx: Queries,
): Promise<void> {
  for (const { table, foreignKey } of plan.write.cascades) {
    const source = sourceOf(table);
    const own = scopeOfLines(tx, source, "write");
    if (own === null) continue;
    const count = (where: Condition): Promise<number> =>
      everyRow(tx).count({ kind: "count", source, where });
    for (const where of linesOf(foreignKey, headerKeysOf(plan, rows)))
      if ((await count(allOf(where, own)!)) < (await count(where)))
        throw new AppError("foreignKeyInUse", "The record is still referenced by other records");
  }
}
