/**
 * A field of a body as JSON Schema: what its column takes, and what its rules ask for. For a client that sends plain values
 * this says what is taken; forms that are converted first (a number as text, blanks that `trim` cuts off) may be taken although
 * the schema refuses them, and what JSON Schema has no words for (digits after the decimal point, another field) is not in it.
 */
import type { Column } from "../values/column.ts";
import { type JsonSchema, narrowed, orNull } from "../values/json-schema.ts";
import { acceptedSchema } from "../values/schemas.ts";
import { bareColumn, prepareField } from "./field.ts";
import { keywordsOf, ruleNames } from "./field-rules.ts";
import type { FieldRule } from "./rule-definition.ts";

export function fieldSchema(column: Column, rule: FieldRule | undefined): JsonSchema {
  if (rule === undefined) return acceptedSchema(column);
  const bare = bareColumn(column, rule);
  const checked = bare.type === column.type ? column : bare;
  let schema = acceptedSchema({ ...checked, nullable: false });
  for (const name of ruleNames) schema = narrowed(schema, keywordsOf(name, { rule, bare }));
  const { presences } = prepareField(column, rule);
  const isNullable = column.nullable && !presences.some(({ refuses }) => refuses(null));
  return isNullable ? orNull(schema) : schema;
}
