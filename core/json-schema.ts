/**
 * The part of JSON Schema (2020-12) in which the service says what requests and answers hold, as plain values. A part that stands in
 * several places may be one object, so that whoever prints a document can name it once.
 */
import type { Json } from "./json.ts";

export type JsonType = "null" | "boolean" | "integer" | "number" | "string" | "array" | "object";

/** Keywords and their values; without any it takes every JSON value. */
export interface JsonSchema {
  readonly description?: string;
  readonly type?: JsonType | readonly JsonType[];
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly minProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly contentEncoding?: "base64";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly default?: Json;
  readonly examples?: readonly Json[];
  /** The value is shown, and ignored where a request holds it. */
  readonly readOnly?: boolean;
}

/** The schema, and null besides. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: members, anyOf } = schema;
  if (anyOf !== undefined) return { ...schema, anyOf: [...anyOf, { type: "null" }] };
  if (members?.includes(null)) return schema;
  const types = type === undefined ? [] : [type].flat();
  return {
    ...schema,
    ...(types.length > 0 && { type: [...new Set<JsonType>([...types, "null"])] }),
    ...(members && { enum: [...members, null] }),
  };
}
