/** create: stores one record and answers it as stored. */
import { type Call, defineAction } from "../action.ts";
import type { Column, Columns } from "../column.ts";
import { type FieldErrors, validationFailed } from "../errors.ts";
import { etagOf } from "../etag.ts";
import { hasHandlers, runAfter, runBefore } from "../events.ts";
import type { Queries, Row } from "../ports.ts";
import { createAudit, newKey, readBack, recordPlan, type RecordPlan } from "../record.ts";
import type { Insert, Scalar } from "../statement.ts";

interface CreateNeeds extends RecordPlan {
  /** The key alone: it has rules of its own, and is checked apart. */
  readonly keyColumns: Columns;
}

export const create = defineAction<CreateNeeds>({
  name: "create",
  methods: ["POST"],
  takesOptions: true,
  takesEmptyBody: false,

  needs(entity) {
    const plan = recordPlan(entity);
    return plan && { ...plan, keyColumns: new Map([[plan.write.key.name, plan.write.key]]) };
  },

  async run(call, plan) {
    const { entity, session } = call;
    // A wrong body is refused before anything is done, unless a handler may still put it right.
    const ready = hasHandlers(entity, "onBeforeInsert") ? null : insertOf(call, plan);
    const store = async (queries: Queries) => {
      const data = await runBefore(call, queries, { event: "onBeforeInsert", data: call.body });
      const insert = ready ?? insertOf({ ...call, body: data }, plan);
      const record = await readBack(onlyRow(await queries.insert(insert)), plan, queries);
      await runAfter(call, queries, { event: "onAfterInsert", data, record });
      return record;
    };
    const isOneStatement =
      !plan.write.readBack && !hasHandlers(entity, "onBeforeInsert", "onAfterInsert");
    const record = isOneStatement ? await store(session) : await session.tx(store);
    return {
      status: 201,
      body: { message: `${entity.name} data successfully added`, data: record },
      etag: etagOf(record, plan.read),
    };
  },
});

function insertOf(call: Call, plan: CreateNeeds): Insert {
  const { table, key, shown, writable } = plan.write;
  const checked = call.entity.rules.check(call.body, "create", writable);
  const errors: FieldErrors = { ...checked.errors };
  const values = new Map<Column, Scalar>();
  const { keyColumns } = plan;
  const keyValue = newKey(call, { key, keyColumns, rules: call.entity.rules }, errors);
  if (keyValue !== null) values.set(key, keyValue);
  for (const [column, value] of checked.values) values.set(column, value);
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  for (const [column, value] of createAudit(plan, call)) values.set(column, value);
  return {
    kind: "insert",
    table,
    key,
    columns: [...values.keys()],
    rows: [[...values.values()]],
    returning: [...shown.values()],
  };
}

function onlyRow(rows: Row[]): Row {
  const [row] = rows;
  if (!row) throw new Error("The database stored a row and did not answer it");
  return row;
}
