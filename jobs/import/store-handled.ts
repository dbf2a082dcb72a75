/**
 * Stores one judged row with the operator's handlers around it, as create and update do. The row is a part of the
 * transaction: if a handler refuses it, or returns data that the rules refuse, only that row is undone.
 */
import type { Scope } from "../../core/callers/scope.ts";
import type { Caller } from "../../core/plans/caller.ts";
import type { Column } from "../../core/values/types/column.ts";
import type { Entity } from "../../core/plans/entity.ts";
import type { ImportPlan } from "../../core/plans/import-plan.ts";
import { AppError, noSuchRecord, unavailable, validationFailed } from "../../core/values/errors.ts";
import { type Handled, runAfter, runBefore } from "../../core/records/events.ts";
import { limits } from "../../core/values/limits.ts";
import type { Queries, Transaction } from "../../core/query/session.ts";
import type { Log } from "../../core/plans/log-port.ts";
import type { Clock, NewId } from "../../core/values/clock.ts";
import {
  insertOf,
  lockRecord,
  readBack,
  type RecordPlan,
  recordPlan,
  updateAudit,
} from "../../core/records/record.ts";
import type { Assignment } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import type { FileRow } from "./row-batches.ts";
import type { ChangedRow, NewRow } from "./row-verdict.ts";

/** The import that the rows belong to. */
export interface HandledRows {
  /** Who started the import. */
  readonly caller: Caller;
  readonly scope: Scope;
  readonly entity: Entity;
  readonly plan: ImportPlan;
  readonly newId: NewId;
  readonly now: Clock;
  readonly log: Log;
  readonly jobId: string;
  /** Aborted when the commit should end. */
  readonly signal: AbortSignal;
}

/**
 * Resolves with the refusal of the row's handlers, or null when it is stored. Rejects with errors that end the commit:
 * refusals of the database, a handler that fails, and `unavailable` after `limits.importHandlersMs`.
 */
export type StoreHandled = (
  tx: Transaction,
  row: FileRow,
  verdict: NewRow | ChangedRow,
) => Promise<AppError | null>;

/** For all rows of one import. */
export function storeHandled(rows: HandledRows): StoreHandled {
  const { caller, entity, jobId, log, signal } = rows;
  const plan = planOf(entity);

  return async (tx, { rowIndex }, verdict) => {
    const handled: Handled = {
      caller,
      entity,
      options: {},
      dryRun: false,
      log: logOf(log, { job: jobId, row: rowIndex }),
      deadlineAtMs: performance.now() + limits.importHandlersMs,
    };
    const store = () =>
      verdict.kind === "new"
        ? insert(tx, verdict, { rows, plan, handled })
        : change(tx, verdict, { rows, plan, handled });
    try {
      await tx.part(() => inTime(store(), { signal, rowIndex }));
      return null;
    } catch (error) {
      if (error instanceof AppError && error.kind === "rejectedByHook") return error;
      throw error;
    }
  };
}

function planOf(entity: Entity): RecordPlan {
  const plan = recordPlan(entity);
  if (!plan) throw new Error(`${entity.name} has no records to store`);
  return plan;
}

interface Storing {
  readonly rows: HandledRows;
  readonly plan: RecordPlan;
  readonly handled: Handled;
}

async function insert(tx: Queries, { body }: NewRow, storing: Storing): Promise<void> {
  const { rows, plan, handled } = storing;
  const { entity, newId, now } = rows;
  const data = await runBefore(handled, tx, { event: "onBeforeInsert", data: body });
  const { caller, scope } = rows;
  const call = { entity, body: data, newId, now, caller, fills: scope.fills };
  const statement = acceptedByRules(() => insertOf(call, plan));
  const [row] = await tx.insert(statement);
  if (!row) throw new Error("The database stored a row but did not return it");
  const record = await readBack(row, plan, tx);
  await runAfter(handled, tx, { event: "onAfterInsert", data, record });
}

async function change(tx: Queries, verdict: ChangedRow, storing: Storing): Promise<void> {
  const { rows, plan, handled } = storing;
  const { table, key, shown } = plan.write;
  const { entity, now } = rows;
  const oldRecord = await lockRecord({ entity, ifMatch: null }, plan, verdict.key, tx);
  const own = key.map(({ name }, at) => [name, oldRecord[name] ?? verdict.key[at]] as const);
  const sent = { ...verdict.body, ...Object.fromEntries(own) };
  const data = await runBefore(handled, tx, { event: "onBeforeUpdate", data: sent, oldRecord });
  const values = acceptedByRules(() => changesOf(rows, sent, data));
  const set: Assignment[] = [...values].map(([column, value]) => ({ kind: "set", column, value }));
  set.push(...updateAudit(plan, { body: data, now, caller: rows.caller }));
  const returning = [...shown.values()];
  const statement = { kind: "update", table, key, keyValue: verdict.key, guard: null } as const;
  const row = set.length > 0 ? await tx.updateOne({ ...statement, set, returning }) : oldRecord;
  // A handler's own SQL can have removed it.
  if (!row) throw noSuchRecord(entity);
  const record = await readBack(row, plan, tx);
  await runAfter(handled, tx, { event: "onAfterUpdate", data, oldRecord, record });
}

/** The key's own columns found the record: they are written only where a handler changes them. */
function changesOf(
  { entity, plan: { write, upsertKeys } }: HandledRows,
  sent: Record<string, unknown>,
  data: Record<string, unknown>,
): Map<Column, Scalar> {
  const { values, errors } = entity.rules.check(data, "update", write.writable);
  if (errors) throw validationFailed(errors);
  const changes = new Map(values);
  for (const [name, column] of upsertKeys) if (data[name] === sent[name]) changes.delete(column);
  return changes;
}

/** The row was valid, so a refusal by the rules is the handler's fault. */
function acceptedByRules<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    const isRefusal = error instanceof AppError && error.errors !== undefined;
    if (!isRefusal) throw error;
    const message = "A component handler returned invalid data";
    throw new AppError("rejectedByHook", message, { errors: error.errors, cause: error });
  }
}

/** A handler that never ends must block neither the transaction nor the end of the job. */
const inTime = (
  work: Promise<void>,
  { signal, rowIndex }: { signal: AbortSignal; rowIndex: number },
): Promise<void> =>
  withTimeout(work, {
    signal,
    timeoutMs: limits.importHandlersMs,
    onTimeout: () => {
      throw unavailable(
        `Nothing was stored: the component handlers took too long for row ${rowIndex}`,
      );
    },
  });

/** Adds the job and the row to each log line. */
function logOf(log: Log, about: object): Log {
  return {
    debug: (fields, message) => log.debug({ ...about, ...fields }, message),
    info: (fields, message) => log.info({ ...about, ...fields }, message),
    warn: (fields, message) => log.warn({ ...about, ...fields }, message),
    error: (fields, message) => log.error({ ...about, ...fields }, message),
  };
}
