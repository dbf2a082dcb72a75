/** delete: deletes all matching records (with cascadeDelete, their details first) and answers the deleted records. */
import { type Call, defineAction, type Write } from "../calls/action.ts";
import type { Column } from "../values/column.ts";
import type { Cascade } from "../plans/entity.ts";
import { AppError, invalidPayload, noSuchRecord } from "../values/errors.ts";
import { hasHandlers, runAfter, runBefore } from "../records/events.ts";
import { limits } from "../values/limits.ts";
import { past } from "../callers/scoped-session.ts";
import type { Queries } from "../callers/session.ts";
import type { Row } from "../plans/ports.ts";
import { lockRecord, recordPlan, type RecordPlan } from "../records/record.ts";

import { allOf, type Condition, sourceOf } from "../query/statement.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import { keyNames, type KeyValue } from "../values/key.ts";
import type { Scalar } from "../values/scalar.ts";
import { comparand, parseEqualities } from "../query/where.ts";
import { deleteAnswerSchema, deleteSchema } from "../records/record-schema.ts";

export const deleteRecords = defineAction<RecordPlan>({
  name: "delete",
  summary: "Removes the records that match.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "deletes"],
  headers: ["If-Match", "X-Lock-Token"],
  events: ["onBeforeDelete", "onAfterDelete"],
  errors: ["invalidParameter", "invalidField", "foreignKeyInUse"],
  takesOptions: true,
  takesEmptyBody: false,
  needs: recordPlan,
  input: (plan) => deleteSchema(plan),
  answer: (plan, { entity }) => ({ status: 200, schema: deleteAnswerSchema(plan, entity) }),

  async begin(call, plan): Promise<Write> {
    const conditions = parseEqualities(call.body["where"], plan.write.shown, false);
    const where = allOf(...conditions);
    if (where === null) throw invalidPayload("where is required");

    const isWatched = hasHandlers(call.entity, "onBeforeDelete", "onAfterDelete");
    const parts = call.locks.guardsWrites ? await guardMatching(call, plan, where) : [where];
    const isPlain = call.ifMatch === null && plan.write.cascades.length === 0 && !isWatched;
    return {
      isOneStatement: isPlain && parts.length === 1,
      async run(queries) {
        if (call.ifMatch !== null)
          await lockRecord(call, plan, namedKey(conditions, plan), queries);
        const items: Row[] = [];
        for (const part of parts) {
          const removed = isWatched
            ? await removeWatched(call, plan, { where: part, tx: queries })
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

/**
 * Locks the records that match now, in key order. The returned conditions, applied one after the other, delete exactly
 * these.
 */
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
  const values = keysOf(plan, rows);
  await call.locks.guardWrite(plan.write, values);
  const batches = values.length === 0 ? [values] : keyBatches(key, values);
  return [...batches].map((some) => ({ kind: "and", members: [where, keyIn(key, some)] }));
}

/** If-Match is about one record, so `where` must name it by its key. */
function namedKey(conditions: readonly Condition[], { write: { key } }: RecordPlan): KeyValue {
  return key.map((column) => {
    for (const condition of conditions)
      if (condition.kind === "compare" && condition.column === column) return condition.value;
    throw new AppError(
      "preconditionFailed",
      `If-Match needs the primary key ${keyNames(key)} in where`,
    );
  });
}

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
 * Handlers see each record that is deleted, one by one, and no other record is deleted: changes made by handlers may
 * cause further records to match.
 */
async function removeWatched(
  call: Call,
  plan: RecordPlan,
  { where, tx }: { where: Condition; tx: Queries },
): Promise<Row[]> {
  const { table, key, shown, cascades } = plan.write;
  const data = { where: call.body["where"] };
  // Includes the keys even when answers hide them.
  const columns = [...new Set([...shown.values(), ...key])];
  const rows = await lockedRows(plan, { where, columns }, tx);
  for (const row of rows) {
    const oldRecord = shownOf(row, plan);
    await runBefore(call, tx, { event: "onBeforeDelete", data, oldRecord });
  }
  await removeDetails(cascades, headerKeysOf(plan, rows), tx);
  const items: Row[] = [];
  for (const values of keyBatches(key, keysOf(plan, rows))) {
    const among = keyIn(key, values);
    const returning = [...shown.values()];
    items.push(...(await tx.delete({ kind: "delete", table, key, where: among, returning })));
  }
  for (const oldRecord of items)
    await runAfter(call, tx, { event: "onAfterDelete", data, oldRecord, record: null });
  return items;
}

/** Locked until the transaction ends. */
function lockedRows(
  { write }: RecordPlan,
  { where, columns }: { where: Condition; columns: readonly Column[] },
  tx: Queries,
): Promise<Row[]> {
  const source = sourceOf(write.table);
  const page = { sort: [], limit: null, offset: 0 };
  return tx.all({ kind: "select", source, columns, where, ...page, lock: true });
}

const keysOf = ({ write: { key } }: RecordPlan, rows: readonly Row[]): KeyValue[] =>
  rows.map((row) => key.map((column) => comparand(column, row[column.name])));

/** What details hold of their header: the key of a header has one column. */
const headerKeysOf = (plan: RecordPlan, rows: readonly Row[]): Scalar[] =>
  keysOf(plan, rows).map(([value]) => value!);

const shownOf = (row: Row, { write: { key, shown } }: RecordPlan): Row =>
  key.every(({ name }) => shown.has(name))
    ? row
    : Object.fromEntries(Object.entries(row).filter(([name]) => shown.has(name)));

async function removeDetails(
  cascades: readonly Cascade[],
  headers: readonly Scalar[],
  tx: Queries,
): Promise<void> {
  for (const { table, key, foreignKey } of cascades) {
    for (let at = 0; at < headers.length; at += limits.inValuesMax) {
      const values = headers.slice(at, at + limits.inValuesMax);
      const where = { kind: "in", column: foreignKey, values, negated: false } as const;
      await past(tx, "details").delete({ kind: "delete", table, key, where, returning: [] });
    }
  }
}
