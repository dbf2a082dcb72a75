/** next-statuses: the status of one record, and the statuses that change-status would allow next. */
import { defineAction } from "../calls/action.ts";
import {
  allowedAfter,
  findRecord,
  keyOrIdOf,
  type WorkflowNeeds,
  workflowNeeds,
} from "../workflow/workflow.ts";
import { allowedStatusesSchema, nextStatusesSchema } from "../workflow/status-schema.ts";

export const nextStatuses = defineAction<WorkflowNeeds>({
  name: "next-statuses",
  summary: "Tells the status of one record and those that may follow.",
  mode: "reads",
  methods: ["POST"],
  group: "workflow",
  follows: "change-status",
  requires: ["key", "status"],
  errors: ["validationFailed"],
  takesOptions: false,
  takesEmptyBody: false,
  needs: workflowNeeds,
  input: (plan) => nextStatusesSchema(plan),
  answer: () => ({ status: 200, schema: allowedStatusesSchema }),

  async run(call, plan) {
    const keyValue = keyOrIdOf(call, plan);
    const { status } = await findRecord(call, plan, {
      queries: call.session,
      keyValue,
      lock: false,
    });
    return {
      status: 200,
      body: { data: { status, allowed: allowedAfter(status, plan.workflow) } },
    };
  },
});
