/**
 * What change-status and next-statuses share: the record and its status, the statuses that may follow, and the hooks
 * around the change. Blocking hooks are called here, inside the transaction. The others are collected: they begin before
 * what follows them, and `core/dispatch.ts` starts the last ones after the commit.
 */
import type { Call } from "../calls/action.ts";
import type { Entity } from "../plans/entity.ts";
import { isClosed, type StatusTable } from "../plans/status-tables.ts";
import { rolesOf } from "../callers/role-access.ts";
import type { StatusHook, WorkflowPlan } from "../plans/workflow-plan.ts";
import { AppError, noSuchRecord, unavailable } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import type { ReadQueries } from "../query/session.ts";
import type { Json } from "../values/json.ts";
import type { HookCall } from "../plans/hook-call.ts";
import type { HookPlace, OutboundRequest } from "../plans/outbound-port.ts";
import type { Row } from "../values/row.ts";
import { changePlan, type RecordPlan, alwaysShowing } from "../records/record.ts";
import { shownOf } from "../records/matching.ts";
import type { Column } from "../values/types/column.ts";
import { rowOf } from "../query/key-conditions.ts";
import { joinedKey, type KeyValue } from "../values/types/key.ts";
import { fillJson, fillUrl, type TemplateValues } from "../plans/templates.ts";

export interface WorkflowNeeds extends RecordPlan {
  readonly workflow: WorkflowPlan;
  /** The rules of the table; null = there are none for this status. */
  readonly guarded: StatusTable | null;
}

export function workflowNeeds(entity: Entity): WorkflowNeeds | null {
  const plan = changePlan(entity);
  const { workflow, statuses } = entity;
  if (plan === null || workflow === null) return null;
  const rules = statuses.guarded.get(plan.write.table.identity);
  const guarded = rules?.status.name === workflow.status.name ? rules : null;
  return { ...alwaysShowing(plan, workflow.fields), workflow, guarded };
}

/** A record as the table has it. */
export interface FoundRecord {
  /** Its key; that of several columns is a text, joined with `_`. */
  readonly id: Json;
  /** As in transitions; null if the record has no status. */
  readonly status: string | null;
  /** The record as answers show it. */
  readonly record: Row;
  /** The same with everything that hooks may name. */
  readonly row: Row;
}

/** The record; with `lock`, its row is locked until the transaction ends. Rejects with 404. */
export async function findRecord(
  call: Call,
  plan: WorkflowNeeds,
  { queries, keyValue, lock }: { queries: ReadQueries; keyValue: KeyValue; lock: boolean },
): Promise<FoundRecord> {
  const { write, workflow } = plan;
  const { table, key } = write;
  // The key may be more than answers show.
  const columns = [...new Set([...changedColumns(plan), ...key])];
  const row = await queries.one(rowOf({ table, key, keyValue, lock }, columns));
  if (!row) throw noSuchRecord(call.entity);
  const status = row[workflow.status.name] ?? null;
  return {
    id: write.key.length === 1 ? (row[write.key[0]!.name] ?? null) : joinedKey(row, write.key),
    status: status === null ? null : String(status),
    record: shownOf(row, plan),
    row,
  };
}

/** What is read of a record whose status changes: for the answer, and for hooks. */
export const changedColumns = ({ write, workflow }: WorkflowNeeds): Column[] => [
  ...write.shown.values(),
  ...workflow.hookColumns.values(),
];

/**
 * The statuses that may follow; null = any. A record without a status has the status `""`. Only transitions lead out of
 * a status that closes the record.
 */
export function allowedAfter(
  current: string | null,
  { workflow: { transitions }, guarded }: Pick<WorkflowNeeds, "workflow" | "guarded">,
): readonly string[] | null {
  if (transitions === null && guarded && isClosed(guarded, current)) return [];
  return transitions && (transitions.get(current ?? "") ?? []);
}

/** Those of the statuses into which the caller's roles let it step. */
export const ownOf = (
  statuses: readonly string[],
  { caller }: Pick<Call, "caller">,
  { guarded }: Pick<WorkflowNeeds, "guarded">,
): string[] =>
  statuses.filter((status) => {
    const roles = guarded?.roles.get(status);
    return roles === undefined || rolesOf(caller).some((role) => roles.includes(role));
  });

/** Rejects (403) a caller without a role for the step, and (422) a change that the transitions do not have. */
export function checkStep(
  { from, to }: { from: string | null; to: string },
  call: Pick<Call, "caller">,
  plan: WorkflowNeeds,
): void {
  if (ownOf([to], call, plan).length === 0)
    throw new AppError("forbidden", "You may not change a record to this status");
  const allowed = allowedAfter(from, plan);
  if (allowed === null || allowed.includes(to)) return;
  const current =
    from === null ? "A record without a status" : `The status ${JSON.stringify(from)}`;
  const own = ownOf(allowed, call, plan).join(", ");
  throw new AppError(
    "transitionNotAllowed",
    allowed.length === 0
      ? `${current} is final and cannot change`
      : `${current} cannot change to ${JSON.stringify(to.slice(0, 100))}; allowed: ${own || "none for you"}`,
  );
}

/**
 * The hooks of one request. A transaction may run again, but a service must not be called twice, so once a blocking
 * hook was called, a second run ends with 503.
 */
export class HookRun {
  private readonly call: Call;
  private hasCalled = false;
  private labels: string[] = [];
  private collected = new Map<StatusHook, HookCall>();
  /** Non-blocking hooks whose calls cannot be taken back; another run of the transaction does not repeat them. */
  private readonly begun = new Set<StatusHook>();

  constructor(call: Call) {
    this.call = call;
  }

  /** `onBefore:<name>` and `onAfter:<name>` of those that were called, or will be after the commit. */
  get executed(): readonly string[] {
    return this.labels;
  }

  /** The calls that start after the commit. */
  get later(): readonly HookCall[] {
    return [...this.collected.values()];
  }

  /** At the start of each run of the transaction. */
  start(): void {
    if (this.hasCalled)
      throw unavailable(
        "The database rolled the change back after hooks had been called; check the record before you try again",
      );
    this.labels = [];
    this.collected.clear();
  }

  /**
   * One after the other, in the order of the configuration. Rejects (502) when a blocking one fails. In a dry run none
   * is called, and all count as successful.
   */
  async run(hooks: readonly StatusHook[], values: TemplateValues): Promise<void> {
    for (const hook of hooks) {
      if (hook.isBlocking) {
        await this.begin();
        await this.wait(hook, values);
      } else this.collect(hook, values);
    }
  }

  /** Starts what was collected, because something that comes after it is about to happen. */
  async begin(): Promise<void> {
    const { background } = this.call;
    if (background === null || this.collected.size === 0) return;
    const calls = this.later;
    for (const hook of this.collected.keys()) this.begun.add(hook);
    this.collected.clear();
    await background.begin(calls);
  }

  private async wait(hook: StatusHook, values: TemplateValues): Promise<void> {
    try {
      const place = this.placeOf(hook, values);
      const request = this.requestOf(hook, { values, id: this.call.newId(), place });
      const leftMs = this.call.deadlineAtMs - performance.now() - limits.hookReserveMs;
      if (leftMs < 1) throw new Error("The request has no time left for the hook");
      const timeoutMs = Math.min(hook.timeoutMs, leftMs);
      if (!this.call.dryRun) await this.send({ ...request, timeoutMs });
    } catch (error) {
      const message = `The hook ${hook.label} failed, so the status was not changed`;
      throw new AppError("hookFailed", message, { cause: error });
    }
    this.labels.push(hook.label);
  }

  private async send(request: OutboundRequest): Promise<void> {
    this.hasCalled = true;
    const { status } = await this.call.outbound.send(request);
    if (status < 200 || status > 299) throw new Error(`The hook answered with status ${status}`);
  }

  private collect(hook: StatusHook, values: TemplateValues): void {
    const { entity, requestId, newId, log } = this.call;
    const label = `${entity.name} ${hook.label}`;
    const place = this.placeOf(hook, values);
    if (this.begun.has(hook)) {
      this.labels.push(hook.label);
      return;
    }
    try {
      const id = newId();
      const request = this.requestOf(hook, { values, id, place });
      this.collected.set(hook, { id, place, label, requestId, request });
      this.labels.push(hook.label);
    } catch (error) {
      log.warn({ err: error, hook: label }, "A hook was not called");
    }
  }

  private placeOf({ label, index }: StatusHook, { change }: TemplateValues): HookPlace {
    const { project, name: endpoint } = this.call.entity;
    return { project, endpoint, status: String(change.newStatus), hook: label, index };
  }

  /** `id`: the same for all tries. */
  private requestOf(
    hook: StatusHook,
    { values, id, place }: { values: TemplateValues; id: string; place: HookPlace },
  ): OutboundRequest {
    const { requestId, hookDepth } = this.call;
    if (hookDepth >= limits.hookDepthMax)
      throw new Error(`Hooks may call hooks at most ${limits.hookDepthMax} levels deep`);
    return {
      method: hook.method,
      url: fillUrl(hook.url, values),
      headers: {
        ...hook.headers,
        ...(hook.body && { "Content-Type": "application/json" }),
        "X-Request-Id": requestId,
        "X-Hook-Depth": String(hookDepth + 1),
        "Idempotency-Key": id,
      },
      body: hook.body && fillJson(hook.body, values),
      timeoutMs: hook.timeoutMs,
      hook: place,
    };
  }
}
