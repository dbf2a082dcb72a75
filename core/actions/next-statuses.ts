/** next-statuses: the status of one record, and the statuses that change-status would allow next. */
import { defineAction } from "../calls/action.ts";
import {
  allowedAfter,
  findRecord,
  ownOf,
  type WorkflowNeeds,
  workflowNeeds,
} from "../workflow/workflow.ts";
import { allowedStatusesSchema, recordRequest } from "../workflow/status-grammar.ts";
import type { KeyValue } from "../values/types/key.ts";

export const nextStatuses = defineAction<WorkflowNeeds, KeyValue>({
  name: "next-statuses",
  summary: "Tells the status of one record and those that may follow.",
  mode: "reads",
  methods: ["POST"],
  group: "workflow",
  follows: "change-status",
  requires: ["key", "status"],
  isStep: false,
  errors: ["validationFailed"],
  needs: workflowNeeds,
  grammar: (plan, { entity }) => recordRequest(plan, entity),
  answer: () => ({ status: 200, schema: allowedStatusesSchema }),

  async run(call, plan) {
    const { input: keyValue, session: queries } = call;
    const { status } = await findRecord(call, plan, { queries, keyValue, lock: false });
    const allowed = allowedAfter(status, plan);
    const own = allowed && ownOf(allowed, call, plan);
    return { status: 200, body: { data: { status, allowed: own } } };
  },
});
