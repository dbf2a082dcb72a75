/**
 * export-cancel: requests the cancellation of an unfinished export. A running export may take a moment to stop;
 * export-status shows it.
 */
import { defineAction } from "../calls/action.ts";
import type { ExportPlan } from "../plans/export-plan.ts";
import { ownerOf } from "../jobs/jobs.ts";
import { exportState } from "./export-status.ts";
import { exportCancelSchema, idRequest } from "../jobs/job-schema.ts";

export const exportCancel = defineAction<ExportPlan, string>({
  name: "export-cancel",
  summary: "Asks for the end of an export.",
  mode: "reads",
  methods: ["POST"],
  group: "export",
  requires: ["jobs"],
  errors: ["invalidJobState"],
  needs: (entity) => entity.export,
  grammar: () => idRequest("job_id", "export"),
  answer: () => ({ status: 200, schema: exportCancelSchema }),

  async run(call) {
    const job = await call.jobs.cancel(["export"], ownerOf(call), call.input);
    // The request succeeded, in any state of the job.
    return { status: 200, body: { ...exportState(job, call), success: true } };
  },
});
