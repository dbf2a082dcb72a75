/** update: changes the sent fields of the record with this primary key. Without fields, it only answers the record. */
import { defineAction } from "../calls/action.ts";
import { updateOf } from "../records/changed-record.ts";
import { beginChange, changePlan, type RecordPlan } from "../records/record.ts";
import { changedRecord } from "../records/record-grammar.ts";
import { writeAnswerSchema } from "../records/record-schema.ts";
import type { KeyValue } from "../values/types/key.ts";

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
  needs: changePlan,
  grammar: (plan, { entity }) => changedRecord(plan, entity),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: writeAnswerSchema(plan, entity, "updated"),
    hasEtag: true,
  }),

  begin: (call, plan) => beginChange(call, plan, updateOf(call, plan, call.input)),
});
