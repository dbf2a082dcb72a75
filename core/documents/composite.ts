/** Checks the details of a composite, and finds all errors of header and details at once. Does not use the database. */
import type { Call } from "../calls/action.ts";
import type { Column } from "../values/types/column.ts";
import { addErrors, type Place } from "./detail-errors.ts";
import type { CompositePlan, DetailPlan } from "../plans/composite-plan.ts";
import type { Entity } from "../plans/entity.ts";
import { type AppError, collectingErrors, type FieldErrors, notFound } from "../values/errors.ts";
import type { KeyValue } from "../values/types/key.ts";
import { isChange, settingAll } from "../records/changed-record.ts";
import { newKey } from "../records/record-key.ts";
import { foresee } from "../totals/foreseen-values.ts";
import {
  alwaysShowing,
  createAudit,
  filledBeside,
  filledLater,
  recordPlan,
  type RecordPlan,
  updateAudit,
  withFills,
} from "../records/record.ts";
import { addTableFaults } from "../records/table-faults.ts";
import type { Assignment } from "../query/statement.ts";
import type { Scalar } from "../values/scalar.ts";

/** What create-composite and update-composite need. */
export interface CompositeNeeds extends RecordPlan {
  readonly composite: CompositePlan;
}

export function compositeNeeds(entity: Entity): CompositeNeeds | null {
  const plan = recordPlan(entity);
  const { composite } = entity;
  return plan && composite && { ...alwaysShowing(plan, composite.shownTotals), composite };
}

/** A detail that is there. */
export interface NamedDetail {
  readonly place: Place;
  /** Of the detail's `lineKey`. */
  readonly keyValue: KeyValue;
}

/** A new detail, ready to be stored but for its header's key. */
export interface NewDetail {
  readonly place: Place;
  readonly values: ReadonlyMap<Column, Scalar>;
}

/** An existing detail, and its changes. */
export interface ChangedDetail extends NamedDetail {
  /** Empty: it has its key alone. */
  readonly set: readonly Assignment[];
}

/** The call with one time for everything that it writes. */
export function atOneTime<C extends Call>(call: C): C {
  const now = call.now();
  return { ...call, now: () => now };
}

/** `actor`: who created the header; a detail may name another. */
export function newDetail(
  call: Call,
  place: Place,
  { actor, errors }: { actor: Scalar; errors: FieldErrors },
): NewDetail {
  const { detail, sent } = place;
  const { rules, writable } = detail;
  const given = { body: sent, fills: call.lineFills(detail.table), newId: call.newId };
  const checked = rules.check(withFills(given, detail), "create", writable);
  const found: FieldErrors = { ...checked.errors };
  const values = new Map<Column, Scalar>([
    ...filledBeside({ ...given, rules }, detail),
    ...checked.values,
  ]);
  values.delete(detail.foreignKey);
  const made = newKey(given, detail, detail.rules, found);
  for (const [column, value] of made) values.set(column, value);
  const later = () => [detail.foreignKey, ...filledLater({ write: detail })];
  addTableFaults(found, call.entity, { table: detail.table, values, later });
  for (const [column, value] of collectingErrors(found, () =>
    createAudit({ write: detail }, { ...call, body: sent, creator: actor }),
  ))
    values.set(column, value);
  for (const computation of detail.computed) {
    const { column, operands } = computation;
    const byName = new Map(operands.map((one) => [one.name, one]));
    const foreseen = foresee(computation, (name) => values.get(byName.get(name)!));
    if (!foreseen.ok) found[detail.shown.has(column.name) ? column.name : ""] = [foreseen.message];
    else if (foreseen.value !== undefined) values.set(column, foreseen.value);
  }
  addErrors(errors, place, found);
  return { place, values };
}

export function changedDetail(
  call: Call,
  { place, keyValue }: NamedDetail,
  errors: FieldErrors,
): ChangedDetail {
  const { detail, sent } = place;
  const checked = detail.rules.check(sent, "update", detail.writable);
  const found: FieldErrors = { ...checked.errors };
  const stamped = [
    ...collectingErrors(found, () => updateAudit({ write: detail }, { ...call, body: sent })),
  ];
  addErrors(errors, place, found);
  const isChanged = isChange(sent, checked.values, detail.audit);
  return { place, keyValue, set: isChanged ? [...settingAll(checked.values), ...stamped] : [] };
}

export const noSuchDetail = ({ table }: DetailPlan): AppError =>
  notFound(`${table.name} record not found in this header`);
