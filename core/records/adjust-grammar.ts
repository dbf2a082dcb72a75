/** What a body of adjust may contain: the key, and what to add to which field. The sum per field is checked later. */
import {
  asSent,
  described,
  type Grammar,
  list,
  meaning,
  object,
  optional,
  type Parts,
  text,
  whatever,
} from "../grammar/grammar.ts";
import { actorsOf } from "../plans/audit-columns.ts";
import type { Entity } from "../plans/entity.ts";
import type { AdjustField, AdjustPlan } from "../plans/write-plan.ts";
import { arithmeticOf, scaleOf } from "../values/types/arithmetic.ts";
import { closest } from "../values/closest.ts";
import type { Column } from "../values/types/column.ts";
import { addDecimals, compareDecimals, digitsOf, normalDecimal } from "../values/decimal.ts";
import {
  type AppError,
  collectingErrors,
  type FieldErrors,
  invalidPayload,
  validationFailed,
} from "../values/errors.ts";
import { ExactNumber } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import type { KeyValue } from "../values/types/key.ts";
import { limits } from "../values/limits.ts";
import type { RecordPlan } from "./record.ts";
import { keyOf } from "./record-key.ts";
import { actorMembers, keyMembers, namesOf } from "./record-grammar.ts";

export interface AdjustRequest {
  readonly keyValue: KeyValue;
  readonly adjustments: readonly Adjustment[];
}

/** One adjustment as it was sent; whether its value fits is not known yet. */
export interface Adjustment {
  readonly field: AdjustField;
  readonly number: string;
  readonly reason: string | null;
}

/** A field, and the exact sum that the request adds to it. */
export interface FieldChange {
  readonly field: AdjustField;
  readonly delta: string;
}

export function adjustRequest(
  {
    write: { key, audit, shown },
    adjust,
    adjustments,
  }: RecordPlan & {
    readonly adjust: AdjustPlan;
    readonly adjustments: Grammar<readonly Adjustment[]>;
  },
  entity: Entity,
): Grammar<AdjustRequest> {
  const shape = (): Grammar<unknown> => {
    const actors = actorMembers(actorsOf(audit, "update"), shown, entity.rules);
    const members: Parts = { ...keyMembers(key), ...membersOf(adjust), ...actors };
    const body = object(members, { required: [...namesOf(key), "adjustments"] });
    return adjust.reasonRequired ? described(body, { anyOf: reasonForms(adjust) }) : body;
  };
  return meaning(asSent(shape), (body) => ({
    keyValue: keyOf({ body, entity }, key),
    adjustments: adjustments.read(body),
  }));
}

/** The adjustments of a body, each with its own reason or the common one. */
export const adjustmentsOf = (plan: AdjustPlan): Grammar<readonly Adjustment[]> =>
  meaning(object(membersOf(plan)), ({ adjustments, reason: common }) =>
    adjustments.map((one) => ({ ...one, reason: one.reason ?? common })),
  );

/** The different reasons in one text, as the history keeps it; null: none is given. */
export function joinedReasons({ adjustments }: AdjustRequest): string | null {
  const given = new Set(adjustments.flatMap(({ reason: one }) => (one?.trim() ? [one] : [])));
  const all = [...given].join("; ");
  return all === "" ? null : all.slice(0, limits.reasonLengthMax).toWellFormed();
}

/** The amount to add per field. Rejects a missing reason, and a number that the field cannot store. */
export function changesIn(adjustments: readonly Adjustment[], plan: AdjustPlan): FieldChange[] {
  const sums = new Map<AdjustField, string>();
  const errors: FieldErrors = {};
  for (const { field, number, reason: given } of adjustments) {
    if (plan.reasonRequired && !given?.trim())
      throw invalidPayload("Each adjustment must have a reason");
    for (const delta of collectingErrors(errors, () => [deltaOf(number, field.column)]))
      sums.set(field, addDecimals(sums.get(field) ?? "0", delta));
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return [...sums].map(([field, delta]) => ({ field, delta }));
}

const reason = optional(
  text(() => invalidPayload("reason must be text")),
  null,
);

const membersOf = (plan: AdjustPlan) => ({ adjustments: adjustmentList(plan), reason });

/** `reason`, `required`: how the schema describes one adjustment. */
const adjustmentList = (
  plan: AdjustPlan,
  form: ItemForm = { reason: reason.schema() },
): Grammar<Adjustment[]> =>
  list(
    meaning(
      object({ field: field(plan), value: whatever, reason }, { fault: notAnAdjustment }),
      (sent) => ({ ...sent, number: numberOf(sent.value, sent.field.column) }),
      () => itemSchema(plan, form),
    ),
    {
      fault: () => invalidPayload("adjustments must be a non-empty array"),
      min: 1,
      max: limits.adjustmentsMax,
      tooMany: () => invalidPayload(`adjustments takes at most ${limits.adjustmentsMax} items`),
    },
  );

const notAnAdjustment = () => invalidPayload("Each adjustment must be an object {field, value}");

const field = ({ fields }: AdjustPlan): Grammar<AdjustField> =>
  meaning(text(notAnAdjustment), (name) => {
    const found = fields.get(name);
    if (found) return found;
    const near = closest(name, fields.keys());
    throw invalidPayload(
      `Field "${name.slice(0, 100)}" is not configured for adjustment${near ? `; did you mean "${near}"?` : ""}`,
    );
  });

/** The number as text that was sent. */
function numberOf(value: unknown, column: Column): string {
  if (value instanceof ExactNumber) return value.source;
  if (typeof value !== "number") throw notANumber(column);
  return String(value);
}

const notANumber = ({ name }: Column): AppError =>
  invalidPayload(`The value for "${name}" must be a number other than zero`);

/** The delta as exact decimal text that fits the column. */
function deltaOf(number: string, column: Column): string {
  const delta = normalDecimal(number);
  if (delta === null || delta === "0" || !Number.isFinite(Number(delta))) throw notANumber(column);
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

/** How the schema describes one adjustment. */
interface ItemForm {
  readonly reason: JsonSchema;
  readonly required?: readonly string[];
}

const itemSchema = (
  { fields }: AdjustPlan,
  { reason: schema, required = [] }: ItemForm,
): JsonSchema =>
  anyOf(
    [...fields].map(([name, one]) =>
      closedObject({ field: { const: name }, value: deltaSchema(one), reason: schema }, [
        "field",
        "value",
        ...required,
      ]),
    ),
  );

/** A reason is required once for all adjustments, or in each. Blanks are no reason. */
function reasonForms(plan: AdjustPlan): JsonSchema[] {
  const listOf = (form: ItemForm): JsonSchema => adjustmentList(plan, form).schema();
  const filled: JsonSchema = { type: "string", pattern: "\\S" };
  const mayBeFilled: JsonSchema = { ...filled, type: ["string", "null"] };
  return [
    {
      required: ["reason"],
      properties: { reason: filled, adjustments: listOf({ reason: mayBeFilled }) },
    },
    { properties: { adjustments: listOf({ reason: filled, required: ["reason"] }) } },
  ];
}

/** A number other than zero, no larger than the column holds, with its digits. */
function deltaSchema({ column }: AdjustField): JsonSchema {
  const max = arithmeticOf(column).rangeOf(column)?.max;
  const maximum = max === undefined ? Number.MAX_VALUE : numberBelow(max);
  const scale = scaleOf(column);
  const digits: JsonSchema = {
    type: scale === 0 ? "integer" : "number",
    ...(scale !== null && scale > 0 && { multipleOf: Number(`1e-${scale}`) }),
  };
  return {
    anyOf: [
      { ...digits, exclusiveMinimum: 0, maximum },
      { ...digits, minimum: -maximum, exclusiveMaximum: 0 },
    ],
  };
}

/** The largest number that JSON writes with no more than these digits; they are positive. */
function numberBelow(digits: string): number {
  const number = Number(digits);
  const written = normalDecimal(String(number)) ?? digits;
  return compareDecimals(written, digits) > 0 ? number * (1 - Number.EPSILON) : number;
}
