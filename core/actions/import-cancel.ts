/**
 * import-cancel: requests the cancellation of an unfinished preview or commit. A commit that has already stored its
 * rows stays stored; import-status shows it.
 */
import { defineAction } from "../calls/action.ts";
import type { ImportPlan } from "../plans/import-plan.ts";
import { ownerOf } from "../jobs/jobs.ts";
import { importState } from "./import-status.ts";
import { importCancelSchema, idRequest } from "../jobs/job-schema.ts";

export const importCancel = defineAction<ImportPlan, string>({
  name: "import-cancel",
  summary: "Asks for the end of a preview or a commit.",
  mode: "reads",
  methods: ["POST"],
  group: "import",
  requires: ["jobs"],
  errors: ["invalidJobState"],
  needs: (entity) => entity.importing,
  grammar: () => idRequest("job_id", "preview", "commit"),
  answer: () => ({ status: 200, schema: importCancelSchema }),

  async run(call) {
    const job = await call.jobs.cancel(["preview", "commit"], ownerOf(call), call.input);
    // The request succeeded, in any state of the job.
    return { status: 200, body: { ...importState(job), success: true } };
  },
});
