/** Shapes that the schemas of requests and answers are built of. */
import type { JsonSchema } from "./json-schema.ts";

type Members = Readonly<Record<string, JsonSchema>>;

/** An object of these members and no others; `required`: absent = none. */
export const closedObject = (
  properties: Members,
  required: readonly string[] = [],
): JsonSchema => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});

/** An object that always has all of these members, and no others. */
export const wholeObject = (properties: Members): JsonSchema =>
  closedObject(properties, Object.keys(properties));

/** One of the schemas; a lone one is itself. */
export const anyOf = (schemas: readonly JsonSchema[]): JsonSchema =>
  schemas.length === 1 ? schemas[0]! : { anyOf: schemas };

/** A member that must be absent. */
export const absent: JsonSchema = { not: {} };
