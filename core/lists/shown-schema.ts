/** Records as answers show them, as JSON Schemas. */
import { PathColumns } from "../query/paths.ts";
import type { Columns } from "../values/types/column.ts";
import type { RequestSettings } from "../plans/entity.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { closedObject, wholeObject } from "../values/json-shapes.ts";
import { shownSchema } from "../values/types/schemas.ts";

/** A record as answers show it, with all of these columns. */
export const recordSchema = (columns: Columns, settings: RequestSettings): JsonSchema =>
  wholeObject(shownMembers(columns, settings));

/** A record with the columns that `select` names, and related records in it. */
export const selectedRecordSchema = (columns: Columns, settings: RequestSettings): JsonSchema =>
  closedObject({
    ...shownMembers(columns, settings),
    ...added(relatedMembers(columns, settings), columns),
    ...added({ [versionName]: versionSchema }, columns),
  });

/** A column of the same name comes first. */
const added = (members: Record<string, JsonSchema>, columns: Columns): object =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !columns.has(name)));

/** The member of a record that `versions` adds. */
export const versionName = "_version";

const versionSchema: JsonSchema = {
  type: "string",
  description: "With versions: the ETag of the record, as If-Match takes it.",
};

/** Related records, as far as one relation leads; others may nest in them. */
export function relatedMembers(
  columns: Columns,
  settings: RequestSettings,
): Record<string, JsonSchema> {
  if (!(columns instanceof PathColumns)) return {};
  return Object.fromEntries(
    columns.relationNames().map((name) => {
      const { isMany, columns: related } = columns.relation(name)!;
      const record: JsonSchema = {
        type: "object",
        properties: shownMembers(new Map(related), settings),
        additionalProperties: true,
      };
      // Many are a list of records, or one of the figures that `operations` asks for.
      return [
        name,
        isMany ? { anyOf: [{ type: "array", items: record }, figures] } : orNull(record),
      ];
    }),
  );
}

const figures: JsonSchema = { type: "object", additionalProperties: true };

/** What answers show of each of the columns. */
export const shownMembers = (
  columns: Columns,
  { decimals }: RequestSettings,
): Record<string, JsonSchema> =>
  Object.fromEntries([...columns].map(([name, column]) => [name, shownSchema(column, decimals)]));
