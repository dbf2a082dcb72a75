/** create: stores one record and answers it as stored. */
import { defineAction } from "../calls/action.ts";
import { beginCreate } from "../records/new-record.ts";
import type { InsertingPlan } from "../records/record.ts";
import { newRecord } from "../records/record-grammar.ts";
import { writeAnswerSchema } from "../records/record-schema.ts";

export const create = defineAction<InsertingPlan>({
  name: "create",
  summary: "Stores one record.",
  mode: "writes",
  methods: ["POST"],
  requires: ["table", "inserts", "auditColumns"],
  headers: ["Idempotency-Key"],
  events: ["onBeforeInsert", "onAfterInsert"],
  errors: ["validationFailed", "foreignKeyMissing", "duplicateEntry", "constraintViolation"],
  sees: "active",
  takesOptions: true,

  needs({ insert, read }) {
    return insert && read && { write: insert, read };
  },
  grammar: (plan, { entity }) => newRecord(plan, entity),
  answer: (plan, { entity }) => ({
    status: 201,
    schema: writeAnswerSchema(plan, entity, "added"),
    hasEtag: true,
  }),

  begin: (call, plan) => beginCreate(call, plan),
});
