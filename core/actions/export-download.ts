/** export-download: the file of a finished export, streamed from the file storage. */
import { tableMediaTypes } from "../plans/table-formats.ts";
import { defineAction } from "../calls/action.ts";
import type { ExportPlan } from "../plans/export-plan.ts";
import { AppError } from "../values/errors.ts";
import { invalidJobState, ownerOf, textMember } from "../jobs/jobs.ts";
import type { FileInfo } from "../plans/files-port.ts";
import type { JobRecord } from "../jobs/queue.ts";
import { idRequest } from "../jobs/job-schema.ts";

export const exportDownload = defineAction<ExportPlan, string>({
  name: "export-download",
  summary: "Answers the file of a finished export.",
  mode: "reads",
  methods: ["GET"],
  group: "export",
  requires: ["jobs"],
  errors: ["invalidJobState", "gone"],
  takesEmptyBody: true,
  needs: (entity) => entity.export,
  grammar: () => idRequest("job_id", "export"),
  answer: () => ({ status: 200, mediaTypes: Object.values(tableMediaTypes) }),

  async run(call) {
    const { input: id, entity, jobs } = call;
    const job = await jobs.find(["export"], ownerOf(call), id);
    if (job.state !== "completed")
      throw invalidJobState(`The export is not completed; export-status tells how far it is`);
    const key = textMember(job.result, "file");
    const file = key === null || jobs.hasExpired(job) ? null : await jobs.files.info(key);
    if (!file) throw new AppError("gone", "The file was deleted; start a new export");
    return {
      status: 200,
      body: {},
      file: {
        name: fileName(entity.name, job, file),
        mediaType: textMember(job.result, "mediaType") ?? "application/octet-stream",
        bytes: file.bytes,
        read: (range) => jobs.files.read(file.key, range),
      },
    };
  },
});

function fileName(endpoint: string, { finishedAtMs }: JobRecord, { key }: FileInfo): string {
  const day = new Date(finishedAtMs ?? 0).toISOString().slice(0, 10);
  return `${endpoint}-export-${day}${key.slice(key.lastIndexOf("."))}`;
}
