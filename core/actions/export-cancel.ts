/** export-cancel: asks for the end of an export that is not finished. One that runs may take a moment: its status tells. */
import { defineAction } from "../action.ts";
import type { ExportPlan } from "../entity.ts";
import { exportState } from "./export-status.ts";

export const exportCancel = defineAction<ExportPlan>({
  name: "export-cancel",
  methods: ["POST"],
  takesOptions: false,
  takesEmptyBody: false,
  needs: (entity) => entity.export,

  async run({ body, entity, jobs }) {
    const owner = { endpoint: entity.name, caller: null };
    const job = await jobs.cancel(["export"], owner, body["job_id"]);
    // The request succeeded, whatever became of the job.
    return { status: 200, body: { ...exportState(job, entity), success: true } };
  },
});
