/** Records as answers show them, as JSON Schemas. */
import type { Columns } from "../values/column.ts";
import type { RequestSettings } from "../plans/entity.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { closedObject, wholeObject } from "../values/json-shapes.ts";
import { shownSchema } from "../values/schemas.ts";

/** A record as answers show it, with all of these columns. */
export const recordSchema = (columns: Columns, settings: RequestSettings): JsonSchema =>
  wholeObject(shownMembers(columns, settings));

/** A record with those of the columns that `select` asks for. */
export const selectedRecordSchema = (columns: Columns, settings: RequestSettings): JsonSchema =>
  closedObject(shownMembers(columns, settings));

/** What answers show of each of the columns. */
export const shownMembers = (
  columns: Columns,
  { decimals }: RequestSettings,
): Record<string, JsonSchema> =>
  Object.fromEntries([...columns].map(([name, column]) => [name, shownSchema(column, decimals)]));
