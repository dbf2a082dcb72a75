/**
 * delete: deletes all matching records (with cascadeDelete, their details first) and answers the deleted records. With
 * softDelete it marks them instead.
 */
import { defineAction, type Write } from "../calls/action.ts";
import type { Answer } from "../calls/answer.ts";
import { noSuchRecord } from "../values/errors.ts";
import { hasHandlers } from "../records/events.ts";
import type { Queries } from "../query/session.ts";
import type { Row } from "../values/row.ts";
import { deleterOf } from "../records/mark.ts";
import { matchingParts, type Named, namedKey, namedRecords } from "../records/matching.ts";
import { lockRecord } from "../records/record.ts";
import { keptOnce } from "../totals/kept-session.ts";
import { recordsAnswerSchema } from "../records/record-schema.ts";
import { deletePlan, type DeletePlan, removeAll, removeFound } from "../records/remove-rows.ts";

export const deleteRecords = defineAction<DeletePlan, Named>({
  name: "delete",
  summary: "Removes the records that match.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "deletes"],
  headers: ["If-Match", "X-Lock-Token"],
  events: ["onBeforeDelete", "onAfterDelete"],
  errors: ["invalidParameter", "invalidField", "foreignKeyInUse", "validationFailed"],
  sees: "active",
  takesOptions: true,
  needs: deletePlan,
  grammar: (plan, { entity }) => namedRecords(plan, plan.marking?.marks.by ?? null, entity),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: recordsAnswerSchema(plan, entity, "deleted"),
  }),

  async begin(call, plan): Promise<Write> {
    if (plan.marking) deleterOf(plan.marking, call);
    const parts = await matchingParts(call, plan);
    const isWatched = hasHandlers(call.entity, "onBeforeDelete", "onAfterDelete");
    const hasMore = plan.marking !== null || plan.write.cascades.length > 0 || isWatched;
    return {
      isOneStatement: call.ifMatch === null && !hasMore && parts.length === 1,
      async run(queries: Queries): Promise<Answer> {
        if (call.ifMatch !== null)
          await lockRecord(call, plan, namedKey(call.input, plan), queries);
        const items: Row[] = [];
        for (const part of parts) {
          const removed =
            isWatched || plan.marking
              ? await removeFound(call, plan, { where: part, tx: queries })
              : await keptOnce(queries, () => removeAll(plan, part, queries));
          items.push(...removed);
        }
        if (items.length === 0) throw noSuchRecord(call.entity);
        const message = `${call.entity.name} data successfully deleted`;
        const data = { deleted_count: items.length, deleted_items: items };
        return { status: 200, body: { message, data } };
      },
    };
  },
});
