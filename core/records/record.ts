/**
 * What the writing actions share: the key that a body names, the audit columns that the service fills, the way of a change of
 * one record through handlers and If-Match, and the record that a write answers.
 */
import { type FieldErrors, noSuchRecord, validationFailed } from "../values/errors.ts";
import type { Answer, Call, Write } from "../calls/action.ts";
import type { Column } from "../values/column.ts";
import type { Entity, InsertPlan, ReadPlan, WritePlan } from "../plans/entity.ts";

import { checkIfMatch, etagOf } from "./etag.ts";
import { hasHandlers, runAfter, runBefore } from "./events.ts";
import type { EventName } from "../plans/hook.ts";
import type { Queries } from "../callers/session.ts";
import { flagValue } from "../callers/visibility.ts";
import type { Row } from "../plans/ports.ts";
import { keyAsJson } from "./replay.ts";
import { type Assignment, type Insert, sourceOf } from "../query/statement.ts";
import { keyIs } from "../query/key-conditions.ts";
import { isOfKey, type KeyValue } from "../values/key.ts";
import { keyOf, newKey } from "./record-key.ts";
import type { Scalar } from "../values/scalar.ts";
import { accept } from "../values/accept.ts";
import { isLonger } from "../values/text.ts";
import { columnTypes } from "../values/column-types.ts";
import { comparand } from "../query/where.ts";

/** What actions on single records need. */
export interface RecordPlan {
  readonly write: WritePlan;
  readonly read: ReadPlan;
}

export function recordPlan(entity: Entity): RecordPlan | null {
  return entity.write && entity.read ? { write: entity.write, read: entity.read } : null;
}

/** The same for actions that change the record of a key. */
export function changePlan(entity: Entity): RecordPlan | null {
  const plan = recordPlan(entity);
  return plan?.write.namesRecords ? plan : null;
}

/** What create needs; unlike the other writes it can do without a key. */
export interface InsertingPlan {
  readonly write: InsertPlan;
  readonly read: ReadPlan;
}

/** The statement that stores the body as a new record, after the entity's rules. Rejects with `validationFailed`. */
export function insertOf(
  call: Pick<Call, "entity" | "body" | "newId" | "now" | "caller" | "fills">,
  plan: InsertingPlan,
): Insert {
  const { table, key, shown, writable } = plan.write;
  const { rules } = call.entity;
  const checked = rules.check(withFills(call, plan.write), "create", writable);
  const errors: FieldErrors = { ...checked.errors };
  const values = new Map<Column, Scalar>(fillsBeside(call, plan.write));
  const made = newKey(call, { ...plan.write, rules, fills: call.fills }, errors);
  for (const [column, value] of made) values.set(column, value);
  for (const [column, value] of checked.values) values.set(column, value);
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  for (const [column, value] of createAudit(plan, call)) values.set(column, value);
  return {
    kind: "insert",
    table,
    key,
    columns: [...values.keys()],
    rows: [[...values.values()]],
    returning: [...shown.values()],
  };
}

/** The body with the fields that the caller's scope fills in, as far as a body may set them. */
export function withFills(
  { body, fills }: Pick<Call, "body" | "fills">,
  { writable }: Pick<InsertPlan, "writable">,
): Record<string, unknown> {
  const missing = [...fills].filter(([name]) => writable.has(name) && !Object.hasOwn(body, name));
  return missing.length === 0 ? body : { ...body, ...Object.fromEntries(missing) };
}

/** Values that the caller's scope fills in of columns that no body may set. */
export function fillsBeside(
  { fills }: Pick<Call, "fills">,
  { table, writable, key }: Pick<InsertPlan, "table" | "writable" | "key">,
): Map<Column, Scalar> {
  const values = new Map<Column, Scalar>();
  for (const [name, value] of fills) {
    const column = table.columns.get(name);
    if (!column || isOfKey(key, column) || writable.has(name) || column.generated === "computed")
      continue;
    const accepted = accept(column, columnTypes[column.type].isText ? String(value) : value);
    if (accepted.ok) values.set(column, accepted.value);
  }
  return values;
}

/** What filling the audit columns takes; details have them too. */
interface Audited {
  readonly write: Pick<InsertPlan, "audit" | "flag">;
}
type Asked = Pick<Call, "body" | "now" | "caller">;

/** Fields that this write fills by itself, whatever the body holds for the time; an actor may come from the body. */
export function createAudit({ write }: Audited, call: Asked): Map<Column, Scalar> {
  const { createdAt, createdBy, updatedAt, updatedBy } = write.audit;
  const now = call.now();
  const values = new Map<Column, Scalar>();
  const { flag } = write;
  if (flag) values.set(flag, flagValue(flag, false));
  setTime(values, createdAt, now);
  setActor(values, createdBy, { ...call, byDefault: "Input from API" });
  // Both stay empty until the first update, unless the table insists on a value.
  if (insists(updatedAt)) setTime(values, updatedAt, now);
  if (insists(updatedBy))
    setActor(values, updatedBy, { ...call, body: {}, byDefault: "Input from API" });
  return values;
}

/** The assignments of updated_at and updated_by. */
export function updateAudit({ write }: Audited, call: Asked): Assignment[] {
  const { createdAt, updatedAt, updatedBy } = write.audit;
  const values = new Map<Column, Scalar>();
  setActor(values, updatedBy, { ...call, byDefault: "Update from API" });
  const assignments: Assignment[] = [...values].map(([column, value]) => ({
    kind: "set",
    column,
    value,
  }));
  if (updatedAt && columnTypes[updatedAt.type].isInstant) {
    const after = createdAt && columnTypes[createdAt.type].isInstant ? createdAt : null;
    assignments.push({ kind: "stamp", column: updatedAt, after, now: call.now() });
  } else {
    setTime(values, updatedAt, call.now());
    const value = updatedAt && values.get(updatedAt);
    if (updatedAt && value) assignments.push({ kind: "set", column: updatedAt, value });
  }
  return assignments;
}

/** The record as `first` would answer it, from the row that a write on the table gave back. */
export async function readBack(row: Row, plan: InsertingPlan, queries: Queries): Promise<Row> {
  if (!plan.write.readBack) return row;
  const { source, columns } = plan.read;
  const key: Column[] = [];
  const keyValue: Scalar[] = [];
  for (const own of plan.write.key) {
    const column = source.columns.get(own.name);
    const shown = row[own.name] ?? null;
    if (!column || shown === null) return row;
    key.push(column);
    keyValue.push(comparand(own, shown));
  }
  const where = keyIs(key, keyValue);
  const select = {
    kind: "select",
    source,
    columns: [...columns.values()],
    where,
    sort: [],
  } as const;
  const record = await queries.one({ ...select, limit: 1, offset: 0, lock: false });
  // A view may leave the row out; then the table's own record is the answer.
  return record ?? row;
}

/** How update and adjust differ. */
export interface RecordChange {
  readonly events: { readonly before: EventName; readonly after: EventName };
  /**
   * Checks the call's body (the client's own, or the data of a before handler) and gives what writes it; that gives null when the
   * record is not there.
   */
  prepare(call: Call, keyValue: KeyValue): (queries: Queries) => Promise<Row | null>;
  /** Of the answer. */
  readonly message: string;
}

/**
 * The change of the record that the body names; its answer is the record. With handlers, If-Match or a view to read back through it is a
 * transaction: lock, compare, before handlers, check the data, write, read back, after handlers. Otherwise it is one statement.
 */
export function beginChange(
  call: Call,
  plan: RecordPlan,
  { events, prepare, message }: RecordChange,
): Write | Promise<Write> {
  const keyValue = keyOf(call, plan.write.key);
  const isLocked = call.ifMatch !== null || hasHandlers(call.entity, events.before, events.after);
  // An invalid body is refused before anything is locked, unless a handler could still correct it.
  const ready = hasHandlers(call.entity, events.before) ? null : prepare(call, keyValue);
  const answer = (record: Row): Answer => {
    const etag = etagOf(record, plan.read);
    const subject = keyAsJson(keyValue);
    return { status: 200, body: { message, data: record }, etag, subject };
  };
  const change: Write =
    ready !== null && !isLocked && !plan.write.readBack
      ? {
          isOneStatement: true,
          run: async (queries) => answer(present(await ready(queries), call.entity)),
        }
      : {
          isOneStatement: false,
          async run(queries) {
            const oldRecord = isLocked ? await lockRecord(call, plan, keyValue, queries) : null;
            const data = await runBefore(call, queries, {
              event: events.before,
              data: call.body,
              oldRecord,
            });
            const write = ready ?? prepare({ ...call, body: data }, keyValue);
            const row = present(await write(queries), call.entity);
            const record = await readBack(row, plan, queries);
            await runAfter(call, queries, { event: events.after, data, oldRecord, record });
            return answer(record);
          },
        };
  const { locks } = call;
  return locks.guardsWrites ? locks.guardWrite(plan.write, [keyValue]).then(() => change) : change;
}

/** The row. Throws `notFound` where there is none. */
function present(row: Row | null, entity: Entity): Row {
  if (row === null) throw noSuchRecord(entity);
  return row;
}

/** Locks the record until the transaction ends, and gives it as answers show it. Rejects (404, 412) unless it is there and unchanged. */
export async function lockRecord(
  call: Pick<Call, "entity" | "ifMatch">,
  plan: RecordPlan,
  keyValue: KeyValue,
  tx: Queries,
): Promise<Row> {
  const { table, key, shown } = plan.write;
  const row = await tx.one({
    kind: "select",
    source: sourceOf(table),
    columns: [...shown.values()],
    where: keyIs(key, keyValue),
    sort: [],
    limit: 1,
    offset: 0,
    lock: true,
  });
  if (!row) throw noSuchRecord(call.entity);
  const record = await readBack(row, plan, tx);
  if (call.ifMatch !== null) checkIfMatch(call.ifMatch, record, plan.read);
  return record;
}

function setTime(values: Map<Column, Scalar>, column: Column | null, now: string): void {
  if (!column) return;
  if (columnTypes[column.type].isInstant)
    values.set(column, cutFraction(now, column.fractionDigits));
  else values.set(column, now);
}

/** A column that keeps fewer digits of a second gets the time cut, never rounded into the future. */
export function cutFraction(instant: string, digits: number): string {
  return digits >= 3 ? instant : `${instant.slice(0, 20 + digits)}${"0".repeat(3 - digits)}Z`;
}

type Acting = Pick<Asked, "caller" | "body"> & { readonly byDefault: string };

function setActor(values: Map<Column, Scalar>, column: Column | null, acting: Acting): void {
  if (column) values.set(column, actorOf(column, acting));
}

/** The user; where nobody is asked for credentials, whom the body names, or the given text. Rejects with `validationFailed`. */
export function actorOf(column: Column, { caller, body, byDefault }: Acting): Scalar {
  if (caller.kind !== "nobody") return fitting(caller.id ?? byDefault, column);
  const sent = Object.hasOwn(body, column.name) ? body[column.name] : undefined;
  if (sent === undefined || sent === null || sent === "") return byDefault;
  const accepted = accept(column, sent);
  if (!accepted.ok) throw validationFailed({ [column.name]: [accepted.message] });
  return accepted.value;
}

/** The beginning of a user's name that is longer than the column: the write is not the place to refuse it. */
export function fitting(name: string, column: Column): string {
  const longest = Math.min(column.lengthMax ?? Infinity, (column.bytesMax ?? Infinity) / 4);
  return isLonger(name, longest) ? [...name].slice(0, longest).join("") : name;
}

const insists = (column: Column | null): boolean =>
  column !== null && !column.nullable && !column.hasDefault;
