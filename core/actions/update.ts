/** update: changes the sent fields of the record with this primary key. Without fields, it only answers the record. */
import { actorsOf } from "../plans/audit-columns.ts";
import { defineAction } from "../calls/action.ts";
import { invalidPayload, validationFailed } from "../values/errors.ts";
import { beginChange, changePlan, type RecordPlan, updateAudit } from "../records/record.ts";
import { keyNames, type KeyValue } from "../values/types/key.ts";
import { rowOf } from "../query/key-conditions.ts";
import type { Assignment } from "../query/statement.ts";
import { changedRecord } from "../records/record-grammar.ts";
import { writeAnswerSchema } from "../records/record-schema.ts";

export const update = defineAction<RecordPlan, KeyValue>({
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
  grammar: (plan, { entity }) => changedRecord(plan, entity),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: writeAnswerSchema(plan, entity, "updated"),
    hasEtag: true,
  }),

  begin(call, plan) {
    const keyValue = call.input;
    return beginChange(call, plan, {
      keyValue,
      events: { before: "onBeforeUpdate", after: "onAfterUpdate" },
      prepare(asked) {
        const checked = call.entity.rules.check(asked.body, "update", plan.write.writable);
        if (checked.errors) throw validationFailed(checked.errors);
        const { table, key, shown, audit } = plan.write;
        const returning = [...shown.values()];
        const namesActor = actorsOf(audit, "update").some(({ name }) =>
          Object.hasOwn(asked.body, name),
        );
        if (checked.values.size === 0 && !namesActor) {
          const names: readonly string[] = key.map(({ name }) => name);
          if (Object.keys(asked.body).every((name) => names.includes(name)))
            return (queries) => queries.one(rowOf({ table, key, keyValue }, returning));
          throw invalidPayload(
            `The payload must contain at least one field to change besides the key ${keyNames(key)}`,
          );
        }
        const set: Assignment[] = [...checked.values].map(([column, value]) => ({
          kind: "set",
          column,
          value,
        }));
        set.push(...updateAudit(plan, asked));
        return (queries) =>
          queries.updateOne({ kind: "update", table, key, keyValue, guard: null, set, returning });
      },
      message: `${call.entity.name} data successfully updated`,
    });
  },
});
