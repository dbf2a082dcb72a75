/** Body of adjust as a JSON Schema of one entity. The sum of what it adds to a field may still leave the column's range. */
import { compareDecimals, normalDecimal } from "../values/decimal.ts";
import type { AdjustField, AdjustPlan } from "../plans/entity.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { arithmeticOf, scaleOf } from "../values/arithmetic.ts";
import type { RecordPlan } from "./record.ts";
import { actorSchema, keySchemas } from "./record-schema.ts";

const text: JsonSchema = { type: ["string", "null"] };
/** Blanks are no reason. */
const filled: JsonSchema = { type: ["string", "null"], pattern: "\\S" };

/** The key, and what to add to which field. */
export function adjustSchema({
  write: { key, audit, shown },
  adjust,
}: RecordPlan & { readonly adjust: AdjustPlan }): JsonSchema {
  const body = closedObject(
    {
      ...keySchemas(key),
      adjustments: adjustmentsSchema(adjust, { reason: text }),
      reason: text,
      ...actorSchema(audit.updatedBy, shown),
    },
    [...key.map(({ name }) => name), "adjustments"],
  );
  if (!adjust.reasonRequired) return body;
  const reason: JsonSchema = { ...filled, type: "string" };
  const onceForAll: JsonSchema = {
    required: ["reason"],
    properties: { reason, adjustments: adjustmentsSchema(adjust, { reason: filled }) },
  };
  const each: JsonSchema = {
    properties: { adjustments: adjustmentsSchema(adjust, { reason, required: ["reason"] }) },
  };
  return { ...body, anyOf: [onceForAll, each] };
}

const adjustmentsSchema = (
  { fields }: AdjustPlan,
  { reason, required = [] }: { reason: JsonSchema; required?: readonly string[] },
): JsonSchema => ({
  type: "array",
  minItems: 1,
  maxItems: limits.adjustmentsMax,
  items: anyOf(
    [...fields].map(([name, field]) =>
      closedObject({ field: { const: name }, value: deltaSchema(field), reason }, [
        "field",
        "value",
        ...required,
      ]),
    ),
  ),
});

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
