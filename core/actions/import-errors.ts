/** import-errors: the rejected rows of a preview or commit as a workbook with reasons, to be corrected and uploaded. */
import { tableMediaTypes } from "../plans/table-formats.ts";
import { defineAction } from "../calls/action.ts";
import type { ImportPlan } from "../plans/import-plan.ts";
import { AppError } from "../values/errors.ts";
import { invalidJobState, ownerOf, textMember } from "../jobs/jobs.ts";
import { idRequest } from "../jobs/job-schema.ts";

export const importErrors = defineAction<ImportPlan, string>({
  name: "import-errors",
  summary: "Answers the rows that an import rejected, as a workbook that says why.",
  mode: "reads",
  methods: ["GET"],
  group: "import",
  requires: ["jobs"],
  errors: ["invalidJobState", "gone"],
  takesEmptyBody: true,
  needs: (entity) => entity.importing,
  grammar: () => idRequest("job_id", "preview", "commit"),
  answer: () => ({ status: 200, mediaTypes: [tableMediaTypes.xlsx] }),

  async run(call) {
    const { input: id, entity, jobs } = call;
    const job = await jobs.find(["preview", "commit"], ownerOf(call), id);
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
        mediaType: tableMediaTypes.xlsx,
        bytes: file.bytes,
        read: (range) => jobs.files.read(file.key, range),
      },
    };
  },
});
