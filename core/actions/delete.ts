/**
 * delete: deletes all matching records (with cascadeDelete, their details first) and answers the deleted records. With
 * softDelete it marks them instead.
 */
import { type Call, defineAction, type Write } from "../calls/action.ts";
import type { Cascade } from "../plans/write-plan.ts";
import type { Entity } from "../plans/entity.ts";
import type { MarkedTable } from "../plans/soft-delete.ts";
import { AppError, noSuchRecord } from "../values/errors.ts";
import { hasHandlers, runAfter, runBefore } from "../records/events.ts";
import { limits } from "../values/limits.ts";
import { scopeOfLines } from "../callers/scoped-session.ts";
import type { Queries } from "../query/session.ts";
import type { Row } from "../values/row.ts";
import { deleterOf, markRows } from "../records/mark.ts";
import { columnsOf, everyRow } from "../records/marked-rows.ts";
import {
  lockedRows,
  matchingParts,
  type Named,
  namedKey,
  namedRecords,
  rowKeys,
  shownOf,
} from "../records/matching.ts";
import { lockRecord, recordPlan, type RecordPlan } from "../records/record.ts";
import { allOf, type Condition, sourceOf } from "../query/statement.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import type { Column } from "../values/types/column.ts";
import { keptOnce } from "../totals/kept-session.ts";
import type { Scalar } from "../values/scalar.ts";
import { recordsAnswerSchema } from "../records/record-schema.ts";

/** What delete needs. */
interface DeletePlan extends RecordPlan {
  /** Null: rows are removed. */
  readonly marking: MarkedTable | null;
}

function deletePlan(entity: Entity): DeletePlan | null {
  const plan = recordPlan(entity);
  return plan && { ...plan, marking: entity.marking };
}

export const deleteRecords = defineAction<DeletePlan, Named>({
  name: "delete",
  summary: "Removes the records that match.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "deletes"],
  headers: ["If-Match", "X-Lock-Token"],
  events: ["onBeforeDelete", "onAfterDelete"],
  errors: ["invalidParameter", "invalidField", "foreignKeyInUse", "validationFailed"],
  sees: "active",
  takesOptions: true,
  takesEmptyBody: false,
  needs: deletePlan,
  grammar: (plan) => namedRecords(plan, plan.marking?.marks.by ?? null),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: recordsAnswerSchema(plan, entity, "deleted"),
  }),

  async begin(call, plan): Promise<Write> {
    if (plan.marking) deleterOf(plan.marking, call);
    const parts = await matchingParts(call, plan);
    const isWatched = hasHandlers(call.entity, "onBeforeDelete", "onAfterDelete");
    const hasMore = plan.marking !== null || plan.write.cascades.length > 0 || isWatched;
    return {
      isOneStatement: call.ifMatch === null && !hasMore && parts.length === 1,
      async run(queries) {
        if (call.ifMatch !== null)
          await lockRecord(call, plan, namedKey(call.input, plan), queries);
        const items: Row[] = [];
        for (const part of parts) {
          const removed =
            isWatched || plan.marking
              ? await removeFound(call, plan, { where: part, tx: queries })
              : await keptOnce(queries, () => removeAll(plan, part, queries));
          items.push(...removed);
        }
        if (items.length === 0) throw noSuchRecord(call.entity);
        const message = `${call.entity.name} data successfully deleted`;
        const data = { deleted_count: items.length, deleted_items: items };
        return { status: 200, body: { message, data } };
      },
    };
  },
});

async function removeAll(plan: RecordPlan, where: Condition, queries: Queries): Promise<Row[]> {
  const { table, key, shown, cascades } = plan.write;
  if (cascades.length > 0) {
    // The headers stay locked until they are deleted.
    const headers = await lockedRows(plan, { where, columns: key }, queries);
    await refuseHiddenLines(plan, headers, queries);
    await removeDetails(cascades, headerKeysOf(plan, headers), queries);
  }
  return queries.delete({ kind: "delete", table, key, where, returning: [...shown.values()] });
}

/**
 * Locks the records, and removes only these, even if handlers make further records match. Handlers are called for each
 * deleted record.
 */
async function removeFound(
  call: Call,
  plan: DeletePlan,
  { where, tx }: { where: Condition; tx: Queries },
): Promise<Row[]> {
  const { key, shown, table } = plan.write;
  const data = { where: call.body["where"] };
  const marked = (plan.marking ? columnsOf(plan.marking) : []).map(({ name }) => name);
  // Includes the keys even when answers hide them.
  const names = new Set([...shown.keys(), ...key.map(({ name }) => name), ...marked]);
  const columns = [...names].map((name) => table.columns.get(name)!);
  const rows = await lockedRows(plan, { where, columns }, tx);
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
  for (const values of keyBatches(key, rowKeys(plan, rows))) {
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
  for (const { table, key, foreignKey } of cascades)
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
