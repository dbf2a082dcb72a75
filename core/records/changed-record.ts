/** Changes records: one as update does, with the operator's handlers around it, or a set of them with few statements. */
import { actorsOf, type AuditColumns } from "../plans/audit-columns.ts";
import type { Call } from "../calls/action.ts";
import type { Queries } from "../query/session.ts";
import { type Assignment, sourceOf } from "../query/statement.ts";
import { rowOf } from "../query/key-conditions.ts";
import {
  collectingErrors,
  type FieldErrors,
  invalidPayload,
  noSuchRecord,
  validationFailed,
} from "../values/errors.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column } from "../values/types/column.ts";
import { keyNames, keyText, type KeyValue } from "../values/types/key.ts";
import type { Done } from "./bulk-outcomes.ts";
import { etagOf } from "./etag.ts";
import { findRows } from "../query/find-rows.ts";
import { shownOf } from "./matching.ts";
import { keyAsJson } from "./replay.ts";
import { readBackAll, type RecordChange, type RecordPlan, updateAudit } from "./record.ts";
import { updateSet } from "./record-sets.ts";

/** What update does with the record of this key. */
export const updateOf = (call: Call, plan: RecordPlan, keyValue: KeyValue): RecordChange => ({
  keyValue,
  events: { before: "onBeforeUpdate", after: "onAfterUpdate" },
  prepare(asked) {
    const set = updatesIn(asked, plan);
    const { table, key, shown } = plan.write;
    const returning = [...shown.values()];
    if (set.length === 0)
      return (queries) => queries.one(rowOf({ table, key, keyValue }, returning));
    return (queries) =>
      queries.updateOne({ kind: "update", table, key, keyValue, guard: null, set, returning });
  },
  message: `${call.entity.name} data successfully updated`,
});

/**
 * What the body changes, audit columns included; empty: it has only the key. Rejects with `validationFailed`, and with
 * Invalid payload if its other members are no fields.
 */
export function updatesIn(
  asked: Pick<Call, "entity" | "body" | "caller" | "now">,
  plan: RecordPlan,
): Assignment[] {
  const { key, writable, audit } = plan.write;
  const checked = asked.entity.rules.check(asked.body, "update", writable);
  const errors: FieldErrors = { ...checked.errors };
  const stamped = [...collectingErrors(errors, () => updateAudit(plan, asked))];
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  if (isChange(asked.body, checked.values, audit))
    return [...settingAll(checked.values), ...stamped];
  const names: readonly string[] = key.map(({ name }) => name);
  if (Object.keys(asked.body).every((name) => names.includes(name))) return [];
  throw invalidPayload(
    `The payload must contain at least one field to change besides the key ${keyNames(key)}`,
  );
}

/** Whether a body changes its record: it has values for fields, or names who changes it. */
export const isChange = (
  body: Readonly<Record<string, unknown>>,
  values: ReadonlyMap<Column, Scalar>,
  audit: AuditColumns,
): boolean =>
  values.size > 0 || actorsOf(audit, "update").some(({ name }) => Object.hasOwn(body, name));

export const settingAll = (values: ReadonlyMap<Column, Scalar>): Assignment[] =>
  [...values].map(([column, value]) => ({ kind: "set", column, value }));

/** A record that is to be changed; it is locked. */
export interface ChangedItem {
  readonly key: KeyValue;
  /** Empty: it is only answered. */
  readonly changes: readonly Assignment[];
}

/** Changes records that no handler has to see. Rejects with `notFound` if one is missing. */
export async function changeSet(
  items: readonly ChangedItem[],
  { call, plan }: { call: Pick<Call, "entity">; plan: RecordPlan },
  queries: Queries,
): Promise<Done[]> {
  const changed = items.flatMap(({ key, changes }) =>
    changes.length === 0 ? [] : [{ key, ...divided(changes) }],
  );
  const among = [...new Set(changed.flatMap(({ values }) => [...values.keys()]))];
  // All have the same columns that are not simply set: the time of the change.
  const set = changed[0]?.others ?? [];
  const matched = await updateSet(queries, changed, { ...plan.write, among, set });
  if (matched < changed.length) throw noSuchRecord(call.entity);
  return recordsAt(
    items.map(({ key }) => key),
    { call, plan },
    queries,
  );
}

/** Plain values by column, and the assignments that look at the old row. */
function divided(changes: readonly Assignment[]): {
  values: ReadonlyMap<Column, Scalar>;
  others: Assignment[];
} {
  const values = new Map<Column, Scalar>();
  const others: Assignment[] = [];
  for (const change of changes)
    if (change.kind === "set") values.set(change.column, change.value);
    else others.push(change);
  return { values, others };
}

/** The records as they are now. Rejects with `notFound` if one is missing. */
export async function recordsAt(
  keys: readonly KeyValue[],
  { call, plan }: { call: Pick<Call, "entity">; plan: RecordPlan },
  queries: Queries,
): Promise<Done[]> {
  const { table, key, shown } = plan.write;
  const search = { source: sourceOf(table), by: key, columns: [...shown.values()], lock: false };
  const found = await findRows(queries, search, keys);
  const rows = keys.map((value): Row => {
    const row = found.get(keyText(value))?.[0];
    if (row === undefined) throw noSuchRecord(call.entity);
    return shownOf(row, plan);
  });
  const records = await readBackAll(rows, plan, queries);
  return records.map((record, at) => ({
    record,
    etag: etagOf(record, plan.read),
    subject: keyAsJson(keys[at]!),
  }));
}
