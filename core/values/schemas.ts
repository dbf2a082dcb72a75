/**
 * The values of a column as JSON Schema (2020-12). What a database allows to be stored by others and JSON cannot say (NaN,
 * infinite dates, MySQL's zero date) is shown as null, which these schemas do not mention.
 */
import type { Column } from "./column.ts";
import { type JsonSchema, orNull } from "./json-schema.ts";
import { unlimited } from "./accept.ts";
import { groupReason } from "./type-groups.ts";
import { columnTypes } from "./column-types.ts";
import type { Decimals } from "./type-definition.ts";

/** What answers show of the column. `decimals` as project.json says. */
export function shownSchema(column: Column, decimals: Decimals = "number"): JsonSchema {
  const schema = nulled(column, columnTypes[column.type].shownSchema(column, decimals));
  const reason = groupReason(column);
  return reason === null ? schema : { ...schema, description: `It ${reason}.` };
}

/**
 * What a body may hold for the column, in every form that is taken (`42` and `"42"`). It refuses nothing that the service takes;
 * what it cannot say (digits of a decimal, bytes of a text) the service refuses alone.
 */
export function acceptedSchema(column: Column): JsonSchema {
  return nulled(column, columnTypes[column.type].acceptedSchema(column));
}

/**
 * What a condition may compare the column with, without the column's own limits and without null. Null where it can only be asked whether
 * there is a value.
 */
export function comparedSchema(column: Column): JsonSchema | null {
  const { isCompared, acceptedSchema: schemaOf } = columnTypes[column.type];
  return isCompared ? schemaOf(unlimited(column)) : null;
}

/** What `=` and `!=` compare the column with: the whole value where it holds others. Without null. */
export function equalSchema(column: Column): JsonSchema {
  return columnTypes[column.type].acceptedSchema(unlimited(column));
}

const nulled = ({ nullable }: Column, schema: JsonSchema): JsonSchema =>
  nullable ? orNull(schema) : schema;
