/** Answers as they are sent: the action's answer in the common envelope. */
import type { JsonForm } from "../calls/action.ts";
import type { JsonSchema } from "../values/json-schema.ts";

/** The time of the service in examples. */
export const exampleTime = "2026-01-31T09:30:00.000Z";

const timestamp: JsonSchema = {
  type: "string",
  format: "date-time",
  examples: [exampleTime],
};

/** The whole answer. */
export const answeredSchema = ({ schema, isBare = false }: JsonForm): JsonSchema =>
  isBare ? schema : enveloped(schema);

/** Each branch of an object gets the envelope; a branch may itself define `success` as false. */
export function enveloped(schema: JsonSchema): JsonSchema {
  if (schema.anyOf) return { type: "object", ...schema, anyOf: schema.anyOf.map(enveloped) };
  const { success = { const: true }, ...members } = schema.properties ?? {};
  return {
    ...schema,
    properties: { success, ...members, timestamp },
    required: [...new Set(["success", ...(schema.required ?? []), "timestamp"])],
  };
}
