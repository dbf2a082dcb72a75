/**
 * import-status: the progress of a preview or a commit. As for exports, a failed job is answered with status 200 and
 * `success: false`.
 */
import { type Call, defineAction } from "../calls/action.ts";
import type { Answer } from "../calls/answer.ts";
import { past } from "../callers/scoped-session.ts";
import type { ImportPlan } from "../plans/import-plan.ts";
import { AppError } from "../values/errors.ts";
import { ownerOf, progressOf, type ProjectJobs, textMember } from "../jobs/jobs.ts";
import { isObject, type Json } from "../values/json.ts";
import { findJobResult } from "../jobs/job-ledger.ts";
import type { JobRecord } from "../jobs/queue.ts";
import { importStateSchema, idRequest } from "../jobs/job-schema.ts";

export const importStatus = defineAction<ImportPlan, string>({
  name: "import-status",
  summary: "Tells how far a preview or a commit is, and what it found.",
  mode: "reads",
  methods: ["GET"],
  group: "import",
  requires: ["jobs"],
  errors: ["gone"],
  takesEmptyBody: true,
  needs: (entity) => entity.importing,
  grammar: () => idRequest("job_id", "preview", "commit"),
  answer: () => ({ status: 200, schema: importStateSchema }),

  async run(call) {
    const job = await call.jobs.find(["preview", "commit"], ownerOf(call), call.input);
    return job.kind === "preview" ? previewAnswer(job, call.jobs) : commitAnswer(job, call);
  },
});

async function previewAnswer(job: JobRecord, jobs: ProjectJobs): Promise<Answer> {
  if (job.state !== "completed") return { status: 200, body: importState(job) };
  const status = textMember(job.result, "state");
  const body = { job_id: job.id, status };
  // The errors of all rows may be long, so they are stored in a file, whose text is sent unchanged.
  const key = textMember(job.result, "errors");
  const isKept = key !== null && !jobs.hasExpired(job) && (await jobs.files.info(key)) !== null;
  // Without errors, the counts are enough.
  if (!isKept && status === "preview_ok") {
    const [summary, changes] = [memberOf(job.result, "summary"), memberOf(job.result, "changes")];
    return { status: 200, body: { ...body, summary, changes } };
  }
  if (!isKept) throw new AppError("gone", "The errors were deleted; upload the file again");
  return { status: 200, body, rest: await new Response(await jobs.files.read(key)).text() };
}

/** A commit that stored its rows is completed, even if its worker died before it could report that. */
export async function commitAnswer(job: JobRecord, { session, cache }: Call): Promise<Answer> {
  const result =
    job.state === "failed"
      ? await findJobResult(past(session, "jobLedger"), {
          ledger: await session.ledger("jobs"),
          jobId: job.id,
        })
      : job.result;
  if (result === null) return { status: 200, body: importState(job) };
  // The worker may have died after the commit and before it invalidated the cache.
  if (job.state === "failed") await cache.wrote(["unknown"]);
  const counts = memberOf(result, "counts");
  return { status: 200, body: { job_id: job.id, status: "completed", result: counts } };
}

/** The members of the answer for a running or failed job. */
export function importState({ id: job_id, kind, state, request, progress, error }: JobRecord) {
  if (state === "failed") return { success: false, job_id, status: "failed", error };
  const status = kind === "preview" ? "validating" : "processing";
  // The rows are counted by the upload, before a job runs.
  const waiting = { processed: 0, total: Number(request["totalRows"] ?? 0) };
  return { job_id, status, progress: progressOf(progress ?? waiting) };
}

const memberOf = (value: Json, name: string): unknown => (isObject(value) ? value[name] : null);
