/** Answers of the composite actions as JSON Schemas of one entity. */
import type { Columns } from "../values/types/column.ts";
import type { CompositePlan, DetailPlan } from "../plans/composite-plan.ts";
import type { Entity } from "../plans/entity.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { anyOf, closedObject, wholeObject } from "../values/json-shapes.ts";
import type { CompositeNeeds } from "./composite.ts";
import { doneSchema, writtenSchema } from "../records/record-schema.ts";
import { recordSchema, relatedMembers, shownMembers } from "../lists/shown-schema.ts";
import { moreSchema } from "../records/shown-records.ts";

/** The header with its details, as create-composite answers them. */
export function createdCompositeSchema(plan: CompositeNeeds, entity: Entity): JsonSchema {
  const { settings } = entity;
  const details = detailsOf(plan.composite, ({ shown }) => ({
    type: "array",
    items: recordSchema(shown, settings),
  }));
  const data = writtenSchema(plan, (columns) =>
    wholeObject({ ...shownMembers(columns, settings), ...details }),
  );
  return wholeObject({ message: doneSchema(entity, "added"), data });
}

/** The header and how many details were changed, as update-composite answers them. */
export function updatedCompositeSchema(plan: CompositeNeeds, entity: Entity): JsonSchema {
  const { settings } = entity;
  const count: JsonSchema = { type: "integer", minimum: 0 };
  const _operations = wholeObject({ deleted: count, updated: count, inserted: count });
  const data = writtenSchema(plan, (columns) =>
    wholeObject({ ...shownMembers(columns, settings), _operations }),
  );
  return wholeObject({ message: doneSchema(entity, "updated"), data });
}

/** The header with its details, as read-composite answers them; null where no header matches. */
export function readCompositeSchema(
  { read, composite }: { read: ReadPlan; composite: CompositePlan },
  { settings }: Entity,
): JsonSchema {
  const details = detailsOf(composite, (detail) => ({
    type: "array",
    items: recordSchema(detail.query === null ? detail.shown : queriedColumns(detail), settings),
  }));
  const always = { ...shownMembers(read.columns, settings), ...details };
  const related = relatedMembers(read.named, settings);
  // A relation may have the name of the details; its list then stands in their place.
  const either = Object.entries(details).map(([name, list]): [string, JsonSchema] => [
    name,
    anyOf([list, ...(related[name] ? [related[name]] : [])]),
  ]);
  const data = closedObject(
    { ...related, ...always, ...Object.fromEntries(either) },
    Object.keys(always),
  );
  return closedObject({ data: orNull(data), more: moreSchema }, ["data"]);
}

/** Columns of the operator's own query of a detail; empty without one. */
export const queriedColumns = ({ query, queryShown }: DetailPlan): Columns =>
  new Map(
    query?.columns.flatMap((column) =>
      queryShown.includes(column.name) ? [[column.name, column] as const] : [],
    ),
  );

const detailsOf = (
  { details }: CompositePlan,
  schemaOf: (detail: DetailPlan) => JsonSchema,
): Record<string, JsonSchema> =>
  Object.fromEntries(details.map((detail) => [detail.table.name, schemaOf(detail)]));
