/** update: changes the fields that were sent of the one record that the primary key names. */
import { type Call, defineAction } from "../action.ts";
import { validationFailed } from "../errors.ts";
import { etagOf } from "../etag.ts";
import type { Queries, Row } from "../ports.ts";
import {
  keyOf,
  lockUnchanged,
  noSuchRecord,
  readBack,
  recordPlan,
  type RecordPlan,
  updateAudit,
} from "../record.ts";
import { type Assignment, equals, type Scalar, sourceOf } from "../statement.ts";

export const update = defineAction<RecordPlan>({
  name: "update",
  methods: ["POST"],
  takesOptions: true,
  takesEmptyBody: false,
  needs: recordPlan,

  async run(call, plan) {
    const keyValue = keyOf(call, plan.write.key);
    const checked = call.entity.rules.check(call.body, "update", plan.write.writable);
    if (checked.errors) throw validationFailed(checked.errors);
    const set: Assignment[] = [...checked.values].map(([column, value]) => ({
      kind: "set",
      column,
      value,
    }));
    set.push(...updateAudit(plan, call));

    await call.locks.guardWrite(plan.write, [keyValue]);
    const store = async (queries: Queries) => {
      if (call.ifMatch !== null) await lockUnchanged(call, plan, keyValue, queries);
      const row = await change(queries, plan, keyValue, set);
      if (!row) throw noSuchRecord(call.entity);
      return readBack(row, plan, queries);
    };
    const record = isOneStatement(call, plan)
      ? await store(call.session)
      : await call.session.tx(store);
    return {
      status: 200,
      body: { message: `${call.entity.name} data successfully updated`, data: record },
      etag: etagOf(record, plan.read),
    };
  },
});

/** A single statement is a transaction in itself; opening one around it would only cost two more round trips. */
export const isOneStatement = (call: Call, plan: RecordPlan): boolean =>
  call.ifMatch === null && !plan.write.readBack;

function change(
  queries: Queries,
  plan: RecordPlan,
  keyValue: Scalar,
  set: Assignment[],
): Promise<Row | null> {
  const { table, key, shown } = plan.write;
  const returning = [...shown.values()];
  if (set.length > 0)
    return queries.updateOne({ kind: "update", table, key, keyValue, guard: null, set, returning });
  // Only the key was sent, and the table has no audit columns: there is nothing to change.
  const where = equals(key, keyValue);
  const select = {
    kind: "select",
    source: sourceOf(table),
    columns: returning,
    where,
    sort: [],
  } as const;
  return queries.one({ ...select, limit: 1, offset: 0, lock: false });
}
