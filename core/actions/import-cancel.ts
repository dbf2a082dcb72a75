/**
 * import-cancel: asks for the end of a preview or commit that is not finished. A commit that has stored its rows by then stays as it is;
 * import-status tells.
 */
import { defineAction } from "../action.ts";
import type { ImportPlan } from "../entity.ts";
import { importState } from "./import-status.ts";

export const importCancel = defineAction<ImportPlan>({
  name: "import-cancel",
  methods: ["POST"],
  takesOptions: false,
  takesEmptyBody: false,
  needs: (entity) => entity.importing,

  async run({ body, entity, jobs }) {
    const owner = { endpoint: entity.name, caller: null };
    const job = await jobs.cancel(["preview", "commit"], owner, body["job_id"]);
    // The request succeeded, whatever became of the job.
    return { status: 200, body: { ...importState(job), success: true } };
  },
});
