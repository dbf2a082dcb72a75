/** import-preview: starts a job that checks every row of an upload, and stores nothing. import-status tells what it found. */
import { defineAction } from "../calls/action.ts";
import type { ImportPlan } from "../plans/entity.ts";
import { idIn, ownerOf } from "../jobs/jobs.ts";
import { findUpload } from "../jobs/uploads.ts";
import { startedSchema, uploadIdSchema } from "../jobs/job-schema.ts";
import { wholeObject } from "../values/json-shapes.ts";

export const importPreview = defineAction<ImportPlan>({
  name: "import-preview",
  summary: "Starts a job that checks every row of an upload, and stores nothing.",
  mode: "starts a job",
  methods: ["POST"],
  group: "import",
  requires: ["jobs"],
  errors: ["tooManyRequests"],
  sees: "active",
  takesOptions: false,
  takesEmptyBody: false,
  needs: (entity) => entity.importing,
  input: () => wholeObject({ upload_id: uploadIdSchema }),
  answer: () => ({ status: 200, schema: startedSchema("preview", "validating") }),

  async run(call) {
    const { body, entity, jobs } = call;
    const owner = ownerOf(call);
    const upload = await findUpload(jobs, {
      project: entity.project,
      owner,
      id: idIn(body, "upload_id"),
    });
    const request = { upload: upload.id, totalRows: upload.totalRows };
    const job = await jobs.start("preview", owner, { request });
    return { status: 200, body: { job_id: job.id, status: "validating" } };
  },
});
