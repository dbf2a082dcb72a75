/** Answers as they are sent: the action's answer in the common envelope. */
import type { Action } from "../calls/action.ts";
import type { JsonForm } from "../calls/answer.ts";
import type { JsonSchema } from "../values/json-schema.ts";

/** The time of the service in examples. */
export const exampleTime = "2026-01-31T09:30:00.000Z";

const timestamp: JsonSchema = { type: "string", format: "date-time", examples: [exampleTime] };

/** Of answers to a dry run. */
export const dryRun: JsonSchema = {
  const: true,
  description: "All that the request wrote was undone.",
};

/** The whole answer of the action. */
export const answeredSchema = (
  { schema, isBare = false }: JsonForm,
  { headers }: Pick<Action, "headers">,
): JsonSchema => {
  if (isBare) return schema;
  return headers.has("Prefer") ? enveloped(schema, { dry_run: dryRun }) : enveloped(schema);
};

/** Each branch of an object gets the envelope; a branch may itself define `success` as false. */
export function enveloped(
  schema: JsonSchema,
  more: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  if (schema.anyOf)
    return { type: "object", ...schema, anyOf: schema.anyOf.map((one) => enveloped(one, more)) };
  const { success = { const: true }, ...members } = schema.properties ?? {};
  return {
    ...schema,
    properties: { success, ...members, ...more, timestamp },
    required: [...new Set(["success", ...(schema.required ?? []), "timestamp"])],
  };
}
