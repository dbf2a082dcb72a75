/** restore: removes the mark of softDelete from all matching records, and from those marked by the same delete. */
import { defineAction, type Write } from "../calls/action.ts";
import type { Row } from "../values/row.ts";
import { matchingParts, type Named, namedKey, namedRecords } from "../records/matching.ts";
import { lockRecord } from "../records/record.ts";
import { recordsAnswerSchema } from "../records/record-schema.ts";
import { restoreFound, type RestorePlan, restorePlan } from "../records/restore-records.ts";
import { AppError } from "../values/errors.ts";

export const restore = defineAction<RestorePlan, Named>({
  name: "restore",
  summary: "Brings back deleted records that match.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "softDelete"],
  headers: ["If-Match", "X-Lock-Token"],
  events: ["onBeforeRestore", "onAfterRestore"],
  errors: [
    "invalidParameter",
    "invalidField",
    "dataNotFound",
    "foreignKeyMissing",
    "duplicateEntry",
    "validationFailed",
  ],
  sees: "marked",
  takesOptions: true,
  needs: restorePlan,
  grammar: (plan, { entity }) => namedRecords(plan, null, entity),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: recordsAnswerSchema(plan, entity, "restored"),
  }),

  async begin(call, plan): Promise<Write> {
    const parts = await matchingParts(call, plan);
    return {
      isOneStatement: false,
      async run(tx) {
        if (call.ifMatch !== null) await lockRecord(call, plan, namedKey(call.input, plan), tx);
        const items: Row[] = [];
        for (const where of parts) items.push(...(await restoreFound(call, plan, { where, tx })));
        if (items.length === 0)
          throw new AppError("dataNotFound", `No deleted record of ${call.entity.name} matches`);
        const message = `${call.entity.name} data successfully restored`;
        const data = { restored_count: items.length, restored_items: items };
        return { status: 200, body: { message, data } };
      },
    };
  },
});
