/** What a column shows, takes and is compared with, as JSON Schemas. */
import type { Column, ColumnType } from "./column.ts";
import type { JsonSchema } from "./json-schema.ts";

const plain: Readonly<Record<ColumnType, JsonSchema>> = {
  text: { type: "string" },
  integer: { type: "integer" },
  decimal: { type: "number" },
  float: { type: "number" },
  boolean: { type: "boolean" },
  date: { type: "string", format: "date" },
  timestamp: { type: "string", format: "date-time" },
  time: { type: "string", format: "time" },
  uuid: { type: "string", format: "uuid" },
  json: {},
  bytes: { type: "string", contentEncoding: "base64" },
  array: { type: "array" },
  other: { type: "string" },
};

/** A value of the column as answers show it, or null. */
export const shownSchema = ({ type, nullable }: Column): JsonSchema =>
  type === "json" || !nullable ? plain[type] : { ...plain[type] };

/** A value that the column can store. */
export function acceptedSchema({ type, lengthMax, labels }: Column): JsonSchema {
  return {
    ...plain[type],
    ...(labels && { enum: labels }),
    ...(lengthMax !== null && { maxLength: lengthMax }),
  };
}

/** A value that the column can be compared with; null where it has no order and no equality. */
export const comparedSchema = ({ type, labels }: Column): JsonSchema | null =>
  type === "json" || type === "array" ? null : { ...plain[type], ...(labels && { enum: labels }) };
