/** update: changes the sent fields of the record that the primary key names. */
import { defineAction } from "../calls/action.ts";
import { invalidPayload, validationFailed } from "../values/errors.ts";
import { beginChange, changePlan, type RecordPlan, updateAudit } from "../records/record.ts";
import { keyNames } from "../values/key.ts";
import type { Assignment } from "../query/statement.ts";
import { updateSchema, writeAnswerSchema } from "../records/record-schema.ts";

export const update = defineAction<RecordPlan>({
  name: "update",
  summary: "Changes fields of one record.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "updates", "auditColumns"],
  headers: ["If-Match", "X-Lock-Token"],
  events: ["onBeforeUpdate", "onAfterUpdate"],
  errors: ["validationFailed", "foreignKeyMissing", "duplicateEntry", "foreignKeyInUse"],
  takesOptions: true,
  takesEmptyBody: false,
  needs: changePlan,
  input: (plan, { entity }) => updateSchema(plan, entity),
  answer: (plan, { entity }) => ({ status: 200, schema: writeAnswerSchema(plan, entity) }),

  begin(call, plan) {
    return beginChange(call, plan, {
      events: { before: "onBeforeUpdate", after: "onAfterUpdate" },
      prepare(asked, keyValue) {
        const checked = call.entity.rules.check(asked.body, "update", plan.write.writable);
        if (checked.errors) throw validationFailed(checked.errors);
        const { table, key, shown, audit } = plan.write;
        const actor = audit.updatedBy?.name;
        const namesActor = actor !== undefined && Object.hasOwn(asked.body, actor);
        if (checked.values.size === 0 && !namesActor)
          throw invalidPayload(
            `The payload must contain at least one field to change besides the key ${keyNames(key)}`,
          );
        const set: Assignment[] = [...checked.values].map(([column, value]) => ({
          kind: "set",
          column,
          value,
        }));
        set.push(...updateAudit(plan, asked));
        const returning = [...shown.values()];
        return (queries) =>
          queries.updateOne({ kind: "update", table, key, keyValue, guard: null, set, returning });
      },
      message: `${call.entity.name} data successfully updated`,
    });
  },
});
