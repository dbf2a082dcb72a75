/** export: starts a job that writes the records into a file. The request is checked now; the rows are read later, by the job. */
import { defineAction } from "../calls/action.ts";
import type { ExportPlan } from "../plans/entity.ts";
import { ownerOf } from "../jobs/jobs.ts";
import { parseExport, requestOf } from "../lists/export-list.ts";
import { startedSchema } from "../jobs/job-schema.ts";
import { exportSchema } from "../lists/read-schema.ts";

export const startExport = defineAction<ExportPlan>({
  name: "export",
  summary: "Starts a job that writes the records into a file.",
  mode: "starts a job",
  methods: ["POST"],
  group: "export",
  requires: ["exportSource", "jobs"],
  errors: ["invalidParameter", "invalidField", "tooManyRequests"],
  takesOptions: false,
  takesEmptyBody: true,
  needs: (entity) => entity.export,
  input: (plan) => exportSchema(plan),
  answer: () => ({ status: 200, schema: startedSchema("export", "pending") }),

  async run(call, plan) {
    const { body, jobs } = call;
    parseExport(body, plan);
    const owner = ownerOf(call);
    const job = await jobs.start("export", owner, { request: requestOf(body) });
    return { status: 200, body: { job_id: job.id, status: "pending" } };
  },
});
