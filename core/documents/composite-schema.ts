/** Bodies and answers of the composite actions as JSON Schemas of one entity: the header's object under its table's name, with its details. */
import type { Column, Columns } from "../values/column.ts";
import type { CompositePlan, DetailPlan, Entity, ReadPlan } from "../plans/entity.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { closedObject, wholeObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import type { CompositeNeeds } from "./composite.ts";
import { hasHandlers } from "../records/events.ts";
import { mustBeSent } from "../values/new-key.ts";
import {
  actorSchema,
  doneSchema,
  keySchemas,
  newKeySchemas,
  readOnlySchemas,
  writtenSchema,
} from "../records/record-schema.ts";
import { recordSchema, shownMembers } from "../lists/shown-schema.ts";

/** `{<header>: {<fields>, <details>: [{<fields>}]}}` with one detail at least. */
export function createCompositeSchema(plan: CompositeNeeds, entity: Entity): JsonSchema {
  const { write, composite } = plan;
  const { key, audit, table } = write;
  const mayBeCompleted = hasHandlers(entity, "onBeforeInsert");
  const { rules } = entity;
  const required = [...namesOf(mustBeSent(write)), ...rules.neededOf(composite.writable)];
  const header = closedObject(
    {
      ...newKeySchemas(write, rules),
      ...rules.schemasOf(composite.writable),
      ...actorSchema(audit.createdBy, write.shown),
      ...readOnlyOf(plan, [...key, ...composite.writable.values(), audit.createdBy]),
      ...detailsOf(composite, (detail) => listOf(newDetailSchema(detail, mayBeCompleted))),
    },
    mayBeCompleted ? [] : required,
  );
  const isFilled = composite.details.map(({ table: { name } }) => ({
    required: [name],
    properties: { [name]: { minItems: 1 } },
  }));
  return wholeObject({ [table.name]: mayBeCompleted ? header : { ...header, anyOf: isFilled } });
}

/** `{<header>: {<key>, <fields>, <details>: {insert, update, delete}}}`. */
export function updateCompositeSchema(plan: CompositeNeeds, entity: Entity): JsonSchema {
  const { write, composite } = plan;
  const { key, audit, table } = write;
  const mayBeCompleted = hasHandlers(entity, "onBeforeUpdate");
  const header = closedObject(
    {
      ...keySchemas(key),
      ...entity.rules.schemasOf(composite.writable),
      ...actorSchema(audit.updatedBy, write.shown),
      ...readOnlyOf(plan, [...key, ...composite.writable.values(), audit.updatedBy]),
      ...detailsOf(composite, (detail) =>
        closedObject({
          insert: listOf(newDetailSchema(detail, mayBeCompleted)),
          ...(detail.namesRecords && {
            update: listOf(changedDetailSchema(detail)),
            delete: listOf(namedDetailSchema(detail)),
          }),
        }),
      ),
    },
    namesOf(key),
  );
  return wholeObject({ [table.name]: header });
}

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
  const data = wholeObject({ ...shownMembers(read.columns, settings), ...details });
  return wholeObject({ data: orNull(data) });
}

/** What the operator's own query gives of a detail; empty without one. */
const queriedColumns = ({ query, queryShown }: DetailPlan): Columns =>
  new Map(
    query?.columns.flatMap((column) =>
      queryShown.includes(column.name) ? [[column.name, column] as const] : [],
    ),
  );

const listOf = (items: JsonSchema): JsonSchema => ({
  type: "array",
  items,
  maxItems: limits.detailsMax,
});

const detailsOf = (
  { details }: CompositePlan,
  schemaOf: (detail: DetailPlan) => JsonSchema,
): Record<string, JsonSchema> =>
  Object.fromEntries(details.map((detail) => [detail.table.name, schemaOf(detail)]));

const readOnlyOf = ({ write, read }: CompositeNeeds, named: readonly (Column | null)[]) =>
  readOnlySchemas([write.shown, read.columns], named);

function newDetailSchema(detail: DetailPlan, mayBeCompleted: boolean): JsonSchema {
  const { lineKey, rules, writable, audit } = detail;
  const required = [...namesOf(mustBeSent(detail)), ...rules.neededOf(writable)];
  return closedObject(
    {
      ...newKeySchemas(detail, rules),
      ...rules.schemasOf(writable),
      ...actorSchema(audit.createdBy, detail.shown),
      ...otherMembers(detail, [...lineKey, ...writable.values(), audit.createdBy]),
    },
    mayBeCompleted ? [] : required,
  );
}

function changedDetailSchema(detail: DetailPlan): JsonSchema {
  const { key, lineKey, rules, writable, audit } = detail;
  return closedObject(
    {
      ...keySchemas(lineKey, key),
      ...rules.schemasOf(writable),
      ...actorSchema(audit.updatedBy, detail.shown),
      ...otherMembers(detail, [...lineKey, ...writable.values(), audit.updatedBy]),
    },
    namesOf(lineKey),
  );
}

/** A detail that goes: its key counts, and the rest of it may stand beside. */
const namedDetailSchema = (detail: DetailPlan): JsonSchema => {
  const { key, lineKey } = detail;
  return closedObject(
    { ...keySchemas(lineKey, key), ...otherMembers(detail, lineKey) },
    namesOf(lineKey),
  );
};

const namesOf = (columns: readonly Column[]): string[] => columns.map(({ name }) => name);

/** What read-composite shows of a detail beside the `named` columns. */
const otherMembers = (detail: DetailPlan, named: readonly (Column | null)[]) =>
  readOnlySchemas([detail.shown, detail.writable, queriedColumns(detail)], named);
