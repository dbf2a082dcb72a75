/**
 * adjust: adds to numeric fields of one record, in one UPDATE that the database computes, so that concurrent calls
 * never lose a change. The guard compares the stored value with a bound that is computed here (`f >= min - delta`).
 * Computing `f + delta` in SQL would overflow on unsigned columns and at the column's maximum, differently on each
 * engine.
 */
import { type Call, defineAction } from "../calls/action.ts";
import {
  addDecimals,
  compareDecimals,
  normalDecimal,
  subtractDecimals,
} from "../values/decimal.ts";
import type { Grammar } from "../grammar/grammar.ts";
import type { Column } from "../values/types/column.ts";
import type { AdjustPlan } from "../plans/write-plan.ts";
import { AppError, noSuchRecord, validationFailed } from "../values/errors.ts";
import type { Queries } from "../query/session.ts";
import type { Row } from "../values/row.ts";
import {
  beginChange,
  changePlan,
  type RecordPlan,
  alwaysShowing,
  updateAudit,
} from "../records/record.ts";
import { allOf, type Assignment, type Condition, type UpdateOne } from "../query/statement.ts";
import { rowOf } from "../query/key-conditions.ts";
import type { KeyValue } from "../values/types/key.ts";
import {
  type Adjustment,
  adjustmentsOf,
  adjustRequest,
  type AdjustRequest,
  type FieldChange,
  changesIn,
  joinedReasons,
} from "../records/adjust-grammar.ts";
import { writeAnswerSchema } from "../records/record-schema.ts";
import { arithmeticOf } from "../values/types/arithmetic.ts";

interface AdjustNeeds extends RecordPlan {
  readonly adjust: AdjustPlan;
  readonly adjustments: Grammar<readonly Adjustment[]>;
}

export const adjust = defineAction<AdjustNeeds, AdjustRequest>({
  name: "adjust",
  summary: "Adds to numeric fields of one record, so that concurrent calls lose nothing.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "updates", "adjustConfig", "auditColumns"],
  headers: ["If-Match", "X-Lock-Token", "Idempotency-Key"],
  events: ["onBeforeAdjust", "onAfterAdjust"],
  errors: ["validationFailed", "foreignKeyMissing", "duplicateEntry", "constraintViolation"],
  takesOptions: true,

  needs(entity) {
    const plan = changePlan(entity);
    const { adjust: own } = entity;
    return (
      plan &&
      own && { ...alwaysShowing(plan, own.shown), adjust: own, adjustments: adjustmentsOf(own) }
    );
  },
  grammar: (plan, { entity }) => adjustRequest(plan, entity),
  reasonOf: joinedReasons,
  answer: (plan, { entity }) => ({
    status: 200,
    schema: writeAnswerSchema(plan, entity, "adjusted"),
    hasEtag: true,
  }),

  begin(call, plan) {
    const { keyValue, adjustments } = call.input;
    return beginChange(call, plan, {
      keyValue,
      events: { before: "onBeforeAdjust", after: "onAfterAdjust" },
      prepare(asked) {
        const sent = asked === call ? adjustments : plan.adjustments.read(asked.body);
        const changes = changesIn(sent, plan.adjust);
        const statement = statementOf(asked, plan, { keyValue, changes });
        return async (queries) => {
          for (let tries = 1; tries <= triesMax; tries++) {
            const row = await queries.updateOne(statement);
            if (row) return row;
            const fault = await refusal(call, { plan, keyValue, changes }, queries);
            if (fault) throw fault;
          }
          // Other requests keep changing the record: with a limit, the limit refused the change.
          throw changes.some((change) => guardOf(change).length > 1)
            ? limitExceeded(changes)
            : noSuchRecord(call.entity);
        };
      },
      message: `${call.entity.name} data successfully adjusted`,
    });
  },
});

function statementOf(
  call: Call,
  plan: AdjustNeeds,
  { keyValue, changes }: { keyValue: KeyValue; changes: readonly FieldChange[] },
): UpdateOne {
  const { table, key, shown } = plan.write;
  const adds: Assignment[] = changes.map(({ field, delta }) => ({
    kind: "add",
    column: field.column,
    delta,
  }));
  return {
    kind: "update",
    table,
    key,
    keyValue,
    guard: allOf(...changes.flatMap(guardOf)),
    set: [...adds, ...updateAudit(plan, call)],
    returning: [...shown.values()],
  };
}

/** The condition on the stored value that keeps the result within the minimum and the column's range. */
function guardOf({ field, delta }: FieldChange): Condition[] {
  const { column, min } = field;
  const range = arithmeticOf(column).rangeOf(column);
  const isRise = compareDecimals(delta, "0") > 0;
  const lowest = isRise ? min : higherOf(min, range?.min ?? null);
  const guards: Condition[] = [{ kind: "null", column, negated: true }];
  if (lowest !== null) guards.push(boundBy(column, ">=", subtractDecimals(lowest, delta)));
  if (range && isRise) guards.push(boundBy(column, "<=", subtractDecimals(range.max, delta)));
  return guards;
}

function higherOf(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return compareDecimals(one, other) > 0 ? one : other;
}

/** Not every engine accepts a bound outside the column's range. Such a condition is always or never true. */
function boundBy(column: Column, operator: ">=" | "<=", bound: string): Condition {
  const { rangeOf, fromDigits } = arithmeticOf(column);
  const range = rangeOf(column);
  const isAbove = range !== null && compareDecimals(bound, range.max) > 0;
  const isBelow = range !== null && compareDecimals(bound, range.min) < 0;
  if (isAbove || isBelow)
    return { kind: isAbove === (operator === "<=") ? "and" : "or", members: [] };
  return { kind: "compare", column, operator, value: fromDigits(bound) };
}

/** Between the statement and the check, a record may enter the caller's scope or the change may become possible. */
const triesMax = 2;

/**
 * The error when no row was changed: the record does not exist, or a field is empty, or the result would be below the
 * minimum or outside the column's range. Null: nothing is in the way any more.
 */
async function refusal(
  call: Call,
  {
    plan,
    keyValue,
    changes,
  }: { plan: AdjustNeeds; keyValue: KeyValue; changes: readonly FieldChange[] },
  queries: Queries,
): Promise<AppError | null> {
  const { table, key } = plan.write;
  const columns = [...key, ...changes.map(({ field }) => field.column)];
  const row = await queries.one(rowOf({ table, key, keyValue }, columns));
  if (!row) return noSuchRecord(call.entity);
  const empty = changes.filter((change) => resultOf(change, row) === null);
  if (empty.length > 0)
    return refusedChange(`The record has no value of ${namesOf(empty)} to add to`);
  const outside = changes
    .filter((change) => leavesRange(change, row))
    .map(({ field }) => field.column.name);
  if (outside.length > 0) {
    return validationFailed(
      Object.fromEntries(outside.map((name) => [name, ["is out of the column's range"]])),
    );
  }
  const below = changes.filter((change) => isBelowMinimum(change, row));
  return below.length === 0 ? null : limitExceeded(below);
}

const limitExceeded = (changes: readonly FieldChange[]): AppError =>
  refusedChange(`The adjustment would exceed a limit of ${namesOf(changes)}`);

const namesOf = (changes: readonly FieldChange[]): string =>
  changes.map(({ field }) => field.column.name).join(", ");

const refusedChange = (reason: string): AppError =>
  new AppError("constraintViolation", `${reason}; nothing was changed`);

function leavesRange(change: FieldChange, row: Row): boolean {
  const { column } = change.field;
  const range = arithmeticOf(column).rangeOf(column);
  const result = resultOf(change, row);
  if (range === null || result === null || isBelowMinimum(change, row)) return false;
  return compareDecimals(result, range.max) > 0 || compareDecimals(result, range.min) < 0;
}

function isBelowMinimum(change: FieldChange, row: Row): boolean {
  const { min } = change.field;
  const result = resultOf(change, row);
  return result !== null && min !== null && compareDecimals(result, min) < 0;
}

/** Null: there is no value to add to. */
function resultOf({ field, delta }: FieldChange, row: Row): string | null {
  const current = row[field.column.name] ?? null;
  return current === null ? null : addDecimals(normalDecimal(String(current)) ?? "0", delta);
}
