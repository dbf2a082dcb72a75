/** next-statuses: the status of one record and those that change-status would let follow. */
import { defineAction } from "../action.ts";
import {
  allowedAfter,
  findRecord,
  keyOrIdOf,
  type WorkflowNeeds,
  workflowNeeds,
} from "../workflow/workflow.ts";

export const nextStatuses = defineAction<WorkflowNeeds>({
  name: "next-statuses",
  mode: "reads",
  methods: ["POST"],
  takesOptions: false,
  takesEmptyBody: false,
  needs: workflowNeeds,

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
