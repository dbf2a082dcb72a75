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

/** The schema, and null besides. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: members } = schema;
  return {
    ...schema,
    ...(type !== undefined && { type: [type, "null"].flat() }),
    ...(Array.isArray(members) && { enum: [...members, null] }),
  };
}
