/**
 * export-status: the progress of an export. A failed export is answered with status 200 and `success: false`, because
 * the status request itself succeeded.
 */
import { type Call, defineAction } from "../calls/action.ts";
import type { ExportPlan } from "../plans/export-plan.ts";
import { ownerOf, progressOf } from "../jobs/jobs.ts";
import type { JobRecord } from "../jobs/queue.ts";
import { exportStateSchema, idRequest } from "../jobs/job-schema.ts";

export const exportStatus = defineAction<ExportPlan, string>({
  name: "export-status",
  summary: "Tells how far an export is.",
  mode: "reads",
  methods: ["GET"],
  group: "export",
  requires: ["jobs"],
  errors: [],
  takesEmptyBody: true,
  needs: (entity) => entity.export,
  grammar: () => idRequest("job_id", "export"),
  answer: () => ({ status: 200, schema: exportStateSchema }),

  async run(call) {
    const job = await call.jobs.find(["export"], ownerOf(call), call.input);
    return { status: 200, body: exportState(job, call) };
  },
});

/** The members of the answer that describe the state of the job. */
export function exportState(job: JobRecord, call: DownloadCall): Record<string, unknown> {
  const { id: job_id, state, progress } = job;
  switch (state) {
    case "waiting":
      return { job_id, status: "pending" };
    case "active":
      // There is no progress until the rows are counted.
      if (progress === null) return { job_id, status: "pending" };
      return { job_id, status: "processing", progress: progressOf(progress) };
    case "completed":
      return { job_id, status: "completed", file_url: downloadPath(call, job_id) };
    case "failed":
      return { success: false, job_id, status: "failed", error: job.error };
  }
}

/** What the address of a download depends on. */
type DownloadCall = Pick<Call, "entity" | "basePath">;

const downloadPath = ({ entity, basePath }: DownloadCall, jobId: string): string =>
  `${basePath}/api/${entity.project}/${entity.name}/export-download?job_id=${jobId}`;
