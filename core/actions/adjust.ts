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
  digitsOf,
  normalDecimal,
  subtractDecimals,
} from "../values/decimal.ts";
import type { Column } from "../values/column.ts";
import type { AdjustField, AdjustPlan } from "../plans/entity.ts";
import { AppError, invalidPayload, noSuchRecord, validationFailed } from "../values/errors.ts";
import { ExactNumber } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { Queries } from "../callers/session.ts";
import type { Row } from "../plans/ports.ts";
import { beginChange, changePlan, type RecordPlan, updateAudit } from "../records/record.ts";

import {
  allOf,
  type Assignment,
  type Condition,
  sourceOf,
  type UpdateOne,
} from "../query/statement.ts";
import { keyIs } from "../query/key-conditions.ts";
import type { KeyValue } from "../values/key.ts";
import { closest } from "../values/closest.ts";
import { adjustSchema } from "../records/adjust-schema.ts";
import { writeAnswerSchema } from "../records/record-schema.ts";
import { arithmeticOf, scaleOf } from "../values/arithmetic.ts";

interface AdjustNeeds extends RecordPlan {
  readonly adjust: AdjustPlan;
}

/** A field, and the exact sum that the request adds to it. */
interface Change {
  readonly field: AdjustField;
  readonly delta: string;
}

export const adjust = defineAction<AdjustNeeds>({
  name: "adjust",
  summary: "Adds to numeric fields of one record, so that concurrent calls lose nothing.",
  mode: "writes",
  methods: ["POST"],
  requires: ["key", "updates", "adjustConfig", "auditColumns"],
  headers: ["If-Match", "X-Lock-Token", "Idempotency-Key"],
  events: ["onBeforeAdjust", "onAfterAdjust"],
  errors: ["validationFailed", "foreignKeyMissing", "duplicateEntry", "constraintViolation"],
  takesOptions: true,
  takesEmptyBody: false,

  needs(entity) {
    const plan = changePlan(entity);
    return plan && entity.adjust && { ...plan, adjust: entity.adjust };
  },
  input: (plan) => adjustSchema(plan),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: writeAnswerSchema(plan, entity, "adjusted"),
    hasEtag: true,
  }),

  begin(call, plan) {
    return beginChange(call, plan, {
      events: { before: "onBeforeAdjust", after: "onAfterAdjust" },
      prepare(asked, keyValue) {
        const changes = parseAdjustments(asked.body, plan.adjust);
        const statement = statementOf(asked, plan, { keyValue, changes });
        return async (queries) => {
          const row = await queries.updateOne(statement);
          if (!row) throw await refusal(call, { plan, keyValue, changes }, queries);
          return row;
        };
      },
      message: `${call.entity.name} data successfully adjusted`,
    });
  },
});

function statementOf(
  call: Call,
  plan: AdjustNeeds,
  { keyValue, changes }: { keyValue: KeyValue; changes: readonly Change[] },
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

function parseAdjustments(body: Record<string, unknown>, plan: AdjustPlan): Change[] {
  const items = body["adjustments"];
  if (!Array.isArray(items) || items.length === 0)
    throw invalidPayload("adjustments must be a non-empty array");
  if (items.length > limits.adjustmentsMax) {
    throw invalidPayload(`adjustments takes at most ${limits.adjustmentsMax} items`);
  }
  const common = reasonOf(body["reason"]);
  const sums = new Map<AdjustField, string>();
  for (const item of items as unknown[]) {
    const {
      field: name,
      value,
      reason,
    } = (item ?? {}) as { field?: unknown; value?: unknown; reason?: unknown };
    const field = fieldOf(name, plan);
    const given = reasonOf(reason) ?? common;
    if (plan.reasonRequired && !given?.trim())
      throw invalidPayload("Each adjustment must have a reason");
    sums.set(field, addDecimals(sums.get(field) ?? "0", deltaOf(value, field.column)));
  }
  return [...sums].map(([field, delta]) => ({ field, delta }));
}

function fieldOf(name: unknown, plan: AdjustPlan): AdjustField {
  if (typeof name !== "string")
    throw invalidPayload("Each adjustment must be an object {field, value}");
  const field = plan.fields.get(name);
  if (field) return field;
  const near = closest(name, plan.fields.keys());
  throw invalidPayload(
    `Field "${name.slice(0, 100)}" is not configured for adjustment${near ? `; did you mean "${near}"?` : ""}`,
  );
}

function reasonOf(reason: unknown): string | null {
  if (reason === undefined || reason === null) return null;
  if (typeof reason !== "string") throw invalidPayload("reason must be text");
  return reason;
}

/** The delta as exact decimal text that fits the column. */
function deltaOf(value: unknown, column: Column): string {
  const number =
    value instanceof ExactNumber ? value.source : typeof value === "number" ? String(value) : null;
  const delta = number === null ? null : normalDecimal(number);
  if (delta === null || delta === "0" || !Number.isFinite(Number(delta))) {
    throw invalidPayload(`The value for "${column.name}" must be a number other than zero`);
  }
  const range = arithmeticOf(column).rangeOf(column);
  if (range && compareDecimals(delta.replace("-", ""), range.max) > 0) {
    throw validationFailed({ [column.name]: ["is out of the column's range"] });
  }
  const { scale } = digitsOf(delta);
  const scaleMax = scaleOf(column) ?? Infinity;
  if (scale > scaleMax) {
    throw invalidPayload(
      scaleMax === 0
        ? `The value for "${column.name}" must be a whole number`
        : `The value for "${column.name}" must have at most ${scaleMax} decimal places`,
    );
  }
  return delta;
}

/** The condition on the stored value that keeps the result within the minimum and the column's range. */
function guardOf({ field, delta }: Change): Condition[] {
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

/**
 * The error when no row was changed: the record does not exist, or the result would be below the minimum or outside the
 * column's range.
 */
async function refusal(
  call: Call,
  {
    plan,
    keyValue,
    changes,
  }: { plan: AdjustNeeds; keyValue: KeyValue; changes: readonly Change[] },
  queries: Queries,
): Promise<AppError> {
  const row = await queries.one({
    kind: "select",
    source: sourceOf(plan.write.table),
    columns: [...plan.write.key, ...changes.map(({ field }) => field.column)],
    where: keyIs(plan.write.key, keyValue),
    sort: [],
    limit: 1,
    offset: 0,
    lock: false,
  });
  if (!row) return noSuchRecord(call.entity);
  const outside = changes
    .filter((change) => leavesRange(change, row))
    .map(({ field }) => field.column.name);
  if (outside.length > 0) {
    return validationFailed(
      Object.fromEntries(outside.map((name) => [name, ["is out of the column's range"]])),
    );
  }
  const names = changes.map(({ field }) => field.column.name).join(", ");
  return new AppError(
    "constraintViolation",
    `The adjustment would exceed a limit of ${names}; nothing was changed`,
  );
}

function leavesRange({ field, delta }: Change, row: Row): boolean {
  const range = arithmeticOf(field.column).rangeOf(field.column);
  const current = row[field.column.name];
  if (range === null || current === null || current === undefined) return false;
  const result = addDecimals(normalDecimal(String(current)) ?? "0", delta);
  if (field.min !== null && compareDecimals(result, field.min) < 0) return false;
  return compareDecimals(result, range.max) > 0 || compareDecimals(result, range.min) < 0;
}
