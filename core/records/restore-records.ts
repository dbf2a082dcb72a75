/** Restores records that are marked as deleted, with the operator's handlers around each of them. */
import type { Call } from "../calls/action.ts";
import type { Entity } from "../plans/entity.ts";
import type { MarkedTable } from "../plans/soft-delete.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import type { Queries } from "../query/session.ts";
import { type Condition, selectFrom, sourceOf } from "../query/statement.ts";
import type { Row } from "../values/row.ts";
import { hasHandlers, runAfter, runBefore } from "./events.ts";
import { columnsOf, everyRow } from "./marked-rows.ts";
import { lockedRows, rowKeys, shownOf } from "./matching.ts";
import { changePlan, type RecordPlan } from "./record.ts";
import { restoreRows } from "./restore-rows.ts";

/** What restore needs. */
export interface RestorePlan extends RecordPlan {
  readonly marking: MarkedTable;
}

export function restorePlan(entity: Entity): RestorePlan | null {
  const plan = changePlan(entity);
  const { marking } = entity;
  return plan && marking && { ...plan, marking };
}

/** Restores the marked records that match, and those that were marked with them. Resolves with the records. */
export async function restoreFound(
  call: Call,
  plan: RestorePlan,
  { where, tx }: { where: Condition; tx: Queries },
): Promise<Row[]> {
  const { table, key, shown } = plan.write;
  const data = { where: call.body["where"] };
  const marked = columnsOf(plan.marking).map(({ name }) => name);
  const names = new Set([...shown.keys(), ...key.map(({ name }) => name), ...marked]);
  const columns = [...names].map((name) => table.columns.get(name)!);
  const rows = await lockedRows(plan, { where, columns }, tx);
  const old = rows.map((row) => shownOf(row, plan));
  for (const oldRecord of old)
    await runBefore(call, tx, { event: "onBeforeRestore", data, oldRecord });
  await restoreRows({ marked: plan.marking, rows }, tx);
  const items = await readRestored(plan, rows, tx);
  if (hasHandlers(call.entity, "onAfterRestore"))
    for (const [at, record] of items.entries())
      await runAfter(call, tx, { event: "onAfterRestore", data, oldRecord: old[at]!, record });
  return items;
}

/** The records as they are now, in the order of the rows. */
async function readRestored(plan: RestorePlan, rows: readonly Row[], tx: Queries): Promise<Row[]> {
  const { table, key, shown } = plan.write;
  const textOf = (row: Row): string => JSON.stringify(key.map(({ name }) => row[name]));
  const found = new Map<string, Row>();
  for (const values of keyBatches(key, rowKeys(plan, rows))) {
    // The caller's own rows: they were found within its scope and are not marked any more.
    const some = await everyRow(tx).all(
      selectFrom(sourceOf(table), {
        columns: [...new Set([...shown.values(), ...key])],
        where: keyIn(key, values),
      }),
    );
    for (const row of some) found.set(textOf(row), row);
  }
  return rows.flatMap((row) => {
    const now = found.get(textOf(row));
    return now === undefined ? [] : [shownOf(now, plan)];
  });
}
