/**
 * The values of a column as JSON Schema (2020-12). Values that other programs can store and JSON cannot express (NaN,
 * infinite dates, MySQL's zero date) are shown as null, which these schemas do not mention.
 */
import type { Column } from "./column.ts";
import { type JsonSchema, orNull } from "../json-schema.ts";
import { unlimited } from "./accept.ts";
import { groupReason } from "./type-groups.ts";
import { columnTypes } from "./column-types.ts";
import type { Decimals } from "./type-definition.ts";

/** What answers show of the column. `decimals` as in project.json. */
export function shownSchema(column: Column, decimals: Decimals = "number"): JsonSchema {
  const schema = nulled(column, columnTypes[column.type].shownSchema(column, decimals));
  const reason = groupReason(column);
  return reason === null ? schema : { ...schema, description: `It ${reason}.` };
}

/**
 * What a body may hold for the column, in every form that is accepted (`42` and `"42"`). It refuses nothing that the
 * service accepts; limits that it cannot express (digits of a decimal, bytes of a text) are checked by the service
 * only.
 */
export const acceptedSchema = (column: Column): JsonSchema =>
  nulled(column, columnTypes[column.type].acceptedSchema(column));

/**
 * Values that a condition may compare the column with, without the column's own limits and without null. Null if a
 * condition can only test whether there is a value.
 */
export function comparedSchema(column: Column): JsonSchema | null {
  const { isCompared, acceptedSchema: schemaOf } = columnTypes[column.type];
  return isCompared ? schemaOf(unlimited(column)) : null;
}

/** What `=` and `!=` compare the column with: the whole value if it contains others; null, if only that. */
export function equalSchema(column: Column): JsonSchema {
  const { isCompared, fromMember, acceptedSchema: schemaOf } = columnTypes[column.type];
  return isCompared || fromMember !== null ? schemaOf(unlimited(column)) : { enum: [null] };
}

const nulled = ({ nullable }: Column, schema: JsonSchema): JsonSchema =>
  nullable ? orNull(schema) : schema;
