/**
 * import-commit: starts the job that stores the rows of a preview which found nothing wrong. The job is named after its preview, so that a
 * second request means the same job.
 */
import { defineAction } from "../calls/action.ts";
import type { ImportPlan } from "../plans/entity.ts";
import { idIn, invalidJobState, ownerOf, textMember } from "../jobs/jobs.ts";
import { jobIdSchema, startedSchema } from "../jobs/job-schema.ts";
import { wholeObject } from "../values/json-shapes.ts";

export const importCommit = defineAction<ImportPlan>({
  name: "import-commit",
  summary: "Starts the job that stores the rows of a preview.",
  mode: "starts a job",
  methods: ["POST"],
  group: "import",
  requires: ["key", "inserts", "transactions", "auditColumns", "jobs"],
  headers: ["Idempotency-Key"],
  errors: ["invalidJobState", "tooManyRequests"],
  sees: "active",
  takesOptions: false,
  takesEmptyBody: false,
  needs: (entity) => entity.importing,
  input: () => wholeObject({ preview_job_id: jobIdSchema("preview") }),
  answer: () => ({ status: 200, schema: startedSchema("commit", "processing") }),

  async run(call) {
    const { body, jobs } = call;
    const owner = ownerOf(call);
    const preview = await jobs.find(["preview"], owner, idIn(body, "preview_job_id"));
    if (textMember(preview.result, "state") !== "preview_ok")
      throw invalidJobState("Only a preview whose status is preview_ok can be committed");
    if (jobs.hasExpired(preview))
      throw invalidJobState("The upload is no longer kept; upload the file again");
    const id = preview.id.replace("preview-", "commit-");
    const job = await jobs.start("commit", owner, { id, request: preview.request });
    return { status: 200, body: { job_id: job.id, status: "processing" } };
  },
});
