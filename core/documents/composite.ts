/**
 * Parses and checks the body of a composite: the header's object under the name of its table, the details inside it,
 * and all faults of header and details at once. The database is not used here.
 */
import type { Call } from "../calls/action.ts";
import type { Column } from "../values/column.ts";
import { addErrors, type Place } from "./detail-errors.ts";
import type { CompositePlan, DetailPlan, Entity } from "../plans/entity.ts";
import {
  AppError,
  type FieldErrors,
  invalidPayload,
  notFound,
  validationFailed,
} from "../values/errors.ts";
import { keyNames, type KeyValue } from "../values/key.ts";
import { newKey, readKey, requiredFields } from "../records/record-key.ts";
import { compute, formulaFaults } from "../query/formula.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { createAudit, recordPlan, type RecordPlan, updateAudit } from "../records/record.ts";
import type { Assignment, Computation } from "../query/statement.ts";
import type { Scalar } from "../values/scalar.ts";
import { arithmeticOf } from "../values/arithmetic.ts";
import { mayHold } from "../query/where.ts";

/** What create-composite and update-composite need. */
export interface CompositeNeeds extends RecordPlan {
  readonly composite: CompositePlan;
}

export function compositeNeeds(entity: Entity): CompositeNeeds | null {
  const plan = recordPlan(entity);
  const { composite } = entity;
  return plan && composite && { ...plan, composite };
}

/** A new detail, ready to be stored but for its header's key. */
export interface NewDetail {
  readonly place: Place;
  readonly values: ReadonlyMap<Column, Scalar>;
}

/** A detail that is there, and what changes of it. */
export interface ChangedDetail {
  readonly place: Place;
  /** Of the detail's `lineKey`. */
  readonly keyValue: KeyValue;
  readonly set: readonly Assignment[];
}

/** The call with one time for everything that it writes. */
export function atOneTime(call: Call): Call {
  const now = call.now();
  return { ...call, now: () => now };
}

/** The body's object for the header: the one member that the body has. */
export function headerOf(
  body: Record<string, unknown>,
  { write }: RecordPlan,
): Record<string, unknown> {
  const { name } = write.table;
  const [root, ...others] = Object.keys(body);
  if (root !== name || others.length > 0) throw invalidPayload(`Root key must be '${name}'`);
  const header = body[name];
  if (!isObject(header)) throw invalidPayload(`${name} must be an object`);
  return header;
}

/** The member of the header's object that holds the details; undefined = there is none. */
export const detailsIn = (header: Record<string, unknown>, { table }: DetailPlan): unknown =>
  Object.hasOwn(header, table.name) ? header[table.name] : undefined;

/** The objects of one list of details. */
export function linesOf(items: readonly unknown[], about: Omit<Place, "index" | "sent">): Place[] {
  return items.map((sent, index) => {
    const place = { ...about, index, sent: {} };
    if (!isObject(sent)) throw invalidPayload(`${pathOf(place)} must be an object`);
    return { ...place, sent };
  });
}

/** Where the detail stands in the body. */
const pathOf = ({ detail, list, index }: Place): string =>
  `${detail.table.name}${list === null ? "" : `.${list}`}[${index}]`;

/** Rejects when the details of the body, all lists together, are more than one request may write. */
export function checkCount(count: number): void {
  if (count > limits.detailsMax)
    throw invalidPayload(`A request takes at most ${limits.detailsMax} details`);
}

/** `actor`: who created the header; a detail may name another. */
export function newDetail(
  call: Call,
  place: Place,
  { actor, errors }: { actor: Scalar; errors: FieldErrors },
): NewDetail {
  const { detail, sent } = place;
  const { rules, writable, audit } = detail;
  const checked = rules.check(sent, "create", writable);
  const found: FieldErrors = { ...checked.errors };
  const values = new Map<Column, Scalar>(checked.values);
  const made = newKey({ body: sent, newId: call.newId }, detail, found);
  for (const [column, value] of made) values.set(column, value);
  const body =
    audit.createdBy && !Object.hasOwn(sent, audit.createdBy.name)
      ? { ...sent, [audit.createdBy.name]: actor }
      : sent;
  for (const [column, value] of collectingErrors(found, () =>
    createAudit({ write: detail }, { ...call, body }),
  ))
    values.set(column, value);
  for (const computed of detail.computed) foresee(computed, values, found);
  addErrors(errors, place, found);
  return { place, values };
}

export function changedDetail(call: Call, place: Place, errors: FieldErrors): ChangedDetail {
  const { detail, sent } = place;
  const checked = detail.rules.check(sent, "update", detail.writable);
  const found: FieldErrors = { ...checked.errors };
  const set: Assignment[] = [...checked.values].map(([column, value]) => ({
    kind: "set",
    column,
    value,
  }));
  set.push(
    ...collectingErrors(found, () => updateAudit({ write: detail }, { ...call, body: sent })),
  );
  addErrors(errors, place, found);
  return { place, keyValue: detailKey(place), set };
}

/** What names a detail that is changed or deleted within its header. */
export function detailKey(place: Place): KeyValue {
  const { detail, sent } = place;
  const { key, lineKey, namesRecords } = detail;
  const path = pathOf(place);
  if (!namesRecords)
    throw new AppError("forbidden", `The details of ${detail.table.name} cannot be named`);
  const { values, missing } = readKey(sent, { named: lineKey, key, prefix: `${path}: the` });
  if (missing.length === lineKey.length)
    throw invalidPayload(`${path} needs the primary key ${keyNames(lineKey)}`);
  if (missing.length > 0) {
    const errors: FieldErrors = {};
    addErrors(errors, place, requiredFields(missing));
    throw validationFailed(errors);
  }
  if (!lineKey.every((column, at) => mayHold(column, values[at]!))) throw noSuchDetail(detail);
  return values;
}

export const noSuchDetail = ({ table }: DetailPlan): AppError =>
  notFound(`${table.name} record not found in this header`);

/**
 * The value that a computed column gets with the INSERT. The database computes it once more when the row is there, but checks and
 * NOT NULL are about the row as it comes in. Where an operand is left to the database, 0 stands in if there must be a value.
 */
function foresee(
  { column, formula, operands }: Computation,
  values: Map<Column, Scalar>,
  errors: FieldErrors,
): void {
  const isUnknown = (one: Column): boolean =>
    !values.has(one) &&
    (one.hasDefault || one.generated !== "none" || one.isFilledByTrigger === true);
  const { fromDigits } = arithmeticOf(column);
  if (operands.some(isUnknown)) {
    if (isDemanded(column)) values.set(column, fromDigits("0"));
    return;
  }
  const byName = new Map(operands.map((one) => [one.name, values.get(one) ?? null]));
  const result = compute(formula, column, (name) => {
    const value = byName.get(name) ?? null;
    return value === null ? null : String(value);
  });
  if (!result.ok) errors[column.name] = [formulaFaults[result.fault]];
  else values.set(column, result.value === null ? null : fromDigits(result.value));
}

/** Whether an INSERT must bring a value. */
export const isDemanded = (column: Column): boolean => !column.nullable && !column.hasDefault;

/** What `fill` gives; what it says of fields goes to the others that are at fault. */
export function collectingErrors<Item>(
  errors: FieldErrors,
  fill: () => Iterable<Item>,
): Iterable<Item> {
  try {
    return fill();
  } catch (error) {
    if (!(error instanceof AppError) || error.errors === undefined) throw error;
    Object.assign(errors, error.errors);
    return [];
  }
}
