/**
 * export-cancel: requests the cancellation of an unfinished export. A running export may take a moment to stop;
 * export-status shows it.
 */
import { defineAction } from "../calls/action.ts";
import type { ExportPlan } from "../plans/entity.ts";
import { idIn, ownerOf } from "../jobs/jobs.ts";
import { exportState } from "./export-status.ts";
import { exportStateSchema, jobRequestSchema } from "../jobs/job-schema.ts";

export const exportCancel = defineAction<ExportPlan>({
  name: "export-cancel",
  summary: "Asks for the end of an export.",
  mode: "reads",
  methods: ["POST"],
  group: "export",
  requires: ["jobs"],
  errors: ["invalidJobState"],
  takesOptions: false,
  takesEmptyBody: false,
  needs: (entity) => entity.export,
  input: () => jobRequestSchema("export"),
  answer: () => ({ status: 200, schema: exportStateSchema }),

  async run(call) {
    const { body, jobs } = call;
    const owner = ownerOf(call);
    const job = await jobs.cancel(["export"], owner, idIn(body, "job_id"));
    // The request succeeded, whatever the state of the job is.
    return { status: 200, body: { ...exportState(job, call), success: true } };
  },
});
