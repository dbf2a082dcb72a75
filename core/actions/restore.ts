/** restore: removes the mark of softDelete from all matching records, and from those marked by the same delete. */
import { type Call, defineAction, type Write } from "../calls/action.ts";
import type { Queries } from "../query/session.ts";
import type { Entity } from "../plans/entity.ts";
import type { Row } from "../values/row.ts";
import type { MarkedTable } from "../plans/soft-delete.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import { type Condition, sourceOf, selectFrom } from "../query/statement.ts";
import { hasHandlers, runAfter, runBefore } from "../records/events.ts";
import { columnsOf, everyRow } from "../records/marked-rows.ts";
import {
  lockedRows,
  matchingParts,
  type Named,
  namedKey,
  namedRecords,
  rowKeys,
  shownOf,
} from "../records/matching.ts";
import { changePlan, lockRecord, type RecordPlan } from "../records/record.ts";
import { recordsAnswerSchema } from "../records/record-schema.ts";
import { restoreRows } from "../records/restore-rows.ts";
import { AppError } from "../values/errors.ts";

/** What restore needs. */
interface RestorePlan extends RecordPlan {
  readonly marking: MarkedTable;
}

function restorePlan(entity: Entity): RestorePlan | null {
  const plan = changePlan(entity);
  const { marking } = entity;
  return plan && marking && { ...plan, marking };
}

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
  takesEmptyBody: false,
  needs: restorePlan,
  grammar: (plan) => namedRecords(plan, null),
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

async function restoreFound(
  call: Call,
  plan: RestorePlan,
  { where, tx }: { where: Condition; tx: Queries },
): Promise<Row[]> {
  const { table, key, shown } = plan.write;
  const data = { where: call.body["where"] };
  const marked = columnsOf(plan.marking).map(({ name }) => name);
  const names = new Set([...shown.keys(), ...key.map(({ name }) => name), ...marked]);
  const columns = [...names].map((name) => table.columns.get(name)!);
  const rows = await lockedRows(plan, { where, columns }, tx);
  const old = rows.map((row) => shownOf(row, plan));
  for (const oldRecord of old)
    await runBefore(call, tx, { event: "onBeforeRestore", data, oldRecord });
  await restoreRows({ marked: plan.marking, rows }, tx);
  const items = await readRestored(plan, rows, tx);
  if (hasHandlers(call.entity, "onAfterRestore"))
    for (const [at, record] of items.entries())
      await runAfter(call, tx, { event: "onAfterRestore", data, oldRecord: old[at]!, record });
  return items;
}

/** The records as they are now, in the order of the rows. */
async function readRestored(plan: RestorePlan, rows: readonly Row[], tx: Queries): Promise<Row[]> {
  const { table, key, shown } = plan.write;
  const textOf = (row: Row): string => JSON.stringify(key.map(({ name }) => row[name]));
  const found = new Map<string, Row>();
  for (const values of keyBatches(key, rowKeys(plan, rows))) {
    // The caller's own rows: they were found within its scope and are not marked any more.
    const some = await everyRow(tx).all(
      selectFrom(sourceOf(table), {
        columns: [...new Set([...shown.values(), ...key])],
        where: keyIn(key, values),
      }),
    );
    for (const row of some) found.set(textOf(row), row);
  }
  return rows.flatMap((row) => {
    const now = found.get(textOf(row));
    return now === undefined ? [] : [shownOf(now, plan)];
  });
}
