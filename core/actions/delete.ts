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
    columns: [key],
    where,
    sort: [{ column: key, direction: "asc" }],
    limit: null,
    offset: 0,
    lock: false,
  });
  const values = rows.map((row) => comparand(key, row[key.name]));
  await call.locks.guardWrite(plan.write, values);
  const parts: Condition[] = [];
  for (let at = 0; at < Math.max(values.length, 1); at += limits.inValuesMax) {
    const some = values.slice(at, at + limits.inValuesMax);
    const among: Condition = { kind: "in", column: key, values: some, negated: false };
    parts.push({ kind: "and", members: [where, among] });
  }
  return parts;
}

/** If-Match is about one record, so `where` must name it by its key. */
function namedKey(conditions: readonly Condition[], plan: RecordPlan): Scalar {
  for (const condition of conditions) {
    if (condition.kind === "compare" && condition.column === plan.write.key) return condition.value;
  }
  throw new AppError(
    "preconditionFailed",
    `If-Match needs the primary key ${plan.write.key.name} in where`,
  );
}

async function removeAll(plan: RecordPlan, where: Condition, queries: Queries): Promise<Row[]> {
  const { table, key, shown, cascades } = plan.write;
  if (cascades.length > 0) {
    // The headers stay locked until they are deleted.
    const headers = await lockedRows(plan, { where, columns: [key] }, queries);
    await removeDetails(cascades, keysOf(plan, headers), queries);
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
  const columns = [...new Set([...shown.values(), key])];
  const rows = await lockedRows(plan, { where, columns }, tx);
  for (const row of rows) {
    const oldRecord = shownOf(row, plan);
    await runBefore(call, tx, { event: "onBeforeDelete", data, oldRecord });
  }
  const keys = keysOf(plan, rows);
  await removeDetails(cascades, keys, tx);
  const items: Row[] = [];
  for (const values of partsOf(keys)) {
    const among = { kind: "in", column: key, values, negated: false } as const;
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

const keysOf = ({ write: { key } }: RecordPlan, rows: readonly Row[]): Scalar[] =>
  rows.map((row) => comparand(key, row[key.name]));

const shownOf = (row: Row, { write: { key, shown } }: RecordPlan): Row =>
  shown.has(key.name)
    ? row
    : Object.fromEntries(Object.entries(row).filter(([name]) => shown.has(name)));

async function removeDetails(
  cascades: readonly Cascade[],
  headers: readonly Scalar[],
  tx: Queries,
): Promise<void> {
  for (const { table, key, foreignKey } of cascades) {
    for (const values of partsOf(headers)) {
      const where = { kind: "in", column: foreignKey, values, negated: false } as const;
      await past(tx, "details").delete({ kind: "delete", table, key, where, returning: [] });
    }
  }
}

/** Splits the keys into lists that fit into one IN. */
function* partsOf(keys: readonly Scalar[]): Generator<readonly Scalar[]> {
  for (let at = 0; at < keys.length; at += limits.inValuesMax)
    yield keys.slice(at, at + limits.inValuesMax);
}
