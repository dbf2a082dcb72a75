/**
 * JSON Schemas (draft 2020-12) as plain values. What a column shows and takes is said in them (`core/values/schemas.ts`), and
 * so is what a rule of `fieldValidation` adds.
 */

/** What stands behind a keyword. */
export type JsonSchemaValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonSchemaValue[]
  | { readonly [keyword: string]: JsonSchemaValue };

/** Keywords and their values; without any it takes every JSON value. */
export type JsonSchema = { readonly [keyword: string]: JsonSchemaValue };

/** Takes every JSON value. */
export const anything: JsonSchema = {};

/** The schema, and null besides. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: members } = schema;
  return {
    ...schema,
    ...(type !== undefined && { type: [type, "null"].flat() }),
    ...(Array.isArray(members) && { enum: [...new Set([...members, null])] }),
  };
}

/** What both schemas take. Keywords that both have are joined where that is plain, else they stand in `allOf`. */
export function narrowed(schema: JsonSchema, further: JsonSchema): JsonSchema {
  const joined: Record<string, JsonSchemaValue> = { ...schema };
  const rest: JsonSchemaValue[] = [];
  for (const [keyword, value] of Object.entries(further)) {
    const own = joined[keyword];
    if (own === undefined) joined[keyword] = value;
    else if (keyword === "type") joined[keyword] = commonTypes(own, value);
    else if (keyword.startsWith("min") || keyword === "exclusiveMinimum")
      joined[keyword] = Math.max(Number(own), Number(value));
    else if (keyword.startsWith("max") || keyword === "exclusiveMaximum")
      joined[keyword] = Math.min(Number(own), Number(value));
    else rest.push({ [keyword]: value });
  }
  return rest.length === 0 ? joined : { ...joined, allOf: rest };
}

function commonTypes(own: JsonSchemaValue, further: JsonSchemaValue): JsonSchemaValue {
  const asked = [further].flat();
  const common = [own]
    .flat()
    .filter((type) => asked.includes(type) || (type === "integer" && asked.includes("number")));
  return common.length === 1 ? common[0]! : common;
}
