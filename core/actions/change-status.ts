/**
 * change-status: changes the status of one record if the workflow's transitions allow it, and calls the hooks of the
 * new status. One transaction locks the row from reading the status to the end, so of two concurrent changes from one
 * status only one succeeds. A blocking hook that fails rolls everything back.
 */
import { actorsOf } from "../plans/audit-columns.ts";
import { type Call, defineAction, type Write } from "../calls/action.ts";
import type { WorkflowPlan } from "../plans/workflow-plan.ts";
import { past } from "../callers/scoped-session.ts";
import { openOf, reachedBy } from "../numbers/reached-numbers.ts";
import { type FieldErrors, noSuchRecord, validationFailed } from "../values/errors.ts";
import type { Grammar } from "../grammar/grammar.ts";
import { recordSchema } from "../lists/shown-schema.ts";
import { checkIfMatch, etagOf } from "../records/etag.ts";
import { runAfter, runBefore } from "../records/events.ts";
import type { Queries } from "../query/session.ts";
import { readBack, updateAudit } from "../records/record.ts";
import { keyAsJson } from "../records/replay.ts";
import { doneSchema, writtenSchema } from "../records/record-schema.ts";
import { orNull } from "../values/json-schema.ts";
import { wholeObject } from "../values/json-shapes.ts";
import type { Assignment } from "../query/statement.ts";
import { setTo, updateRow } from "../query/write-statements.ts";
import type { KeyValue } from "../values/types/key.ts";
import type { TemplateValues } from "../plans/templates.ts";
import { shownOf } from "../records/matching.ts";
import {
  changedColumns,
  checkStep,
  findRecord,
  type FoundRecord,
  HookRun,
  type WorkflowNeeds,
  workflowNeeds,
} from "../workflow/workflow.ts";
import {
  textOrNull,
  type SentChange,
  sentChange,
  statusRequest,
  type StatusRequest,
} from "../workflow/status-grammar.ts";

/** The change that the request body or a handler requests. */
interface Wanted {
  readonly status: SentChange["status"];
  readonly remarks: string | null;
  readonly updatedBy: string | null;
}

interface ChangeNeeds extends WorkflowNeeds {
  readonly change: Grammar<SentChange>;
}

export const changeStatus = defineAction<ChangeNeeds, StatusRequest>({
  name: "change-status",
  summary: "Moves one record to another status, and calls the hooks of that status.",
  mode: "writes",
  methods: ["POST"],
  group: "workflow",
  requires: ["key", "updates", "status", "transactions", "auditColumns"],
  headers: ["If-Match", "X-Lock-Token"],
  events: ["onBeforeWorkflow", "onAfterWorkflow"],
  errors: [
    "validationFailed",
    "foreignKeyMissing",
    "foreignKeyInUse",
    "duplicateEntry",
    "constraintViolation",
    "lockConflict",
    "transitionNotAllowed",
    "hookFailed",
  ],
  takesOptions: true,

  needs(entity) {
    const plan = workflowNeeds(entity);
    return plan && { ...plan, change: sentChange(plan, entity) };
  },
  grammar: (plan, { entity }) => statusRequest(plan, entity),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: wholeObject({
      message: doneSchema(entity, "updated"),
      data: writtenSchema(plan, (columns) => recordSchema(columns, entity.settings)),
      workflow: wholeObject({
        previousStatus: orNull({ type: "string" }),
        newStatus: { type: "string" },
        hooksExecuted: { type: "array", items: { type: "string" } },
      }),
    }),
    hasEtag: true,
  }),

  async begin(call, plan): Promise<Write> {
    const { keyValue } = call.input;
    const wanted = wantedOf(call, call.input.change);
    const hooks = new HookRun(call);
    await call.locks.takeRecords(plan.write, [keyValue]);
    await call.locks.checkWrite(plan.write, [keyValue]);
    return {
      isOneStatement: false,
      async run(tx) {
        const { record, from, to } = await change(call, plan, { tx, keyValue, wanted, hooks });
        return {
          status: 200,
          body: {
            message: `${call.entity.name} data successfully updated`,
            data: record,
            workflow: { previousStatus: from, newStatus: to, hooksExecuted: hooks.executed },
          },
          etag: etagOf(record, plan.read),
          subject: keyAsJson(keyValue),
          later: hooks.later,
        };
      },
    };
  },
});

interface Attempt {
  readonly tx: Queries;
  readonly keyValue: KeyValue;
  readonly wanted: Wanted;
  readonly hooks: HookRun;
}

async function change(call: Call, plan: ChangeNeeds, { tx, keyValue, wanted, hooks }: Attempt) {
  hooks.start();
  const { workflow } = plan;
  const found = await findRecord(call, plan, { queries: tx, keyValue, lock: true });
  const oldRecord = await readBack(found.record, plan, tx);
  if (call.ifMatch !== null) checkIfMatch(call.ifMatch, oldRecord, plan.read);
  const from = found.status;
  checkStep({ from, to: wanted.status.text }, call, plan);

  const data = await runBefore(call, tx, { event: "onBeforeWorkflow", data: call.body, oldRecord });
  const settled = data === call.body ? wanted : wantedOf(call, plan.change.read(data));
  const to = settled.status.text;
  // A handler may choose another status, but only one that the caller could choose.
  if (to !== wanted.status.text) checkStep({ from, to }, call, plan);

  // All faults of the body are found before any hook is called.
  const set = assignmentsOf(call, plan, settled);
  const { onBefore, onAfter } = workflow.hooks.get(to) ?? { onBefore: [], onAfter: [] };
  const values = valuesOf(call, workflow, { found, settled });
  if (onBefore.length > 0) await refuseUnnumbered(call, plan, { tx, keyValue, set });
  await hooks.run(onBefore, { ...values, record: { ...found.row, ...oldRecord } });
  await hooks.begin();
  // The locks may have expired while a hook was running.
  await call.locks.checkWrite(plan.write, [keyValue]);
  const { table, key } = plan.write;
  const change = updateRow(table, { key, keyValue, set, returning: changedColumns(plan) });
  const updated = await tx.updateOne(change);
  // The SQL of a handler may have deleted the record.
  if (!updated) throw noSuchRecord(call.entity);
  const record = await readBack(shownOf(updated, plan), plan, tx);
  await hooks.run(onAfter, { ...values, record: { ...updated, ...record } });
  await runAfter(call, tx, { event: "onAfterWorkflow", data, oldRecord, record });
  return { record, from, to };
}

/** Rejects (400) when the record would get a number and lacks what it is made of. */
async function refuseUnnumbered(
  { entity, now }: Call,
  { write: { table, key } }: ChangeNeeds,
  { tx, keyValue, set }: Pick<Attempt, "tx" | "keyValue"> & { set: readonly Assignment[] },
): Promise<void> {
  const plans = reachedBy(set, entity.numbers.get(table.identity) ?? []);
  const errors: FieldErrors = {};
  const time = { now: now(), timeZone: entity.settings.timeZone };
  await openOf(past(tx, "numbers"), { table, key, keyValue, set }, { plans, time, errors });
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
}

/** Rejects (400) an updated_by that counts and is not text. */
const wantedOf = ({ caller }: Call, { status, remarks, updated_by }: SentChange): Wanted => ({
  status,
  remarks,
  updatedBy: caller.kind === "nobody" ? textOrNull("updated_by").read(updated_by) : caller.id,
});

/** Rejects (400) an updated_by that its column cannot hold. */
function assignmentsOf(call: Call, plan: WorkflowNeeds, { status, updatedBy }: Wanted) {
  const actors = updatedBy === null ? [] : actorsOf(plan.write.audit, "update");
  // The parameter is always called updated_by, also if the column has another name.
  const body = Object.fromEntries(actors.map(({ name }) => [name, updatedBy]));
  const { value } = status;
  return [setTo(plan.workflow.status, value), ...updateAudit(plan, { ...call, body })];
}

function valuesOf(
  call: Call,
  { tableName }: WorkflowPlan,
  { found, settled }: { found: FoundRecord; settled: Wanted },
): Omit<TemplateValues, "record"> {
  return {
    change: {
      id: found.id,
      newStatus: settled.status.text,
      oldStatus: found.status,
      remarks: settled.remarks,
      tableName,
      user_id: settled.updatedBy,
      timestamp: call.now(),
    },
    requestData: call.body,
  };
}
