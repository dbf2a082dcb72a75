/** import-preview: starts a job that checks every row of an upload and stores nothing. import-status has the result. */
import { defineAction } from "../calls/action.ts";
import type { ImportPlan } from "../plans/import-plan.ts";
import { languageOfJob } from "../calls/wording.ts";
import { ownerOf } from "../jobs/jobs.ts";
import { findUpload } from "../jobs/uploads.ts";
import { idRequest, startedSchema } from "../jobs/job-schema.ts";

export const importPreview = defineAction<ImportPlan, string>({
  name: "import-preview",
  summary: "Starts a job that checks every row of an upload, and stores nothing.",
  mode: "starts a job",
  methods: ["POST"],
  group: "import",
  requires: ["jobs"],
  errors: ["tooManyRequests"],
  sees: "active",
  needs: (entity) => entity.importing,
  grammar: () => idRequest("upload_id", "upload"),
  answer: () => ({ status: 200, schema: startedSchema("preview", "validating") }),

  async run(call) {
    const { input: id, entity, jobs } = call;
    const owner = ownerOf(call);
    const upload = await findUpload(jobs, { project: entity.project, owner, id });
    const { id: uploadId, totalRows, format } = upload;
    const request = { upload: uploadId, totalRows, format, ...languageOfJob(call) };
    const job = await jobs.start("preview", owner, { request });
    return { status: 200, body: { job_id: job.id, status: "validating" } };
  },
});
