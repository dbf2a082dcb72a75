/**
 * delete: deletes all matching records (with cascadeDelete, their details first) and answers the deleted records. With
 * softDelete it marks them instead.
 */
import { type Call, defineAction, type Write } from "../calls/action.ts";
import type { Cascade, Entity } from "../plans/entity.ts";
import type { MarkedTable } from "../plans/soft-delete.ts";
import { noSuchRecord } from "../values/errors.ts";
import { hasHandlers, runAfter, runBefore } from "../records/events.ts";
import { limits } from "../values/limits.ts";
import type { Queries } from "../callers/session.ts";
import type { Row } from "../plans/ports.ts";
import { deleterOf, markRows } from "../records/mark.ts";
import { columnsOf, everyRow } from "../records/marked-rows.ts";
import { rowKeys, lockedRows, matchingOf, namedKey, shownOf } from "../records/matching.ts";
import { lockRecord, recordPlan, type RecordPlan } from "../records/record.ts";
import type { Condition } from "../query/statement.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import type { Scalar } from "../values/scalar.ts";
import { deleteAnswerSchema, deleteSchema } from "../records/record-schema.ts";

/** What delete needs. */
interface DeletePlan extends RecordPlan {
  /** Null: rows are removed. */
  readonly marking: MarkedTable | null;
}

function deletePlan(entity: Entity): DeletePlan | null {
  const plan = recordPlan(entity);
  return plan && { ...plan, marking: entity.marking };
}

export const deleteRecords = defineAction<DeletePlan>({
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
  input: (plan) => deleteSchema(plan, plan.marking?.marks.by ?? null),
  answer: (plan, { entity }) => ({ status: 200, schema: deleteAnswerSchema(plan, entity) }),

  async begin(call, plan): Promise<Write> {
    if (plan.marking) deleterOf(plan.marking, call);
    const { conditions, parts } = await matchingOf(call, plan);
    const isWatched = hasHandlers(call.entity, "onBeforeDelete", "onAfterDelete");
    const hasMore = plan.marking !== null || plan.write.cascades.length > 0 || isWatched;
    return {
      isOneStatement: call.ifMatch === null && !hasMore && parts.length === 1,
      async run(queries) {
        if (call.ifMatch !== null)
          await lockRecord(call, plan, namedKey(conditions, plan), queries);
        const items: Row[] = [];
        for (const part of parts) {
          const removed =
            isWatched || plan.marking
              ? await removeFound(call, plan, { where: part, tx: queries })
              : await removeAll(plan, part, queries);
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
    await removeDetails(cascades, headerKeysOf(plan, headers), queries);
  }
  return queries.delete({ kind: "delete", table, key, where, returning: [...shown.values()] });
}

/**
 * Locks the records, and removes these and no others: changes made by handlers may cause further records to match. Handlers
 * see each record that is deleted, one by one.
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
  const items = plan.marking
    ? await mark(call, { plan, marked: plan.marking, rows }, tx)
    : await remove(plan, rows, tx);
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

/** What details hold of their header: the key of a header has one column. */
const headerKeysOf = (plan: RecordPlan, rows: readonly Row[]): Scalar[] =>
  rowKeys(plan, rows).map(([value]) => value!);

async function removeDetails(
  cascades: readonly Cascade[],
  headers: readonly Scalar[],
  tx: Queries,
): Promise<void> {
  for (const { table, key, foreignKey } of cascades) {
    for (let at = 0; at < headers.length; at += limits.inValuesMax) {
      const values = headers.slice(at, at + limits.inValuesMax);
      const where = { kind: "in", column: foreignKey, values, negated: false } as const;
      // Details that are marked as deleted go with their header, too.
      await everyRow(tx).delete({ kind: "delete", table, key, where, returning: [] });
    }
  }
}
