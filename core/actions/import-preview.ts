/** import-preview: starts a job that checks every row of an upload, and stores nothing. import-status tells what it found. */
import { defineAction } from "../action.ts";
import type { ImportPlan } from "../entity.ts";
import { findUpload } from "../jobs/uploads.ts";

export const importPreview = defineAction<ImportPlan>({
  name: "import-preview",
  methods: ["POST"],
  takesOptions: false,
  takesEmptyBody: false,
  needs: (entity) => entity.importing,

  async run({ body, entity, jobs }) {
    const { project, name: endpoint } = entity;
    const owner = { endpoint, caller: null };
    const upload = await findUpload(jobs, { project, owner, id: body["upload_id"] });
    const request = { upload: upload.id, totalRows: upload.totalRows };
    const job = await jobs.start("preview", owner, { request });
    return { status: 200, body: { job_id: job.id, status: "validating" } };
  },
});
