/** update: changes the fields that were sent of the one record that the primary key names. */
import { defineAction } from "../action.ts";
import { validationFailed } from "../errors.ts";
import type { Queries } from "../callers/session.ts";
import type { Row } from "../ports.ts";
import { beginChange, recordPlan, type RecordPlan, updateAudit } from "../writes/record.ts";
import { type Assignment, equals, type Scalar, sourceOf } from "../statement.ts";
import { updateSchema, writeAnswerSchema } from "../writes/record-schema.ts";

export const update = defineAction<RecordPlan>({
  name: "update",
  summary: "Changes fields of one record.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "auditColumns"],
  headers: ["If-Match", "X-Lock-Token"],
  events: ["onBeforeUpdate", "onAfterUpdate"],
  errors: ["validationFailed", "foreignKeyMissing", "duplicateEntry", "foreignKeyInUse"],
  takesOptions: true,
  takesEmptyBody: false,
  needs: recordPlan,
  input: (plan, { entity }) => updateSchema(plan, entity),
  answer: (plan, { entity }) => ({ status: 200, schema: writeAnswerSchema(plan, entity) }),

  begin(call, plan) {
    return beginChange(call, plan, {
      events: { before: "onBeforeUpdate", after: "onAfterUpdate" },
      prepare(asked, keyValue) {
        const checked = call.entity.rules.check(asked.body, "update", plan.write.writable);
        if (checked.errors) throw validationFailed(checked.errors);
        const set: Assignment[] = [...checked.values].map(([column, value]) => ({
          kind: "set",
          column,
          value,
        }));
        set.push(...updateAudit(plan, asked));
        return (queries) => change(queries, plan, keyValue, set);
      },
      message: `${call.entity.name} data successfully updated`,
    });
  },
});

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
