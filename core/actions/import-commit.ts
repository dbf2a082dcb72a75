/**
 * import-commit: starts the job that stores the rows of a preview without errors. The id of the job derives from its
 * preview, so a second request refers to the same job and answers its state.
 */
import { defineAction } from "../calls/action.ts";
import { languageOfJob } from "../calls/wording.ts";
import { commitAnswer } from "./import-status.ts";
import type { ImportPlan } from "../plans/import-plan.ts";
import {
  callerOf,
  invalidJobState,
  type Owner,
  ownerOf,
  type ProjectJobs,
  textMember,
} from "../jobs/jobs.ts";
import type { JobRecord } from "../jobs/queue.ts";
import { commitStateSchema, idRequest } from "../jobs/job-schema.ts";
import { AppError } from "../values/errors.ts";

export const importCommit = defineAction<ImportPlan, string>({
  name: "import-commit",
  summary: "Starts the job that stores the rows of a preview.",
  mode: "starts a job",
  methods: ["POST"],
  group: "import",
  requires: ["key", "inserts", "transactions", "auditColumns", "jobs"],
  headers: ["Idempotency-Key"],
  errors: ["invalidJobState", "tooManyRequests"],
  sees: "active",
  needs: (entity) => entity.importing,
  grammar: () => idRequest("preview_job_id", "preview"),
  answer: () => ({ status: 200, schema: commitStateSchema }),

  async run(call) {
    const { input: previewId, jobs } = call;
    const owner = ownerOf(call);
    const id = previewId.replace(/^preview-/, "commit-");
    // A repeat of the request is about the same job, as it is by now, even if the preview has expired since.
    const earlier = id === previewId ? null : await findCommit(jobs, owner, id);
    if (earlier !== null) return commitAnswer(earlier, call);
    const preview = await jobs.find(["preview"], owner, previewId);
    if (textMember(preview.result, "state") !== "preview_ok")
      throw invalidJobState("Only a preview whose status is preview_ok can be committed");
    if (jobs.hasExpired(preview))
      throw invalidJobState("The upload is no longer kept; upload the file again");
    const request = { ...preview.request, ...languageOfJob(call) };
    // Whoever asks for it: the rows are those that the preview's caller may write, as it was told there.
    const job = await jobs.start(
      "commit",
      { ...owner, caller: callerOf(preview) },
      { id, request },
    );
    return { status: 200, body: { job_id: job.id, status: "processing" } };
  },
});

/** Null: there is none. */
const findCommit = (jobs: ProjectJobs, owner: Owner, id: string): Promise<JobRecord | null> =>
  jobs.find(["commit"], owner, id).catch((error: unknown) => {
    if (error instanceof AppError && error.kind === "notFound") return null;
    throw error;
  });
