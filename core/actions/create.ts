/** create: stores one record and answers it as stored. */
import { type Call, defineAction } from "../action.ts";
import type { Column, Columns } from "../column.ts";
import { type FieldErrors, validationFailed } from "../errors.ts";
import { etagOf } from "../etag.ts";
import type { Queries, Row } from "../ports.ts";
import { createAudit, readBack, recordPlan, type RecordPlan } from "../record.ts";
import type { Insert, Scalar } from "../statement.ts";
import { accept } from "../values.ts";

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
    const insert = insertOf(call, plan);
    const store = async (queries: Queries) =>
      readBack(onlyRow(await queries.insert(insert)), plan, queries);
    const record = plan.write.readBack ? await call.session.tx(store) : await store(call.session);
    return {
      status: 201,
      body: { message: `${call.entity.name} data successfully added`, data: record },
      etag: etagOf(record, plan.read),
    };
  },
});

function insertOf(call: Call, plan: CreateNeeds): Insert {
  const { table, key, shown, writable } = plan.write;
  const checked = call.entity.rules.check(call.body, "create", writable);
  const errors: FieldErrors = { ...checked.errors };
  const values = new Map<Column, Scalar>();
  const newKey = keyFor(call, plan, errors);
  if (newKey !== null) values.set(key, newKey);
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

/** The new record's key; null leaves it to the database. A key that nobody can make is a fault on its field. */
function keyFor(
  call: Call,
  { write: { key }, keyColumns }: CreateNeeds,
  errors: FieldErrors,
): Scalar {
  const sent = Object.hasOwn(call.body, key.name) ? call.body[key.name] : undefined;
  if (sent !== undefined && sent !== null && sent !== "" && sent !== "-") {
    const checked = call.entity.rules.check(call.body, "create", keyColumns);
    Object.assign(errors, checked.errors);
    return checked.values.get(key) ?? null;
  }
  const isTextual = key.type === "text" || key.type === "uuid";
  if (!isTextual && (key.generated === "identity" || key.hasDefault)) return null;
  const made = isTextual ? accept(key, call.newId()) : null;
  if (made?.ok) return made.value;
  errors[key.name] = ["is required"];
  return null;
}

function onlyRow(rows: Row[]): Row {
  const [row] = rows;
  if (!row) throw new Error("The database stored a row and did not answer it");
  return row;
}
