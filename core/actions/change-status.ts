/**
 * change-status: changes the status of one record if the workflow's transitions allow it, and calls the hooks of the
 * new status. One transaction locks the row from reading the status to the end, so of two concurrent changes from one
 * status only one succeeds. A blocking hook that fails rolls everything back.
 */
import { type Call, defineAction, type Write } from "../calls/action.ts";
import type { WorkflowPlan } from "../plans/entity.ts";
import { invalidPayload, noSuchRecord, validationFailed } from "../values/errors.ts";
import { checkIfMatch, etagOf } from "../records/etag.ts";
import { runAfter, runBefore } from "../records/events.ts";
import type { Queries } from "../callers/session.ts";
import { readBack, updateAudit } from "../records/record.ts";

import type { Assignment } from "../query/statement.ts";
import type { Scalar } from "../values/scalar.ts";
import type { KeyValue } from "../values/key.ts";
import type { TemplateValues } from "../plans/templates.ts";
import {
  checkTransition,
  findRecord,
  type FoundRecord,
  HookRun,
  keyOrIdOf,
  type WorkflowNeeds,
  workflowNeeds,
} from "../workflow/workflow.ts";
import { changedStatusSchema, changeStatusSchema } from "../workflow/status-schema.ts";

/** The change that the request body or a handler asks for. */
interface Wanted {
  readonly status: string;
  readonly value: Scalar;
  readonly remarks: string | null;
  readonly updatedBy: string | null;
}

export const changeStatus = defineAction<WorkflowNeeds>({
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
    "duplicateEntry",
    "lockConflict",
    "transitionNotAllowed",
    "hookFailed",
  ],
  takesOptions: true,
  takesEmptyBody: false,
  needs: workflowNeeds,
  input: (plan, { entity }) => changeStatusSchema(plan, entity),
  answer: (plan, { entity }) => ({ status: 200, schema: changedStatusSchema(plan, entity) }),

  async begin(call, plan): Promise<Write> {
    const keyValue = keyOrIdOf(call, plan);
    const wanted = wantedOf(call, plan, call.body);
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

async function change(call: Call, plan: WorkflowNeeds, { tx, keyValue, wanted, hooks }: Attempt) {
  hooks.start();
  const { workflow } = plan;
  const found = await findRecord(call, plan, { queries: tx, keyValue, lock: true });
  const oldRecord = await readBack(found.record, plan, tx);
  if (call.ifMatch !== null) checkIfMatch(call.ifMatch, oldRecord, plan.read);
  const from = found.status;
  checkTransition(from, wanted.status, workflow);

  const data = await runBefore(call, tx, { event: "onBeforeWorkflow", data: call.body, oldRecord });
  const settled = data === call.body ? wanted : wantedOf(call, plan, data);
  const to = settled.status;
  // A handler may choose another status, but only one that the transitions allow.
  if (to !== wanted.status) checkTransition(from, to, workflow);

  // All faults of the body are found before any hook is called.
  const set = assignmentsOf(call, plan, settled);
  const { onBefore, onAfter } = workflow.hooks.get(to) ?? { onBefore: [], onAfter: [] };
  const values = valuesOf(call, workflow, { found, settled });
  await hooks.run(onBefore, { ...values, record: oldRecord });
  // The locks may have expired while a hook was running.
  await call.locks.checkWrite(plan.write, [keyValue]);
  const updated = await tx.updateOne({
    kind: "update",
    table: plan.write.table,
    key: plan.write.key,
    keyValue,
    guard: null,
    set,
    returning: [...plan.write.shown.values()],
  });
  // The SQL of a handler may have deleted the record.
  if (!updated) throw noSuchRecord(call.entity);
  const record = await readBack(updated, plan, tx);
  await hooks.run(onAfter, { ...values, record });
  await runAfter(call, tx, { event: "onAfterWorkflow", data, oldRecord, record });
  return { record, from, to };
}

/** Rejects (400) a status that is missing, is not text, or is refused by the column or its rule. */
function wantedOf(call: Call, { workflow }: WorkflowNeeds, data: Record<string, unknown>): Wanted {
  const { fields, status: column } = workflow;
  const sent = optionalText(data, "status");
  if (sent === null || sent === "") throw invalidPayload("The status is required");
  const { values, errors } = call.entity.rules.check({ [column.name]: sent }, "update", fields);
  if (errors) throw validationFailed(errors);
  const value = values.get(column) ?? null;
  return {
    status: String(value),
    value,
    remarks: optionalText(data, "remarks"),
    updatedBy: call.caller.kind === "nobody" ? optionalText(data, "updated_by") : call.caller.id,
  };
}

function optionalText(data: Record<string, unknown>, name: string): string | null {
  const value = Object.hasOwn(data, name) ? (data[name] ?? null) : null;
  if (value !== null && typeof value !== "string") throw invalidPayload(`${name} must be text`);
  return value;
}

/** Rejects (400) an updated_by that its column cannot hold. */
function assignmentsOf(call: Call, plan: WorkflowNeeds, { value, updatedBy }: Wanted) {
  const actor = plan.write.audit.updatedBy;
  // The parameter is always called updated_by, whatever the column is called.
  const body = actor && updatedBy !== null ? { [actor.name]: updatedBy } : {};
  const status: Assignment = { kind: "set", column: plan.workflow.status, value };
  return [status, ...updateAudit(plan, { ...call, body })];
}

function valuesOf(
  call: Call,
  { tableName }: WorkflowPlan,
  { found, settled }: { found: FoundRecord; settled: Wanted },
): Omit<TemplateValues, "record"> {
  return {
    change: {
      id: found.id,
      newStatus: settled.status,
      oldStatus: found.status,
      remarks: settled.remarks,
      tableName,
      user_id: settled.updatedBy,
      timestamp: call.now(),
    },
    requestData: call.body,
  };
}
