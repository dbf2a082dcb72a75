/**
 * The part of JSON Schema (2020-12) that describes requests and answers, as plain values. A part that is used in
 * several places may be one object, so that a printed document can name it once.
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
  readonly maxProperties?: number;
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
  /** The value is shown in answers, and ignored in requests. */
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
}

/** Takes every JSON value. */
export const anything: JsonSchema = {};

/** The schema, or null. */
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

/** The intersection of both schemas. Keywords of both are merged if that is simple; otherwise `allOf` is used. */
export function narrowed(schema: JsonSchema, further: JsonSchema): JsonSchema {
  const joined: JsonSchema = {
    ...further,
    ...schema,
    ...(further.type !== undefined && { type: commonTypes(schema.type, further.type) }),
    ...Object.fromEntries(
      bounds.flatMap(([keyword, stricter]) => {
        const values = [schema[keyword], further[keyword]].filter((value) => value !== undefined);
        return values.length === 0 ? [] : [[keyword, stricter(...values)]];
      }),
    ),
  };
  const plain: readonly string[] = ["type", "allOf", ...bounds.map(([keyword]) => keyword)];
  const apart = Object.entries(further).filter(
    ([keyword]) => Object.hasOwn(schema, keyword) && !plain.includes(keyword),
  );
  const allOf = [
    ...(schema.allOf ?? []),
    ...(further.allOf ?? []),
    ...apart.map((entry): JsonSchema => Object.fromEntries([entry])),
  ];
  return allOf.length === 0 ? joined : { ...joined, allOf };
}

/** Keywords whose stricter value includes the other one. */
const bounds = [
  ["minimum", Math.max],
  ["exclusiveMinimum", Math.max],
  ["minLength", Math.max],
  ["minItems", Math.max],
  ["maximum", Math.min],
  ["exclusiveMaximum", Math.min],
  ["maxLength", Math.min],
  ["maxItems", Math.min],
] as const;

function commonTypes(
  own: JsonSchema["type"],
  further: JsonType | readonly JsonType[],
): JsonType | readonly JsonType[] {
  if (own === undefined) return further;
  const asked = [further].flat();
  const common = [own]
    .flat()
    .filter((type) => asked.includes(type) || (type === "integer" && asked.includes("number")));
  return common.length === 1 ? common[0]! : common;
}
