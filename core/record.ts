/**
 * What the writing actions share: the key that a body names, the audit columns that the service fills, and the
 * record that a write answers.
 */
import type { Call } from "./action.ts";
import type { Column } from "./column.ts";
import type { Entity, ReadPlan, WritePlan } from "./entity.ts";
import { invalidPayload, notFound, validationFailed } from "./errors.ts";
import { checkIfMatch } from "./etag.ts";
import type { Queries, Row } from "./ports.ts";
import { type Assignment, equals, type Scalar, sourceOf } from "./statement.ts";
import { accept } from "./values.ts";
import { comparand, mayHold, unlimited } from "./where.ts";

/** What create, update and adjust need. */
export interface RecordPlan {
  readonly write: WritePlan;
  readonly read: ReadPlan;
}

export function recordPlan(entity: Entity): RecordPlan | null {
  return entity.write && entity.read ? { write: entity.write, read: entity.read } : null;
}

/** The key of the record that the body means. Rejects when it is missing, can be no key, or is one that no record can have. */
export function keyOf({ body, entity }: Call, key: Column): Scalar {
  const value = Object.hasOwn(body, key.name) ? body[key.name] : undefined;
  if (value === undefined || value === null || value === "") {
    throw invalidPayload(`The primary key ${key.name} is required`);
  }
  const accepted = accept(unlimited(key), value);
  if (!accepted.ok) throw invalidPayload(`The primary key ${key.name} ${accepted.message}`);
  if (!mayHold(key, accepted.value)) throw noSuchRecord(entity);
  return accepted.value;
}

export const noSuchRecord = (entity: Entity) => notFound(`${entity.name} record not found`);

/** Fields that this write fills by itself, whatever the body holds for the time; an actor may come from the body. */
export function createAudit({ write }: RecordPlan, call: Call): Map<Column, Scalar> {
  const { createdAt, createdBy, updatedAt, updatedBy } = write.audit;
  const now = call.now();
  const values = new Map<Column, Scalar>();
  setTime(values, createdAt, now);
  setActor(values, createdBy, call.body, "Input from API");
  // Both stay empty until the first update, unless the table insists on a value.
  if (insists(updatedAt)) setTime(values, updatedAt, now);
  if (insists(updatedBy)) setActor(values, updatedBy, {}, "Input from API");
  return values;
}

/** The assignments of updated_at and updated_by. */
export function updateAudit({ write }: RecordPlan, call: Call): Assignment[] {
  const { createdAt, updatedAt, updatedBy } = write.audit;
  const values = new Map<Column, Scalar>();
  setActor(values, updatedBy, call.body, "Update from API");
  const assignments: Assignment[] = [...values].map(([column, value]) => ({
    kind: "set",
    column,
    value,
  }));
  if (updatedAt?.type === "timestamp") {
    const after = createdAt?.type === "timestamp" ? createdAt : null;
    assignments.push({ kind: "stamp", column: updatedAt, after, now: call.now() });
  } else {
    setTime(values, updatedAt, call.now());
    const value = updatedAt && values.get(updatedAt);
    if (updatedAt && value) assignments.push({ kind: "set", column: updatedAt, value });
  }
  return assignments;
}

/** The record as `first` would answer it, from the row that a write on the table gave back. */
export async function readBack(row: Row, plan: RecordPlan, queries: Queries): Promise<Row> {
  if (!plan.write.readBack) return row;
  const { key, source, columns } = plan.read;
  const keyValue = row[plan.write.key.name];
  if (key === null || keyValue === undefined) return row;
  const where = equals(key, comparand(plan.write.key, keyValue));
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

/** Locks the record until the transaction ends, and rejects (404, 412) unless it is there and unchanged. */
export async function lockUnchanged(
  call: Call,
  plan: RecordPlan,
  keyValue: Scalar,
  tx: Queries,
): Promise<void> {
  const { table, key, shown } = plan.write;
  const row = await tx.one({
    kind: "select",
    source: sourceOf(table),
    columns: [...shown.values()],
    where: equals(key, keyValue),
    sort: [],
    limit: 1,
    offset: 0,
    lock: true,
  });
  if (!row) throw noSuchRecord(call.entity);
  if (call.ifMatch !== null) checkIfMatch(call.ifMatch, await readBack(row, plan, tx), plan.read);
}

function setTime(values: Map<Column, Scalar>, column: Column | null, now: string): void {
  if (!column) return;
  if (column.type === "timestamp") values.set(column, cutFraction(now, column.fractionDigits));
  else values.set(column, now);
}

/** A column that keeps fewer digits of a second gets the time cut, never rounded into the future. */
export function cutFraction(instant: string, digits: number): string {
  return `${instant.slice(0, 20 + digits)}${"0".repeat(3 - digits)}Z`;
}

function setActor(
  values: Map<Column, Scalar>,
  column: Column | null,
  body: Record<string, unknown>,
  fallback: string,
) {
  if (!column) return;
  const sent = Object.hasOwn(body, column.name) ? body[column.name] : undefined;
  if (sent !== undefined && sent !== null && sent !== "") {
    const accepted = accept(column, sent);
    if (!accepted.ok) throw validationFailed({ [column.name]: [accepted.message] });
    values.set(column, accepted.value);
    return;
  }
  values.set(column, fallback);
}

const insists = (column: Column | null): boolean =>
  column !== null && !column.nullable && !column.hasDefault;
