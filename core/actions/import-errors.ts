/** import-errors: the rows that a preview or commit rejected, as a workbook with a column that says why. It can be corrected and uploaded again. */
import { defineAction } from "../calls/action.ts";
import type { ImportPlan } from "../plans/entity.ts";
import { AppError } from "../values/errors.ts";
import { idIn, invalidJobState, ownerOf, textMember } from "../jobs/jobs.ts";
import { jobRequestSchema, workbookMediaType } from "../jobs/job-schema.ts";

export const importErrors = defineAction<ImportPlan>({
  name: "import-errors",
  summary: "Answers the rows that an import rejected, as a workbook that says why.",
  mode: "reads",
  methods: ["GET"],
  group: "import",
  requires: ["jobs"],
  errors: ["invalidJobState", "gone"],
  takesOptions: false,
  takesEmptyBody: true,
  needs: (entity) => entity.importing,
  input: () => jobRequestSchema("preview", "commit"),
  answer: () => ({ status: 200, mediaTypes: [workbookMediaType] }),

  async run(call) {
    const { body, entity, jobs } = call;
    const owner = ownerOf(call);
    const job = await jobs.find(["preview", "commit"], owner, idIn(body, "job_id"));
    if (job.state !== "completed")
      throw invalidJobState("The job is not completed; import-status tells how far it is");
    const key = textMember(job.result, "rejected");
    const file = key === null || jobs.hasExpired(job) ? null : await jobs.files.info(key);
    if (!file) throw new AppError("gone", "The file was deleted; upload it again");
    return {
      status: 200,
      body: {},
      file: {
        name: `${entity.name}-import-errors.xlsx`,
        mediaType: workbookMediaType,
        bytes: file.bytes,
        read: (range) => jobs.files.read(file.key, range),
      },
    };
  },
});
