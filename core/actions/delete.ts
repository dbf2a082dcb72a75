/** delete: removes every record that matches, its details first where the configuration says so, and answers what it removed. */
import { type Call, defineAction } from "../action.ts";
import type { Cascade } from "../entity.ts";
import { AppError, invalidPayload } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Queries, Row } from "../ports.ts";
import { lockUnchanged, noSuchRecord, recordPlan, type RecordPlan } from "../record.ts";
import { allOf, type Condition, type Scalar, sourceOf } from "../statement.ts";
import { comparand, parseEqualities } from "../where.ts";

export const deleteRecords = defineAction<RecordPlan>({
  name: "delete",
  methods: ["POST"],
  takesOptions: true,
  takesEmptyBody: false,
  needs: recordPlan,

  async run(call, plan) {
    const conditions = parseEqualities(call.body["where"], plan.write.shown, false);
    const where = allOf(...conditions);
    if (where === null) throw invalidPayload("where is required");

    const parts = call.locks.guardsWrites ? await guardMatching(call, plan, where) : [where];
    const { table, key, shown, cascade } = plan.write;
    const remove = async (queries: Queries) => {
      if (call.ifMatch !== null)
        await lockUnchanged(call, plan, namedKey(conditions, plan), queries);
      const removed: Row[] = [];
      for (const part of parts) {
        if (cascade) await removeDetails(plan, cascade, part, queries);
        const statement = { kind: "delete", table, key, where: part } as const;
        removed.push(...(await queries.delete({ ...statement, returning: [...shown.values()] })));
      }
      return removed;
    };
    const inOneStatement = call.ifMatch === null && cascade === null && parts.length === 1;
    const items = inOneStatement ? await remove(call.session) : await call.session.tx(remove);
    if (items.length === 0) throw noSuchRecord(call.entity);
    return {
      status: 200,
      body: {
        message: `${call.entity.name} data successfully deleted`,
        data: { deleted_count: items.length, deleted_items: items },
      },
    };
  },
});

/** Locks what matches now, in the order of the keys. The conditions of the result, one after the other, delete these and no others. */
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

/** If-Match speaks of one record, so the where has to name it by its key. */
function namedKey(conditions: readonly Condition[], plan: RecordPlan): Scalar {
  for (const condition of conditions) {
    if (condition.kind === "compare" && condition.column === plan.write.key) return condition.value;
  }
  throw new AppError(
    "preconditionFailed",
    `If-Match needs the primary key ${plan.write.key.name} in where`,
  );
}

/** Deletes the details of all matching headers; the headers stay locked until their turn. */
async function removeDetails(
  plan: RecordPlan,
  cascade: Cascade,
  where: Condition,
  tx: Queries,
): Promise<void> {
  const { table, key } = plan.write;
  const source = sourceOf(table);
  const select = {
    kind: "select",
    source,
    columns: [key],
    where,
    sort: [],
    limit: null,
    offset: 0,
    lock: true,
  } as const;
  const headers = await tx.all(select);
  for (let at = 0; at < headers.length; at += limits.inValuesMax) {
    const values = headers
      .slice(at, at + limits.inValuesMax)
      .map((row: Row) => comparand(key, row[key.name]));
    await tx.delete({
      kind: "delete",
      table: cascade.table,
      key: cascade.key,
      where: { kind: "in", column: cascade.foreignKey, values, negated: false },
      returning: [],
    });
  }
}
