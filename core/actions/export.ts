/** export: starts a job that writes the records into a file. The request is checked now, the rows are read later. */
import { defineAction } from "../calls/action.ts";
import { languageOfJob } from "../calls/wording.ts";
import type { ExportPlan } from "../plans/export-plan.ts";
import { ownerOf } from "../jobs/jobs.ts";
import { exportGrammar, type ExportRequest, requestOf } from "../lists/export-list.ts";
import { startedSchema } from "../jobs/job-schema.ts";

export const startExport = defineAction<ExportPlan, ExportRequest>({
  name: "export",
  summary: "Starts a job that writes the records into a file.",
  mode: "starts a job",
  methods: ["POST"],
  group: "export",
  requires: ["exportSource", "jobs"],
  errors: ["validationFailed", "invalidParameter", "invalidField", "tooManyRequests"],
  takesEmptyBody: true,
  needs: (entity) => entity.export,
  sourceOf: ({ source }) => source,
  grammar: exportGrammar,
  answer: () => ({ status: 200, schema: startedSchema("export", "pending") }),

  async run(call) {
    const request = { ...requestOf(call.body), ...languageOfJob(call) };
    const job = await call.jobs.start("export", ownerOf(call), { request });
    return { status: 200, body: { job_id: job.id, status: "pending" } };
  },
});
